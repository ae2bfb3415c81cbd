"""`backward`, leaves and modes, as PyTorch has them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, Variable
from ogive.errors import ArgumentTypeError, DtypeError, GradientError, ShapeError
from tests.raising import raises


def leaf(values: Any) -> Tensor:
    return Tensor(numpy.array(values, dtype=numpy.float64), requires_grad=True)


def grad_of(tensor: Tensor) -> Any:
    assert tensor.grad is not None
    return tensor.grad.tolist()


def test_gradients_add_up_over_calls() -> None:
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    (x * x).sum().backward()
    assert grad_of(x) == [5.0, 7.0]


def test_a_graph_can_be_gone_through_twice() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * x).sum()
    loss.backward()
    loss.backward()
    assert grad_of(x) == [4.0, 8.0]


def test_a_tensor_used_many_times_gets_the_sum() -> None:
    x = leaf([1.0])
    total = x
    for factor in range(2, 8):
        total = total + x * factor
    total.sum().backward()
    assert grad_of(x) == [28.0]


def test_two_leaves_with_equal_values_are_two() -> None:
    one, two = ogive.zeros(2, requires_grad=True), ogive.zeros(2, requires_grad=True)
    (one * 2 + two * 5).sum().backward()
    assert (grad_of(one), grad_of(two)) == ([2.0, 2.0], [5.0, 5.0])


def test_a_tensor_made_from_a_leaf_before_it_was_one_is_not_connected() -> None:
    x = Tensor([1.0, 2.0])
    before = x * 2
    x.requires_grad_()
    (before.sum() + x.sum()).backward()
    assert grad_of(x) == [1.0, 1.0]


def test_a_reshaped_leaf_gets_its_gradient_in_its_own_shape() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    (x.reshape(4) * Tensor([1.0, 2.0, 3.0, 4.0], "float64")).sum().backward()
    assert grad_of(x) == [[1.0, 2.0], [3.0, 4.0]]


def test_an_upstream_gradient_weighs_the_elements() -> None:
    x = leaf([1.0, 2.0])
    (x * x).backward(Tensor([10.0, 1.0], "float64"))
    assert grad_of(x) == [20.0, 4.0]


def test_gradients_do_not_carry_a_graph_unless_asked() -> None:
    x = leaf([2.0])
    (x**3).sum().backward()
    assert x.grad is not None and not x.grad.requires_grad
    y = leaf([2.0])
    (y**3).sum().backward(create_graph=True)
    first, y.grad = y.grad, None
    assert isinstance(first, Tensor)
    first.sum().backward()
    assert grad_of(y) == [12.0]


def test_gradients_are_lazy() -> None:
    x = leaf([2.0])
    (x * x).sum().backward()
    assert x.grad is not None and not x.grad.is_realized


def test_mixed_dtypes_give_each_leaf_its_own() -> None:
    x = Tensor([1.5], dtype="float16", requires_grad=True)
    y = Tensor([2.0], dtype="float32", requires_grad=True)
    (x * y).sum().backward()
    assert x.grad is not None and y.grad is not None
    assert (x.grad.dtype, y.grad.dtype) == (ogive.float16, ogive.float32)
    assert (grad_of(x), grad_of(y)) == ([2.0], [1.5])


def test_ties_share_as_in_pytorch() -> None:
    mine = [leaf([1.0, 2.0]), leaf([1.0, 3.0])]
    theirs = [torch.tensor(x.numpy(), requires_grad=True) for x in mine]
    mine[0].maximum(mine[1]).sum().backward()
    theirs[0].maximum(theirs[1]).sum().backward()
    for x, y in zip(mine, theirs, strict=True):
        assert y.grad is not None
        assert grad_of(x) == y.grad.tolist()


def test_the_greatest_elements_share_evenly() -> None:
    x = leaf([[3.0, 3.0, 1.0], [0.0, 2.0, 2.0]])
    x.amax(1).sum().backward()
    assert grad_of(x) == [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("clamp", (0, 1)), ("relu", ()), ("hardtanh", (0, 1)), ("elu", ()), ("logsigmoid", ())],
)
def test_slopes_at_corners_are_those_of_pytorch(name: str, arguments: tuple[int, ...]) -> None:
    values = [-1.0, 0.0, 0.5, 1.0, 2.0]
    x, y = leaf(values), torch.tensor(values, dtype=torch.float64, requires_grad=True)
    getattr(x, name)(*arguments).sum().backward()
    theirs = getattr(torch.nn.functional, name, None) or getattr(torch, name)
    theirs(y, *arguments).sum().backward()
    assert y.grad is not None
    numpy.testing.assert_allclose(grad_of(x), y.grad.numpy())


@pytest.mark.parametrize("name", ["sigmoid", "silu", "tanh", "logsigmoid", "softplus", "mish"])
def test_slopes_far_out_are_those_of_pytorch(name: str) -> None:
    values = [-1000.0, -100.0, -89.0, -40.0, 40.0, 89.0, 1000.0]
    x = Tensor(values, dtype="float32", requires_grad=True)
    y = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    getattr(x, name)().sum().backward()
    theirs = getattr(torch.nn.functional, name, None) or getattr(torch, name)
    theirs(y).sum().backward()
    assert y.grad is not None
    numpy.testing.assert_allclose(grad_of(x), y.grad.numpy(), rtol=1e-5, atol=1e-35)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_are_right_where_there_are_zeros(zeros: int) -> None:
    values = numpy.array([[2.0, 3.0, 4.0, 5.0]])
    values[0, :zeros] = 0
    x, y = leaf(values), torch.tensor(values, requires_grad=True)
    x.prod(1).sum().backward()
    y.prod(1).sum().backward()
    assert y.grad is not None
    assert grad_of(x) == y.grad.tolist()


def test_a_power_of_zero_is_one_and_has_a_gradient_of_zeros() -> None:
    x = Tensor([1.5, 0.0, float("nan")]).requires_grad_()
    one = x**0
    one.sum().backward()
    assert one.tolist() == [1.0, 1.0, 1.0]
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.0, 0.0]


def test_powers_are_finite_at_zero() -> None:
    base, exponent = leaf([0.0, 0.0, 2.0]), leaf([0.0, 2.0, 0.0])
    (base**exponent).sum().backward()
    assert grad_of(base) == [0.0, 0.0, 0.0]
    assert grad_of(exponent) == [0.0, 0.0, numpy.log(2.0)]


def test_empty_leaves_get_empty_gradients() -> None:
    x = ogive.zeros(0, 3, requires_grad=True)
    (x * 2).backward(ogive.zeros(0, 3))
    assert x.grad is not None and x.grad.shape == (0, 3)


def test_a_part_of_variable_length_gets_a_gradient_there() -> None:
    x = leaf([1.0, 2.0, 3.0, 4.0])
    n = Variable("n", 1, 4).bind(3)
    (x[:n] * x[:n]).sum().backward()
    assert grad_of(x) == [2.0, 4.0, 6.0, 0.0]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x @ x.T).softmax(-1).square().sum(),
        lambda x: x.cumsum(0).square().sum(),
        lambda x: x.cumprod(0).sum(),
        lambda x: x.prod(0).sum(),
        lambda x: x.amax(0).sum(),
    ],
    ids=["product", "cumsum", "cumprod", "prod", "amax"],
)
def test_rules_hold_for_variable_lengths(function: Callable[[Any], Any]) -> None:
    values = numpy.random.default_rng(0).normal(size=(5, 3))
    x, y = leaf(values), torch.tensor(values, requires_grad=True)
    function(x[: Variable("n", 1, 5).bind(3)]).backward()
    function(y[:3]).backward()
    assert y.grad is not None
    numpy.testing.assert_allclose(grad_of(x), y.grad.numpy(), atol=1e-12)


def test_a_chain_of_100000_nodes_works() -> None:
    x = leaf([1.0])
    y = x
    for _ in range(50_000):
        y = (y * 1.0) + 0.0
    y.sum().backward()
    assert x.grad is not None
    # Realizing that many is another matter; the graph alone says that the walk went through.
    assert len(x.grad.node.walk()) > 50_000


# Modes


def test_nothing_flows_through_what_is_made_under_no_grad() -> None:
    x = leaf([1.0, 2.0])
    with ogive.no_grad():
        y = x * 2
        assert not ogive.is_grad_enabled()
        with ogive.enable_grad():
            z = x * 3
    assert ogive.is_grad_enabled()
    assert (y.requires_grad, z.requires_grad) == (False, True)
    (y * z).sum().backward()
    assert grad_of(x) == [6.0, 12.0]


def test_no_grad_decorates_functions() -> None:
    x = leaf([1.0])

    @ogive.no_grad()
    def double() -> Tensor:
        return x * 2

    assert not double().requires_grad and ogive.is_grad_enabled()


def test_recording_is_switched_for_a_while_or_for_good() -> None:
    x = leaf([1.0])
    with ogive.set_grad_enabled(False):
        assert not (x * 2).requires_grad
        with ogive.inference_mode(False):
            assert (x * 2).requires_grad
    ogive.set_grad_enabled(False)
    assert not ogive.is_grad_enabled()
    ogive.set_grad_enabled(True)
    assert (x * 2).requires_grad

    @ogive.set_grad_enabled(False)
    def switched() -> Tensor:
        return x * 2

    @ogive.inference_mode
    def inferred() -> Tensor:
        return x * 2

    assert ogive.is_grad_enabled()
    assert not switched().requires_grad and not inferred().requires_grad


def test_a_result_is_cut_off_in_place() -> None:
    x = leaf([2.0])
    y = x * x
    z = y * 3
    assert not y.detach_().requires_grad
    (y * x).sum().backward()
    assert grad_of(x) == [4.0] and z.requires_grad
    assert not x.detach_().requires_grad


def test_a_decorated_function_gives_each_thread_back_its_own_mode() -> None:
    inside, leave = threading.Barrier(2), threading.Event()

    @ogive.no_grad()
    def wait(last: bool) -> None:
        inside.wait(10)
        assert not last or leave.wait(10)

    def work() -> None:
        with ogive.no_grad():
            wait(last=True)
            modes.append(ogive.is_grad_enabled())

    modes: list[bool] = []
    other = threading.Thread(target=work)
    other.start()
    wait(last=False)
    assert ogive.is_grad_enabled()
    leave.set()
    other.join()
    assert modes == [False]


def test_no_grad_of_one_thread_is_not_that_of_another() -> None:
    x = leaf([1.0])
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with ogive.no_grad():
            inside.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    try:
        assert (x * 2).requires_grad
    finally:
        done.set()
        thread.join()


def test_values_assigned_under_no_grad_are_constants() -> None:
    x = leaf([1.0, 2.0])
    average = ogive.zeros(2, dtype="float64").contiguous().realize()
    with ogive.no_grad():
        average.assign(average * 0.5 + x)
    (average * x).sum().backward()
    assert grad_of(x) == [1.0, 2.0]


def test_detached_tensors_are_constants() -> None:
    x = leaf([3.0])
    (x.detach() * x).sum().backward()
    assert grad_of(x) == [3.0]


def test_leaves_change_in_place_under_no_grad_and_stay_leaves() -> None:
    x = leaf([1.0, 2.0])
    for _ in range(3):
        (x * x).sum().backward()
        with ogive.no_grad():
            assert x.grad is not None
            x.assign(x - 0.25 * x.grad)
        x.grad = None
        x.realize()
    assert x.is_leaf and x.requires_grad
    assert x.tolist() == [0.125, 0.25]


def test_part_of_a_leaf_changes_under_no_grad() -> None:
    x = leaf([1.0, 2.0, 3.0, 4.0])
    with ogive.no_grad():
        x[1:3] = 0.0
        x[::3] = 7.0
    (x * x).sum().backward()
    assert grad_of(x) == [14.0, 0.0, 0.0, 14.0]


def test_threads_differentiate_side_by_side() -> None:
    shared = leaf([1.0, 2.0, 3.0])
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        own = leaf([float(number)])
        for _ in range(20):
            own.grad = None
            (shared * own).sum().backward()
            results[number] = grad_of(own)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [6.0] for number in range(4)}
    assert shared.grad is not None
    assert shared.grad.tolist() == [120.0] * 3


# Flags


def test_flags_tell_leaves_from_results() -> None:
    x = leaf([1.0])
    plain = Tensor([1.0])
    assert (x.is_leaf, (x * 2).is_leaf, plain.is_leaf) == (True, False, True)
    assert (x.requires_grad, (x * 2).requires_grad, plain.requires_grad) == (True, True, False)
    assert not (x > 0).requires_grad


def test_a_leaf_that_nobody_has_any_more_gets_nothing() -> None:
    x = leaf([2.0])
    y = (leaf([1.0]) * x).sum()
    assert (leaf([1.0]) * 2).requires_grad
    y.backward()
    (leaf([1.0]) * 2).sum().backward()
    assert grad_of(x) == [1.0]


def test_a_leaf_can_be_frozen() -> None:
    x, y = leaf([1.0]), leaf([2.0])
    x.requires_grad_(False)
    (x * y).sum().backward()
    assert x.grad is None and grad_of(y) == [1.0]


KEPT = leaf([1.0])
ERRORS: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (GradientError, "only floats have gradients", lambda: Tensor([1], requires_grad=True)),
    (GradientError, r"needs a gradient of that shape", lambda: leaf([1.0, 2.0]).backward()),
    (GradientError, "reaches no tensor that requires", lambda: Tensor([1.0]).sum().backward()),
    (GradientError, "only a leaf", lambda: (leaf([1.0]) * 2).requires_grad_(False)),
    (GradientError, r"inside ogive.no_grad\(\)", lambda: leaf([1.0]).assign(2.0)),
    (GradientError, r"inside ogive.no_grad\(\)", lambda: leaf([1.0]).__setitem__(0, 2.0)),
    (ShapeError, r"has the shape \(2,\)", lambda: leaf([1.0]).backward(Tensor([1.0, 2.0]))),
    (DtypeError, "float32", lambda: leaf([1.0]).backward(Tensor([1.0]))),
    (ArgumentTypeError, "not int", lambda: setattr(leaf([1.0]), "grad", 5)),
    (
        GradientError,
        "halve, a function of ogive.custom, has no gradient",
        lambda: ogive.custom(halve, [KEPT], ((1,), "float64")).sum().backward(),
    ),
]


def halve(values: Any, result: Any) -> None:
    result[...] = values / 2


@pytest.mark.parametrize(("error", "words", "action"), ERRORS)
def test_errors_say_what_is_wrong(
    error: type[Exception], words: str, action: Callable[[], Any]
) -> None:
    with raises(error, match=words):
        action()
