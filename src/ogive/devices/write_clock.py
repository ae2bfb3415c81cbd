"""When memory was written to: how a thread knows that what it has just read is of one piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ogive.at_once import Change, at_once
from ogive.devices.buffer import Buffer


class Writer(Protocol):
    """Somebody who writes to memory that others may read."""

    @property
    def buffers(self) -> Sequence[Buffer]:
        """The memory that is written to, each buffer once."""


class Clock:
    """Counts the moments when writing to memory that others may read begins and ends.

    `writers` are at it `now`: the count of `writes` of what they write to is odd. `quiet` is the
    last moment at which there were none. A reader that notes it before need not look further if it
    is still `now` afterwards.
    """

    __slots__ = ("now", "quiet", "writers")

    def __init__(self) -> None:
        self.now = self.quiet = 0
        self.writers: tuple[Writer, ...] = ()

    def moment_of(self, buffer: Buffer) -> int:
        """When reading a buffer begins: now, or before somebody began who is writing to it."""
        now, writers = self.now, self.writers  # in this order: who begins now moves the clock
        if not writers:
            return now
        written = [each.base for writer in writers for each in writer.buffers]
        return self.quiet if buffer.base in written else now

    def begin(self, writer: Writer) -> None:
        """Writing begins. `effect_lock` is held."""
        # From an even count to the next odd one, or from one odd count to the next.
        counts: list[Change] = [
            (buffer, "writes", buffer.writes + 1 + (buffer.writes & 1))
            for buffer in _memory_of(writer)
        ]
        at_once([*counts, *self._tick(writer, (*self.writers, writer))])

    def ending(self, writer: Writer) -> list[Change]:
        """The changes by which writing is over. `effect_lock` is held until then."""
        others = tuple([other for other in self.writers if other is not writer])
        still = {buffer for other in others for buffer in _memory_of(other)}
        counts: list[Change] = [
            (buffer, "writes", buffer.writes + 1 + (buffer in still))
            for buffer in _memory_of(writer)
        ]
        quiet: list[Change] = [] if others else [(self, "quiet", self.now + 1)]
        return [*counts, *self._tick(writer, others), *quiet]

    def overwriting(self, buffer: Buffer, place: Any, values: Any) -> list[Change]:
        """What is to be stored at once for `values` to be in a `place`, an array in the memory of a
        buffer: writing begins, happens, and is over. `effect_lock` is held, and nobody writes."""
        moment, writes = self.now + 1, buffer.writes + 1
        begun: list[Change] = [(buffer, "writes", writes), (buffer, "written_at", moment)]
        ended: list[Change] = [(buffer, "writes", writes + 1), (buffer, "written_at", moment + 1)]
        over: list[Change] = [(self, "now", moment + 1), (self, "quiet", moment + 1)]
        return [*begun, (self, "now", moment), (place, "flat", values), *ended, *over]

    def _tick(self, writer: Writer, writers: tuple[Writer, ...]) -> list[Change]:
        moment = self.now + 1
        marks: list[Change] = [(buffer, "written_at", moment) for buffer in _memory_of(writer)]
        return [*marks, (self, "writers", writers), (self, "now", moment)]


def _memory_of(writer: Writer) -> Iterable[Buffer]:
    """What is written to and what that is a part of, each once: a view's memory is its base's."""
    return dict.fromkeys([each for buffer in writer.buffers for each in (buffer, buffer.base)])


clock = Clock()


def is_disturbed(moment: int, buffers: Iterable[Buffer]) -> bool:
    """Whether somebody has written to one of `buffers` since a moment: the last `quiet` one, or,
    for one buffer, its `moment_of`."""
    return any(max(b.written_at, b.base.written_at) > moment for b in buffers)
