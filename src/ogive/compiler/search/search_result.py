"""The result of a search, and its form on disk."""

from __future__ import annotations

from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.placement_encoding import read_placement, write_placement
from ogive.compiler.store.encoding import Reader, Writer
from ogive.named import record


@record(frozen=True)
class Result:
    """The result of a search.

    `seconds` was its limit, and `complete` says that it needed less. `taken` are the seconds of a
    run of the kernel, if that was measured.
    """

    placement: Placement
    seconds: float
    complete: bool
    taken: float | None = None

    def suffices(self, seconds: float) -> bool:
        """Whether a search with a limit of `seconds` would not find more."""
        return self.complete or self.seconds >= seconds


def pack_result(result: Result) -> bytes:
    """A result as bytes, equal for equal results."""
    writer = Writer()
    write_placement(writer, result.placement)
    writer.real(result.seconds)
    writer.byte(result.complete)
    writer.byte(result.taken is not None)
    if result.taken is not None:
        writer.real(result.taken)
    return writer.finish()


def unpack_result(data: bytes) -> Result:
    """A result from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    placement, seconds, complete = read_placement(reader), reader.seconds(), bool(reader.byte(1))
    taken = reader.seconds() if reader.byte(1) else None
    reader.finish()
    return Result(placement, seconds, complete, taken)
