"""Threads that get in each other's way, at the very moments when it matters."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.engine import execution
from ogive.compiler.live import registry
from ogive.jit.tracing import prepare
from ogive.optim import SGD
from ogive.tensor.creation import user_data


def elsewhere(work: Callable[[], Any]) -> None:
    """Do something in another thread, and wait for it."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


class Once:
    """Does something in another thread, at the first call after it was told to.

    It keeps that where a captured function does not look: a change would have it traced again.
    """

    def __init__(self, *work: Callable[[], Any]) -> None:
        self.waiting: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        for each in work:
            self.waiting.put(each)

    def __call__(self) -> None:
        if not self.waiting.empty():
            elsewhere(self.waiting.get())


def before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Any) -> None:
    """Let another thread do something when a function of ours is next called."""
    original, once = getattr(module, name), Once(work)

    def patched(*args: Any) -> Any:
        once()
        return original(*args)

    monkeypatch.setattr(module, name, patched)


def after_runs(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], Any]]:
    """What another thread does as soon as native code has run: nothing, until it is filled in."""
    module: Any = execution
    original = module.logging_time
    waiting: list[Callable[[], Any]] = []

    def patched(run: Callable[[], Any], *args: Any) -> Any:
        logged = original(run, *args)

        def run_and_change() -> Any:
            fault = logged()
            if waiting:
                elsewhere(waiting.pop())
            return fault

        return run_and_change

    monkeypatch.setattr(module, "logging_time", patched)
    return waiting


def memory(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32)).contiguous().realize()


def test_a_tensor_that_moves_during_a_trace_is_no_constant() -> None:
    w = memory(1.0)
    change = Once(lambda: w.assign(w + 4).realize())

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        w.assign(w * x)
        change()
        return w + 0

    assert [step(Tensor([3.0])).item() for _ in range(3)] == [15.0, 45.0, 135.0]
    assert w.tolist() == [135.0]
    assert step.cache_info()[:2] == (2, 1)


@pytest.mark.parametrize("early", [True, False])
def test_a_replay_during_a_trace_is_counted(early: bool) -> None:
    w = memory(0.0)
    change = Once()

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        total = w + x.sum()
        if early:
            change()
        w.assign(total)
        if not early:
            change()
        return w * 1

    one, two = Tensor([1.0]), Tensor([1.0, 0.0])
    assert step(one).item() == 1.0
    change.waiting.put(lambda: step(one))
    assert [step(two).item() for _ in range(3)] == [3.0, 4.0, 5.0]
    assert w.item() == 5.0


@pytest.mark.parametrize("realized", [True, False])
def test_a_tensor_that_moves_between_trace_and_run(
    monkeypatch: pytest.MonkeyPatch, realized: bool
) -> None:
    w = memory(1.0)
    step = ogive.jit(lambda x: w.assign(w * x))

    def change() -> None:
        w.assign(w + 4)
        if realized:
            w.realize()

    before(monkeypatch, prepare, "prepare", change)
    results = [step(Tensor([3.0])).item() for _ in range(2)]
    assert results == [15.0, 45.0]
    assert step.cache_info().traces == 1


def test_other_threads_may_assign_at_every_trace() -> None:
    w = memory(1.0)
    changes = [Once(lambda: w.assign(w + 1)) for _ in range(6)]

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        if changes:
            changes.pop()()
        return w * x

    assert step(Tensor([2.0])).item() == 14.0
    assert not changes


def test_what_is_made_from_found_tensors_and_kept_has_values() -> None:
    w = memory(1.0, 2.0)
    kept: dict[str, Tensor] = {}

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        if "double" not in kept:
            kept["double"] = w.reshape(2, 1) * 2
        return x + kept["double"].reshape(2)

    assert step(Tensor([1.0, 1.0])).tolist() == [3.0, 5.0]
    assert kept["double"].tolist() == [[2.0], [4.0]]


def test_calls_that_change_their_argument_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = ogive.jit(lambda x: x.assign(x + 1))
    step(Tensor.from_numpy(np.zeros(3, np.float32)))  # traced for memory that is borrowed
    w = Tensor.from_numpy(np.zeros(3, np.float32))

    class Gate:
        """`effect_lock`, but another thread comes first."""

        lock = registry.effect_lock
        enter = Once(lambda: step(w))

        def __enter__(self) -> None:
            self.enter()
            self.lock.acquire()

        def __exit__(self, *_: Any) -> None:
            self.lock.release()

    monkeypatch.setattr(registry, "effect_lock", Gate())
    step(w)
    assert w.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("given", [True, False])
def test_a_captured_function_reads_one_version(
    monkeypatch: pytest.MonkeyPatch, given: bool
) -> None:
    w = memory(1.0, 1.0)
    write = ogive.jit(lambda: w.assign(w + 1))
    read = ogive.jit((lambda x: x * 10) if given else (lambda: w * 10))
    arguments = (w,) if given else ()
    write()
    waiting = after_runs(monkeypatch)
    assert read(*arguments).tolist() == [20.0, 20.0]
    waiting.append(write)
    assert read(*arguments).tolist() == [30.0, 30.0]
    assert not waiting


@pytest.mark.parametrize("prepared", [True, False])
def test_one_version_is_read_beside_a_function_of_the_users_that_assigns_elsewhere(
    prepared: bool,
) -> None:
    """The second time, too: what was disturbed runs again, where its own steps let others write."""
    w = memory(1.0, 1.0)
    write = ogive.jit(lambda: w.assign(w + 1))
    write()
    change = Once()

    def twice(given: Any, result: Any) -> None:
        change()
        result[...] = given * 2

    def compute(x: Tensor) -> Tensor:
        made = ogive.custom(twice, [x], ((2,), "float32"))
        assert isinstance(made, Tensor)
        return made + w

    x = memory(1.0, 2.0)
    read = ogive.jit(compute)
    assert read(x).tolist() == [4.0, 6.0]
    result = compute(x)
    plan = result.prepare()
    plan.execute()
    change.waiting.put(write)
    change.waiting.put(write)
    if prepared:
        plan.execute()
    else:
        result = read(x)
    assert result.tolist() == [6.0, 8.0]


def test_a_plan_reads_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    w = memory(1.0, 1.0)
    write = ogive.jit(lambda: w.assign(w + 1))
    write()
    result = w * 10
    waiting = after_runs(monkeypatch)
    plan = result.prepare()
    plan.execute()
    waiting.append(write)
    plan.execute()
    assert result.tolist() == [30.0, 30.0]


def test_who_reads_what_a_plan_is_computing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    result = memory(1.0, 2.0) * 10
    seen: list[Any] = []
    reader = threading.Thread(target=lambda: seen.append(result.tolist()))
    module: Any = execution
    original = module.logging_time

    def patched(run: Callable[[], Any], *args: Any) -> Any:
        logged = original(run, *args)

        def start_reader_and_run() -> Any:
            reader.start()
            reader.join(0.2)  # it would have read by then what is not there
            return logged()

        return start_reader_and_run

    monkeypatch.setattr(execution, "logging_time", patched)
    result.prepare().execute()
    reader.join()
    assert seen == [[10.0, 20.0]]


def test_values_are_read_before_they_are_overwritten_or_from_the_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    w = memory(1.0, 1.0)
    other = w.clone()
    write = ogive.jit(lambda: w.assign(w + 1))
    before(monkeypatch, user_data, "memory_of", write)
    assert other.tolist() == [1.0, 1.0]
    before(monkeypatch, user_data, "memory_of", lambda: w.assign(w + 5))
    assert w.tolist() == [7.0, 7.0]


def test_a_training_step_beside_a_trace() -> None:
    traced = Tensor([1.0, 2.0], requires_grad=True)
    trained = Tensor([1.0, 2.0], requires_grad=True)
    optimizer = SGD([trained], lr=0.25)

    def train() -> None:
        (trained * trained).sum().backward()
        optimizer.step()

    once = Once(train)

    @ogive.jit
    def gradient(x: Tensor) -> Tensor:
        traced.grad = None
        loss = (traced * x).sum()
        loss.backward()
        once()
        made, traced.grad = traced.grad, None
        assert made is not None
        return made * 1

    assert gradient(Tensor([3.0, 4.0])).tolist() == [3.0, 4.0]
    assert trained.tolist() == [0.5, 1.0]
