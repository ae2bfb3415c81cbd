"""Reads at positions that are data: what they give, what they are fused with, how they fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ogive
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
from ogive.compiler.passes.graph.fault_checks import can_fault
from ogive.compiler.passes.loops.kernel_axes import output_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.target import Target
from ogive.errors import IndexRangeError, VerifyError
from tests.compiler.passes.parametric import normalize
from tests.compiler.passes.place.test_placements import Kernel, check
from tests.compiler.passes.regions.selection import count_along, gather, kernels_of
from tests.raising import raises

Array = NDArray[Any]
RANDOM = np.random.default_rng(5)
CONFIG = Config(verify=True)


def checks_in(tensor: Tensor) -> int:
    """How many bounds are checked at run time."""
    (graph,) = kernels_of(tensor)
    return sum(node.op is Op.CHECK for node in rangeify(graph).walk())


def rows(x: Tensor, index: Tensor) -> Tensor:
    """`x[index]` for a matrix and a row of numbers."""
    shape = (index.shape[0], x.shape[1])
    return gather(x, index.reshape(shape[0], 1).expand(*shape), count_along(1, shape))


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bool", "int8", "uint32"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 21), (2, 0)], ids=str)
def test_elements_are_those_at_the_positions(name: str, shape: tuple[int, ...]) -> None:
    x = RANDOM.integers(0, 2 if name == "bool" else 99, (6, 1, 35)).astype(name)
    indices = [RANDOM.integers(0, length, shape) for length in x.shape]
    got = gather(Tensor(x), *[Tensor(index) for index in indices])
    np.testing.assert_array_equal(got.numpy(), x[tuple(indices)])


@pytest.mark.parametrize("width", [1, 5, 16, 67])
def test_rows_are_taken_whole(width: int) -> None:
    x, index = RANDOM.random((9, width)), RANDOM.integers(0, 9, 13)
    np.testing.assert_array_equal(rows(Tensor(x), Tensor(index)).numpy(), x[index])


@pytest.mark.parametrize("cpu", ["znver4", "skylake"])
@pytest.mark.parametrize("name", ["float32", "float64", "int8", "bool"])
def test_columns_are_the_same_whether_lanes_are_gathered_or_loaded_one_by_one(
    name: str, cpu: str
) -> None:
    """Rows of a tile that does not fill its axis, elements that padding takes the place of."""
    x = RANDOM.integers(0, 2 if name == "bool" else 99, (7, 30)).astype(name)
    index = RANDOM.integers(0, 30, 21)
    got = Tensor(x)[:, Tensor(index)].pad(((1, 0), (2, 3)))
    run_for(replace(host_target(), cpu=cpu), got, np.pad(x[:, index], ((1, 0), (2, 3))))


def run_for(target: Target, tensor: Tensor, wanted: Array) -> None:
    """Check what a tensor's only kernel gives that is written for another target."""
    normalized = normalize((tensor.node,))
    (step,) = schedule_graph(normalized.sink, target, CONFIG).kernels
    kernel = compile_region(step.region.graph, target, CONFIG)
    assert ("masked.gather" in kernel.ir) == (target.gathers and wanted.itemsize >= 4)
    output = np.zeros(wanted.shape, wanted.dtype)
    arguments = [
        output.ctypes.data if slot == len(normalized.buffers)
        else registry.buffer_of(normalized.buffers[slot]).address
        for slot in [step.slots[number] for number in kernel.signature.slots]
    ]  # fmt: skip
    loaded = link(assemble(kernel.ir, host_target()), kernel.name)
    assert NativePlan([KernelStep(loaded, arguments, kernel.tiles.arg, 1)]).execute() is None
    np.testing.assert_array_equal(output, wanted)


def test_rows_read_at_the_same_positions_have_them_checked_once_for_all() -> None:
    got = Tensor(np.zeros((64, 100), np.float32))[:, Tensor(RANDOM.integers(0, 100, 64))]
    (graph,) = kernels_of(got)
    kernel = compile_region(graph, host_target(), CONFIG)
    assert ("upcast", 4) in kernel.axes
    assert kernel.ir.count("atomicrmw") == 1


def test_an_axis_taken_whole_is_read_by_its_loop_counter() -> None:
    (graph,) = kernels_of(rows(Tensor(np.zeros((9, 64), np.float32)), Tensor([1, 2])))
    loops = rangeify(graph)
    (row, column) = output_axes(loops)
    loads = [node for node in loops.walk() if node.op is Op.LOAD and node.dtype.is_float]
    (offset,) = [load.src[0].src[1] for load in loads]
    assert column in offset.src, offset
    assert row not in offset.src, offset


def numbers(*shape: int) -> Array:
    return RANDOM.integers(0, 4, shape)


FUSED: dict[str, Callable[[Array, Array, Array], tuple[Tensor, Array]]] = {
    "computed indices": lambda x, i, j: (
        gather(Tensor(x), (Tensor(i) + 1) % 4, Tensor(j) * 2 % 5), x[(i + 1) % 4, j * 2 % 5]
    ),
    "a view of the source": lambda x, i, j: (
        gather(Tensor(x).T.flip(0), Tensor(j), Tensor(i)), x.T[::-1][j, i]
    ),
    "a padded source": lambda x, i, j: (
        gather(Tensor(x).pad(((2, 0), (1, 3)), value=7), Tensor(i), Tensor(j)),
        np.pad(x, ((2, 0), (1, 3)), constant_values=7)[i, j],
    ),
    "a reshaped source": lambda x, i, j: (
        gather(Tensor(x).reshape(2, 10), Tensor(i) % 2, Tensor(j)), x.reshape(2, 10)[i % 2, j]
    ),
    "a padded result": lambda x, i, j: (
        gather(Tensor(x), Tensor(i), Tensor(j)).pad(((1, 2), (0, 1)), value=9),
        np.pad(x[i, j], ((1, 2), (0, 1)), constant_values=9),
    ),
    "an index that is gathered": lambda x, i, j: (
        gather(Tensor(x), gather(Tensor(i), Tensor(i) % 3, Tensor(j)), Tensor(j)),
        x[i[i % 3, j], j],
    ),
    "an index that is a sum": lambda x, i, j: (
        gather(Tensor(x), Tensor(i).sum(1).cast("int64") % 4, Tensor(j)[:, 0]),
        x[i.sum(1) % 4, j[:, 0]],
    ),
    "a sum of what is gathered": lambda x, i, j: (
        gather(Tensor(x), Tensor(i), Tensor(j)).sum(0), x[i, j].sum(0)
    ),
    "the tensor by itself": lambda x, i, j: (
        gather(Tensor(i), Tensor(i) % 3, Tensor(i)), i[i % 3, i]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUSED)
def test_what_surrounds_a_read_is_fused_with_it(name: str) -> None:
    got, wanted = FUSED[name](RANDOM.integers(-50, 50, (4, 5)), numbers(3, 4), numbers(3, 4))
    assert len(kernels_of(got)) == 1
    np.testing.assert_array_equal(got.numpy(), wanted)


@pytest.mark.parametrize("name", FUSED)
def test_random_placements_keep_the_result(name: str) -> None:
    got, _ = FUSED[name](RANDOM.integers(-50, 50, (4, 5)), numbers(3, 4), numbers(3, 4))
    check(Kernel(got), 1, 6)


def test_a_source_that_is_dear_and_read_often_is_kept() -> None:
    x, many, few = Tensor(np.ones((4, 8))), Tensor(numbers(50)), Tensor(numbers(3))
    assert len(kernels_of(gather(x.exp(), many, many))) == 2
    assert len(kernels_of(gather(x.exp(), few, few))) == 1


def test_a_source_that_is_a_sum_along_the_index_is_kept() -> None:
    x, index = RANDOM.random((40, 6)), numbers(9)
    got = gather(Tensor(x).sum(1), Tensor(index))
    assert len(kernels_of(got)) == 2
    np.testing.assert_allclose(got.numpy(), x.sum(1)[index])


def test_picking_one_element_of_each_softmax_is_one_kernel() -> None:
    x, label = RANDOM.random((40, 6)), numbers(40)
    got = gather(Tensor(x).softmax(-1), count_along(0, (40,)), Tensor(label))
    assert len(kernels_of(got)) == 1
    wanted = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    np.testing.assert_allclose(got.numpy(), wanted[np.arange(40), label])


@pytest.mark.parametrize("bad", [-1, 5, 1 << 40, -(1 << 62)])
def test_a_position_outside_is_an_error_with_the_users_line(bad: int) -> None:
    index = numbers(300)
    index[217] = bad
    x = Tensor(RANDOM.random((5, 70)))
    selected = rows(x, Tensor(index))
    with raises(IndexRangeError, match=r"outside.*shape \(5, 70\)", quoting="build.gather"):
        selected.numpy()


def test_a_position_outside_an_axis_that_makes_no_difference_is_an_error() -> None:
    one, spread = Tensor(np.ones((1, 3))), Tensor(np.ones((1, 3))).expand(2, 3)
    for x in (one, spread):
        with pytest.raises(IndexRangeError):
            gather(x, Tensor([0, 2]), Tensor([1, 1])).numpy()


def test_padding_does_not_fault() -> None:
    x, index = Tensor([1.0, 2.0, 3.0]), Tensor([2, 1])
    padded = gather(x, index.pad(((1, 1),), value=0)).pad(((2, 2),), value=8)
    assert padded.tolist() == [8, 8, 1, 3, 2, 1, 8, 8]


def test_nothing_can_be_selected_from_an_empty_tensor() -> None:
    with raises(IndexRangeError, match="has no elements"):
        gather(Tensor(np.ones((0, 3))), Tensor([0]), Tensor([0]))
    empty = Tensor(np.zeros(0, np.int64))
    assert gather(Tensor(np.ones((0, 3))), empty, empty).tolist() == []


def test_bounds_that_can_be_proved_are_not_checked() -> None:
    x, index = Tensor(np.arange(10.0)), Tensor(numbers(6))
    assert checks_in(gather(x, index)) == 1
    narrow = index.clamp(-10, 9)
    proved = {
        "a remainder": index % 10,
        "clipped": index.clamp(0, 9),
        "small": index.cast("uint8").cast("int64") % 7,
        "counted": count_along(0, (6,)) + 4,
        "wrapped": ogive.where(narrow < 0, narrow + 10, narrow),
    }
    for name, within in proved.items():
        assert checks_in(gather(x, within)) == 0, name
        assert not any(can_fault(node) for node in gather(x, within).node.walk()), name
    assert checks_in(gather(x, index % 11)) == 1


def test_lengths_may_be_symbolic() -> None:
    n = Variable("n", 1, 12)
    array, index = RANDOM.random((12, 5)), numbers(12)
    for value in (1, 5, 12):
        x, chosen = Tensor(array)[: n.bind(value)], Tensor(index)[: n.bind(value)]
        shape = (chosen.shape[0], 5)
        wide = chosen.reshape(shape[0], 1).expand(*shape)
        within = Tensor(array)
        np.testing.assert_array_equal(
            gather(within, wide, count_along(1, shape)).numpy(), array[index[:value]]
        )
        counted = gather(x, count_along(0, shape), count_along(1, shape))
        assert checks_in(counted) == 0
        np.testing.assert_array_equal(counted.numpy(), array[:value])
    with pytest.raises(IndexRangeError):
        gather(Tensor(array)[: n.bind(3)], Tensor([3]), Tensor([0])).numpy()


def test_an_assignment_of_what_reads_the_target_elsewhere_reads_it_first() -> None:
    x = Tensor(np.arange(6.0))
    x.assign(gather(x, Tensor([5, 4, 3, 2, 1, 0])))
    assert x.tolist() == [5, 4, 3, 2, 1, 0]


def test_the_verifier_wants_an_index_of_int64_for_each_axis() -> None:
    x = UOp(Op.RESHAPE, dtypes.float32, (UOp(Op.PARAM, dtypes.float32, (), (0, 6, "CPU")),), (2, 3))
    index = UOp(Op.IOTA, dtypes.int64, (), 4)
    narrow = UOp(Op.CAST, dtypes.int32, (index,))
    verify(UOp(Op.GATHER, x.dtype, (x, index, index)), "parametric")
    with raises(VerifyError, match="2 indices, one per axis, not 1"):
        verify(UOp(Op.GATHER, x.dtype, (x, index)), "parametric")
    with raises(VerifyError, match="indices of int64"):
        verify(UOp(Op.GATHER, x.dtype, (x, index, narrow)), "parametric")
