"""`grad`, `value_and_grad`, `vjp`, `jvp` and `vmap`: trees, nesting, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    GradientError,
    ShapeError,
    TraceError,
)
from tests.raising import raises


def cross_entropy(logits: Any, targets: Any) -> Any:
    """Written as both libraries can."""
    return -(logits.softmax(-1).log() * targets).sum(-1).mean()


def test_third_derivatives() -> None:
    cube = ogive.grad(ogive.grad(ogive.grad(lambda x: x**4)))
    assert cube(Tensor(2.0)).item() == 48.0
    assert cube(2.0).item() == 48.0


def test_a_gradient_inside_the_function_that_is_differentiated() -> None:
    def energy(x: Tensor, y: Tensor) -> Tensor:
        force: Tensor = ogive.grad(lambda z: (z * z * y).sum())(x)
        return (force * force * x).sum()

    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    found = ogive.grad(energy, (0, 1))(x, y)
    assert found[0].tolist() == [12 * 1.0**2 * 9.0, 12 * 2.0**2 * 16.0]
    assert found[1].tolist() == [8 * 1.0**3 * 3.0, 8 * 2.0**3 * 4.0]


def test_the_hessian_of_softmax_cross_entropy() -> None:
    random = numpy.random.default_rng(0)
    logits, targets = random.normal(size=(2, 3)), numpy.eye(3)[[2, 0]]
    directions = Tensor(numpy.eye(6).reshape(6, 2, 3))

    def slope(x: Tensor) -> Tensor:
        found: Tensor = ogive.grad(cross_entropy)(x, Tensor(targets))
        return found

    rows = ogive.vmap(lambda t: ogive.jvp(slope, (Tensor(logits),), (t,))[1])(directions)
    wanted = torch.func.hessian(cross_entropy)(torch.tensor(logits), torch.tensor(targets))
    numpy.testing.assert_allclose(rows.numpy().ravel(), wanted.numpy().ravel(), atol=1e-12)


def test_arguments_and_gradients_are_trees() -> None:
    parameters = {"w": Tensor([1.0, 2.0]), "rest": [Tensor([3.0]), None]}

    def loss(p: Any, scale: float) -> Tensor:
        loss: Tensor = (p["w"] * p["rest"][0]).sum() * scale
        return loss

    found = ogive.grad(loss)(parameters, 2)
    assert found["w"].tolist() == [6.0, 6.0]
    assert found["rest"][0].tolist() == [6.0] and found["rest"][1] is None


def test_equal_arguments_are_told_apart() -> None:
    same = Tensor([3.0])
    left, right = ogive.grad(lambda a, b: (a * a * b).sum(), (0, 1))(same, same)
    assert (left.tolist(), right.tolist()) == ([18.0], [9.0])


def test_an_argument_that_is_not_used_gets_zeros() -> None:
    assert ogive.grad(lambda a, b: b.sum(), 0)(Tensor([1.0]), Tensor([1.0])).tolist() == [0.0]


def test_aux_comes_along() -> None:
    (value, aux), gradient = ogive.value_and_grad(lambda x: ((x * x).sum(), x + 1), has_aux=True)(
        Tensor([2.0])
    )
    assert (value.item(), aux.tolist(), gradient.tolist()) == (4.0, [3.0], [4.0])
    assert ogive.grad(lambda x: ((x * x).sum(), "note"), has_aux=True)(Tensor([2.0]))[1] == "note"


def test_values_may_be_asked_for_inside() -> None:
    def loss(x: Tensor) -> Tensor:
        y = (x * x).realize()
        return (y * 2).sum() if y.sum().item() > 1 else y.sum()

    assert ogive.grad(loss)(Tensor([2.0])).tolist() == [8.0]
    assert ogive.grad(loss)(Tensor([0.5])).tolist() == [1.0]


def test_transforms_work_under_no_grad() -> None:
    w = Tensor([2.0], requires_grad=True)
    with ogive.no_grad():
        found = ogive.grad(lambda x: (x * x * w).sum())(Tensor([3.0]))
    assert found.tolist() == [12.0] and not found.requires_grad


def test_gradients_of_a_transform_reach_leaves_around_it() -> None:
    w = Tensor([2.0], requires_grad=True)
    ogive.grad(lambda x: (x * x * w).sum())(Tensor([3.0])).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [6.0]


def test_vjp_takes_several_upstreams_in_turn() -> None:
    value, pull = ogive.vjp(lambda x, y: (x * y, x.sum()), Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    assert value[0].tolist() == [3.0, 8.0]
    for weight in (1.0, 10.0):
        left, right = pull((Tensor([weight, 0.0]), Tensor(1.0)))
        assert left.tolist() == [3 * weight + 1, 1.0]
        assert right.tolist() == [weight, 0.0]


def test_jvp_of_values_that_do_not_depend_on_the_argument_is_zero() -> None:
    _, tangent = ogive.jvp(lambda x: Tensor([5.0]), (Tensor([1.0]),), (Tensor([1.0]),))
    assert tangent.tolist() == [0.0]


def test_tangents_are_small_differences() -> None:
    random = numpy.random.default_rng(3)
    x, w, t = random.normal(size=(2, 3)), random.normal(size=(3, 4)), random.normal(size=(2, 3))

    def function(x: Tensor) -> Tensor:
        y = (x @ Tensor(w)).tanh()
        return (y.softmax(-1) * y.cumsum(-1)).prod(-1) / (x.exp().sum(-1) + 1)

    _, tangent = ogive.jvp(function, (Tensor(x),), (Tensor(t),))
    small = 1e-6
    above, below = function(Tensor(x + small * t)), function(Tensor(x - small * t))
    numpy.testing.assert_allclose(
        tangent.numpy(), (above.numpy() - below.numpy()) / (2 * small), rtol=1e-6, atol=1e-9
    )


def test_jvp_of_jvp() -> None:
    def slope(x: Tensor) -> Tensor:
        tangent: Tensor = ogive.jvp(lambda z: z**3, (x,), (Tensor(1.0),))[1]
        return tangent

    assert ogive.jvp(slope, (Tensor(2.0),), (Tensor(1.0),))[1].item() == 12.0


def test_jitted_gradients() -> None:
    step = ogive.jit(ogive.value_and_grad(lambda w, x: (w * x).sigmoid().sum()))
    w, x = numpy.array([0.5, -1.0]), numpy.array([2.0, 3.0])
    for shift in range(3):
        value, gradient = step(Tensor(w + shift), Tensor(x))
        plain, wanted = torch.func.grad_and_value(lambda w, x: (w * x).sigmoid().sum())(
            torch.tensor(w + shift), torch.tensor(x)
        )[::-1]
        numpy.testing.assert_allclose(value.numpy(), plain.numpy())
        numpy.testing.assert_allclose(gradient.numpy(), wanted.numpy())
    assert step.cache_info().traces == 1


# vmap


def test_examples_lie_along_any_axis_and_come_out_along_any() -> None:
    x = numpy.random.default_rng(1).normal(size=(2, 3, 4))
    for axis in (0, 1, 2, -1):
        for out in (0, 1, -1):
            found = ogive.vmap(lambda m: m.T * 2, axis, out)(Tensor(x)).numpy()
            wanted = torch.vmap(lambda m: m.T * 2, axis, out)(torch.tensor(x)).numpy()
            numpy.testing.assert_array_equal(found, wanted)


def test_axes_may_be_a_tree() -> None:
    tree = {"a": Tensor([[1.0, 2.0]]), "b": Tensor([10.0])}
    found = ogive.vmap(lambda t, c: t["a"] * t["b"] + c, ({"a": 1, "b": None}, None))(tree, 1)
    assert found.tolist() == [[11.0], [21.0]]


def test_results_that_do_not_depend_on_the_example_are_repeated() -> None:
    same, each = ogive.vmap(lambda x: (Tensor([7.0]), x))(Tensor([1.0, 2.0]))
    assert (same.tolist(), each.tolist()) == ([[7.0], [7.0]], [1.0, 2.0])


def test_vmaps_nest() -> None:
    rows, columns = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    inner = ogive.vmap(lambda a, b: (a * b).sum(), (None, 0))
    found = ogive.vmap(inner, (0, None))(rows, columns)
    assert found.tolist() == [[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]]


def test_gradients_for_each_example() -> None:
    random = numpy.random.default_rng(2)
    w, xs = random.normal(size=(4, 3)), random.normal(size=(5, 4))

    def loss(w: Any, x: Any) -> Any:
        return (x @ w).tanh().softmax(-1).log().square().sum()

    found = ogive.vmap(ogive.grad(loss), (None, 0))(Tensor(w), Tensor(xs)).numpy()
    wanted = torch.vmap(torch.func.grad(loss), (None, 0))(torch.tensor(w), torch.tensor(xs))
    numpy.testing.assert_allclose(found, wanted.numpy())


@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_a_convolution_for_each_example(stride: int) -> None:
    random = numpy.random.default_rng(4)
    w, images = random.normal(size=(4, 3, 3, 3)), random.normal(size=(2, 3, 5, 5))

    def loss(convolve: Any) -> Callable[..., Any]:
        def total(w: Any, x: Any) -> Any:
            return convolve(x.reshape(1, 3, 5, 5), w, padding=1, stride=stride).square().sum()

        return total

    ours = ogive.vmap(ogive.grad(loss(Tensor.conv2d)), (None, 0))
    theirs = torch.vmap(torch.func.grad(loss(torch.nn.functional.conv2d)), (None, 0))
    wanted = theirs(torch.tensor(w), torch.tensor(images)).numpy()
    numpy.testing.assert_allclose(ours(Tensor(w), Tensor(images)).numpy(), wanted)


def test_second_derivatives_of_a_convolution() -> None:
    random = numpy.random.default_rng(5)
    w, x = random.normal(size=(4, 3, 3, 3)), random.normal(size=(2, 3, 5, 6))

    def slope(convolve: Any, gradient: Any) -> Callable[..., Any]:
        """The squares of the gradient for x of a sum of cubes, added up."""
        def loss(w: Any, x: Any) -> Any:
            return (convolve(x, w, padding=1) ** 3).sum()

        return lambda w, x: (gradient(loss, 1)(w, x) ** 2).sum()

    ours = ogive.grad(slope(Tensor.conv2d, ogive.grad), (0, 1))(Tensor(w), Tensor(x))
    theirs = torch.func.grad(slope(torch.nn.functional.conv2d, torch.func.grad), (0, 1))
    wanted = theirs(torch.tensor(w), torch.tensor(x))
    for found, expected in zip(ours, wanted, strict=True):
        numpy.testing.assert_allclose(found.numpy(), expected.numpy())


def test_the_gradient_of_a_vmap() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    found = ogive.grad(lambda x: ogive.vmap(lambda r: (r**3).sum())(x).sum())(x)
    assert found.tolist() == [[3.0, 12.0], [27.0, 48.0]]


def test_assignments_inside_a_vmap_change_each_example() -> None:
    def clear(x: Tensor) -> Tensor:
        y = x * 1
        y[0] = 5.0
        x[1] = 6.0
        return x + y

    given = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ogive.vmap(clear)(given).tolist() == [[6.0, 8.0], [8.0, 10.0]]
    assert given.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def double(values: Any, result: Any) -> None:
    result[...] = values * 2


X = Tensor([1.0, 2.0])
OUTSIDE = Tensor([1.0])
ERRORS: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (GradientError, r"shape \(2,\) and dtype float32", lambda: ogive.grad(lambda x: x)(X)),
    (GradientError, "dtype int64", lambda: ogive.grad(lambda x: x.sum())(Tensor([1]))),
    (ArgumentTypeError, "is str 'a'", lambda: ogive.grad(lambda x: X.sum())("a")),
    (ArgumentError, "argnums is 1", lambda: ogive.grad(lambda x: x.sum(), 1)(X)),
    (ArgumentTypeError, "has_aux", lambda: ogive.grad(lambda x: x.sum(), has_aux=True)(X)),
    (ShapeError, r"shape \(1,\)", lambda: ogive.vjp(lambda x: x * 2, X)[1](Tensor([1.0]))),
    (ArgumentTypeError, "int64 as result", lambda: ogive.vjp(lambda x: x.argmax(), X)),
    (ShapeError, r"shape \(\)", lambda: ogive.jvp(lambda x: x, (X,), (Tensor(1.0),))),
    (ArgumentError, "0 tensors", lambda: ogive.jvp(lambda x: x, (X,), ())),
    (TraceError, "has no values", lambda: ogive.vmap(lambda x: x * x.item())(X)),
    (ShapeError, "length 3", lambda: ogive.vmap(lambda a, b: a)(X, Tensor([1.0] * 3))),
    (ArgumentError, "1 entries for 2", lambda: ogive.vmap(lambda a, b: a, (0,))(X, X)),
    (ArgumentError, "in_axes names no axis", lambda: ogive.vmap(lambda a: a, None)(X)),
    (AxisError, "no axis 1", lambda: ogive.vmap(lambda a: a, 1)(X)),
    (ArgumentTypeError, "returned float", lambda: ogive.vmap(lambda a: 1.0)(X)),
    (ArgumentTypeError, "are not like", lambda: ogive.vmap(lambda a: a, ({"a": 0},))(X)),
    (
        TraceError,
        "double, a function of ogive.custom, works on one example",
        lambda: ogive.vmap(lambda x: ogive.custom(double, [x], ((), "float32")))(X),
    ),
    (
        TraceError,
        "assigned a value for each example",
        lambda: ogive.vmap(lambda x: OUTSIDE.assign(x) * 1)(X),
    ),
]


@pytest.mark.parametrize(("error", "words", "action"), ERRORS)
def test_errors_say_what_is_wrong(
    error: type[Exception], words: str, action: Callable[[], Any]
) -> None:
    with raises(error, match=words):
        action()


def test_vmap_takes_pytorchs_names() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    ours = ogive.vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=1)(x, Tensor([1.0, 10.0]))
    assert ours.tolist() == [[1.0, 2.0], [30.0, 40.0]]
