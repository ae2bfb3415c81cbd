"""When memory was written to: how a thread knows that what it has just read is of one piece."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ogive.device.buffer import Buffer


class Clock:
    """Counts the moments when writing to memory that others may read begins and ends.

    `quiet` is the last moment at which nobody wrote. A reader that notes it before need not look
    further if it is still `now` afterwards.
    """

    __slots__ = ("_depth", "now", "quiet")

    def __init__(self) -> None:
        self.now = self.quiet = 0
        self._depth = 0  # a function that a step calls may assign as well

    def renew(self) -> None:
        """Forget a writer that did not come along when the process forked."""
        if self._depth:
            self.now += 1
        self.quiet = self.now
        self._depth = 0

    def begin(self, buffers: Sequence[Buffer]) -> None:
        """Writing to `buffers` begins. `effect_lock` is held."""
        self._mark(buffers)
        self._depth += 1
        if self._depth == 1:
            self.now += 1

    def end(self, buffers: Sequence[Buffer]) -> None:
        """Writing to `buffers` is over."""
        self._mark(buffers)
        self._depth -= 1
        if self._depth == 0:
            self.now += 1
            self.quiet = self.now

    def _mark(self, buffers: Sequence[Buffer]) -> None:
        for buffer in buffers:
            buffer.writes += 1
            buffer.written_at = self.now + 1


clock = Clock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=clock.renew)


def is_disturbed(moment: int, buffers: Iterable[Buffer]) -> bool:
    """Whether somebody has written to one of `buffers` since a moment that was the last `quiet`."""
    return any(max(b.written_at, b.base.written_at) > moment for b in buffers)
