"""Ctrl-C and faults in the middle of assignments: nothing is done twice, or half."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.devices.cpu.native.native_plan import _LEFT, _STEP, NativePlan
from ogive.devices.protocol import KernelStep
from ogive.devices.write_clock import clock
from ogive.engine.caches.graph_cache import graph_cache
from ogive.engine.steps.compiled_graph import CompiledGraph
from ogive.errors import DivisionByZeroError, ExecuteError

UNCACHED = Config(schedule_cache=False, disk_cache=False, threads=1)
SIZE = 1 << 14


class CtrlC:
    """Presses it when a plan is resumed for the `at`-th time, or when a store is half done."""

    def __init__(self) -> None:
        self.at = -1
        self.resumes = 0
        self.tears = False

    def look(self, plan: NativePlan) -> None:
        self.resumes += 1
        in_store = int(plan._header[_STEP]) in plan._whole and plan._header[_LEFT] > 0
        if self.resumes == self.at or (self.tears and in_store):
            self.at, self.tears = -1, False
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> CtrlC:
    """Plans pause after every tile."""
    control = CtrlC()
    make, steps = NativePlan.__init__, CompiledGraph.native_steps

    def impatient(self: NativePlan, steps: Any, pool: Any = None) -> None:
        make(self, steps, pool, pause_nanoseconds=0)
        resume = self._resume

        def watched(address: int) -> int:
            status = resume(address)
            control.look(self)
            return status

        self._resume = watched

    def fine(self: CompiledGraph, threads: int) -> list[Any]:
        return [
            each._replace(grain=1, parallel=False, joins=False)
            if isinstance(each, KernelStep)
            else each
            for each in steps(self, threads)
        ]

    monkeypatch.setattr(NativePlan, "__init__", impatient)
    monkeypatch.setattr(CompiledGraph, "native_steps", fine)
    return control


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


def test_an_interrupt_after_the_last_step_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor([1.0, 2.0])
    x += 1
    execute = NativePlan.execute

    def interrupted(self: NativePlan) -> Any:
        fault = execute(self)
        signal.raise_signal(signal.SIGINT)
        return fault

    with monkeypatch.context() as patched:
        patched.setattr(NativePlan, "execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            x.realize(config=UNCACHED)
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


def test_an_interrupt_while_one_is_settled_leaves_it_to_the_next_reader(
    ctrl_c: CtrlC, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    x += 1
    ctrl_c.tears = True

    def interrupted(self: NativePlan, may_end: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(NativePlan, "outcome", interrupted)
        with pytest.raises(KeyboardInterrupt):
            x.realize(config=UNCACHED)
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


def test_reading_a_result_of_a_plan_that_was_interrupted_executes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = Tensor([1.0, 2.0])
    y = x * 3
    plan = y.prepare(config=UNCACHED)
    plan.execute()

    def interrupted(address: int) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        assert plan._execution is not None
        patched.setattr(plan._execution.native, "_start", interrupted)
        y.numpy()
        with pytest.raises(KeyboardInterrupt):
            plan.execute()
        with pytest.raises(KeyboardInterrupt):
            y.numpy()
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
    with pytest.raises(ExecuteError, match="until it is executed again"):
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


def test_a_time_out_is_raised_and_not_taken_for_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    execute = NativePlan.execute
    state = Tensor(numpy.ones(100)).realize()
    for _ in range(2):  # from the second time on, what recurs is kept
        state = state * 2
        assert state.sum().item() > 0
    state = state * 2
    with monkeypatch.context() as patched:

        def late(self: NativePlan) -> Any:
            execute(self)
            raise TimeoutError("too late")

        patched.setattr(NativePlan, "execute", late)
        graph_cache.clear()
        with pytest.raises(TimeoutError, match="too late"):
            state.sum().item()
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
    with pytest.raises(ExecuteError, match="assigned to since"):
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
