"""Steps that the pool runs side by side, through the real driver."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy
import pytest
from numpy.typing import NDArray

from ogive.compiler.devices.cpu.native.link import Library
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.protocol import Fault, HostStep, KernelStep

Counts = NDArray[numpy.int64]
MakePool = Callable[[int], Pool]

BUDGETS = [0, 20_000, 50_000_000]


def counting(kernels: Library, counts: Counts, grain: int, turns: int, joins: bool) -> KernelStep:
    words = (counts.ctypes.data, turns)
    return KernelStep(kernels["slow_count"], words, counts.size, grain, joins=joins)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_tile_of_a_group_runs_exactly_once(
    kernels: Library, make_pool: MakePool, threads: int
) -> None:
    pool = make_pool(threads)
    random = numpy.random.default_rng(threads)
    for _ in range(40):
        counts = [numpy.zeros(int(random.integers(1, 20)), numpy.int64) for _ in range(12)]
        steps = [
            counting(kernels, each, int(random.integers(1, 9)), 200, at % 5 > random.random())
            for at, each in enumerate(counts)
        ]
        plan = NativePlan(steps, pool, pause_nanoseconds=int(random.choice(BUDGETS)))
        for _ in range(3):
            assert plan.execute() is None
        assert all((each == 3).all() for each in counts)


def test_a_group_comes_between_the_steps_around_it(kernels: Library, make_pool: MakePool) -> None:
    counts = [numpy.zeros(3, numpy.int64) for _ in range(6)]
    seen: list[list[int]] = []

    def look() -> None:
        seen.append([int(each.sum()) for each in counts])

    first, second = counts[:3], counts[3:]
    plan = NativePlan(
        [
            HostStep(look),
            *[counting(kernels, each, 1, 3000, each is not first[0]) for each in first],
            HostStep(look),
            *[counting(kernels, each, 1, 3000, each is not second[0]) for each in second],
            HostStep(look),
        ],
        make_pool(3),
    )
    assert plan.execute() is None
    assert seen == [[0] * 6, [3, 3, 3, 0, 0, 0], [3] * 6]


def test_neighbouring_groups_run_one_after_the_other(
    kernels: Library, make_pool: MakePool
) -> None:
    log = numpy.zeros(20, numpy.int64)
    values = numpy.zeros(4, numpy.int64)
    append = KernelStep(kernels["append"], (log.ctypes.data, 1))
    slow = counting(kernels, values, 1, 20_000, joins=True)
    # Two groups of an append and a slow count: were they one, the appends could meet.
    plan = NativePlan([append, slow] * 4, make_pool(3))
    for runs in range(1, 6):
        log[0] = 0
        assert plan.execute() is None
        assert log[0] == 4 and (values == 4 * runs).all()


def test_several_threads_run_the_steps_of_a_group(kernels: Library, make_pool: MakePool) -> None:
    identities = numpy.zeros((64, 1), numpy.int64)
    steps = [
        KernelStep(kernels["identify"], (row.ctypes.data, 20_000), joins=at > 0)
        for at, row in enumerate(identities)
    ]
    plan = NativePlan(steps, make_pool(3))
    for _ in range(200):
        assert plan.execute() is None
        if len(set(identities.ravel().tolist())) > 1:
            return
    pytest.fail("one thread ran every group alone")


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_first_faulting_step_of_a_group_is_told(
    kernels: Library, make_pool: MakePool, threads: int, budget: int
) -> None:
    counts = numpy.zeros((9, 10), numpy.int64)
    log = numpy.zeros(3, numpy.int64)
    limits = [10, 10, 10, 10, 7, 10, 2, 0, 10]  # the step at 4 faults at site 7, later ones earlier
    group = [
        KernelStep(kernels["fail_from"], (row.ctypes.data, limit), 10, 4, joins=at > 0)
        for at, (row, limit) in enumerate(zip(counts, limits, strict=True))
    ]
    append = KernelStep(kernels["append"], (log.ctypes.data, 1))
    plan = NativePlan([append, *group, append], make_pool(threads), pause_nanoseconds=budget)
    for runs in range(1, 20):
        assert plan.execute() == Fault(step=5, site=7)
        assert log[0] == 1
        assert (counts[:5] == runs).all(), "what comes before the fault has run"
        log[0] = 0


def test_a_fault_of_a_group_is_forgotten_by_the_next_run(
    kernels: Library, make_pool: MakePool
) -> None:
    counts = numpy.zeros((3, 4), numpy.int64)
    steps = [
        KernelStep(kernels["fail_from"], (row.ctypes.data, 1), 4, joins=at > 0)
        for at, row in enumerate(counts)
    ]
    plan = NativePlan(steps, make_pool(2))
    assert plan.execute() == Fault(0, 1)
    for offset in plan.offsets:
        plan.words[offset + 1] = 4
    assert plan.execute() is None


def test_the_addresses_of_a_group_can_be_rebound(kernels: Library, make_pool: MakePool) -> None:
    before, after = numpy.zeros((2, 5, 3), numpy.int64)
    steps = [counting(kernels, row, 2, 10, at > 0) for at, row in enumerate(before)]
    plan = NativePlan(steps, make_pool(2))
    for offset, row in zip(plan.offsets, after, strict=True):
        plan.words[offset] = row.ctypes.data
    assert plan.execute() is None
    assert not before.any() and (after == 1).all()


def test_groups_of_several_callers_share_one_pool(kernels: Library, make_pool: MakePool) -> None:
    pool = make_pool(3)
    counts = numpy.zeros((6, 8, 5), numpy.int64)

    def work(mine: Counts) -> None:
        steps = [counting(kernels, row, 2, 300, at > 0) for at, row in enumerate(mine)]
        plan = NativePlan(steps, pool)
        for _ in range(200):
            assert plan.execute() is None

    threads = [threading.Thread(target=work, args=(mine,)) for mine in counts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counts == 200).all()
