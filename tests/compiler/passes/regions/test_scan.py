"""Running values: in order along their axis, side by side along all others, in fixed chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ogive import Config, Tensor, Variable
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.compile_region import compile_placed, compile_region
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.kernel_axes import ordered_axes, output_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.place.place_axes import place_axes
from ogive.compiler.passes.place.placement import Placement
from ogive.errors import OptimizeError, VerifyError
from tests.compiler.passes.place.test_placements import Kernel, check
from tests.compiler.passes.regions.selection import kernels_of, scan
from tests.raising import raises

Array = NDArray[Any]
RANDOM = np.random.default_rng(17)
UFUNCS: dict[Op, Any] = {
    Op.ADD: np.add, Op.MUL: np.multiply, Op.MAXIMUM: np.maximum, Op.MINIMUM: np.minimum,
    Op.AND: np.bitwise_and, Op.OR: np.bitwise_or,
}  # fmt: skip


@pytest.mark.parametrize("op", UFUNCS, ids=str)
@pytest.mark.parametrize(("shape", "axis"), [
    ((1,), 0), ((9,), 0), ((5, 37), 0), ((5, 37), 1), ((3, 1, 4), 1), ((2, 5, 3), 1),
])  # fmt: skip
def test_each_element_is_combined_with_all_before_it(
    op: Op, shape: tuple[int, ...], axis: int
) -> None:
    x = RANDOM.integers(-3, 4, shape)
    wanted = UFUNCS[op].accumulate(x, axis)
    np.testing.assert_array_equal(scan(Tensor(x), op, axis).numpy(), wanted)


@pytest.mark.parametrize("op", [Op.MAXIMUM, Op.MINIMUM], ids=str)
def test_a_nan_stays_from_where_it_is(op: Op) -> None:
    x = np.array([1.0, -2.0, np.nan, 5.0, -7.0])
    np.testing.assert_array_equal(scan(Tensor(x), op, 0).numpy(), UFUNCS[op].accumulate(x))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "uint8", "int32"])
def test_every_dtype_has_running_sums(name: str) -> None:
    x = Tensor(RANDOM.integers(0, 3, (3, 40))).cast(name)
    wanted = x.cast("float64").numpy().cumsum(1)
    np.testing.assert_array_equal(scan(x, Op.ADD, 1).cast("float64").numpy(), wanted)


def test_no_elements_have_no_running_sums() -> None:
    assert scan(Tensor(np.zeros((0, 3))), Op.ADD, 0).shape == (0, 3)
    assert scan(Tensor(np.zeros((3, 0))), Op.ADD, 0).tolist() == [[], [], []]


def test_what_is_scanned_is_fused_and_what_follows_is_not() -> None:
    x = RANDOM.random((4, 30))
    got = scan(Tensor(x).T * 2 + 1, Op.ADD, 0)
    assert len(kernels_of(got)) == 1
    assert len(kernels_of(got.exp())) == 2
    np.testing.assert_allclose(got.numpy(), (x.T * 2 + 1).cumsum(0))


def test_a_sum_that_is_scanned_is_computed_first() -> None:
    x = RANDOM.random((4, 30))
    got = scan(Tensor(x).sum(0), Op.ADD, 0)
    assert len(kernels_of(got)) == 2
    np.testing.assert_allclose(got.numpy(), x.sum(0).cumsum())


def test_the_axis_is_one_loop_in_order() -> None:
    (graph,) = kernels_of(scan(Tensor(np.zeros((4, 6, 8))), Op.ADD, 1))
    (axis,) = ordered_axes(rangeify(graph))
    assert axis.src[0].arg == 6


def test_columns_are_scanned_in_lanes() -> None:
    (graph,) = kernels_of(scan(Tensor(np.zeros((40, 1024), np.float32)), Op.ADD, 0))
    kernel = compile_region(graph, host_target(), Config(verify=True))
    placements = dict(kernel.axes)
    assert kernel.name.startswith("scan")
    assert placements["lane"] > 1
    assert placements["loop"] == 40


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("op", [Op.ADD, Op.MINIMUM], ids=str)
def test_random_placements_keep_the_result(axis: int, op: Op) -> None:
    x = RANDOM.integers(-50, 50, (5, 7, 19))
    check(Kernel(scan(Tensor(x) + 1, op, axis)), axis, 8)


LONG = [((70_000,), 0), ((65_536,), 0), ((3, 70_001), 1), ((40_000, 3), 0), ((2, 4_096, 260), 1)]


@pytest.mark.parametrize(("shape", "axis"), LONG, ids=str)
def test_long_scans_along_few_others_are_made_in_chunks(shape: tuple[int, ...], axis: int) -> None:
    x = RANDOM.integers(-9, 9, shape)
    got = scan(Tensor(x), Op.ADD, axis)
    assert len(kernels_of(got)) > 1
    np.testing.assert_array_equal(got.numpy(), x.cumsum(axis))
    extremes = scan(Tensor(x), Op.MAXIMUM, axis)
    np.testing.assert_array_equal(extremes.numpy(), np.maximum.accumulate(x, axis))


def test_a_length_that_chunks_divide_needs_no_copy() -> None:
    assert len(kernels_of(scan(Tensor(np.zeros(1 << 16)), Op.ADD, 0))) == 3
    assert len(kernels_of(scan(Tensor(np.zeros((64, 1 << 16), np.int8)), Op.ADD, 1))) == 1


def test_two_results_of_one_long_scan_are_memory_of_their_own() -> None:
    made = scan(Tensor(np.ones(1 << 16)), Op.ADD, 0)
    other = made.clone().reshape(1 << 8, 1 << 8)
    Tensor.realize_batch([made, other])
    made.assign(made * 0)
    assert made.sum().item() == 0
    assert other.reshape(-1)[-1].item() == 1 << 16


def test_the_number_of_threads_does_not_matter() -> None:
    x = RANDOM.random(200_000).astype(np.float32)
    one, two, three = [
        scan(Tensor(x), Op.ADD, 0).realize(Config(threads=threads)).numpy() for threads in (1, 2, 3)
    ]
    np.testing.assert_allclose(one, x.astype(np.float64).cumsum(), rtol=1e-5)
    assert one.tobytes() == two.tobytes() == three.tobytes()


def test_lengths_may_be_symbolic() -> None:
    n = Variable("n", 1, 12)
    x = RANDOM.random((12, 5))
    for size in (1, 7, 12):
        part = Tensor(x)[: n.bind(size)]
        for axis in (0, 1):
            wanted = x[:size].cumsum(axis)
            np.testing.assert_allclose(scan(part, Op.ADD, axis).numpy(), wanted)


def test_a_tensor_may_be_assigned_its_own_running_sums() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    x.assign(scan(x, Op.ADD, 0))
    assert x.tolist() == [1, 3, 6]


def test_the_verifier_wants_an_axis_and_a_start_that_fit() -> None:
    x = UOp(Op.RESHAPE, dtypes.float32, (UOp(Op.PARAM, dtypes.float32, (), (0, 6, "CPU")),), (2, 3))
    start = UOp(Op.SHRINK, dtypes.float32, (x,), ((0, 1), (0, 3)))
    verify(UOp(Op.SCAN_AXIS, x.dtype, (x, start), (Op.ADD, 0)), "parametric")
    with raises(VerifyError, match="an axis below 2, not 2"):
        verify(UOp(Op.SCAN_AXIS, x.dtype, (x,), (Op.ADD, 2)), "parametric")
    with raises(VerifyError, match=r"\(2, 1\) to start from, not \(1, 3\)"):
        verify(UOp(Op.SCAN_AXIS, x.dtype, (x, start), (Op.ADD, 1)), "parametric")
    with raises(VerifyError, match="combine: combining, axis: int"):
        verify(UOp(Op.SCAN_AXIS, x.dtype, (x,), (Op.SUB, 1)), "parametric")


@pytest.mark.parametrize(("lanes", "steps"), [(1, 3), (4, 1), (4, 4), (8, 16), (8, 7), (16, 5)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16"])
def test_rows_are_scanned_in_lanes_and_a_few_elements_at_a_time(
    lanes: int, steps: int, dtype: str
) -> None:
    x = Tensor(RANDOM.integers(-9, 9, (11, 32))).cast(dtype).realize()
    kernel = Kernel(scan(x, Op.ADD, 1))
    (loops, _) = kernel.forms
    (rows,), (along,) = output_axes(loops), ordered_axes(loops)
    placement = Placement({rows.arg[0]: lanes}, {along.arg[0]: steps}, parallel=1)
    compiled = compile_placed(loops, placement, host_target(), Config(verify=True))
    np.testing.assert_array_equal(kernel.run(compiled, 1), kernel.wanted)


def test_long_rows_are_turned_in_registers() -> None:
    (graph,) = kernels_of(scan(Tensor(np.zeros((64, 128), np.float32)), Op.ADD, 1))
    placements = dict(compile_region(graph, host_target(), Config(verify=True)).axes)
    assert placements["upcast"] == 16 and placements["lane"] > 1


def test_only_the_axis_of_a_scan_has_a_tile_in_order() -> None:
    loops = rangeify(kernels_of(scan(Tensor(np.zeros((4, 8))), Op.ADD, 1))[0])
    (along,) = ordered_axes(loops)
    with raises(OptimizeError, match="names axis"):
        place_axes(loops, Placement(lanes={along.arg[0]: 4}))


def test_sums_of_floats_are_rounded_once() -> None:
    x = RANDOM.random(100_000).astype(np.float32)
    wanted = x.astype(np.float64).cumsum()
    np.testing.assert_array_max_ulp(scan(Tensor(x), Op.ADD, 0).numpy(), wanted.astype(np.float32))
    factors = (x * 1e-4 + 1).astype(np.float32)
    wanted = factors.astype(np.float64).cumprod()
    got = scan(Tensor(factors), Op.MUL, 0).numpy()
    np.testing.assert_array_max_ulp(got, wanted.astype(np.float32))
