"""Tensors over several devices: how they lie, what is computed where, gradients, errors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Mesh, Tensor, nn
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.passes.regions.slots import CopyStep
from ogive.config import PLANNERS
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    DeviceError,
    DivisionByZeroError,
    ShapeError,
)
from ogive.tensor.core import hold
from tests.raising import raises

TWO = ("CPU:0", "CPU:1")


def values(*shape: int, seed: int = 0) -> NDArray[numpy.float32]:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


X, W = values(4, 6), values(6, 8, seed=1)


def axes_of(tensor: Tensor) -> tuple[int | None, ...]:
    assert tensor.sharding is not None
    return tensor.sharding.axes


def parts_of(tensor: Tensor) -> list[Tensor]:
    """What each device holds of a realized tensor."""
    assert tensor.sharding is not None
    places = zip(tensor.node.parts, tensor.sharding.devices, strict=True)
    return [hold(part, device) for part, device in places]


def test_a_tensor_says_how_it_lies() -> None:
    x = Tensor(X).shard(TWO, 0)
    assert x.sharding is not None and Tensor(X).sharding is None
    assert x.sharding.devices == ("CPU", "CPU:1")
    assert (x.sharding.axes, x.sharding.part_shape, x.shape) == ((0,), (2, 6), (4, 6))
    assert "sharding=Sharding(axis 0 in 2 over CPU, CPU:1; parts of shape (2, 6))" in repr(x)
    assert "copies on 2 over CPU, CPU:1" in repr(Tensor(X).shard(TWO, None))


def test_each_device_holds_its_part() -> None:
    x = Tensor(X).shard(TWO, 1).realize()
    assert x.is_realized
    for number, (part, device) in enumerate(zip(parts_of(x), ("CPU", "CPU:1"), strict=True)):
        assert memory_leaf(part.node).device == device
        numpy.testing.assert_array_equal(part.numpy(), X[:, 3 * number : 3 * number + 3])


@pytest.mark.parametrize("planner", PLANNERS)
def test_elementwise_operations_stay_where_they_are(planner: str) -> None:
    x = Tensor(X).shard(TWO, 0)
    y = (x * 2 + x.exp()).realize(Config(planner=planner))
    assert y.sharding == x.sharding
    numpy.testing.assert_allclose(y.numpy(), X * 2 + numpy.exp(X), rtol=1e-6)


@pytest.mark.parametrize(("dim", "axes"), [(0, (None,)), (1, (0,))])
def test_a_sum_over_the_divided_axis_is_the_same_on_all_devices(
    dim: int, axes: tuple[int | None, ...]
) -> None:
    total = Tensor(X).shard(TWO, 0).sum(dim)
    assert axes_of(total) == axes
    numpy.testing.assert_allclose(total.numpy(), X.sum(dim), rtol=1e-5, atol=1e-6)
    if axes == (None,):
        first, second = parts_of(total)
        numpy.testing.assert_array_equal(first.numpy(), second.numpy())


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [(0, None, 0), (None, 1, 1), (1, 0, None), (None, None, None)],
)
def test_products_are_divided_by_rows_columns_or_the_sum(
    left: int | None, right: int | None, result: int | None
) -> None:
    product = Tensor(X).shard(TWO, left) @ Tensor(W).shard(TWO, right)
    assert axes_of(product) == (result,)
    numpy.testing.assert_allclose(product.numpy(), X @ W, rtol=1e-4, atol=1e-5)


def test_a_product_divided_by_rows_copies_only_what_is_gathered() -> None:
    x, w = Tensor(X).shard(TWO, 0).realize(), Tensor(W).shard(TWO, None).realize()
    gathered = (x @ w).to("CPU:1").prepare()
    assert sum(isinstance(step, CopyStep) for step in gathered.steps) == 1  # the part of CPU


@pytest.mark.parametrize("axis", [0, 1, None])
def test_gradients_are_those_of_one_device_and_lie_as_their_leaves(axis: int | None) -> None:
    x, w = Tensor(X).shard(TWO, axis).requires_grad_(), Tensor(W).shard(TWO, None).requires_grad_()
    ((x @ w).softmax(-1) ** 2).sum().backward()
    plain = [Tensor(value, requires_grad=True) for value in (X, W)]
    ((plain[0] @ plain[1]).softmax(-1) ** 2).sum().backward()
    for one, other in zip((x, w), plain, strict=True):
        assert one.grad is not None and other.grad is not None
        assert one.grad.sharding == one.sharding
        numpy.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_flow_back_to_a_tensor_of_one_device() -> None:
    x = Tensor(X, requires_grad=True)
    y = (x.shard(TWO, 0) ** 2).realize()
    (y * 3).sum().to("CPU").realize().backward()
    assert x.grad is not None and x.grad.device == "CPU"
    numpy.testing.assert_allclose(x.grad.numpy(), 6 * X, rtol=1e-6)


def test_what_follows_from_a_computed_value_keeps_its_history() -> None:
    x = Tensor(X).shard(TWO, 0).requires_grad_()
    y = (x * x).realize()
    z = y.exp().realize()
    total = z.sum().to("CPU:1").realize()
    total.backward()
    assert x.grad is not None
    numpy.testing.assert_allclose(x.grad.numpy(), 2 * X * numpy.exp(X * X), rtol=1e-4)


def test_a_mesh_divides_two_axes() -> None:
    mesh = Mesh(("data", 2), ("model", 2))
    x, w = Tensor(X).shard(mesh, ("data", None)), Tensor(W).shard(mesh, (None, "model"))
    product = (x @ w).realize()
    assert axes_of(product) == (0, 1)
    assert product.sharding is not None and product.sharding.part_shape == (2, 4)
    numpy.testing.assert_allclose(product.numpy(), X @ W, rtol=1e-4, atol=1e-5)
    assert axes_of(product.sum(1)) == (0, None)
    assert axes_of(Tensor(X).shard(mesh, None)) == (None, None)


def test_a_tensor_changes_its_sharding() -> None:
    x = Tensor(X).shard(TWO, 0).realize()
    columns = x.shard(TWO, 1)
    assert axes_of(columns) == (1,)
    assert x.shard(TWO, 0) is x
    assert Tensor(X).shard_like(columns).sharding == columns.sharding
    elsewhere = columns.shard(("CPU:2", "CPU:3"), 0)
    for tensor in (columns, elsewhere, x.shard(("CPU:1",), 0), x.to("CPU:1")):
        numpy.testing.assert_array_equal(tensor.numpy(), X)
    assert x.shard(("CPU:1",), 0).device == "CPU:1"
    assert x.shard(("CPU:1",), 0).sharding is None
    assert Tensor(X).shard_like(x.to("CPU:1")).device == "CPU:1"


def test_assignment_keeps_the_sharding_and_old_values() -> None:
    x = Tensor(X).shard(TWO, 0).realize()
    before, view = x * 2, x[1]
    x.assign(x.shard(TWO, None) + 1)
    x[0] = 5
    assert axes_of(x) == (0,)
    expected = X + 1
    expected[0] = 5
    numpy.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)
    numpy.testing.assert_allclose(before.numpy(), X * 2, rtol=1e-6)
    numpy.testing.assert_allclose(view.numpy(), expected[1], rtol=1e-6)


def test_numbers_go_with_tensors_over_devices_and_others_do_not() -> None:
    x = Tensor(X).shard(TWO, 0)
    numpy.testing.assert_allclose((x * Tensor(2.0)).numpy(), X * 2)
    apart = r"tensors are on CPU\+CPU:1 and CPU; move one with shard_like"
    with raises(DeviceError, match=apart):
        _ = x + Tensor(X)


@pytest.mark.parametrize("devices", [("CPU",), TWO, ("CPU:0", "CPU:1", "CPU:2", "CPU:3")])
def test_random_numbers_do_not_depend_on_the_devices(devices: Sequence[str]) -> None:
    ogive.manual_seed(7)
    expected = ogive.rand(4, 6).numpy()
    ogive.manual_seed(7)
    x = ogive.zeros(4, 6).shard(devices, 0)
    numpy.testing.assert_array_equal((ogive.rand(4, 6, device=x.device) + x).numpy(), expected)


def test_a_copy_of_a_tensor_lies_as_it_does() -> None:
    x = Tensor(X).shard(TWO, 0).requires_grad_()
    again = copy.deepcopy(x)
    assert again.sharding == x.sharding and again.requires_grad
    numpy.testing.assert_array_equal(again.numpy(), X)


def test_what_cannot_stay_divided_is_gathered_and_logged(
    capfd: pytest.CaptureFixture[str]
) -> None:
    x = Tensor(X).shard(TWO, 0).realize()
    total = x.cumsum(0).realize(Config(log="shard"))
    numpy.testing.assert_allclose(total.numpy(), X.cumsum(0), rtol=1e-5, atol=1e-6)
    assert "ogive: shard: SCAN_AXIS of shape (4, 6): axis 0 of (4, 6) is gathered" in (
        capfd.readouterr().err
    )


def test_an_index_finds_rows_of_a_table_on_every_device() -> None:
    table = Tensor(X).shard(TWO, None).requires_grad_()
    numbers = numpy.array([3, 1, 3, 0])
    rows = table[Tensor(numbers).shard(TWO, 0)]
    assert axes_of(rows) == (0,)
    numpy.testing.assert_array_equal(rows.numpy(), X[numbers])
    (rows * 2).sum().backward()
    expected = numpy.zeros_like(X)
    numpy.add.at(expected, numbers, 2)
    assert table.grad is not None
    numpy.testing.assert_array_equal(table.grad.numpy(), expected)


def _positions(x: Tensor) -> Tensor:
    rows, columns = x.nonzero(as_tuple=True)
    both: Tensor = x.nonzero()
    return ogive.cat([both.ravel(), rows, columns])


def _written(x: Tensor) -> Tensor:
    y = x.clone()
    y[numpy.array([True, False, True, False])] = 5.0
    y[:, [0, -1]] = y[:, [1, 2]]
    return y.index_put(([0, 1], Tensor([2, 3], device=x.device)), 7.0)


HERE_AND_THERE: dict[str, Callable[[Tensor], Tensor]] = {
    "transform": lambda x: ogive.fft.fft(x).abs(),
    "long transform": lambda x: ogive.fft.rfft(x.repeat(1, 12)).abs(),
    "transform by convolution": lambda x: ogive.fft.fft(x.repeat(1, 12)[:, :67]).abs(),
    "search": lambda x: ogive.searchsorted(x.sort(-1)[0], x),
    "mask": lambda x: x[x > 0],
    "mask of NumPy's": lambda x: x[numpy.array([True, False, True, False])],
    "positions of NumPy's": lambda x: x[numpy.array([3, -1, 0])],
    "writing": _written,
    "unique": lambda x: ogive.cat([y.cast(x.dtype) for y in x.round().unique(
        return_inverse=True, return_counts=True)[::2]]),
    "nonzero": _positions,
    "repeated": lambda x: (x[0] > 0).cast("int64").repeat_interleave(),
    "new": lambda x: x.new_tensor([1, 2]) + 1,
    "histogram": lambda x: x.histogram(Tensor([-1.0, 0.0, 1.0], device=x.device)).hist,
    "of no elements": lambda x: x[:0].sum(0) + x[:, :0].sum(1).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", HERE_AND_THERE)
@pytest.mark.parametrize("devices", [("CPU:1",), TWO])
def test_what_a_function_makes_by_itself_is_where_its_operand_is(
    name: str, devices: tuple[str, ...]
) -> None:
    function = HERE_AND_THERE[name]
    there = Tensor(X).shard(devices, 0)
    result = function(there)
    assert result.device == there.device
    numpy.testing.assert_allclose(result.numpy(), function(Tensor(X)).numpy(), rtol=1e-4, atol=1e-5)


def test_a_sum_of_no_elements_has_a_gradient() -> None:
    x = Tensor(X).shard(TWO, 0).requires_grad_()
    (x[:0].sum(0) * 2 + x.sum(0)).sum().backward()
    assert x.grad is not None and x.grad.sharding == x.sharding
    numpy.testing.assert_array_equal(x.grad.numpy(), numpy.ones_like(X))


def test_a_fault_on_a_device_names_the_line() -> None:
    x, zero = Tensor([6, 4]).shard(TWO, 0), Tensor([1, 0]).shard(TWO, 0)
    with raises(
        DivisionByZeroError, match="by a zero element",
        quoting=r"test_sharded_tensors\.py:\d+: .*x // zero",
    ):
        (x // zero).realize()


def test_a_function_of_the_users_is_called_once() -> None:
    calls: list[int] = []

    def double(x: NDArray[numpy.float32], result: NDArray[numpy.float32]) -> None:
        calls.append(1)
        result[...] = 2 * x

    x = Tensor(X).shard(TWO, 0)
    result = ogive.custom(double, [x], (X.shape, "float32"))
    numpy.testing.assert_allclose((result + x).numpy(), 3 * X, rtol=1e-6)
    assert len(calls) == 1


def test_the_same_graph_is_compiled_once() -> None:
    results = []
    for seed in range(3):
        x = Tensor(values(10, 6, seed=seed)).shard(TWO, 0).realize()
        before = ogive.counters()["schedules_created"]
        results.append((x.tanh() * 3).sum(0).realize())
        created = ogive.counters()["schedules_created"] - before
        assert created == 0 or seed == 0


def test_captured_functions_shard_inside() -> None:
    @ogive.jit
    def total(x: Tensor) -> Tensor:
        return (x.shard(TWO, 0) * 2).sum(1).to("CPU")

    for seed in range(3):
        x = values(4, 6, seed=seed)
        numpy.testing.assert_allclose(total(Tensor(x)).numpy(), (x * 2).sum(1), rtol=1e-4)


def test_plans_give_tensors_of_one_device() -> None:
    x = Tensor(X).shard(TWO, 0)
    with raises(DeviceError, match=r"prepare: a tensor of shape \(4, 6\) lies over"):
        x.prepare()


def test_errors_name_shapes_devices_and_mesh() -> None:
    x = Tensor(X)
    with raises(ShapeError, match=r"axis 0 of shape \(4, 6\) has the length 4, which 3 of"):
        x.shard(("CPU:0", "CPU:1", "CPU:2"), 0)
    with raises(AxisError, match="has no axis 2"):
        x.shard(TWO, 2)
    with raises(DeviceError, match="CPU comes twice"):
        x.shard(("CPU", "CPU:0"))
    with raises(DeviceError, match="unknown device 'CPUX'"):
        x.shard(("CPU", "CPUX"))
    with raises(ArgumentTypeError, match="takes a tuple of names of devices"):
        x.shard("CPU:1")
    mesh = Mesh(("data", 2), ("model", 2))
    with raises(ArgumentError, match=r"Mesh\(data=2, model=2 over CPU, .* no axis 'modle'"):
        x.shard(mesh, ("data", "modle"))
    with raises(ArgumentError, match=r"both axis 0 and axis 1 of shape \(4, 6\)"):
        x.shard(mesh, ("data", "data"))
    with raises(ShapeError, match=r"3 entries, and a tensor of shape \(4, 6\) has 2"):
        x.shard(mesh, ("data", None, "model"))
    with raises(DeviceError, match="takes 4 devices, and 2 were given: CPU, CPU:1"):
        Mesh(("data", 2), ("model", 2), devices=TWO)
    with raises(ArgumentError, match="'data' has 0 places"):
        Mesh(("data", 0))
    with raises(ArgumentError, match="with different names"):
        Mesh(("data", 2), ("data", 2))
    with raises(ArgumentTypeError, match="axes with a name and a size"):
        Mesh(2)  # type: ignore[arg-type]


def test_a_value_that_is_read_twice_at_each_of_many_steps_is_placed_in_no_time() -> None:
    x = Tensor([1.0, 2.0]).shard(TWO, 0)
    for _ in range(60):
        x = x + x * 2
        x = x - x.sum()
    assert axes_of(x) == (0,)


WRITES: dict[str, Callable[[Any], object]] = {
    "fill_": lambda x: x.fill_(3.0),
    "a broadcast value": lambda x: x.copy_(x.sum(0)),
    "x[:] = number": lambda x: x.__setitem__(slice(None), 3.0),
    "x[2:] = number": lambda x: x.__setitem__(slice(2, None), 3.0),
    "a mask": lambda x: x.__setitem__(x > 3, 0.0),
    "cumsum_": lambda x: x.cumsum_(0),
    "a view": lambda x: x.T.copy_(x.sum(1)),
    "a value that lies otherwise": lambda x: x.copy_((x + 1).shard(TWO, 1)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_written_to_lies_as_it_did(write: Callable[[Any], object]) -> None:
    values = numpy.arange(24.0).reshape(4, 6)
    x = Tensor(values).shard(TWO, 0)
    if write is WRITES["a value that lies otherwise"]:
        expected = values + 1
    else:
        plain = Tensor(values)
        write(plain)
        expected = plain.numpy()
    write(x)
    assert x.sharding is not None and x.sharding.axes == (0,)
    numpy.testing.assert_array_equal(x.numpy(), expected)


def test_parameters_of_which_there_are_views_move_too() -> None:
    layer = nn.Linear(4, 2)
    row = layer.weight[0]
    expected = row.numpy()
    layer.shard(TWO)
    assert {parameter.device for parameter in layer.parameters()} == {"CPU+CPU:1"}
    assert row.device == "CPU"
    numpy.testing.assert_array_equal(row.numpy(), expected)
    assert layer.to("CPU:1").weight.device == "CPU:1"


def test_a_parameter_lies_as_the_tensor_that_it_is_made_of() -> None:
    x = Tensor(X).shard(TWO, 0)
    assert nn.Parameter(x).sharding == x.sharding
    assert nn.Parameter(Tensor(X, device="CPU:1")).device == "CPU:1"
    model = nn.Linear(4, 2).shard(TWO)
    assert copy.deepcopy(model).weight.sharding == model.weight.sharding


def test_a_run_on_one_device_stores_nothing_of_several_that_shares_a_mask_with_it() -> None:
    values = numpy.arange(24.0).reshape(4, 6)
    expected = numpy.concatenate([values, values], 1)
    whole, plain = Tensor(values).shard(TWO, 0), Tensor(values)
    waiting = ogive.cat([whole, whole], 1)
    for number in range(1, 4):
        joined = ogive.cat([plain * number, plain], 1)
        assert joined.sum().item() == (number + 1) * values.sum()
    numpy.testing.assert_array_equal(waiting.numpy(), expected)


def test_the_same_mesh_gives_the_same_bits_in_every_run() -> None:
    rng = numpy.random.default_rng(3)
    mesh = Mesh(("data", 2), ("model", 2))
    rows, columns = [rng.standard_normal((64, 64)).astype("float32") for _ in range(2)]

    def compute(threads: int) -> list[bytes]:
        x = Tensor(rows).shard(mesh, ("data", "model"))
        y = Tensor(columns).shard(mesh, ("model", None))
        made = [x @ y, x.sum(), (x @ y).softmax(0).sum(0), (x * x).mean((0, 1))]
        return [each.realize(Config(threads=threads)).numpy().tobytes() for each in made]

    first = compute(1)
    assert all(compute(threads) == first for threads in (1, 2, 4))
