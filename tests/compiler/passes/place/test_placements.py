"""Any placement of a kernel's axes keeps its results; what cannot be placed is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.llvm.compile_region import compile_placed
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import CompiledKernel, KernelStep
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live import registry
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes, reduction_axes
from ogive.compiler.passes.loops.merge_axes import merge_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.loops.split_axes import split_axes
from ogive.compiler.passes.loops.staging.join_stages import join_stages
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.place.place_axes import place_axes
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.targets.target import Target
from ogive.errors import OptimizeError
from tests.compiler.passes.parametric import normalize
from tests.raising import raises

Array = NDArray[Any]
CONFIG = Config(verify=True, pack_operands=False)


def data(*shape: int) -> Tensor:
    generator = np.random.default_rng(sum(shape))
    return Tensor(generator.integers(-6, 7, shape).astype(np.float32))


def whole(*shape: int) -> Tensor:
    generator = np.random.default_rng(sum(shape))
    return Tensor(generator.integers(1, 90, shape).astype(np.int32))


def repeats(axis: int) -> Tensor:
    """Twenty rows that are all alike along an axis."""
    shape = [4, 5, 6]
    shape[axis] = 1
    return data(*shape).expand(4, 5, 6)


KERNELS: dict[str, Callable[[], Tensor]] = {
    "elementwise": lambda: data(7, 19) * 2 + data(19),
    "transpose": lambda: data(13, 18).T + 1,
    "pad": lambda: (data(5, 6) * 3).pad(((1, 2), (3, 0)), value=7),
    "slice": lambda: data(9, 21)[::2, ::-3] + 1,
    "cat": lambda: ogive.cat([data(3, 5), data(4, 5) * 2, data(1, 5)]),
    "flip and fold": lambda: data(4, 6).flip(1).reshape(8, 3).T.contiguous(),
    "rows moved, shorter than a register": lambda: (
        (data(2, 8, 5, 5) > 0).reshape(2, 4, 2, 5, 5).transpose(1, 2).contiguous()
    ),
    "bool": lambda: (data(11, 5) > 0) & (data(11, 1) < 3),
    "bytes": lambda: (whole(6, 33).cast("uint8") + 200) * 3,
    "division": lambda: whole(6, 13) // whole(6, 13).flip(0),
    "sum of rows": lambda: data(9, 37).sum(-1),
    "sum of columns": lambda: data(37, 9).sum(0),
    "sum of both": lambda: data(5, 23).sum(),
    "max of the middle": lambda: data(3, 17, 4).amax(1),
    "min": lambda: data(6, 35).amin(-1),
    "product of integers": lambda: whole(4, 9).prod(-1),
    "any": lambda: (data(5, 40) > 5).any(-1),
    "divisions summed": lambda: (1000 // whole(5, 21)).sum(-1),
    "softmax": lambda: data(6, 27).softmax(-1),
    "layer norm": lambda: data(6, 27).layer_norm(27),
    "sums of repeats": lambda: repeats(0).sum(1) + repeats(1).sum(1),
    "sums in sums of repeats": lambda: (
        (repeats(0) - repeats(0).amax(1, keepdim=True)).sum(1)
        * (repeats(1) - repeats(1).amin(1, keepdim=True)).sum(1)
    ),
    "argmax": lambda: data(7, 22).argmax(-1),
    "product": lambda: data(9, 11) @ data(11, 14),
    "product of integers by rows": lambda: whole(5, 7) @ whole(3, 7).T,
    "batched product": lambda: data(3, 5, 6) @ data(3, 6, 4),
    "product with a bias": lambda: (data(8, 10) @ data(10, 18) + data(18)).relu(),
    "convolution": lambda: (
        ogive.stack([data(20)[i : i + 16] for i in range(5)]) * data(5, 1)
    ).sum(0),
}  # fmt: skip


class Kernel:
    """A one-kernel computation, its memory, and what it gives by default."""

    def __init__(
        self, tensor: Tensor, target: Target | None = None, config: Config = CONFIG
    ) -> None:
        target = target or host_target()
        normalized = normalize((tensor.node,), whole=True)
        (self.step,) = schedule_graph(normalized.sink, target, config).kernels
        loops = rangeify(self.step.region.graph)
        merged = merge_axes(join_stages(loops))
        divided = split_axes(merged, target)
        self.forms = [loops, merged] if divided is merged else [loops, merged, divided]
        self.inputs = {
            slot: registry.buffer_of(buffer) for slot, buffer in enumerate(normalized.buffers)
        }
        self.wanted = tensor.numpy()

    def run(self, kernel: CompiledKernel, grain: int) -> Array:
        """What a compiled form of the kernel computes."""
        output = np.full(self.wanted.shape, 77).astype(self.wanted.dtype)
        arguments = [
            self.inputs[self.step.slots[slot]].address
            if self.step.slots[slot] in self.inputs
            else output.ctypes.data
            for slot in kernel.signature.slots
        ]
        fixed = dict(self.step.region.fixed)
        arguments += [fixed[name] for name in kernel.signature.variables]
        loaded = link(assemble(kernel.ir, host_target()), kernel.name)
        step = KernelStep(loaded, arguments, evaluate(kernel.tiles, fixed), grain)
        assert NativePlan([step]).execute() is None
        return output


def draw(loops: UOp, random: np.random.Generator) -> Placement:
    """A placement that may or may not be possible."""
    outputs, reductions = output_axes(loops), reduction_axes(loops)
    numbers = [counter.arg[0] for counter in (*outputs, *reductions)]
    extents = {counter.arg[0]: axis_extent(counter) for counter in (*outputs, *reductions)}
    lanes: dict[int, int] = {}
    for number in numbers:
        if random.random() < 0.45:
            lanes[number] = int(2 ** random.integers(0, 5))
    upcast = {
        number: int(random.integers(1, min(extents[number], 6) + 2))
        for number in numbers
        if random.random() < 0.4
    }
    order = [counter.arg[0] for counter in outputs]
    random.shuffle(order)
    return Placement(lanes, upcast, tuple(order), int(random.integers(0, len(outputs) + 1)))


def possible_placements(
    forms: Sequence[UOp], random: np.random.Generator, count: int, config: Config
) -> Iterator[tuple[Placement, CompiledKernel]]:
    """So many random placements of a kernel that are not refused, compiled; at least one."""
    done = 0
    for _ in range(20 * count):
        loops = forms[int(random.integers(len(forms)))]
        placement = draw(loops, random)
        try:
            place_axes(loops, placement)
        except OptimizeError:
            continue
        yield placement, compile_placed(loops, placement, host_target(), config)
        done += 1
        if done == count:
            return
    assert done, "no placement drawn was possible"


def check(kernel: Kernel, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    for placement, compiled in possible_placements(kernel.forms, random, count, CONFIG):
        got = kernel.run(compiled, int(random.integers(1, 4)))
        if got.dtype.kind == "f":
            np.testing.assert_allclose(
                got, kernel.wanted, rtol=3e-5, atol=3e-5, err_msg=str(placement)
            )
        else:
            np.testing.assert_array_equal(got, kernel.wanted, err_msg=str(placement))


@pytest.mark.parametrize("name", KERNELS)
def test_random_placements_keep_the_result(name: str) -> None:
    check(Kernel(KERNELS[name]()), 1, 6)


@pytest.mark.soak
@pytest.mark.parametrize("name", KERNELS)
def test_many_random_placements_keep_the_result(name: str) -> None:
    check(Kernel(KERNELS[name]()), 2, 150)


@pytest.mark.parametrize(
    ("lanes", "rows"), [(2, 6), (4, 4), (4, 9), (8, 5), (8, 18), (16, 7), (16, 8)]
)
def test_tiles_with_lanes_far_apart_are_turned_in_registers(lanes: int, rows: int) -> None:
    kernel = Kernel(data(13, 18) * 2 + data(13, 1))
    placement = Placement(lanes={0: lanes}, upcast={1: rows})
    compiled = compile_placed(kernel.forms[0], placement, host_target(), CONFIG)
    assert "gather" not in compiled.ir and "scatter" not in compiled.ir
    np.testing.assert_array_equal(kernel.run(compiled, 1), kernel.wanted)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "float64"])
@pytest.mark.parametrize("step", [-4, -2, -1, 2, 3, 4])
def test_lanes_a_few_elements_apart_are_picked_out_of_vectors(step: int, dtype: str) -> None:
    x = (data(3, 71) > 0) if dtype == "bool" else data(3, 71).cast(dtype)
    kernel = Kernel(x.contiguous().realize()[:, ::step].contiguous())
    number = output_axes(kernel.forms[0])[-1].arg[0]
    for lanes in (4, 16):
        placement = Placement(lanes={number: lanes})
        compiled = compile_placed(kernel.forms[0], placement, host_target(), CONFIG)
        assert "gather" not in compiled.ir
        np.testing.assert_array_equal(kernel.run(compiled, 1), kernel.wanted)


def gates_of(placed: UOp, memory: Op) -> list[bool]:
    """Whether each load, or each store, of a placed kernel has a gate."""
    return [len(node.src[0].src) > 2 for node in placed.walk() if node.op is memory]


def test_a_tile_of_sums_that_would_run_past_the_end_starts_earlier() -> None:
    loops = loops_of(data(10, 6) @ data(6, 9))
    rows, columns = [axis.arg[0] for axis in output_axes(loops)]
    placed = place_axes(loops, Placement(lanes={columns: 4}, upcast={rows: 4}))
    assert not any(gates_of(placed, Op.LOAD) + gates_of(placed, Op.STORE))


def test_a_tile_that_starts_earlier_stores_once_what_may_be_read_where_it_is_stored() -> None:
    loops = loops_of(data(10, 9) + data(10, 6) @ data(6, 9))
    rows, columns = [axis.arg[0] for axis in output_axes(loops)]
    placed = place_axes(loops, Placement(upcast={rows: 4}))
    assert not any(gates_of(placed, Op.LOAD)) and all(gates_of(placed, Op.STORE))
    placed = place_axes(loops, Placement(lanes={columns: 4}))
    assert any(gates_of(placed, Op.LOAD)) and all(gates_of(placed, Op.STORE))


def test_a_tile_of_a_transpose_starts_earlier_unless_its_loop_is_unrolled() -> None:
    loops = loops_of(data(9, 70).T.contiguous())
    columns, rows = [axis.arg[0] for axis in output_axes(loops)]
    placed = place_axes(loops, Placement(lanes={rows: 4}, upcast={columns: 4}, parallel=2))
    assert not any(gates_of(placed, Op.LOAD) + gates_of(placed, Op.STORE))
    placed = place_axes(loops, Placement(lanes={rows: 4}, order=(columns, rows), parallel=1))
    assert all(gates_of(placed, Op.LOAD) + gates_of(placed, Op.STORE))
    placed = place_axes(loops, Placement(upcast={columns: 4}, order=(rows, columns), parallel=1))
    assert not any(gates_of(placed, Op.LOAD) + gates_of(placed, Op.STORE))


@pytest.mark.parametrize("shape", [(45, 37), (3, 19, 70)])
def test_what_is_changed_where_it_lies_is_changed_once(shape: tuple[int, ...]) -> None:
    start = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    tensor = Tensor(start).realize()
    tensor.assign(tensor + Tensor(start.swapaxes(-1, -2).copy()).transpose(-1, -2))
    np.testing.assert_array_equal(tensor.numpy(), start + start)
    tensor.assign((tensor.transpose(-1, -2) * 2).transpose(-1, -2))
    np.testing.assert_array_equal(tensor.numpy(), 4 * start)


def test_a_tile_stays_where_positions_are_data() -> None:
    table, rows = data(9), Tensor(np.arange(30).reshape(10, 3) % 9)
    loops = loops_of(table[rows].sum(-1))
    (axis,) = output_axes(loops)
    placed = place_axes(loops, Placement(upcast={axis.arg[0]: 4}))
    assert any(gates_of(placed, Op.LOAD)) and all(gates_of(placed, Op.STORE))


def test_rows_that_are_computed_again_are_not_stored_over_their_operands() -> None:
    kernel = Kernel(data(10, 6) - data(10, 6).sum(-1, keepdim=True))
    loops = kernel.forms[0]
    rows = output_axes(loops)[0].arg[0]
    compiled = compile_placed(loops, Placement(upcast={rows: 4}), host_target(), CONFIG)
    memory = data(10, 6).numpy().copy()
    loaded = link(assemble(compiled.ir, host_target()), compiled.name)
    arguments = [memory.ctypes.data] * len(compiled.signature.slots)
    step = KernelStep(loaded, arguments, evaluate(compiled.tiles, {}), 1)
    assert NativePlan([step]).execute() is None
    np.testing.assert_array_equal(memory, kernel.wanted)


@pytest.mark.parametrize("lanes", [2, 4, 16])
def test_sums_across_lanes_have_the_same_bits_alone_and_side_by_side(lanes: int) -> None:
    kernel = Kernel(data(5, 48).sum(-1))
    loops = kernel.forms[0]
    (row,), (column,) = output_axes(loops), reduction_axes(loops)
    alone, *others = [
        kernel.run(compile_placed(loops, placement, host_target(), CONFIG), 1).copy()
        for rows in (1, 2, 3, 5)
        for placement in [Placement({column.arg[0]: lanes}, {row.arg[0]: rows})]
    ]
    np.testing.assert_allclose(alone, kernel.wanted, rtol=1e-5)
    for other in others:
        np.testing.assert_array_equal(other, alone)


def test_maxima_across_lanes_keep_nan_to_its_row() -> None:
    array = np.arange(3 * 32, dtype=np.float32).reshape(3, 32)
    array[1, 17] = np.nan
    kernel = Kernel(Tensor(array).amax(-1))
    loops = kernel.forms[0]
    (row,), (column,) = output_axes(loops), reduction_axes(loops)
    placement = Placement({column.arg[0]: 8}, {row.arg[0]: 3})
    compiled = compile_placed(loops, placement, host_target(), CONFIG)
    np.testing.assert_array_equal(kernel.run(compiled, 1), [31, np.nan, 95])


def loops_of(tensor: Tensor) -> UOp:
    return Kernel(tensor).forms[1]


def test_an_axis_the_kernel_does_not_have_is_refused() -> None:
    loops = loops_of(data(4, 5) + 1)
    for placement in (
        Placement(lanes={9: 4}), Placement(upcast={9: 4}), Placement(order=(9,)),
    ):  # fmt: skip
        with raises(OptimizeError, match="names axis 9; the kernel has"):
            place_axes(loops, placement)


def test_an_order_that_leaves_out_an_axis_is_refused() -> None:
    loops = loops_of(data(4, 5).T + 1)
    first, second = [counter.arg[0] for counter in output_axes(loops)]
    for order in ((first,), (first, first), (first, second, first)):
        with raises(OptimizeError, match="must name each output axis once"):
            place_axes(loops, Placement(order=order))


def test_more_parallel_axes_than_there_are_are_refused() -> None:
    loops = loops_of(data(4, 5).T + 1)
    for count in (-1, 3):
        with raises(OptimizeError, match=f"{count} parallel axes of 2"):
            place_axes(loops, Placement(parallel=count))


def test_two_lane_axes_in_one_value_are_refused() -> None:
    loops = loops_of(data(6, 7).T + data(7, 6))
    first, second = [counter.arg[0] for counter in output_axes(loops)]
    with raises(OptimizeError, match="both in the lanes of one value"):
        place_axes(loops, Placement(lanes={first: 4, second: 4}))
    reduced = loops_of(data(6, 7).sum(-1))
    (row,), (column,) = output_axes(reduced), reduction_axes(reduced)
    with raises(OptimizeError, match="both in the lanes of one value"):
        place_axes(reduced, Placement(lanes={row.arg[0]: 4, column.arg[0]: 4}))


def test_lanes_of_values_that_never_meet_are_accepted() -> None:
    loops = loops_of(data(6, 27).softmax(-1))
    rows = output_axes(loops)[0].arg[0]
    others = [
        counter.arg[0]
        for counter in (*output_axes(loops), *reduction_axes(loops))
        if counter.arg[0] != rows
    ]
    assert len(others) == 3
    place_axes(loops, Placement(lanes=dict.fromkeys(others, 8)))


@pytest.mark.parametrize("count", [-4, 0, 3, 12])
def test_lane_counts_that_are_no_power_of_two_are_refused(count: int) -> None:
    loops = loops_of(data(64) + 1)
    with raises(OptimizeError, match="power of two"):
        place_axes(loops, Placement(lanes={output_axes(loops)[0].arg[0]: count}))


@pytest.mark.parametrize("count", [-1, 0])
def test_empty_tiles_are_refused(count: int) -> None:
    loops = loops_of(data(64) + 1)
    with raises(OptimizeError, match="at least 1"):
        place_axes(loops, Placement(upcast={output_axes(loops)[0].arg[0]: count}))
