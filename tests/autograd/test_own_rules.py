"""`custom_gradient` and `checkpoint`: functions that go back in their own way."""

from __future__ import annotations

from typing import Any

import numpy

import ogive
from ogive import Tensor
from ogive.errors import ArgumentTypeError, GradientError
from tests.raising import raises


@ogive.custom_gradient
def scaled_back(x: Tensor, y: Tensor) -> Any:
    """A product whose gradients are not those of a product."""
    return x * y, lambda upstream: (upstream * y * 100, None)


def grad_of(tensor: Tensor) -> Any:
    assert tensor.grad is not None
    return tensor.grad.tolist()


def test_a_function_says_its_own_gradient() -> None:
    x, y = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    value = scaled_back(x, y)
    assert value.tolist() == [3.0, 8.0]
    (value * 2).sum().backward()
    assert grad_of(x) == [600.0, 800.0] and y.grad is None


def test_it_is_kept_across_realization() -> None:
    x, y = Tensor([1.0], requires_grad=True), Tensor([3.0])
    value = scaled_back(x * 2, y).realize()
    value.sum().backward()
    assert grad_of(x) == [600.0]


def test_it_can_be_differentiated_again() -> None:
    @ogive.custom_gradient
    def cube(x: Tensor) -> Any:
        return x**3, lambda upstream: upstream * 3 * x**2

    assert ogive.grad(ogive.grad(cube))(Tensor(2.0)).item() == 12.0
    assert ogive.jvp(cube, (Tensor(2.0),), (Tensor(10.0),))[1].item() == 120.0


def test_several_values_have_several_upstream_gradients() -> None:
    @ogive.custom_gradient
    def both(x: Tensor) -> Any:
        return (x * 1, x * 2), lambda one, two: one * 10 + two * 1000

    x = Tensor([1.0], requires_grad=True)
    first, second = both(x)
    (first * 3 + second).sum().backward()
    assert grad_of(x) == [1030.0]


def test_it_works_for_many_examples() -> None:
    rows, y = Tensor([[1.0], [2.0]]), Tensor([5.0])
    found = ogive.grad(lambda r: ogive.vmap(lambda x: scaled_back(x, y))(r).sum())(rows)
    assert found.tolist() == [[500.0], [500.0]]
    each = ogive.vmap(ogive.grad(lambda x: scaled_back(x, y).sum()))(rows)
    assert each.tolist() == [[500.0], [500.0]]


def test_it_works_inside_a_captured_function() -> None:
    found = ogive.jit(ogive.grad(lambda x: scaled_back(x, x).sum()))(Tensor([2.0]))
    assert found.tolist() == [200.0]


def test_errors_say_what_is_wrong() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with raises(ArgumentTypeError, match=r"must return \(value, backward\)"):
        ogive.custom_gradient(lambda x: x)(x)
    with raises(GradientError, match="returned 2 gradients for 1"):
        ogive.custom_gradient(lambda x: (x * 1, lambda u: (u, u)))(x).sum().backward()
    with raises(GradientError, match=r"returned shape \(\) for an argument of shape \(2,\)"):
        ogive.custom_gradient(lambda x: (x * 1, lambda u: u.sum()))(x).sum().backward()


# Checkpoints

LAYERS, BLOCK, ROWS, WIDTH = 8, 4, 512, 32


def network(checkpointed: bool) -> tuple[list[Tensor], Tensor, Tensor]:
    """Weights, input and loss of a chain of layers in blocks, gone back through."""
    random = numpy.random.default_rng(0)
    weights = [
        Tensor(random.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5, requires_grad=True)
        for _ in range(LAYERS)
    ]
    x = Tensor(random.normal(size=(ROWS, WIDTH)), requires_grad=True)

    def block(values: Tensor, start: int) -> Tensor:
        for weight in weights[start : start + BLOCK]:
            values = (values @ weight).tanh()
        return values

    run = ogive.checkpoint(block) if checkpointed else block
    values = x
    for start in range(0, LAYERS, BLOCK):
        values = run(values, start)
    loss = values.square().sum()
    loss.backward()
    return weights, x, loss


def test_checkpoints_change_no_gradient() -> None:
    (plain, x, loss), (kept, y, same) = network(False), network(True)
    assert loss.item() == same.item()
    for one, two in zip([x, *plain], [y, *kept], strict=True):
        assert one.grad is not None and two.grad is not None
        numpy.testing.assert_allclose(one.grad.numpy(), two.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_checkpoints_compute_again_and_need_less_memory() -> None:
    plans = []
    for checkpointed in (False, True):
        weights, x, loss = network(checkpointed)
        # The last layer's first: its gradient is the first that can be computed.
        gradients = [w.grad for w in reversed(weights) if w.grad is not None]
        assert x.grad is not None
        plans.append(Tensor.prepare_batch([loss, *gradients, x.grad]))
    plain, again = plans
    assert len(again.kernels) >= len(plain.kernels) + LAYERS - LAYERS // BLOCK
    assert sum(again.memory.blocks) < 0.75 * sum(plain.memory.blocks)


def test_checkpoints_can_be_differentiated_twice_and_vectorized() -> None:
    def cube(x: Tensor) -> Tensor:
        return (x * x) * x

    once = ogive.grad(lambda x: ogive.checkpoint(cube)(x).sum())
    assert once(Tensor([2.0, 3.0])).tolist() == [12.0, 27.0]
    assert ogive.grad(lambda x: once(x).sum())(Tensor([2.0, 3.0])).tolist() == [12.0, 18.0]
    assert ogive.vmap(once)(Tensor([[2.0], [3.0]])).tolist() == [[12.0], [27.0]]


def test_what_a_checkpoint_finds_by_itself_gets_gradients() -> None:
    x, w = Tensor([3.0, 4.0]), Tensor([0.5, 0.25])

    def loss(run: Any) -> Any:
        return lambda w: run(lambda h: (h * w).exp())(x).sum()

    found, wanted = ogive.grad(loss(ogive.checkpoint))(w), ogive.grad(loss(lambda f: f))(w)
    assert found.tolist() == wanted.tolist()


def test_upstream_gradients_that_are_not_numbers_stay_where_they_are() -> None:
    x = Tensor([2.0, 3.0], requires_grad=True)
    y = ogive.checkpoint(lambda x: x * x)(x)
    y.backward(Tensor([float("nan"), 1.0]))
    assert x.grad is not None
    assert numpy.isnan(x.grad.numpy()).tolist() == [True, False]
    assert x.grad.tolist()[1] == 6.0


def test_a_checkpoint_returns_tensors_of_floats() -> None:
    with raises(ArgumentTypeError, match="returned int64 as result"):
        ogive.checkpoint(lambda x: x.argmax())(Tensor([1.0]))


def test_a_gradient_that_was_broadcast_is_summed_to_its_argument() -> None:
    @ogive.custom_gradient
    def product(x: Tensor, y: Tensor) -> Any:
        return x * y, lambda upstream: (upstream * y, upstream * x)

    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = Tensor([[2.0], [5.0]], requires_grad=True)
    product(x, y).sum().backward()
    assert x.grad is not None and y.grad is not None
    assert x.grad.tolist() == [7.0, 7.0, 7.0]
    assert y.grad.tolist() == [[6.0], [6.0]]
