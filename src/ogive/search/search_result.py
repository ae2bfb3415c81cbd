"""The result of a search, and how it is kept on disk."""

from __future__ import annotations

from ogive.named import record
from ogive.passes.place.placement import Placement
from ogive.search.placement_encoding import read_placement, write_placement
from ogive.store.encoding import Reader, Writer


@record(frozen=True)
class Result:
    """The placement that a search chose.

    `seconds` is the time limit of the search, and `complete` says that it ended before.
    `taken` is how many seconds a run of the kernel takes, if that was measured.
    """

    placement: Placement
    seconds: float
    complete: bool
    taken: float | None = None

    def suffices(self, seconds: float) -> bool:
        """Whether a new search of `seconds` would get no further."""
        return self.complete or self.seconds >= seconds


def pack_result(result: Result) -> bytes:
    """Pack a result into bytes. Equal results give equal bytes."""
    writer = Writer()
    write_placement(writer, result.placement)
    writer.real(result.seconds)
    writer.byte(result.complete)
    writer.byte(result.taken is not None)
    if result.taken is not None:
        writer.real(result.taken)
    return writer.finish()


def unpack_result(data: bytes) -> Result:
    """Unpack a result from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    placement, seconds, complete = read_placement(reader), reader.seconds(), bool(reader.byte(1))
    taken = reader.seconds() if reader.byte(1) else None
    reader.finish()
    return Result(placement, seconds, complete, taken)
