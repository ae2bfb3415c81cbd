"""Where threads run: a worker goes away from the caller's processor, and may return."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

from ogive.device.llvm import assemble
from ogive.device.target import host_target
from ogive.runtime.link import Library, link_library
from ogive.runtime.native import KernelStep, NativePlan
from ogive.runtime.platform_ir import platform_ir
from ogive.runtime.pool import Pool

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="the system does not say where threads may run"
)

MOVE = """
define i64 @move() {
  %from = call i64 @processor()
  call void @leave_processor(i64 %from)
  %to = call i64 @processor()
  %high = shl i64 %from, 32
  %both = or i64 %high, %to
  ret i64 %both
}
"""


@pytest.fixture(scope="module")
def places() -> Library:
    target = host_target()
    return link_library(assemble(platform_ir(target) + MOVE, target), ("move",))


@pytest.fixture
def move(places: Library) -> Callable[[], tuple[int, int]]:
    function = ctypes.CFUNCTYPE(ctypes.c_int64)(places["move"].address)
    return lambda: divmod(function(), 1 << 32)


@pytest.fixture
def processors() -> Iterator[set[int]]:
    """Those that this thread may run on, which it may again after the test."""
    allowed = os.sched_getaffinity(0)
    yield allowed
    os.sched_setaffinity(0, allowed)


def test_a_thread_moves_and_may_come_back(
    processors: set[int], move: Callable[[], tuple[int, int]]
) -> None:
    if len(processors) == 1:
        pytest.skip("there is nowhere to go")
    for _ in range(20):
        origin, destination = move()
        assert origin != destination
        assert os.sched_getaffinity(0) == processors


def test_a_thread_with_one_processor_stays(
    processors: set[int], move: Callable[[], tuple[int, int]]
) -> None:
    only = min(processors)
    os.sched_setaffinity(0, {only})
    assert move() == (only, only)
    assert os.sched_getaffinity(0) == {only}


def test_workers_may_still_run_where_they_might(
    processors: set[int], kernels: Library, make_pool: Callable[[int], Pool]
) -> None:
    pool = make_pool(3)
    counts = numpy.zeros(64, numpy.int64)
    arguments = (counts.ctypes.data, 2000)
    plan = NativePlan([KernelStep(kernels["slow_count"], arguments, counts.size)], pool)
    before = thread_numbers()
    plan.execute()
    workers = thread_numbers() - before
    os.sched_setaffinity(0, {min(processors)})
    for _ in range(50):
        assert plan.execute() is None
    assert (counts == 51).all()
    assert len(workers) == 2
    while pool.sleepers < 2:
        time.sleep(0.001)
    assert all(os.sched_getaffinity(worker) == processors for worker in workers)


def thread_numbers() -> set[int]:
    """The system's numbers of this process's threads, Python's or not."""
    return {int(entry.name) for entry in Path("/proc/self/task").iterdir()}
