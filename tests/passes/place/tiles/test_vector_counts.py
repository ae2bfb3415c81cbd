"""How many vectors are computed side by side."""

from __future__ import annotations

import functools

from ogive import Tensor
from ogive.config import Config
from ogive.passes.pipeline.region_passes import placement_for
from ogive.targets.target import describe_cpu
from tests.passes.loops.loops import kernels_of

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
