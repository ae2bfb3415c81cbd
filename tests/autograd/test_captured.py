"""Whole training steps inside `ogive.jit`: the same as without it, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.errors import GradientError
from tests.raising import raises

STEPS = 4


class Model:
    """Two layers, and a momentum for each."""

    def __init__(self) -> None:
        random = numpy.random.default_rng(0)
        self.weights = [
            Tensor(random.normal(size=shape), requires_grad=True) for shape in [(4, 6), (6, 3)]
        ]
        self.momenta = [ogive.zeros_like(w).contiguous().realize() for w in self.weights]

    def backward(self, x: Tensor, y: Tensor) -> Tensor:
        first, second = self.weights
        loss = ((x @ first).tanh() @ second - y).square().mean()
        loss.backward()
        return loss

    def update(self) -> None:
        with ogive.no_grad():
            for weight, momentum in zip(self.weights, self.momenta, strict=True):
                momentum.assign(momentum * 0.9 + weight.grad)
                weight.assign(weight - 0.05 * momentum)

    def clear(self) -> None:
        for weight in self.weights:
            weight.grad = None

    def state(self) -> list[Any]:
        gradients = [w.grad for w in self.weights if w.grad is not None]
        return [t.numpy() for t in [*self.weights, *self.momenta, *gradients]]


def clear_first(model: Model, x: Tensor, y: Tensor) -> Tensor:
    model.clear()
    loss = model.backward(x, y)
    model.update()
    return loss


def clear_last(model: Model, x: Tensor, y: Tensor) -> Tensor:
    loss = model.backward(x, y)
    model.update()
    model.clear()
    return loss


def never_clear(model: Model, x: Tensor, y: Tensor) -> Tensor:
    loss = model.backward(x, y)
    model.update()
    return loss


def train(
    function: Callable[[Model, Tensor, Tensor], Tensor], captured: bool, steps: int = STEPS
) -> tuple[list[float], Model, Any]:
    random = numpy.random.default_rng(1)
    model = Model()

    def step(x: Tensor, y: Tensor) -> Tensor:
        return function(model, x, y)

    run = ogive.jit(step) if captured else step
    losses = []
    for _ in range(steps):
        x, y = Tensor(random.normal(size=(5, 4))), Tensor(random.normal(size=(5, 3)))
        loss = run(x, y)
        if not captured:
            gradients = [w.grad for w in model.weights if w.grad is not None]
            Tensor.realize_batch([loss, *model.weights, *model.momenta, *gradients])
        losses.append(loss.item())
    return losses, model, run


@pytest.mark.parametrize("function", [clear_first, clear_last, never_clear])
def test_a_captured_step_does_what_the_step_does(
    function: Callable[[Model, Tensor, Tensor], Tensor],
) -> None:
    plain, model, _ = train(function, captured=False)
    captured, same, run = train(function, captured=True)
    assert captured == plain
    assert run.cache_info().traces == 1
    if function is clear_first:
        model.clear()  # what every call begins by dropping is not kept by captured ones
    for one, two in zip(model.state(), same.state(), strict=True):
        numpy.testing.assert_array_equal(one, two)


def test_gradients_that_the_function_leaves_are_new_memory_once() -> None:
    _, model, run = train(never_clear, captured=True)
    before = [weight.grad for weight in model.weights]
    run(ogive.ones(5, 4, dtype="float64"), ogive.ones(5, 3, dtype="float64"))
    assert all(w.grad is g for w, g in zip(model.weights, before, strict=True))


def test_a_step_notices_that_a_gradient_has_come_or_gone() -> None:
    _, model, run = train(clear_last, captured=True)
    x, y = ogive.ones(5, 4, dtype="float64"), ogive.ones(5, 3, dtype="float64")
    for weight in model.weights:
        weight.grad = ogive.ones_like(weight)
    expected = Model()
    for mine, other in zip([*expected.weights, *expected.momenta],
                           [*model.weights, *model.momenta], strict=True):  # fmt: skip
        with ogive.no_grad():
            mine.assign(other.detach())
    for weight in expected.weights:
        weight.grad = ogive.ones_like(weight)
    Tensor.realize_batch([*expected.weights, *expected.momenta])
    run(x, y)
    assert run.cache_info().traces == 2
    assert all(weight.grad is None for weight in model.weights)
    clear_last(expected, x, y)
    for one, two in zip(expected.state(), model.state(), strict=True):
        numpy.testing.assert_allclose(one, two, rtol=1e-14)


def test_leaves_made_inside_are_differentiated_inside() -> None:
    @ogive.jit
    def slope(x: Tensor) -> Tensor:
        inner = x.detach().requires_grad_()
        (inner**3).sum().backward()
        assert inner.grad is not None
        return inner.grad

    for value in (1.0, 2.0):
        assert slope(Tensor([value])).tolist() == [3 * value**2]


def test_leaves_given_as_arguments_have_gradients_inside() -> None:
    @ogive.jit
    def step(w: Tensor, x: Tensor) -> Tensor:
        (w * w * x).sum().backward()
        assert w.grad is not None
        with ogive.no_grad():
            w.assign(w - w.grad)
        return w.grad

    w = Tensor([3.0], requires_grad=True)
    assert step(w, Tensor([0.25])).tolist() == [1.5]
    assert step(w, Tensor([0.25])).tolist() == [0.75]
    assert w.tolist() == [0.75] and w.requires_grad


def test_an_error_inside_leaves_gradients_as_they_were() -> None:
    w = Tensor([3.0], requires_grad=True)
    before = w.grad = Tensor([7.0])

    @ogive.jit
    def fail() -> Tensor:
        (w * 2).sum().backward()
        w.grad = None
        raise ValueError("stop")

    with raises(ValueError, match="stop"):
        fail()
    assert w.grad is before and before.tolist() == [7.0]


def test_transforms_look_into_captured_functions() -> None:
    square = ogive.jit(lambda x: (x * x).sum())
    x = Tensor([1.0, 2.0])
    square(x)
    assert ogive.grad(square)(x).tolist() == [2.0, 4.0]
    assert ogive.jvp(square, (x,), (Tensor([1.0, 10.0]),))[1].item() == 42.0
    assert ogive.vmap(square)(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [5.0, 25.0]


@pytest.mark.parametrize("computed", [False, True])
def test_gradients_flow_through_a_captured_function_of_what_they_flow_through(
    computed: bool,
) -> None:
    double = ogive.jit(lambda x: x * 2)
    double(Tensor([1.0, 2.0]))
    w = Tensor([1.0, 2.0], requires_grad=True)
    h = w * 3
    if computed:
        h.realize()
    (double(h) * h).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [36.0, 72.0]


def test_results_computed_from_leaves_are_not_taken_for_constants() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    captured = ogive.jit(lambda x: x * w)
    x = Tensor([3.0, 4.0])
    for _ in range(2):
        with raises(GradientError, match=r"result of a function captured by ogive\.jit"):
            (captured(x) * w).sum().backward()
    (captured(x).detach() * w).sum().backward()
    with ogive.no_grad():
        constant = captured(x)
    (constant * w).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [6.0, 16.0]
    assert not captured(x).requires_grad


@ogive.custom_gradient
def halved(x: Tensor) -> Any:
    kept = x.exp()
    return x.sin(), lambda upstream: upstream * kept / 2


RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "linalg.inv": lambda x: ogive.linalg.inv(x @ x.T + ogive.eye(4)).sum(),
    "custom_gradient": lambda x: halved(x * 2).sum(),
    "under vmap": lambda x: ogive.vmap(lambda row: halved(row * 2).sum())(x).sum(),
    "median": lambda x: (x * 2).median(),
    "max_pool": lambda x: (x * 2)[None].max_pool1d(2).sum(),
}


@pytest.mark.parametrize("name", RULES)
def test_tensors_that_only_a_rule_of_a_gradient_holds_are_not_kept_outside(name: str) -> None:
    def both(x: Tensor) -> tuple[Tensor, Tensor | None]:
        leaf = x.clone().requires_grad_()
        value = RULES[name](leaf)
        value.backward()
        return value, leaf.grad

    captured = ogive.jit(both)
    for seed in (1, 2):
        x = Tensor(numpy.random.default_rng(seed).normal(size=(4, 4)))
        for mine, other in zip(captured(x), both(x), strict=True):
            assert mine is not None and other is not None
            numpy.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-12)
    assert captured.cache_info().traces == 1


def test_a_tensor_that_a_rule_holds_and_others_too_is_kept_outside() -> None:
    seen: list[Tensor] = []

    @ogive.custom_gradient
    def noted(x: Tensor) -> Any:
        seen.append(x.exp())
        return x.sin(), lambda upstream: upstream * seen[-1]

    with raises(ogive.errors.TraceError, match="is kept somewhere outside"):
        ogive.jit(lambda x: noted(x * 2).sum())(Tensor([1.0]))
