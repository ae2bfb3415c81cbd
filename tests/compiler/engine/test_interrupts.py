"""Ctrl-C and faults in the middle of assignments: nothing is done twice, or half."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.cpu.processor import processor
from ogive.compiler.devices.protocol import DeviceStep, Fault, KernelStep
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.errors import DivisionByZeroError, ExecuteError
from tests.raising import raises

UNCACHED = Config(schedule_cache=False, disk_cache=False, threads=1)
SIZE = 1 << 14


class CtrlC:
    """Presses it when a plan is resumed for the `at`-th time, or when a store is half done.

    What is raised `instead` of an execution is raised in its place, `behind` one after it, and
    `in_outcome` when the plan is asked how far a run came.
    """

    def __init__(self) -> None:
        self.at = -1
        self.resumes = 0
        self.tears = False
        self.instead: BaseException | None = None
        self.behind: BaseException | None = None
        self.in_outcome: BaseException | None = None

    def look(self, plan: NativePlan) -> None:
        self.resumes += 1
        if self.resumes == self.at or (self.tears and plan.is_half_done):
            self.at, self.tears = -1, False
            signal.raise_signal(signal.SIGINT)

    def bind(self, steps: Sequence[DeviceStep], pool: Pool) -> NativePlan:
        """A plan of steps that are done tile by tile, and of which each is a pause."""
        fine = [
            each._replace(grain=1, parallel=False, joins=False)
            if isinstance(each, KernelStep)
            else each
            for each in steps
        ]
        return InterruptedPlan(self, fine, pool)


class InterruptedPlan(NativePlan):
    """A plan that looks whether somebody presses Ctrl-C."""

    def __init__(self, ctrl_c: CtrlC, steps: Sequence[DeviceStep], pool: Pool) -> None:
        super().__init__(steps, pool, pause_nanoseconds=0)
        self.ctrl_c = ctrl_c

    def resume(self) -> int:
        status = super().resume()
        self.ctrl_c.look(self)
        return status

    def execute(self) -> Fault | None:
        if self.ctrl_c.instead is not None:
            raise self.ctrl_c.instead
        fault = super().execute()
        if self.ctrl_c.behind is not None:
            raise self.ctrl_c.behind
        return fault

    def outcome(self, may_end: Callable[[int], bool]) -> Fault | None:
        if self.ctrl_c.in_outcome is not None:
            raise self.ctrl_c.in_outcome
        return super().outcome(may_end)


@pytest.fixture
def ctrl_c() -> Iterator[CtrlC]:
    """Plans pause after every tile, and are interrupted as it is told."""
    control = CtrlC()
    with processor.binding_by(control.bind):
        yield control


@pytest.mark.parametrize("at", [1, 2, 3, 7, 12])
def test_an_interrupted_assignment_is_carried_out_once(ctrl_c: CtrlC, at: int) -> None:
    data = numpy.arange(float(SIZE))
    x, y = Tensor(data), Tensor(data)
    x += 1
    y += x.sum()
    ctrl_c.at = at
    with pytest.raises(KeyboardInterrupt):
        Tensor.realize_batch([x, y], config=UNCACHED)
    numpy.testing.assert_array_equal(x.numpy(), data + 1)
    numpy.testing.assert_array_equal(y.numpy(), data + (data + 1).sum())


def test_an_interrupt_after_the_last_step_loses_nothing(ctrl_c: CtrlC) -> None:
    x = Tensor([1.0, 2.0])
    x += 1
    ctrl_c.behind = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        x.realize(config=UNCACHED)
    ctrl_c.behind = None
    assert x.tolist() == [2.0, 3.0]


def test_an_assignment_that_is_interrupted_half_way_is_carried_out_to_its_end(
    ctrl_c: CtrlC,
) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    old = x + 0
    x += 1
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        x.realize(config=UNCACHED)
    assert not ctrl_c.tears
    numpy.testing.assert_array_equal(x.numpy(), data + 1)
    numpy.testing.assert_array_equal((x * 2).numpy(), 2 * (data + 1))
    numpy.testing.assert_array_equal(old.numpy(), data)


def test_an_interrupt_while_one_is_settled_leaves_it_to_the_next_reader(ctrl_c: CtrlC) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    x += 1
    ctrl_c.tears = True
    ctrl_c.in_outcome = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        x.realize(config=UNCACHED)
    ctrl_c.in_outcome = None
    assert clock.writers
    numpy.testing.assert_array_equal(x.numpy(), data + 1)
    assert not clock.writers


def test_what_is_read_from_an_old_version_is_computed_before_a_run_is_left(
    ctrl_c: CtrlC,
) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    later = (Tensor(numpy.arange(3.0)) * x.sum()).cos().cumsum(0)
    x += 1
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        Tensor.realize_batch([x, later], config=UNCACHED)
    numpy.testing.assert_array_equal(x.numpy(), data + 1)
    wanted = numpy.cos(numpy.arange(3.0) * data.sum()).cumsum()
    numpy.testing.assert_allclose(later.numpy(), wanted)


def test_a_plan_that_is_interrupted_half_way_has_assigned_once(ctrl_c: CtrlC) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    x += 1
    plan = x.prepare(config=UNCACHED)
    plan.execute()
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    numpy.testing.assert_array_equal(x.numpy(), data + 2)
    plan.execute()
    numpy.testing.assert_array_equal(x.numpy(), data + 3)


def test_reading_a_result_of_a_plan_that_was_interrupted_executes_it(ctrl_c: CtrlC) -> None:
    x = Tensor([1.0, 2.0])
    y = x * 3
    plan = y.prepare(config=UNCACHED)
    plan.execute()
    ctrl_c.instead = KeyboardInterrupt()
    y.numpy()
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    with pytest.raises(KeyboardInterrupt):
        y.numpy()
    ctrl_c.instead = None
    assert y.tolist() == [3.0, 6.0]


def test_a_plan_that_has_assigned_in_part_is_not_begun_again_by_reading(ctrl_c: CtrlC) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    x += 1
    late = (x.sum() * Tensor(numpy.arange(float(SIZE)))).cumsum(0)
    plan = Tensor.prepare_batch([x, late], config=UNCACHED)
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    numpy.testing.assert_array_equal(x.numpy(), data + 1)
    with raises(ExecuteError, match="until it is executed again"):
        late.numpy()
    plan.execute()
    numpy.testing.assert_array_equal(x.numpy(), data + 2)
    wanted = ((data + 2).sum() * data).cumsum()
    numpy.testing.assert_allclose(late.numpy(), wanted)


def test_a_captured_function_that_is_interrupted_half_way_has_assigned_once(ctrl_c: CtrlC) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data).realize()

    @ogive.jit(config=UNCACHED)
    def step(x: Tensor) -> Tensor:
        x += 1
        return x.sum()

    step(x)
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        step(x)
    numpy.testing.assert_array_equal(x.numpy(), data + 2)
    assert step(x).item() == (data + 3).sum()


def test_a_time_out_is_raised_and_not_taken_for_a_fault(ctrl_c: CtrlC) -> None:
    state = Tensor(numpy.ones(100)).realize()
    for _ in range(2):  # from the second time on, what recurs is kept
        state = state * 2
        assert state.sum().item() > 0
    state = state * 2
    ctrl_c.behind = TimeoutError("too late")
    graph_cache.clear()
    with raises(TimeoutError, match="too late"):
        state.sum().item()
    ctrl_c.behind = None
    assert state.sum().item() == 800


def test_an_interrupt_in_a_custom_function_keeps_assignments_pending() -> None:
    stop = [True]

    def slow(given: NDArray[Any], result: NDArray[Any]) -> None:
        if stop:
            signal.raise_signal(signal.SIGINT)
        result[...] = given

    x, y = Tensor([1.0, 2.0]), Tensor([5.0, 5.0])
    y += 1
    x += ogive.custom(slow, [x + 1], ((2,), "float32"))
    with pytest.raises(KeyboardInterrupt):
        Tensor.realize_batch([y, x], config=UNCACHED)
    stop.clear()
    assert x.tolist() == [3.0, 5.0] and y.tolist() == [6.0, 6.0]


def test_what_a_run_has_computed_before_a_fault_is_kept() -> None:
    x, factors = Tensor([1, 2, 3]), Tensor(list(range(100)))
    early = factors * x.sum()
    x += 1
    wrong = x.sum() // Tensor([0])
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([x, wrong, early], config=UNCACHED)
    assert x.tolist() == [2, 3, 4]
    assert early.tolist() == [6 * factor for factor in range(100)]


def test_what_a_fault_leaves_behind_never_reads_a_version_that_is_gone() -> None:
    x, factors = Tensor([1, 2, 3]), Tensor(list(range(100)))
    late = (factors * x.sum()).cumsum(0)
    x += 1
    wrong = x.sum() // Tensor([0])
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([x, wrong, late], config=UNCACHED)
    assert x.tolist() == [2, 3, 4]
    with raises(ExecuteError, match="assigned to since"):
        late.numpy()


def test_threads_that_read_wait_for_a_plan_that_assigns() -> None:
    x = Tensor(numpy.zeros(1 << 18))
    x += 1
    plan = x.prepare()
    plan.execute()
    seen: list[bool] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            values = (x * 1).numpy()
            seen.append(bool((values == values[0]).all()))

    reader = threading.Thread(target=read)
    reader.start()
    end = time.monotonic() + 0.5
    while time.monotonic() < end or len(seen) < 3:
        plan.execute()
    over.set()
    reader.join()
    assert all(seen)
