"""Moments of writing: what a reader notices, and what does not concern it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ogive.at_once import at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.live.registry import effect_lock


class Run:
    """A run that writes to some buffers."""

    def __init__(self, *buffers: Buffer) -> None:
        self.buffers = buffers

    def begin(self) -> Run:
        clock.begin(self)
        return self

    def end(self) -> None:
        at_once(clock.ending(self))


@pytest.fixture(autouse=True)
def nobody_else() -> Iterator[None]:
    with effect_lock:
        yield
    assert not clock.writers


def test_a_write_that_begins_after_a_read_did_disturbs_it() -> None:
    buffer = Buffer(8)
    moment = clock.moment_of(buffer)
    run = Run(buffer).begin()
    assert is_disturbed(moment, (buffer,))
    run.end()
    assert is_disturbed(moment, (buffer,))


def test_a_read_that_begins_during_a_write_is_disturbed() -> None:
    buffer = Buffer(8)
    run = Run(buffer).begin()
    moment = clock.moment_of(buffer.view(0, 4))
    assert is_disturbed(moment, (buffer.view(0, 4),))
    run.end()


def test_a_write_to_other_memory_disturbs_nobody() -> None:
    buffer, other = Buffer(8), Buffer(8)
    moment = clock.moment_of(buffer)
    Run(other).begin().end()
    assert not is_disturbed(moment, (buffer,))


def test_what_was_written_while_another_run_goes_on_can_be_read() -> None:
    buffer, other = Buffer(8), Buffer(8)
    long = Run(other).begin()
    Run(buffer).begin().end()
    assert not is_disturbed(clock.moment_of(buffer), (buffer,))
    long.end()


def test_a_write_to_a_part_is_one_to_the_whole() -> None:
    whole = Buffer(8)
    front, back = whole.view(0, 4), whole.view(4, 4)
    before = whole.version
    run = Run(front, back).begin()
    assert whole.version is None and front.version is None
    run.end()
    assert whole.version == front.version != before
