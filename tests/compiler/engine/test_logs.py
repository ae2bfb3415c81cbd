"""What is logged on request, a line each, on standard error; nothing without one."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import ogive
from ogive import Beam, Config, Tensor
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.config import Settings
from ogive.errors import ConfigError
from tests.raising import raises

TIME = r"\d+\.\d{3} ms"


@pytest.fixture(autouse=True)
def folder(own_cache: str) -> None:
    forget()


def forget() -> None:
    """What a new process does not know."""
    graph_cache.clear()
    kernel_cache.clear()


def result() -> Tensor:
    x = y = Tensor(np.ones((64, 64), np.float32))
    for _ in range(3):
        y = (x @ y).contiguous()
    return y.sum(0)


Lines = Callable[[], list[str]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return lambda: capsys.readouterr().err.splitlines()


def test_nothing_is_printed_unless_asked_for(lines: Lines) -> None:
    result().prepare().execute()
    result().realize()
    assert lines() == []


def test_schedules_tell_where_they_are_from_and_what_the_planner_saves(lines: Lines) -> None:
    config = Config(log="schedule")
    steps = len(result().prepare().steps)
    memory = result().prepare().memory
    assert memory.planned < memory.logical
    forget()
    patterns = []
    for how in ("found on disk", "found in memory"):
        result().realize(config)
        patterns.append(
            f"ogive: schedule: {steps} steps {how} in {TIME}; "
            r"intermediates share \S+ KiB instead of \S+ KiB"
        )
    result().realize(Config(log="schedule", schedule_cache=False))
    patterns.append(patterns[0].replace("found on disk", "made"))
    found = lines()
    assert len(found) == 3
    for line, pattern in zip(found, patterns, strict=True):
        assert re.fullmatch(pattern, line), line


def test_preparing_tells_how_long_it_took(lines: Lines) -> None:
    Tensor.prepare_batch([result(), result() + 1], Config(log="schedule"))
    *_, last = lines()
    assert re.fullmatch(f"ogive: schedule: prepared 2 tensors in {TIME}", last)


def test_each_kernel_that_is_compiled_tells_its_stages(lines: Lines) -> None:
    plan = result().prepare(config=Config(log="compile"))
    found = lines()
    assert len(found) == len(set(plan.kernels))
    time = r"[\d.]+"
    stages = rf"rangeify {time}, (\w+ {time}, )+linearize {time}, emit {time}, assemble {time}"
    for line in found:
        assert re.fullmatch(rf"ogive: compile: \w+, in ms: {stages}", line), line
    result().prepare(config=Config(log="compile"))
    assert lines() == []


def test_each_execution_tells_how_long_it_took(lines: Lines) -> None:
    config = Config(log="execute")
    y = result()
    plan = y.prepare(config=config)
    assert lines() == []
    for _ in range(2):
        plan.execute()
    result().realize(config)
    (Tensor([1.0]) + 1).realize(config)

    @ogive.jit(config=config)
    def double(x: Tensor) -> Tensor:
        return x * 2

    double(y)
    found = lines()
    pattern = f"ogive: execute: {len(plan.steps)} steps in {TIME}"
    assert all(re.fullmatch(pattern, line) for line in found[:3]), found
    assert re.fullmatch(f"ogive: execute: 1 steps in {TIME}", found[3])
    assert re.fullmatch(rf"ogive: execute: .*double.*, 1 steps in {TIME}", found[4])
    assert len(found) == 5


def test_searches_tell_their_choices(lines: Lines) -> None:
    config = Config(log="search", search=Beam(1, 10))
    (Tensor(np.ones(3000, np.float32)) + 1).realize(config)
    *_, choice = lines()
    assert re.match("ogive: search: .* chosen: .*parallel", choice)


def test_the_environment_asks_for_several_topics() -> None:
    config = Settings({"OGIVE_LOG": "schedule,execute"}).current()
    assert config.logs("schedule") and config.logs("execute") and not config.logs("search")


def test_an_unknown_topic_is_told_the_nearest() -> None:
    with raises(ConfigError, match=r"got 'exekute'.*execute"):
        Config(log="schedule,exekute")
