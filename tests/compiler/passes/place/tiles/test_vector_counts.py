"""How many vectors are computed side by side."""

from __future__ import annotations

import functools

import numpy

from ogive import Tensor
from ogive.compiler.passes.pipeline.region_passes import placement_for
from ogive.compiler.targets.target import describe_cpu
from ogive.config import Config
from tests.compiler.passes.loops.loops import kernels_of

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")


def vectors_of(result: Tensor) -> list[int]:
    (kernel,) = kernels_of(result, TARGET)
    return list(placement_for(kernel, TARGET, Config()).upcast.values())


def tree(leaves: list[Tensor]) -> Tensor:
    """The sum of many, in which each addition waits for few others."""
    middle = len(leaves) // 2
    return tree(leaves[:middle]) + tree(leaves[middle:]) if middle else leaves[0]


def test_operations_that_wait_for_each_other_leave_room_for_more_vectors() -> None:
    x = Tensor([0.0] * 4096).realize()
    chain = functools.reduce(lambda value, step: value * 0.5 + step, range(40), x)
    assert vectors_of(chain) == [4]


def test_operations_that_run_side_by_side_do_not() -> None:
    x = Tensor([0.0] * 4096).realize()
    assert vectors_of(tree([(x + step).exp() for step in range(16)])) == []


def whole(*shape: int) -> Tensor:
    return Tensor(numpy.ones(shape, numpy.float32)).realize()


def rows_at_a_time(result: Tensor) -> int:
    """The rows of a register tile; their axis is the first one, and none of it is in lanes."""
    *_, kernel = kernels_of(result, TARGET)
    placement = placement_for(kernel, TARGET, Config())
    assert 0 not in placement.lanes
    return placement.upcast.get(0, 1)


def test_rows_whose_sums_wait_for_each_other_are_computed_four_at_a_time() -> None:
    x = whole(512, 64)
    assert rows_at_a_time(x.softmax(-1)) == 4
    assert rows_at_a_time(x.std(1)) == 4


def test_rows_with_functions_that_wait_for_a_sum_are_computed_four_at_a_time() -> None:
    x = whole(512, 64)
    assert rows_at_a_time((x - x.amax(1, keepdim=True)).exp()) == 4


def test_rows_are_computed_one_at_a_time_if_they_are_long_or_few_or_no_sum_waits() -> None:
    long, few, rows = whole(512, 1024), whole(8, 64), whole(512, 64)
    assert rows_at_a_time(long.softmax(-1)) == 1
    assert rows_at_a_time(few.softmax(-1)) == 1
    assert rows_at_a_time(rows / rows.sum(1, keepdim=True)) == 1
