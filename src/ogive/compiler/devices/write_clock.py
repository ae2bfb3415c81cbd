"""A clock of writes to memory, by which a reader knows whether the values read are consistent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ogive.at_once import Change, at_once
from ogive.compiler.devices.buffer import Buffer


class Writer(Protocol):
    """An object that writes to memory that others may read."""

    @property
    def buffers(self) -> Sequence[Buffer]:
        """The buffers that are written, each once."""


class Clock:
    """Counts the moments at which writes to memory that others may read begin and end.

    `writers` are those that are writing at the moment `now`; the `writes` counts of their buffers
    are odd. `quiet` is the last moment at which nothing was writing. A reader that remembers it
    before reading has read consistent values if it is still `now` afterwards.
    """

    __slots__ = ("now", "quiet", "writers")

    def __init__(self) -> None:
        self.now = self.quiet = 0
        self.writers: tuple[Writer, ...] = ()

    def moment_of(self, buffer: Buffer) -> int:
        """The moment at which reading a buffer begins: now, or `quiet` if it is being written."""
        now, writers = self.now, self.writers  # in this order, since a new writer changes `now`
        if not writers:
            return now
        written = [each.base for writer in writers for each in writer.buffers]
        return self.quiet if buffer.base in written else now

    def begin(self, writer: Writer) -> None:
        """Record that writing begins. `effect_lock` is held."""
        # From an even count to the next odd one, or from an odd count to the next odd one.
        counts: list[Change] = [
            (buffer, "writes", buffer.writes + 1 + (buffer.writes & 1))
            for buffer in _memory_of(writer)
        ]
        at_once([*counts, *self._tick(writer, (*self.writers, writer))])

    def ending(self, writer: Writer) -> list[Change]:
        """The changes that record the end of writing. `effect_lock` is held until then."""
        others = tuple([other for other in self.writers if other is not writer])
        still = {buffer for other in others for buffer in _memory_of(other)}
        counts: list[Change] = [
            (buffer, "writes", buffer.writes + 1 + (buffer in still))
            for buffer in _memory_of(writer)
        ]
        quiet: list[Change] = [] if others else [(self, "quiet", self.now + 1)]
        return [*counts, *self._tick(writer, others), *quiet]

    def overwriting(self, buffer: Buffer, place: Any, values: Any) -> list[Change]:
        """The changes that store `values` in `place`, an array in the memory of `buffer`.

        They include the beginning and the end of the write. `effect_lock` is held, and nothing
        else writes.
        """
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
    """The buffers that are written and their bases, each once."""
    return dict.fromkeys([each for buffer in writer.buffers for each in (buffer, buffer.base)])


clock = Clock()


def is_disturbed(moment: int, buffers: Iterable[Buffer]) -> bool:
    """Whether one of `buffers` was written since a moment: `quiet`, or a buffer's `moment_of`."""
    return any(max(b.written_at, b.base.written_at) > moment for b in buffers)
