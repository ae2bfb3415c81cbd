"""Elementwise work over the same elements is one kernel with several stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ogive
from ogive import Beam, Config, Tensor
from ogive.compiler.engine.steps.compiled_graph import Launch
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.store.encoding import DamagedRecord
from ogive.compiler.store.records import pack_kernel, unpack_kernel
from ogive.errors import DivisionByZeroError, OgiveError
from ogive.nn import Parameter
from ogive.optim import AdamW
from tests.compiler.engine.counting import Count
from tests.raising import raises

CHECKED = Config(verify=True, disk_cache=False)
Array = Any


def data(*shape: int, seed: int = 0) -> Array:
    return numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32)


def stores(*tensors: Tensor, config: Config = CHECKED) -> list[int]:
    """How many buffers each kernel writes, after a run."""
    plan = Tensor.prepare_batch(list(tensors), config)
    plan.execute()
    return [len(step.written) for step in plan.steps if isinstance(step, Launch)]


def same(tensor: Tensor, wanted: Array) -> None:
    numpy.testing.assert_allclose(tensor.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_two_results_of_one_computation_are_one_kernel() -> None:
    x = data(37, 5)
    first = Tensor(x).exp()
    second = first + 1
    assert stores(first, second) == [2]
    same(first, numpy.exp(x))
    same(second, numpy.exp(x) + 1)


def test_row_programs_that_read_each_others_results_are_one_kernel() -> None:
    x = data(5, 40, seed=1)
    tensor = Tensor(x)
    peak = tensor.amax(1, keepdim=True)
    total = (tensor - peak).exp().sum(1)
    assert stores(peak, total) == [2]
    same(peak, x.max(1, keepdims=True))
    same(total, numpy.exp(x - x.max(1, keepdims=True)).sum(1))
    mean = tensor.mean(1, keepdim=True)
    squares = ((tensor - mean) * (tensor - mean)).sum(1)
    assert stores(mean, squares, mean + 1) == [2, 1]
    same(squares, 40 * x.var(1))


def test_work_on_parts_of_one_row_is_one_kernel() -> None:
    """A step of an LSTM: the gates are quarters of one product."""
    gates, before = data(2, 64, seed=4), data(2, 16, seed=5)
    enter, leave, forget, new = Tensor(gates).chunk(4, 1)
    cell = forget.sigmoid() * Tensor(before) + enter.sigmoid() * new.tanh()
    shown = leave.sigmoid() * cell.tanh()
    assert stores(cell, shown) == [2]

    def sigmoid(x: Array) -> Array:
        return 1 / (1 + numpy.exp(-x))

    i, o, f, c = numpy.split(gates, 4, 1)
    wanted = sigmoid(f) * before + sigmoid(i) * numpy.tanh(c)
    same(cell, wanted)
    same(shown, sigmoid(o) * numpy.tanh(wanted))


def test_a_result_that_is_read_at_other_places_is_as_it_was() -> None:
    x, y = data(6, 12, seed=6), data(6, 6, seed=7)
    left, right = Tensor(x)[:, 3:9], Tensor(y)
    first = left.exp() + right
    wanted = numpy.exp(x[:, 3:9]) + y
    readers: list[tuple[Callable[[Tensor], Tensor], Callable[[Array], Array]]] = [
        (lambda t: t.T, lambda a: a.T),
        (lambda t: t.flip(1), lambda a: a[:, ::-1]),
        (lambda t: t.roll(1, 1), lambda a: numpy.roll(a, 1, 1)),
        (lambda t: t[:, :1].expand(6, 6), lambda a: numpy.repeat(a[:, :1], 6, 1)),
        (lambda t: t[:, 1:].pad((0, 1)), lambda a: numpy.pad(a[:, 1:], ((0, 0), (0, 1)))),
    ]
    for moved, moved_array in readers:
        second = moved(first) * right + left
        stores(first, second)
        same(first, wanted)
        same(second, moved_array(wanted) * y + x[:, 3:9])


def test_row_programs_over_other_rows_stay_apart() -> None:
    x, y = data(6, 6, seed=2), data(6, 6, seed=3)
    left, right = Tensor(x), Tensor(y)
    peak = left.amax(1, keepdim=True)
    others = (right - peak).exp().sum(1)
    assert stores(peak, others) == [1, 1]
    same(others, numpy.exp(y - x.max(1, keepdims=True)).sum(1))
    peaks = left.amax(1)
    turned = (left - peaks.reshape(1, 6)).exp().sum(1)
    assert max(stores(peaks, turned)) == 1
    same(turned, numpy.exp(x - x.max(1)).sum(1))
    product = left @ right
    assert stores(product, product * (left @ right.T)) == [1, 1]


def test_steps_that_each_read_all_of_the_one_before_stay_apart() -> None:
    """In one kernel each element would compute the past for itself, 16 times at each step."""
    weight, inputs = Tensor(data(16, 16)), Tensor(data(4, 16))
    state, expected = Tensor(numpy.zeros((1, 16), numpy.float32)), numpy.zeros((1, 16))
    for step in range(4):
        state = (inputs[step : step + 1] + state @ weight).tanh()
        expected = numpy.tanh(inputs.numpy()[step : step + 1] + expected @ weight.numpy())
    assert len(state.prepare().kernels) == 4
    numpy.testing.assert_allclose(state.numpy(), expected, rtol=1e-4)


def test_results_of_one_buffer_in_other_shapes_and_dtypes_are_one_kernel() -> None:
    x = data(12, 4)
    tensor = Tensor(x)
    flat, halves, signs = tensor.reshape(48) * 2, tensor.half() + 1, tensor.reshape(4, 12) > 0
    assert stores(flat, halves, signs) == [3]
    same(flat, x.reshape(48) * 2)
    numpy.testing.assert_array_equal(halves.numpy(), x.astype(numpy.float16) + numpy.float16(1))
    numpy.testing.assert_array_equal(signs.numpy(), x.reshape(4, 12) > 0)


def test_work_that_shares_nothing_stays_apart() -> None:
    x, y = Tensor(data(6, 6)), Tensor(data(6, 6, seed=1))
    assert stores(x + 1, y * 2) == [1, 1]
    scale = Tensor([2.0])
    assert stores(x * scale, y - scale) == [1, 1]


def test_rows_for_all_rows_stay_apart() -> None:
    x = data(6, 6)
    tensor = Tensor(x)
    first, second = tensor.exp(), tensor + tensor[0]
    assert stores(first, second) == [1, 1]
    same(second, x + x[0])


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("size", [2, 17, 1000, 70_001])
def test_an_optimizer_updates_a_parameter_in_one_kernel(threads: int, size: int) -> None:
    m, v, p, g = [data(size, seed=seed) for seed in range(4)]
    mean, square, parameter, gradient = map(Tensor, (m, v * v, p, g))
    mean.assign(mean * 0.9 + gradient * 0.1)
    square.assign(square * 0.99 + gradient * gradient * 0.01)
    parameter.assign(parameter - mean / (square.sqrt() + 1e-3))
    config = Config(verify=True, disk_cache=False, threads=threads)
    assert stores(parameter, mean, square, config=config) == [3]
    m, v = m * 0.9 + g * 0.1, v * v * 0.99 + g * g * 0.01
    same(mean, m)
    same(square, v)
    same(parameter, p - m / (numpy.sqrt(v) + 1e-3))


def test_the_kernel_of_an_optimizer_serves_every_shape() -> None:
    shapes = [(3, 4), (50,), (2, 3, 5), (128, 9)]
    parameters = [Parameter(Tensor(data(*shape))) for shape in shapes]
    optimizer = AdamW(parameters)

    @ogive.jit
    def step(*gradients: Tensor) -> None:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()

    with Count() as count:
        for _ in range(3):
            step(*[Tensor(data(*shape, seed=5)) for shape in shapes])
    assert count["kernels_compiled"] <= 4


def test_a_value_that_only_the_kernel_reads_is_not_stored() -> None:
    x, y = data(40), data(40, seed=1)
    a, b = Tensor(x), Tensor(y)
    left, right = a * 1, b * 1
    a.assign(right)
    b.assign(left)
    assert stores(a, b) == [2]
    same(a, y)
    same(b, x)


def test_the_old_version_is_read_before_it_is_overwritten() -> None:
    x, y = data(333), data(333, seed=1)
    a, b = Tensor(x), Tensor(y)
    b.assign(a * 3)
    a.assign(a + 1)
    c = a - b
    assert stores(a, b, c) == [3]
    same(b, x * 3)
    same(a, x + 1)
    same(c, x + 1 - x * 3)


def test_versions_of_one_buffer_stay_apart() -> None:
    x = data(90)
    a = Tensor(x)
    a.assign(a + 1)
    a.assign(a * a)
    assert stores(a) == [1, 1]
    same(a, (x + 1) ** 2)


def test_a_constant_that_is_assigned_is_read_as_a_value() -> None:
    x = data(20_000)  # more than is written directly
    a, b = Tensor(x), Tensor(x)
    a.assign(ogive.full((20_000,), 2.5))
    b.assign(b + a.exp())
    assert stores(a, b) == [2]
    same(a, numpy.full(20_000, 2.5))
    same(b, x + numpy.exp(numpy.float32(2.5)))


def test_who_reads_between_sees_the_version_between() -> None:
    x, y = data(50), data(50, seed=1)
    a, b = Tensor(x), Tensor(y)
    before = a.sum()
    a.assign(a + b)
    total = a.sum()
    b.assign(b * a + total)
    a.assign(a - before)
    stores(a, b, total)
    same(total, (x + y).sum())
    same(b, y * (x + y) + (x + y).sum())
    same(a, x + y - x.sum())


def test_a_store_waits_for_a_product_that_reads_what_it_overwrites() -> None:
    w, g = data(8, 8), data(8, 8, seed=1)
    weight, momentum, gradient = Tensor(w), Tensor(g * 2), Tensor(g)
    below = gradient @ weight
    momentum.assign(momentum * 0.5 + gradient)
    weight.assign(weight - momentum)
    written = stores(weight, momentum, below, config=Config(verify=True, pack_operands=False))
    assert sorted(written) == [1, 2]
    same(below, g @ w)
    same(weight, w - 2 * g)


def test_windows_of_one_buffer_are_read_where_they_are() -> None:
    x = data(20)
    base = Tensor(x)
    low, high = base[:10], base[10:]
    total, difference = low + high, low - high
    assert stores(total, difference) == [2]
    same(total, x[:10] + x[10:])
    base.assign(base * 2)
    part = base[5:15] + 0
    whole = base + 1
    stores(base, part, whole)
    same(part, x[5:15] * 2)
    same(whole, x * 2 + 1)


def test_an_assignment_to_a_part_stays_apart() -> None:
    x = data(20)
    base, other = Tensor(x), Tensor(x[:10])
    base[2:12] = other * 2
    other.assign(other + 1)
    assert 2 not in stores(base, other)
    same(base, numpy.concatenate([x[:2], x[:10] * 2, x[12:]]))
    same(other, x[:10] + 1)


def test_kernels_stay_small() -> None:
    x = data(64)
    tensor = Tensor(x)
    results = [tensor * number for number in range(2, 22)]
    written = stores(*results)
    assert sum(written) == 20
    assert max(written) == 8
    for number, result in enumerate(results, 2):
        same(result, x * number)
    few = Config(verify=True, disk_cache=False, kernel_node_limit=2)
    assert max(stores(*[tensor + number for number in range(1, 6)], config=few)) == 2


def test_a_fault_takes_back_what_follows_from_it_and_nothing_else() -> None:
    a, b, divisor = Tensor([1, 2, 3]), Tensor([4, 5, 6]), Tensor([1, 0, 1])
    quotient = b // divisor
    a.assign(a + 1)
    b.assign(a * 10 + quotient)
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([a, b], CHECKED)
    assert a.tolist() == [2, 3, 4]
    assert b.tolist() == [4, 5, 6]


def test_what_can_fault_is_not_beside_a_store() -> None:
    a, b, divisor = Tensor([6, 7, 8]), Tensor([1, 2, 3]), Tensor([1, 0, 1])
    a.assign(a // divisor)
    b.assign(b + divisor)
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([a, b], CHECKED)
    assert a.tolist() == [6, 7, 8]
    assert b.tolist() == [2, 2, 4]


def test_a_copy_for_other_readers_is_whole_before_the_store_begins() -> None:
    a = Tensor(data(100))
    old = a + 0
    a.assign(a * 2)
    a.realize(CHECKED)
    same(old, data(100))
    same(a, data(100) * 2)


def test_a_plan_with_several_stores_assigns_every_time() -> None:
    a, b = Tensor(data(10)), Tensor(data(10, seed=1))
    a.assign(a + 1)
    b.assign(b + a)
    plan = Tensor.prepare_batch([a, b], CHECKED)
    for _ in range(3):
        plan.execute()
    same(a, data(10) + 3)
    same(b, data(10, seed=1) + 3 * data(10) + 6)


def test_a_second_schedule_finds_the_kernel_on_disk(tmp_path: Any) -> None:
    config = Config(verify=True, schedule_cache=False)
    x = data(21, 4)
    for _ in range(2):
        a = Tensor(x)
        b = a * 2.71
        a.assign(a - 0.3)
        assert stores(a, b, config=config) == [2]
        same(a, x - 0.3)
        same(b, x * 2.71)


def test_a_kernel_that_says_it_writes_more_than_it_has_is_damaged() -> None:
    (launch,) = Tensor.prepare_batch([Tensor(data(5)) + 1], CHECKED).kernels
    record = launch.record
    assert unpack_kernel(pack_kernel(record)) == record
    for writes in (0, len(record.slots) + 1):
        with pytest.raises(DamagedRecord):
            unpack_kernel(pack_kernel(record._replace(writes=writes)))


def test_the_verifier_refuses_two_stores_to_one_buffer() -> None:
    memory = UOp(Op.PARAM, dtypes.float32, (), (0, 4))
    kept = [
        UOp(Op.ASSIGN, dtypes.void, (memory, UOp.const(dtypes.float32, number)))
        for number in (1.0, 2.0)
    ]
    with raises(OgiveError, match="stores to different buffers"):
        verify(UOp(Op.SINK, dtypes.void, tuple(kept)), "region")


Binary = Callable[[Any, Any], Any]
STEPS: tuple[Binary, ...] = (
    lambda x, y: x + y,
    lambda x, y: x * 0.5 - y,
    lambda x, y: x * y * 0.25 + 1,
    lambda x, y: y + 0,
    lambda x, y: x - y.sum() * 0.01,
)


@pytest.mark.parametrize("seed", range(40))
def test_random_assignments_agree_with_numpy(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    size = int(random.choice([3, 16, 100, 5000]))
    arrays: list[Array] = [random.normal(size=size) for _ in range(4)]
    tensors = [Tensor(array) for array in arrays]
    for _ in range(int(random.integers(3, 10))):
        left, right, target = [int(n) for n in random.integers(len(arrays), size=3)]
        function = STEPS[random.integers(len(STEPS))]
        value, made = function(arrays[left], arrays[right]), function(tensors[left], tensors[right])
        if target < 4 and random.random() < 0.6:
            arrays[target] = value
            tensors[target].assign(made)
        else:
            arrays.append(value)
            tensors.append(made)
    config = Config(verify=True, disk_cache=False, threads=int(random.choice([1, 2, 7])))
    asked = [tensor for tensor in tensors if random.random() < 0.7]
    Tensor.realize_batch(asked, config)
    for tensor, array in zip(tensors, arrays, strict=True):
        numpy.testing.assert_allclose(tensor.numpy(), array, rtol=1e-9, atol=1e-9)


def test_what_is_searched_for_is_merged_as_it_will_run() -> None:
    mean, square, gradient = [Tensor(data(200, seed=seed)).realize() for seed in range(3)]
    wanted = mean.numpy() * 0.9 + gradient.numpy() * 0.1
    mean.assign(mean * 0.9 + gradient * 0.1)
    square.assign(square * 0.99 + gradient * gradient * 0.01)
    searched = Config(search=Beam(1, 0.2), verify=True, disk_cache=False)
    assert stores(mean, square, config=searched) == [2]
    same(mean, wanted)
