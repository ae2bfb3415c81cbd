"""Runs that write to memory of tensors: what they assign, they assign once or not at all.

Memory changes in native code, and graphs change in Python, where an exception may come between any
two instructions. So a run is announced before it begins. When it is over, however that came, the
plan's own header says which steps it has done, and the graphs are brought up to date together with
the end of the announcement, at once:

    announced ── steps run ── graphs and clock change at once

An exception in between finds the announcement, and settles it before it goes on. Should it be
interrupted in that, too, whoever next takes `effect_lock` does so: nobody reads or writes what is
unsettled without it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from ogive.at_once import Change, at_once
from ogive.device.buffer import Buffer
from ogive.device.clock import clock
from ogive.engine.absent import lose
from ogive.ir import registry
from ogive.runtime.native import Fault


class Runnable(Protocol):
    """A plan that knows how far it came."""

    def rewind(self) -> None:
        """Begin to tell of the next run."""

    def outcome(self, may_end: Callable[[int], bool]) -> Fault | None:
        """How the last run ended, or where it was stopped: before a step where it `may_end`."""


Conclude = Callable[[Fault | None, list[Change]], None]
"""Lets graphs know what became of a run, and stores some changes together with the last of it."""


def anywhere(_: int) -> bool:
    """A run may end before any of its steps."""
    return True


class Writing:
    """A run that writes to `buffers`, from before its beginning until all is settled.

    `running` is locked while the run has not been left: `with` lets go of it whatever happens.
    """

    __slots__ = ("buffers", "conclude", "may_end", "plan", "running", "thread")

    def __init__(
        self,
        plan: Runnable,
        buffers: Sequence[Buffer],
        conclude: Conclude,
        may_end: Callable[[int], bool],
    ) -> None:
        self.plan = plan
        self.may_end = may_end
        self.buffers = tuple({id(buffer): buffer for buffer in buffers}.values())
        self.conclude = conclude
        self.running = threading.Lock()
        self.thread = threading.get_ident()

    def end(self, fault: Fault | None) -> None:
        """Let everybody know how it ended."""
        with registry.graph_lock:
            self.conclude(fault, clock.ending(self))


def write(
    plan: Runnable,
    buffers: Sequence[Buffer],
    execute: Callable[[], Fault | None],
    conclude: Conclude,
    may_end: Callable[[int], bool] = anywhere,
) -> Fault | None:
    """Execute a plan that writes to `buffers`. `effect_lock` is held, and all before is settled.

    Whatever comes out of this, the assignments of the steps that have run are done, and the others
    are not. An exception ends the run before a step where it `may_end`.
    """
    plan.rewind()
    writing = Writing(plan, buffers, conclude, may_end)
    try:
        with writing.running:
            clock.begin(writing)
            fault = execute()
            writing.end(fault)
    except BaseException:
        settle()
        raise
    return fault


def settle() -> None:
    """Bring to an end what exceptions have left. `effect_lock` is held."""
    for writing in clock.writers:
        assert isinstance(writing, Writing)
        if not writing.running.locked():
            writing.end(writing.plan.outcome(writing.may_end))


def wait_for_writers() -> None:
    """Wait until the thread that was writing has finished, or settle what it has left."""
    with registry.effect_lock:
        settle()


def _lose_unfinished() -> None:
    """In a forked child, what another thread was writing to is lost: that thread is not there."""
    for writing in clock.writers:
        assert isinstance(writing, Writing)
        if writing.thread != threading.get_ident():
            for buffer in writing.buffers:
                lose(buffer)
            at_once(clock.ending(writing))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lose_unfinished)
