"""Placements compiled and timed on scratch memory, in this process, where they are all good."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.devices.cpu.kernel_timer import CpuTimer
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.compiler.passes.pipeline.region_passes import placement_for
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.timing_bench import NEVER, Bench, Unfit, scratch, scratch_bytes
from ogive.errors import OptimizeError
from tests.compiler.search.kernels import CONFIG, TARGET, data, loops
from tests.raising import raises

MOST = 20_000


def heuristic(root: UOp) -> Placement:
    return placement_for(root, TARGET, CONFIG)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.bfloat16, dtypes.int8, dtypes.bool_])
def test_scratch_data_is_harmless(dtype: DType) -> None:
    values = scratch(dtype, 9000).as_numpy(dtype.numpy, (9000,)).astype(np.float64)
    assert len(np.unique(values)) > 1
    assert (values <= 3).all()
    assert dtype is dtypes.bool_ or (values > 0).all()


def test_it_times_a_kernel_without_the_users_memory() -> None:
    tensor = data(64, 100)
    before = tensor.numpy().copy()
    root = loops(tensor.softmax(-1))
    bench = Bench(root, TARGET, 1)
    assert 0 < bench.time(heuristic(root), MOST, 1 << 30, None) < 1
    np.testing.assert_array_equal(tensor.numpy(), before)


def test_divisions_do_not_fault_on_scratch_data() -> None:
    root = loops(Tensor([7, 8, 9]) // Tensor([1, 2, 3]))
    assert Bench(root, TARGET, 1).time(heuristic(root), MOST, 1 << 30, None) > 0


def test_a_kernel_that_faults_is_unfit() -> None:
    whole = Tensor([1, 2, 3])
    root = loops(whole // (whole - whole))
    with raises(Unfit, match="faults"):
        Bench(root, TARGET, 1).time(heuristic(root), MOST, 1 << 30, None)


def test_an_inspection_tells_instructions_arithmetic_and_the_commonest_operations() -> None:
    root = loops(data(64, 48) @ data(48, 64))
    bench = Bench(root, TARGET, 1)
    one = bench.inspect(Placement({1: 16}, {}, (), 1), MOST)
    many = bench.inspect(Placement({1: 16}, {0: 8}, (), 1), MOST)
    assert many.instructions > 2 * one.instructions
    assert one.tiles == 64 and many.tiles == 8
    # 64 * 64 * 48 multiplications and additions, and loads.
    assert 2 * 64 * 64 * 48 <= one.arithmetic <= 8 * 64 * 64 * 48
    assert one.digest != many.digest
    assert many.operations[0][1] >= many.operations[-1][1] > 0


def test_what_is_too_long_is_not_even_written_out() -> None:
    root = loops(data(64, 48) @ data(48, 64))
    bench = Bench(root, TARGET, 1)
    placement = Placement({1: 16}, {0: 64, 2: 48}, (), 0)
    assert bench.inspect(placement, 100).digest == ""
    with raises(Unfit, match="instructions"):
        bench.compile(placement, 100)


def test_an_impossible_placement_is_refused() -> None:
    root = loops(data(64, 48) @ data(48, 64))
    with raises(OptimizeError, match="lanes of one value"):
        Bench(root, TARGET, 1).inspect(Placement({0: 16, 1: 16}), MOST)


class Clock:
    """Each run takes as long as told."""

    def __init__(self, *runs: int) -> None:
        self.times = itertools.chain(*[(0, run) for run in runs], itertools.repeat(0))

    def __call__(self) -> int:
        return next(self.times)


def clocked(*runs: int) -> tuple[Bench, Placement]:
    root = loops(data(1000) + 1)
    bench = Bench(root, TARGET, 1, Clock(*runs))
    return bench, heuristic(root)


def test_the_least_of_several_runs_counts_and_the_first_does_not() -> None:
    bench, placement = clocked(1, 40_000_000, 20_000_000, 30_000_000)
    assert bench.time(placement, MOST, 1 << 30, None) == pytest.approx(0.02)


def test_a_placement_slower_than_the_cut_is_unfit() -> None:
    bench, placement = clocked(1, *[40_000_000] * 20)
    with raises(Unfit, match="slower"):
        bench.time(placement, MOST, 1 << 30, 0.03)


def test_one_disturbed_run_does_not_make_a_placement_unfit() -> None:
    bench, placement = clocked(1, NEVER, 20_000_000, *[40_000_000] * 20)
    assert bench.time(placement, MOST, 1 << 30, 0.03) == pytest.approx(0.02)


def test_a_first_run_that_is_far_too_slow_is_the_last() -> None:
    bench, placement = clocked(100_000_000)
    with raises(Unfit, match="slower"):
        bench.time(placement, MOST, 1 << 30, 0.03)


def test_a_large_grid_is_shrunk_and_the_time_and_the_cut_scaled() -> None:
    root = loops(data(4096, 64).softmax(-1))
    placement = Placement({1: 16, 2: 16, 3: 16}, {}, (0, 1), 1)
    bench = Bench(root, TARGET, 1, Clock(1, *[30_000_000] * 20))
    whole = bench.inspect(placement, MOST)
    assert whole.tiles == 4096
    seconds = bench.time(placement, MOST, whole.arithmetic // 64, None)
    assert seconds == pytest.approx(0.03 * 64)
    bench.clock = Clock(1, *[30_000_000] * 20)
    with pytest.raises(Unfit):
        bench.time(placement, MOST, whole.arithmetic // 64, 0.029 * 64)


def test_two_placements_are_compared_in_turns() -> None:
    root = loops(data(1000) + 1)
    bench = Bench(root, TARGET, 1, Clock(1, 1, *[10_000_000, 20_000_000] * 20))
    pairs = bench.compare(heuristic(root), Placement(), MOST, 1 << 30)
    assert len(pairs) >= 3
    assert all(pair == pytest.approx((0.01, 0.02)) for pair in pairs)


def test_variables_take_the_middle_of_their_range() -> None:
    length = Variable("N", 2, 30).bind(4)
    root = loops(data(32, 65)[:length, :64].exp())  # rows apart, which are no one axis
    bench = Bench(root, TARGET, 1)
    placement = Placement({1: 16}, {}, (0, 1), 1)
    assert bench.inspect(placement, MOST).tiles == 16
    assert bench.time(placement, MOST, 1 << 30, None) > 0


def test_caches_are_swept_only_for_what_does_not_fit_them() -> None:
    small, large = loops(data(10) + 1), loops(data(TARGET.l2_bytes // 4) + 1)
    assert scratch_bytes(small) == 80
    for kernel, is_swept in ((small, False), (large, True)):
        timer = CpuTimer(TARGET, 1)
        timer.sweep_between(scratch_bytes(kernel))
        assert (timer._sweep is not None) == is_swept
