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
from ogive.engine.graph import CompiledGraph
from ogive.errors import DivisionByZeroError, ExecuteError
from ogive.runtime import interrupts
from ogive.runtime.layout import PLAN_FIELDS
from ogive.runtime.native import _LEFT, _STEP, Fault, KernelStep, NativePlan

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


def test_an_interrupt_waits_for_the_end() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_is_let_through_to_code_of_users() -> None:
    with interrupts.deferred():
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            signal.raise_signal(signal.SIGINT)
        assert interrupts.raised() is None
        signal.raise_signal(signal.SIGINT)
        assert isinstance(interrupts.raised(), KeyboardInterrupt)


def test_a_handler_that_does_not_raise_does_not_stop_a_run() -> None:
    seen: list[int] = []
    old = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interrupts.deferred():
            signal.raise_signal(signal.SIGINT)
            assert seen == [] and interrupts.raised() is None
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, old)


def test_other_threads_leave_the_handler_alone() -> None:
    found: list[Any] = []

    def look() -> None:
        with interrupts.deferred():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


@pytest.mark.parametrize("at", [1, 2, 3, 7, 12])
def test_an_interrupted_assignment_is_carried_out_once(
    ctrl_c: CtrlC, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    stop = NativePlan._stop

    def patient(self: NativePlan, error: BaseException) -> Fault:
        self._header[PLAN_FIELDS.index("budget")] = 50_000_000
        return stop(self, error)

    monkeypatch.setattr(NativePlan, "_stop", patient)
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


def test_a_long_assignment_that_is_interrupted_loses_its_tensor(ctrl_c: CtrlC) -> None:
    data = numpy.arange(float(SIZE))
    x = Tensor(data)
    old = x + 0
    x += 1
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        x.realize(config=UNCACHED)
    with pytest.raises(ExecuteError, match="interrupted half-way"):
        x.numpy()
    with pytest.raises(ExecuteError, match="interrupted half-way"):
        (x * 2).numpy()
    numpy.testing.assert_array_equal(old.numpy(), data)


def test_a_plan_whose_assignment_is_torn_says_so(ctrl_c: CtrlC) -> None:
    x = Tensor(numpy.arange(float(SIZE)))
    x += 1
    plan = x.prepare(config=UNCACHED)
    plan.execute()
    assert x.numpy()[5] == 6
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        plan.execute()
    with pytest.raises(ExecuteError, match="interrupted half-way"):
        x.numpy()
    for run in (plan.execute, plan.execute_with_vars):
        with pytest.raises(ExecuteError, match="prepare a new one"):
            run()


def test_a_jitted_function_whose_assignment_is_torn_loses_the_tensor(ctrl_c: CtrlC) -> None:
    x = Tensor(numpy.arange(float(SIZE))).realize()

    @ogive.jit(config=UNCACHED)
    def step(x: Tensor) -> Tensor:
        x += 1
        return x.sum()

    step(x)
    ctrl_c.tears = True
    with pytest.raises(KeyboardInterrupt):
        step(x)
    with pytest.raises(ExecuteError, match="interrupted half-way"):
        x.numpy()


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


def test_what_a_fault_leaves_behind_never_reads_a_version_that_is_gone() -> None:
    x, factors = Tensor([1, 2, 3]), Tensor(list(range(100)))
    later = factors * x.sum()
    x += 1
    wrong = x.sum() // Tensor([0])
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([x, wrong, later], config=UNCACHED)
    assert x.tolist() == [2, 3, 4]
    with pytest.raises(ExecuteError, match="assigned to since"):
        later.numpy()


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
