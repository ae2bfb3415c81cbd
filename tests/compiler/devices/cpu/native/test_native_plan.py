"""Plans of hand-written kernels, through the real driver."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from ogive.compiler.devices.cpu.native.link import Library
from ogive.compiler.devices.cpu.native.native_plan import NativePlan, copy_step
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.protocol import Fault, HostStep, KernelStep
from ogive.errors import ExecuteError
from tests.raising import raises

Counts = NDArray[numpy.int64]
MakePool = Callable[[int], Pool]


def zeros(count: int) -> Counts:
    return numpy.zeros(count, numpy.int64)


def append_steps(kernels: Library, log: Counts, count: int) -> list[KernelStep]:
    return [KernelStep(kernels["append"], (log.ctypes.data, value)) for value in range(count)]


def count_resumes(plan: NativePlan) -> list[int]:
    """A list that gets an entry each time the plan is resumed after a pause."""
    resumes: list[int] = []
    resume = plan._resume

    def counted(address: int) -> int:
        resumes.append(address)
        return resume(address)

    plan._resume = counted
    return resumes


def test_an_empty_plan_finishes() -> None:
    assert NativePlan([]).execute() is None


def test_one_step_runs_once_per_execute(kernels: Library) -> None:
    counts = zeros(1)
    plan = NativePlan([KernelStep(kernels["count"], (counts.ctypes.data,))])
    for _ in range(3):
        assert plan.execute() is None
    assert counts[0] == 3


@pytest.mark.parametrize("count", [1, 2, 17, 500])
def test_steps_run_in_order(kernels: Library, count: int) -> None:
    log = zeros(count + 1)
    assert NativePlan(append_steps(kernels, log, count)).execute() is None
    assert log.tolist() == [count, *range(count)]


def test_steps_run_in_order_when_paused_after_each(kernels: Library) -> None:
    log = zeros(101)
    plan = NativePlan(append_steps(kernels, log, 100), pause_nanoseconds=0)
    resumes = count_resumes(plan)
    assert plan.execute() is None
    assert log.tolist() == [100, *range(100)]
    assert len(resumes) == 99


def test_a_step_without_tiles_is_skipped(kernels: Library) -> None:
    counts = zeros(4)
    step = KernelStep(kernels["count"], (counts.ctypes.data,), tiles=0)
    assert NativePlan([step, step]).execute() is None
    assert not counts.any()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_tile_runs_exactly_once(kernels: Library, make_pool: MakePool, threads: int) -> None:
    pool = make_pool(threads)
    random = numpy.random.default_rng(threads)
    for _ in range(60):
        tiles = int(random.integers(0, 10 ** int(random.integers(1, 5))))
        counts = zeros(tiles + 2)
        step = KernelStep(
            kernels["count"], (counts.ctypes.data + 8,), tiles, int(random.integers(0, 50))
        )
        budget = int(random.choice([0, 20_000, 50_000_000]))
        plan = NativePlan([step] * 3, pool, pause_nanoseconds=budget)
        for _ in range(3):
            assert plan.execute() is None
        assert counts.tolist() == [0, *[9] * tiles, 0]


@pytest.mark.parametrize("parallel", [False, True])
def test_a_long_step_pauses_and_resumes(
    kernels: Library, make_pool: MakePool, parallel: bool
) -> None:
    counts = zeros(400)
    step = KernelStep(
        kernels["slow_count"], (counts.ctypes.data, 10_000), counts.size, parallel=parallel
    )
    plan = NativePlan([step], make_pool(3), pause_nanoseconds=100_000)
    resumes = count_resumes(plan)
    runs = 0
    while not resumes and runs < 100:  # workers may be done before the caller sees the clock
        assert plan.execute() is None
        runs += 1
    assert resumes
    assert (counts == runs).all()


def test_an_abandoned_run_starts_over(kernels: Library) -> None:
    log = zeros(101)
    plan = NativePlan(append_steps(kernels, log, 100), pause_nanoseconds=0)
    resume = plan._resume

    def interrupt(address: int) -> int:
        raise KeyboardInterrupt

    plan._resume = interrupt
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    assert log[0] == 1
    plan._resume = resume
    log[:] = 0
    assert plan.execute() is None
    assert log.tolist() == [100, *range(100)]


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("budget", [0, 50_000_000])
def test_a_fault_stops_later_steps_and_tells_the_least_site(
    kernels: Library, make_pool: MakePool, threads: int, budget: int
) -> None:
    counts, log = zeros(1000), zeros(10)
    steps = [
        *append_steps(kernels, log, 2),
        KernelStep(kernels["fail_from"], (counts.ctypes.data, 37), counts.size),
        *append_steps(kernels, log, 3),
    ]
    plan = NativePlan(steps, make_pool(threads), pause_nanoseconds=budget)
    assert plan.execute() == Fault(step=2, site=37)
    assert (counts == 1).all()
    assert log[0] == 2


def test_a_run_after_a_fault_is_fresh(kernels: Library) -> None:
    counts, log = zeros(100), zeros(10)
    steps = [
        KernelStep(kernels["fail_from"], (counts.ctypes.data, 60), counts.size),
        *append_steps(kernels, log, 1),
    ]
    plan = NativePlan(steps)
    assert plan.execute() == Fault(step=0, site=60)
    plan.words[plan.offsets[0] + 1] = 70
    assert plan.execute() == Fault(step=0, site=70)
    plan.words[plan.offsets[0] + 1] = 100
    assert plan.execute() is None
    assert log[0] == 1


def test_arguments_and_tiles_can_be_rebound(kernels: Library) -> None:
    first, second = zeros(5), zeros(5)
    log = zeros(4)
    plan = NativePlan(
        [
            *append_steps(kernels, log, 1),
            KernelStep(kernels["count"], (first.ctypes.data,), tiles=5),
        ]
    )
    plan.execute()
    plan.words[plan.offsets[1]] = second.ctypes.data
    plan.tiles[1] = 3
    plan.execute()
    assert first.tolist() == [1] * 5
    assert second.tolist() == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("nbytes", [0, 1, 65_535, 65_536, 65_537, 5_000_001])
def test_a_copy_step_copies_all_bytes_and_no_more(nbytes: int) -> None:
    source = numpy.random.default_rng(0).integers(0, 256, nbytes + 2).astype(numpy.uint8)
    destination = numpy.zeros_like(source)
    plan = NativePlan([copy_step(destination.ctypes.data + 1, source.ctypes.data + 1, nbytes)])
    assert plan.execute() is None
    assert (destination[1:-1] == source[1:-1]).all()
    assert destination[0] == destination[-1] == 0


def test_host_steps_run_between_kernels(kernels: Library) -> None:
    log = zeros(10)
    seen: list[int] = []
    first, second = append_steps(kernels, log, 2)
    look = HostStep(lambda: seen.append(int(log[0])))
    plan = NativePlan([look, first, look, look, second, look])
    for _ in range(2):
        log[:] = 0
        assert plan.execute() is None
    assert seen == [0, 1, 1, 2] * 2


def test_an_error_in_a_host_step_is_raised_and_ends_the_run(kernels: Library) -> None:
    log = zeros(10)

    def fail() -> None:
        raise ValueError("from the host")

    plan = NativePlan([HostStep(fail), *append_steps(kernels, log, 1)])
    with raises(ValueError, match="from the host"):
        plan.execute()
    assert log[0] == 0


def add_one(counts: Counts) -> list[tuple[Any, ...]]:
    return [(operator.setitem, counts, 0, counts[0] + 1)]


def interrupt() -> None:
    raise KeyboardInterrupt


def test_a_host_step_is_done_when_its_last_calls_are() -> None:
    counts = zeros(1)
    plan = NativePlan([HostStep(lambda: add_one(counts)), HostStep(interrupt)])
    plan.rewind()
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    assert plan.outcome(lambda step: True) == Fault(1, 0, stopped=True)
    assert counts[0] == 1


def test_a_host_step_that_is_interrupted_before_its_last_calls_is_not_begun() -> None:
    counts = zeros(1)

    def interrupted() -> list[tuple[Any, ...]]:
        calls = add_one(counts)
        interrupt()
        return calls

    plan = NativePlan([HostStep(interrupted)])
    plan.rewind()
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    assert plan.outcome(lambda step: True) == Fault(0, 0, stopped=True)
    assert counts[0] == 0


def test_a_run_that_may_not_end_yet_does_its_host_steps_but_those_of_the_user() -> None:
    counts, others = zeros(1), zeros(1)
    first = [True]

    def interrupted_once() -> list[tuple[Any, ...]]:
        if first.pop():
            first.append(False)
            interrupt()
        return add_one(counts)

    steps = [
        HostStep(interrupted_once),
        HostStep(lambda: add_one(counts)),
        HostStep(lambda: add_one(others), is_users=True),
    ]
    plan = NativePlan(steps)
    plan.rewind()
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    assert plan.outcome(lambda step: False) == Fault(2, 0, stopped=True)
    assert (counts[0], others[0]) == (2, 0)


def test_a_host_step_may_execute_another_plan(kernels: Library, make_pool: MakePool) -> None:
    pool = make_pool(3)
    inner_counts, outer_counts = zeros(3000), zeros(3000)
    inner = NativePlan([KernelStep(kernels["count"], (inner_counts.ctypes.data,), 3000)], pool)
    outer_step = KernelStep(kernels["count"], (outer_counts.ctypes.data,), 3000)
    outer = NativePlan([outer_step, HostStep(lambda: check_none(inner)), outer_step], pool)
    assert outer.execute() is None
    assert (inner_counts == 1).all()
    assert (outer_counts == 2).all()


def check_none(plan: NativePlan) -> None:
    assert plan.execute() is None


def run_between(plan: NativePlan) -> None:
    plan.execute_between(lambda: None, lambda fault: None)


def test_what_is_done_around_a_run_waits_for_the_runs_of_other_threads() -> None:
    events: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        events.append("run")
        inside.set()
        go_on.wait(10)

    plan = NativePlan([HostStep(wait)])

    def work(name: str) -> None:
        plan.execute_between(
            lambda: events.append(f"before {name}"), lambda fault: events.append(f"after {name}")
        )

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    threads[0].start()
    inside.wait(10)
    threads[1].start()
    threads[1].join(0.05)
    go_on.set()
    for thread in threads:
        thread.join()
    assert events == ["before a", "run", "after a", "before b", "run", "after b"]


def test_a_host_step_that_executes_its_own_plan_is_an_error() -> None:
    plans: list[NativePlan] = []
    plans.append(NativePlan([HostStep(lambda: check_none(plans[0]))]))
    plans.append(NativePlan([HostStep(lambda: run_between(plans[1]))]))
    for plan in plans:
        with raises(ExecuteError, match="its own host steps"):
            plan.execute()


def in_threads(count: int, work: Callable[[int], Any]) -> None:
    errors: list[BaseException] = []

    def guarded(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("budget", [0, 50_000_000])
def test_plans_of_eight_threads_share_one_pool(
    kernels: Library, make_pool: MakePool, budget: int
) -> None:
    pool = make_pool(4)

    def work(index: int) -> None:
        counts, log = zeros(500 + index), zeros(200)
        steps = [KernelStep(kernels["count"], (counts.ctypes.data,), counts.size)] * 10
        plan = NativePlan([*steps, *append_steps(kernels, log, 1)], pool, pause_nanoseconds=budget)
        for _ in range(100):
            assert plan.execute() is None
        assert (counts == 1000).all()
        assert log[0] == 100

    in_threads(8, work)


def test_threads_that_execute_one_plan_take_turns(kernels: Library, make_pool: MakePool) -> None:
    counts = zeros(3000)
    step = KernelStep(kernels["count"], (counts.ctypes.data,), counts.size)
    plan = NativePlan([step, step], make_pool(3), pause_nanoseconds=1000)
    in_threads(8, lambda _: [plan.execute() for _ in range(50)])
    assert (counts == 8 * 50 * 2).all()


def test_a_pool_may_be_resized_while_plans_run(kernels: Library, make_pool: MakePool) -> None:
    pool = make_pool(2)
    counts = [zeros(2000), zeros(2000)]

    def work(index: int) -> None:
        if index == 2:
            for threads in [1, 3, 2, 7, 1, 4] * 10:
                pool.set_threads(threads)
                assert pool.threads == threads
            return
        step = KernelStep(kernels["count"], (counts[index].ctypes.data,), 2000)
        plan = NativePlan([step] * 5, pool)
        for _ in range(200):
            assert plan.execute() is None

    in_threads(3, work)
    assert all((each == 1000).all() for each in counts)
