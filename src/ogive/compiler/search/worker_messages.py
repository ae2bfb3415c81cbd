"""The messages between the search and its worker: requests, answers, and their encoding.

A message is a tuple. `MESSAGES` has the fields of each kind, and a field says how it is written and
how it is read and checked. In the pipe, each message follows its length and checksum. Bytes that
cannot be a message raise `DamagedRecord`.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
import zlib
from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.placement_encoding import read_placement, write_placement
from ogive.compiler.store.encoding import MOST_BYTES, DamagedRecord, Reader, Writer
from ogive.compiler.store.graph_encoding import read_graph, write_graph
from ogive.compiler.targets.target import Target
from ogive.errors import OgiveError
from ogive.named import NamedTuple

MOST_MESSAGE = 1 << 26
MOST_NUMBER = 1 << 62
MOST_TUPLE = 64
_HEADER = struct.Struct("<4sII")
HEADER_BYTES = _HEADER.size
_MAGIC = b"OGT2"


# Requests: all but `Open` are about the kernel that was opened last. A placement of more than
# `most` instructions is refused. Of a grid of more than `work` operations only a part is run.


class Open(NamedTuple):
    """Open a kernel, which a number of threads will run."""

    loops: UOp
    target: Target
    threads: int


class Inspect(NamedTuple):
    """Examine a placement."""

    placement: Placement
    most: int


class Compile(NamedTuple):
    """Compile and load a placement."""

    placement: Placement
    most: int


class Time(NamedTuple):
    """Time a placement. A run longer than `cut` seconds is cut short."""

    placement: Placement
    most: int
    work: int
    cut: float | None


class Compare(NamedTuple):
    """Run two placements alternately."""

    first: Placement
    second: Placement
    most: int
    work: int


Request = Open | Inspect | Compile | Time | Compare


# Answers


class Refused(NamedTuple):
    """The reason why a request cannot be met."""

    reason: str


class Done(NamedTuple):
    """The request is done, without a result."""


class Inspection(NamedTuple):
    """The facts about a placement before it is compiled.

    `arithmetic` is the estimated number of operations of the whole kernel, including the excess of
    tiles. `tiles` is the number of tiles for threads to share. `operations` are the commonest
    instructions.
    """

    instructions: int
    arithmetic: int
    tiles: int
    digest: str
    operations: tuple[tuple[str, int], ...]


class Timing(NamedTuple):
    """The seconds of a run."""

    seconds: float


class Comparison(NamedTuple):
    """The seconds of alternating runs of two placements."""

    pairs: tuple[tuple[float, float], ...]


Answer = Refused | Done | Inspection | Timing | Comparison


# Fields


class Field(NamedTuple):
    """How a value is written and read."""

    write: Callable[[Writer, Any], None]
    read: Callable[[Reader], Any]


def _read_loops(reader: Reader) -> UOp:
    try:
        root = read_graph(reader, lambda op, dtype, sources, argument: None)
        verify(root, "loops")
    except DamagedRecord:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OgiveError) as error:
        raise DamagedRecord(f"a graph is not valid: {error}") from None
    return root


def _write_fields(writer: Writer, record: Any) -> None:
    """A target or a part of its costs, field by field."""
    for name, kind in _field_kinds(type(record)).items():
        value = getattr(record, name)
        if _is_record(kind):
            _write_fields(writer, value)
        elif typing.get_origin(kind) is tuple:
            writer.number(len(value))
            for each in value:
                _KINDS[type(each)].write(writer, each)
        else:
            _KINDS[kind].write(writer, kind(value))


def _read_fields(reader: Reader, record: Any) -> Any:
    values: dict[str, Any] = {}
    for name, kind in _field_kinds(record).items():
        if _is_record(kind):
            values[name] = _read_fields(reader, kind)
        elif typing.get_origin(kind) is tuple:
            each = _KINDS[typing.get_args(kind)[0]]
            values[name] = tuple([each.read(reader) for _ in range(reader.number(0, MOST_TUPLE))])
        else:
            values[name] = _KINDS[kind].read(reader)
    return record(**values)


def _is_record(kind: Any) -> bool:
    """Whether a type is written field by field: a dataclass or a named tuple."""
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def _field_kinds(record: type) -> dict[str, Any]:
    return typing.get_type_hints(record)


def _read_target(reader: Reader) -> Target:
    target: Target = _read_fields(reader, Target)
    return target


def _write_optional(writer: Writer, value: float | None) -> None:
    writer.byte(value is not None)
    if value is not None:
        writer.real(value)


def _read_optional(reader: Reader) -> float | None:
    return reader.seconds() if reader.byte(1) else None


def _write_operations(writer: Writer, operations: tuple[tuple[str, int], ...]) -> None:
    writer.number(len(operations))
    for name, times in operations:
        writer.text(name)
        writer.number(times)


def _read_operations(reader: Reader) -> tuple[tuple[str, int], ...]:
    return tuple([(reader.text(), reader.number()) for _ in range(reader.number())])


def _write_pairs(writer: Writer, pairs: tuple[tuple[float, float], ...]) -> None:
    writer.number(len(pairs))
    for pair in pairs:
        for seconds in pair:
            writer.real(seconds)


def _read_pairs(reader: Reader) -> tuple[tuple[float, float], ...]:
    return tuple([(reader.seconds(), reader.seconds()) for _ in range(reader.number(1))])


LOOPS = Field(write_graph, _read_loops)
TARGET = Field(_write_fields, _read_target)
PLACEMENT = Field(write_placement, read_placement)
NUMBER = Field(Writer.number, lambda reader: reader.number(0, MOST_NUMBER))
LARGE_NUMBER = Field(Writer.integer, Reader.integer)
FLAG = Field(Writer.byte, lambda reader: bool(reader.byte(1)))
TEXT = Field(Writer.text, Reader.text)
SECONDS = Field(Writer.real, Reader.seconds)
OPTIONAL_SECONDS = Field(_write_optional, _read_optional)

_KINDS: dict[type, Field] = {
    str: TEXT,
    bool: FLAG,
    int: Field(Writer.number, lambda reader: reader.number(0, MOST_BYTES)),
    float: Field(Writer.real, Reader.real),
}

MESSAGES: dict[type, tuple[Field, ...]] = {
    Open: (LOOPS, TARGET, NUMBER),
    Inspect: (PLACEMENT, NUMBER),
    Compile: (PLACEMENT, NUMBER),
    Time: (PLACEMENT, NUMBER, NUMBER, OPTIONAL_SECONDS),
    Compare: (PLACEMENT, PLACEMENT, NUMBER, NUMBER),
    Refused: (TEXT,),
    Done: (),
    Inspection: (
        NUMBER, LARGE_NUMBER, NUMBER, TEXT, Field(_write_operations, _read_operations),
    ),
    Timing: (SECONDS,),
    Comparison: (Field(_write_pairs, _read_pairs),),
}  # fmt: skip
"""The fields of each kind of message, in order."""

_NUMBERS = {kind: number for number, kind in enumerate(MESSAGES)}


def pack_message(message: Request | Answer) -> bytes:
    """A message as bytes. Raises `CannotEncode`."""
    writer = Writer()
    writer.byte(_NUMBERS[type(message)])
    for field, value in zip(MESSAGES[type(message)], message, strict=True):
        field.write(writer, value)
    return writer.finish()


def unpack_message(body: bytes) -> Request | Answer:
    """A message from bytes. Raises `DamagedRecord`."""
    reader = Reader(body)
    kind = tuple(MESSAGES)[reader.byte(len(MESSAGES) - 1)]
    message: Request | Answer = kind(*[field.read(reader) for field in MESSAGES[kind]])
    reader.finish()
    return message


def pack_request(request: Request, limit: float) -> bytes:
    """A request to be answered within `limit` seconds, as bytes."""
    writer = Writer()
    writer.real(limit)
    return writer.finish() + pack_message(request)


def unpack_request(body: bytes) -> tuple[Request, float]:
    """A request and its limit. Raises `DamagedRecord`."""
    reader = Reader(body)
    limit = reader.seconds()
    request = unpack_message(body[reader.position :])
    if not isinstance(request, Request):
        raise DamagedRecord("the message is not a request")
    return request, limit


# Through a pipe


def frame(body: bytes) -> bytes:
    """A message with its header, for the pipe."""
    return _HEADER.pack(_MAGIC, len(body), zlib.crc32(body)) + body


def unpack_header(header: bytes) -> tuple[int, int]:
    """The length and the checksum of the message that follows."""
    magic, length, checksum = _HEADER.unpack(header)
    if magic != _MAGIC or length > MOST_MESSAGE:
        raise DamagedRecord("it does not begin like a message")
    return length, checksum


def check_body(body: bytes, checksum: int) -> bytes:
    """The body of a message. Raises `DamagedRecord` if the checksum is wrong."""
    if zlib.crc32(body) != checksum:
        raise DamagedRecord("its checksum is wrong")
    return body
