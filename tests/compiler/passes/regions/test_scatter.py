"""Values put where indices say: which one wins, what they combine to, who may run beside whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ogive import Config, Tensor, Variable
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import KernelStep
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.passes.loops.kernel_axes import ordered_axes, output_axes
from ogive.compiler.passes.loops.merge_axes import merge_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of
from ogive.errors import IndexRangeError, VerifyError
from tests.compiler.passes.parametric import normalize
from tests.compiler.passes.place.test_placements import possible_placements
from tests.compiler.passes.regions.selection import count_along, kernels_of, scatter
from tests.raising import raises

Array = NDArray[Any]
RANDOM = np.random.default_rng(11)
CONFIG = Config(verify=True)
UFUNCS: dict[Op | None, Any] = {
    Op.ADD: np.add, Op.MUL: np.multiply, Op.MAXIMUM: np.maximum, Op.MINIMUM: np.minimum,
}  # fmt: skip


def expected(x: Array, value: Array, indices: tuple[Array, ...], op: Op | None) -> Array:
    """One position after the other."""
    result = x.copy()
    for position in np.ndindex(indices[0].shape):
        at = tuple(index[position] for index in indices)
        result[at] = value[position] if op is None else UFUNCS[op](result[at], value[position])
    return result


def rows(index: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The indices that select whole rows."""
    shape = (index.shape[0], width)
    return index.reshape(shape[0], 1).expand(*shape), count_along(1, shape)


@pytest.mark.parametrize("op", [None, *UFUNCS], ids=str)
@pytest.mark.parametrize("name", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("shape", [(), (1,), (70,), (3, 21)], ids=str)
def test_values_are_combined_one_position_after_the_other(
    op: Op | None, name: str, shape: tuple[int, ...]
) -> None:
    x = RANDOM.integers(1, 4, (4, 1, 5)).astype(name)
    value = RANDOM.integers(1, 4, shape).astype(name)
    indices = tuple([RANDOM.integers(0, length, shape) for length in x.shape])
    got = scatter(Tensor(x), Tensor(value), *[Tensor(index) for index in indices], op=op)
    np.testing.assert_array_equal(got.numpy(), expected(x, value, indices, op))


@pytest.mark.parametrize("op", [None, Op.ADD], ids=str)
@pytest.mark.parametrize("width", [1, 5, 16, 131])
def test_whole_rows_are_combined(op: Op | None, width: int) -> None:
    x, value = RANDOM.random((6, width)), RANDOM.random((40, width))
    index = RANDOM.integers(0, 6, 40)
    got = scatter(Tensor(x), Tensor(value), *rows(Tensor(index), width), op=op)
    wide = np.broadcast_to(index[:, None], value.shape)
    columns = np.broadcast_to(np.arange(width), value.shape)
    np.testing.assert_allclose(got.numpy(), expected(x, value, (wide, columns), op), rtol=1e-12)


def test_a_bool_may_be_put_somewhere() -> None:
    got = scatter(Tensor([True, False, True]), Tensor([True, False]), Tensor([1, 2]))
    assert got.tolist() == [True, True, False]


def test_what_was_scattered_from_stays_as_it_was() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    once = scatter(x, Tensor([10.0]), Tensor([0]), op=Op.ADD)
    twice = scatter(x, Tensor([20.0]), Tensor([0]), op=Op.ADD)
    chained = scatter(once, Tensor([5.0]), Tensor([2]))
    assert len(kernels_of(once, twice)) == 3
    assert (once + twice).tolist() == [32, 4, 6]
    assert chained.tolist() == [11, 2, 5]
    assert x.tolist() == [1, 2, 3]


def test_what_is_detached_is_not_copied_but_for_a_second_result() -> None:
    plan = scatter(Tensor([1.0, 2.0]), Tensor([10.0]), Tensor([0])).detach().prepare()
    assert len(plan.steps) == 2
    first = scatter(Tensor([1.0, 2.0]), Tensor([10.0]), Tensor([0]))
    second, third = first.detach().clone(), first.detach().clone().reshape(2, 1)
    Tensor.realize_batch([first, second, third])
    first.assign(first + 1)
    second.assign(second + 5)
    assert (first.tolist(), second.tolist(), third.tolist()) == ([11, 3], [15, 7], [[10], [2]])


def test_a_chain_of_scatters_writes_to_one_copy() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    chain = scatter(x, Tensor([10.0, 20.0]), Tensor([0, 1]), op=Op.ADD)
    chain = scatter(chain, Tensor([5.0]), Tensor([2]))
    chain = scatter(chain, Tensor([2.0, 3.0]), Tensor([0, 0]), op=Op.MUL)
    assert len(kernels_of(chain)) == 4
    assert chain.tolist() == [66, 22, 5]
    assert x.tolist() == [1, 2, 3]


def test_a_link_of_a_chain_that_is_read_elsewhere_stays_as_it_was() -> None:
    first = scatter(Tensor([1.0, 2.0, 3.0]), Tensor([10.0]), Tensor([0]))
    second = scatter(first, first.flip(0)[:1], Tensor([1]), op=Op.ADD)
    third = scatter(second, Tensor([7.0]), Tensor([2]))
    both = first + third
    Tensor.realize_batch([both, third, first])
    assert first.tolist() == [10, 2, 3]
    assert third.tolist() == [10, 5, 7]
    assert both.tolist() == [20, 7, 10]


def test_results_that_are_the_same_values_are_memory_of_their_own() -> None:
    made = scatter(Tensor([1.0, 2.0]), Tensor([5.0]), Tensor([0]))
    other = made.clone().reshape(2, 1)
    Tensor.realize_batch([made, other])
    made.assign(made * 0)
    assert made.tolist() == [0, 0]
    assert other.tolist() == [[5], [2]]


def test_the_value_is_fused_and_a_scalar_stands_for_all() -> None:
    x, index = Tensor(np.zeros(5, np.float32)), Tensor([1, 1, 4])
    got = scatter(x, Tensor([1.0, 2.0, 3.0]) * 2 + 1, index, op=Op.ADD)
    assert len(kernels_of(got)) == 2
    assert got.tolist() == [0, 8, 0, 0, 7]
    assert scatter(x, Tensor(2.0), index, op=Op.ADD).tolist() == [0, 4, 0, 0, 2]


def test_a_value_that_is_a_sum_is_computed_first() -> None:
    value, index = RANDOM.random((6, 9)), RANDOM.integers(0, 3, 6)
    got = scatter(Tensor(np.zeros(3)), Tensor(value).sum(1), Tensor(index), op=Op.ADD)
    np.testing.assert_allclose(got.numpy(), np.bincount(index, value.sum(1), 3))


def axes_of(got: Tensor) -> tuple[list[int], list[int]]:
    """The lengths of the axes of the storing kernel that may be placed, and of those in order."""
    loops = rangeify(kernels_of(got)[-1])
    return (
        [axis.src[0].arg for axis in output_axes(loops)],
        [axis.src[0].arg for axis in ordered_axes(loops)],
    )


def test_only_axes_along_which_no_values_meet_may_run_side_by_side() -> None:
    x = Tensor(np.zeros((6, 32)))
    value, index = Tensor(np.ones((9, 32))), Tensor(RANDOM.integers(0, 6, (9, 32)))
    line = index[:, 0]
    assert axes_of(scatter(x, value, *rows(line, 32), op=Op.ADD)) == ([32], [9])
    assert axes_of(scatter(x, value, index, index, op=Op.ADD)) == ([], [9, 32])
    assert axes_of(scatter(x, value, index, count_along(1, (9, 32)) // 2)) == ([], [9, 32])
    assert axes_of(scatter(x[:, :6].contiguous(), value[:6, :6], *[
        count_along(axis, (6, 6)) for axis in (1, 0)
    ])) == ([6, 6], [])  # fmt: skip


def test_rows_are_stored_in_lanes_by_several_threads() -> None:
    got = scatter(Tensor(np.zeros((6, 512), np.float32)), Tensor(np.ones((9, 512), np.float32)),
                  *rows(Tensor(RANDOM.integers(0, 6, 9)), 512), op=Op.ADD)  # fmt: skip
    kernel = compile_region(kernels_of(got)[-1], host_target(), CONFIG)
    placements = dict(kernel.axes)
    assert kernel.name.startswith("scatter")
    assert placements["lane"] > 1
    assert placements["parallel"] > 1
    assert placements["loop"] == 9


def test_an_index_that_does_not_change_along_an_axis_in_order_counts_every_time() -> None:
    index = Tensor([2, 0]).reshape(2, 1).expand(2, 7)
    got = scatter(Tensor(np.zeros(3)), Tensor(np.ones((2, 7))), index, op=Op.ADD)
    assert got.tolist() == [7, 0, 7]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_does_not_matter(threads: int) -> None:
    random = np.random.default_rng(3)
    index, value = random.integers(0, 20, 5000), random.random((5000, 64)).astype(np.float32)
    got = scatter(Tensor(np.zeros((20, 64), np.float32)), Tensor(value),
                  *rows(Tensor(index), 64), op=Op.ADD)  # fmt: skip
    wanted = np.zeros((20, 64), np.float32)
    for row, line in zip(index, value, strict=True):
        wanted[row] += line
    np.testing.assert_array_equal(got.realize(Config(threads=threads)).numpy(), wanted)


@pytest.mark.parametrize("bad", [-1, 4, 1 << 50])
def test_a_position_outside_is_an_error_and_nothing_is_changed(bad: int) -> None:
    x = Tensor(np.ones(4, np.float32))
    got = scatter(x, Tensor([5.0, 6.0, 7.0]), Tensor([0, bad, 2]))
    for _ in range(2):
        with raises(IndexRangeError, match=r"outside.*shape \(4,\)", quoting="build.scatter"):
            got.numpy()
    assert x.tolist() == [1, 1, 1, 1]


def test_a_position_outside_an_axis_of_length_1_is_an_error() -> None:
    with pytest.raises(IndexRangeError):
        scatter(Tensor([[1.0, 1.0]]), Tensor([5.0]), Tensor([1]), Tensor([1])).numpy()


def test_nothing_to_put_and_nowhere_to_put_it() -> None:
    empty = Tensor(np.zeros(0, np.int64))
    assert scatter(Tensor([1, 2]), empty, empty).tolist() == [1, 2]
    with raises(IndexRangeError, match="has no elements"):
        scatter(empty, Tensor([1]), Tensor([0]))


def test_a_symbolic_number_of_values_may_be_put() -> None:
    n = Variable("n", 1, 8)
    index, value = RANDOM.integers(0, 4, 8), RANDOM.random(8)
    for size in (1, 5, 8):
        part = n.bind(size)
        got = scatter(Tensor(np.zeros(4)), Tensor(value)[:part], Tensor(index)[:part], op=Op.ADD)
        np.testing.assert_allclose(got.numpy(), np.bincount(index[:size], value[:size], 4))


def test_random_placements_keep_the_result() -> None:
    """The storing kernel, over a copy of the base, for placements drawn at random."""
    base, value = RANDOM.integers(0, 9, (5, 3, 13)), RANDOM.integers(0, 9, (6, 3, 13))
    shape = value.shape
    index = RANDOM.integers(0, 5, 6)
    got = scatter(
        Tensor(base), Tensor(value) * 2, Tensor(index).reshape(6, 1, 1).expand(*shape),
        count_along(1, shape), count_along(2, shape), op=Op.ADD,
    )  # fmt: skip
    normalized = normalize((got.node,))
    step = schedule_graph(normalized.sink, host_target(), CONFIG).kernels[-1]
    inputs = [registry.buffer_of(buffer) for buffer in normalized.buffers]
    loops = rangeify(step.region.graph)
    random = np.random.default_rng(2)
    forms = [loops, merge_axes(loops)]
    assert loops_of(step.region.graph, host_target(), CONFIG) is forms[1]
    for placement, kernel in possible_placements(forms, random, 12, CONFIG):
        output = base.copy()
        arguments = [
            inputs[step.slots[slot]].address if step.slots[slot] < len(inputs)
            else output.ctypes.data
            for slot in kernel.signature.slots
        ]  # fmt: skip
        loaded = link(assemble(kernel.ir, host_target()), kernel.name)
        native = KernelStep(loaded, arguments, kernel.tiles.arg, 1)
        assert NativePlan([native]).execute() is None
        np.testing.assert_array_equal(output, got.numpy(), err_msg=str(placement))


def test_the_verifier_wants_a_value_and_indices_that_fit() -> None:
    x = UOp(Op.PARAM, dtypes.float32, (), (0, 6, "CPU"))
    index = UOp(Op.IOTA, dtypes.int64, (), 4)
    value = UOp(Op.CAST, dtypes.float32, (index,))
    verify(UOp(Op.SCATTER, x.dtype, (x, value, index), Op.ADD), "parametric")
    with raises(VerifyError, match="a value of float32, not int64"):
        verify(UOp(Op.SCATTER, x.dtype, (x, index, index)), "parametric")
    with raises(VerifyError, match=r"combine: combining\? as argument"):
        verify(UOp(Op.SCATTER, x.dtype, (x, value, index), Op.SUB), "parametric")
    with raises(VerifyError, match="1 indices, one per axis, not 2"):
        verify(UOp(Op.SCATTER, x.dtype, (x, value, index, index)), "parametric")
