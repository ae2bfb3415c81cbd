"""Runs that write to memory of tensors: what they assign, they assign once or not at all.

Memory changes in native code, and graphs change in Python, where an exception may come between any
two instructions. So a run is announced before it begins. When it is over, however that came, the
plan's own header says which steps it has done, and the graphs are brought up to date together with
the end of the announcement, at once:

    announced ── steps run ── graphs and clock change at once

An exception in between finds the announcement, and settles it before it goes on. Should it be
interrupted in that, too, whoever next takes `effect_lock` does so: nobody reads or writes what is
unsettled without it.

A step that calls a function of the user's lets go of `effect_lock` meanwhile, for the function may
wait for threads that assign. Whoever has to do with what the run writes, or is to write what it
reads, waits for its end (`make_way`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from itertools import starmap
from typing import Any, Protocol

from ogive.at_once import Change, at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.engine.writes.missing_values import lose
from ogive.compiler.live import registry
from ogive.errors import ExecuteError


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

    `read` is all other memory that it uses. `running` is locked while the run has not been left:
    `with` lets go of it whatever happens.
    """

    __slots__ = ("buffers", "conclude", "may_end", "plan", "read", "running", "thread")

    def __init__(
        self,
        plan: Runnable,
        buffers: Iterable[Buffer],
        read: Iterable[Buffer],
        conclude: Conclude,
        may_end: Callable[[int], bool],
    ) -> None:
        self.plan = plan
        self.read = tuple(read)
        self.may_end = may_end
        self.buffers = tuple(dict.fromkeys(buffers))
        self.conclude = conclude
        self.running = threading.Lock()
        self.thread = threading.get_ident()

    def wait(self) -> None:
        """Wait until the run has been left."""
        with self.running:
            pass

    def end(self, fault: Fault | None) -> None:
        """Let everybody know how it ended."""
        with registry.graph_lock:
            self.conclude(fault, clock.ending(self))


def write(
    plan: Runnable,
    buffers: Iterable[Buffer],
    read: Iterable[Buffer],
    execute: Callable[[], Fault | None],
    conclude: Conclude,
    may_end: Callable[[int], bool] = anywhere,
) -> Fault | None:
    """Execute a plan that writes to `buffers`. `effect_lock` is held, and there was way for it.

    Whatever comes out of this, the assignments of the steps that have run are done, and the others
    are not. An exception ends the run before a step where it `may_end`.
    """
    plan.rewind()
    writing = Writing(plan, buffers, read, conclude, may_end)
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


def make_way(written: Iterable[Buffer], read: Iterable[Buffer]) -> None:
    """Settle, and wait for runs that are in the way of one that uses such memory.

    `effect_lock` is held, but not all the while: what was looked at before may have changed.
    """
    settle()
    if not clock.writers:
        return
    own, used = _bases(written), _bases(read)
    while (other := _in_the_way(own, used)) is not None:
        if other.thread == threading.get_ident():
            raise ExecuteError(
                "a custom function uses a tensor that the run which calls it assigns to, or "
                "assigns to one that this run reads; give it as an input, or realize it before"
            )
        without_effect_lock(other.wait)
        settle()


def _in_the_way(own: set[int], used: set[int]) -> Writing | None:
    """A run that writes what is to be used, or uses what is our own to write."""
    for other in clock.writers:
        assert isinstance(other, Writing)
        theirs = _bases(other.buffers)
        if theirs & (own | used) or own & _bases(other.read):
            return other
    return None


def _bases(buffers: Iterable[Buffer]) -> set[int]:
    """The memory under buffers."""
    return {id(buffer.base) for buffer in buffers}


def wait_for_writers(buffers: Iterable[Buffer]) -> None:
    """Wait until nobody writes to `buffers`, or settle what an exception has left of it."""
    with registry.effect_lock:
        make_way((), buffers)


def without_effect_lock(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function while other threads may take `effect_lock`, which this one may hold."""
    lock: Any = registry.effect_lock
    if not lock._is_owned():
        return function(*arguments)
    held: list[Any] = []
    try:
        # Let go and noted at once: an exception in between would leave nothing to take back.
        held.extend(starmap(lock._release_save, [()]))
        function(*arguments)
    finally:
        if held:
            lock._acquire_restore(held[0])


def _lose_unfinished() -> None:
    """In a forked child, what another thread was writing to is lost: that thread is not there."""
    for writing in clock.writers:
        assert isinstance(writing, Writing)
        if writing.thread != threading.get_ident():
            for buffer in writing.buffers:
                lose(buffer)
            at_once(clock.ending(writing))


os.register_at_fork(after_in_child=_lose_unfinished)
