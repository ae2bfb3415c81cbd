"""Where workers run: wherever their caller may, but for where it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

from ogive.compiler.devices.cpu.native.link import Library
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.protocol import KernelStep

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="the system does not say where threads may run"
)


@pytest.fixture
def processors() -> Iterator[set[int]]:
    """Those that this thread may run on, which it may again after the test."""
    allowed = os.sched_getaffinity(0)
    yield allowed
    os.sched_setaffinity(0, allowed)


@pytest.fixture
def work(kernels: Library, make_pool: Callable[[int], Pool]) -> Callable[[], set[int]]:
    """Runs a step that three threads share; gives the system's numbers of the two workers."""
    counts = numpy.zeros(64, numpy.int64)
    arguments = (counts.ctypes.data, 2000)
    step = KernelStep(kernels["slow_count"], arguments, counts.size)
    plan = NativePlan([step], make_pool(3))
    before = thread_numbers()

    def run() -> set[int]:
        counts[:] = 0
        assert plan.execute() is None
        assert (counts == 1).all()
        return thread_numbers() - before

    return run


def test_workers_keep_off_the_processor_of_their_caller(
    processors: set[int], work: Callable[[], set[int]]
) -> None:
    if len(processors) == 1:
        pytest.skip("there is nowhere to go")
    for place in (min(processors), max(processors), min(processors)):
        os.sched_setaffinity(0, {place})
        os.sched_setaffinity(0, processors)
        for worker in work():
            assert len(os.sched_getaffinity(worker)) == len(processors) - 1


def test_workers_of_a_caller_with_one_processor_share_it(
    processors: set[int], work: Callable[[], set[int]]
) -> None:
    os.sched_setaffinity(0, {min(processors)})
    workers = work()
    assert len(workers) == 2
    assert all(min(processors) in os.sched_getaffinity(worker) for worker in workers)


def thread_numbers() -> set[int]:
    """The system's numbers of this process's threads, Python's or not."""
    return {int(entry.name) for entry in Path("/proc/self/task").iterdir()}
