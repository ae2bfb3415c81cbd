"""The protobuf wire format: a message is a list of fields, each a number, a kind and a value.

    key            a varint: the field's number, and in its low three bits the kind
    kind 0         a varint: 7 bits a byte, the lowest first
    kind 1, 5      8 or 4 bytes
    kind 2         a length and so many bytes: text, numbers in a row, or a message

Only what is asked for is read: of the bytes of a field of kind 2 a message keeps where they are.
Everything made is charged to a budget, so a hostile file cannot take more than its size accounts
for.
"""

from __future__ import annotations

import struct
from typing import Any, NoReturn, Protocol, TypeVar

import numpy

from ogive.errors import FileError
from ogive.io.checked_files import BYTES_PER_BYTE, FREE_BYTES, Source
from ogive.named import NamedTuple

KIND = "an ONNX model"

MAX_NESTING = 64
"""Messages may be nested so deep. A subgraph takes three levels."""

CHUNK = 1 << 16
"""Bytes that are read from a file at once, while fields are looked for."""

_HEAD = 20
"""The most bytes that a key and the number after it take."""

_MESSAGE = 512
_FIELD = 160
"""The memory that a message, and a field of it, take, in bytes, rounded up."""

VARINT, WIDE, BYTES, NARROW = 0, 1, 2, 5


class Origin(Protocol):
    """The origin of a document: a file (`Source`), or bytes in memory."""

    size: int

    def refuse(self, problem: str) -> NoReturn: ...

    def charge(self, nbytes: int) -> None: ...

    def read(self, offset: int, count: int, what: str) -> bytes: ...


class Memory:
    """Bytes in memory, read as a `Source` is."""

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self._data = data
        self._left = FREE_BYTES + BYTES_PER_BYTE * self.size

    def refuse(self, problem: str) -> NoReturn:
        """Raise `FileError`: these bytes are not what they are taken for."""
        raise FileError(f"the bytes are not {KIND} that can be read: {problem}")

    def charge(self, nbytes: int) -> None:
        """Count bytes that something made from these takes. Raises `FileError`."""
        self._left -= nbytes
        if self._left < 0:
            self.refuse(f"what {self.size} bytes describe takes out of proportion much memory")

    def read(self, offset: int, count: int, what: str) -> bytes:
        """`count` bytes from `offset` on. Raises `FileError`."""
        if offset + count > self.size:
            self.refuse(f"{what} would end at {offset + count}, and there are {self.size} bytes")
        return self._data[offset : offset + count]


class Document:
    """A file or bytes, of which messages are read a chunk at a time."""

    def __init__(self, origin: Source | Memory) -> None:
        self.origin: Origin = origin
        self._chunk = b""
        self._begin = 0

    def head(self, position: int) -> tuple[bytes, int]:
        """Some bytes, and where a position lies in them. Behind it is all that a key and a number
        may take, less at the end."""
        start = position - self._begin
        if start < 0 or start + _HEAD > len(self._chunk):
            count = min(CHUNK, self.origin.size - position)
            self._chunk = self.origin.read(position, count, "the fields of a message")
            self._begin, start = position, 0
        return self._chunk, start

    def read(self, begin: int, count: int) -> bytes:
        """The bytes of a field, of which most lie beside what was read last."""
        start = begin - self._begin
        if start >= 0 and start + count <= len(self._chunk):
            return self._chunk[start : start + count]
        return self.origin.read(begin, count, "a field")


class Span(NamedTuple):
    """The place of the bytes of a field."""

    begin: int
    end: int


M = TypeVar("M", bound="Message")


class Message:
    """A message: its fields by number, found when the first of them is asked for."""

    def __init__(self, document: Document, span: Span, nesting: int = 0) -> None:
        if nesting > MAX_NESTING:
            document.origin.refuse(f"messages are nested more than {MAX_NESTING} deep")
        document.origin.charge(_MESSAGE)
        self.document = document
        self.span = span
        self._nesting = nesting
        self._found: dict[int, list[Any]] | None = None

    @property
    def fields(self) -> dict[int, list[Any]]:
        """The values of each field: numbers, bytes of 4 and 8, and spans."""
        if self._found is None:
            self._found = self._scan()
        return self._found

    def _scan(self) -> dict[int, list[Any]]:
        fields: dict[int, list[Any]] = {}
        position, end = self.span
        origin, head, varint = self.document.origin, self.document.head, self._varint
        while position < end:
            origin.charge(_FIELD)
            data, start = head(position)
            key, at = varint(data, start)
            number, kind = key >> 3, key & 7
            value: Any
            if kind == BYTES:
                length, at = varint(data, at)
                begin = position + at - start
                value = Span(begin, begin + length)
                at += length
            elif kind == VARINT:
                value, at = varint(data, at)
            elif kind in (WIDE, NARROW):
                width = 8 if kind == WIDE else 4
                value = data[at : at + width]
                at += width
            else:
                origin.refuse(f"field {number} at byte {position} is of the unknown kind {kind}")
            position += at - start
            if position > end or number == 0:
                origin.refuse(f"field {number} ends at byte {position}, its message at {end}")
            fields.setdefault(number, []).append(value)
        return fields

    def _varint(self, data: bytes, start: int) -> tuple[int, int]:
        """A number of 7 bits a byte, and where it ends."""
        if start < len(data) and data[start] < 128:
            return data[start], start + 1  # as nearly all are
        value = 0
        for index in range(start, min(start + 10, len(data))):
            byte = data[index]
            value |= (byte & 127) << 7 * (index - start)
            if byte < 128:
                return value & (1 << 64) - 1, index + 1
        return self.refuse("a number has more than ten bytes, or is cut off")

    def refuse(self, problem: str) -> NoReturn:
        """Raise `FileError`: this message is not what it is taken for."""
        self.document.origin.refuse(problem)

    def _last(self, number: int, kind: type) -> Any:
        values = self.fields.get(number)
        if not values:
            return None
        if not isinstance(values[-1], kind) or isinstance(values[-1], bool):
            self.refuse(f"field {number} of {type(self).__name__} is of the wrong kind")
        return values[-1]

    def has(self, number: int) -> bool:
        """Whether the field is there."""
        return number in self.fields

    def integer(self, number: int, default: int = 0) -> int:
        """A number with a sign, as int32, int64 and enumerations have."""
        value = self._last(number, int)
        return default if value is None else _signed(value)

    def number(self, number: int) -> float:
        """A number of 4 bytes."""
        value = self._last(number, bytes)
        if value is None:
            return 0.0
        if len(value) != 4:
            self.refuse(f"field {number} of {type(self).__name__} has {len(value)} bytes, not 4")
        return float(struct.unpack("<f", value)[0])

    def text(self, number: int) -> str:
        """A text, empty where there is none."""
        span = self._last(number, Span)
        return "" if span is None else self._decode(span)

    def texts(self, number: int) -> list[str]:
        """All texts of a repeated field."""
        return [self._decode(span) for span in self._spans(number)]

    def content(self, number: int) -> bytes:
        """The bytes of a field."""
        span = self._last(number, Span)
        return b"" if span is None else self._read(span)

    def all_bytes(self, number: int) -> list[bytes]:
        """The bytes of each entry of a repeated field."""
        return [self._read(span) for span in self._spans(number)]

    def place(self, number: int) -> Span | None:
        """The place of the bytes of a field."""
        span: Span | None = self._last(number, Span)
        return span

    def message(self, number: int, kind: type[M]) -> M | None:
        """The message in a field."""
        span = self._last(number, Span)
        return None if span is None else kind(self.document, span, self._nesting + 1)

    def messages(self, number: int, kind: type[M]) -> list[M]:
        """All messages of a repeated field."""
        return [kind(self.document, span, self._nesting + 1) for span in self._spans(number)]

    def integers(self, number: int) -> list[int]:
        """The numbers of a repeated field, in a row or one by one."""
        numbers: list[int] = []
        for value in self.fields.get(number, []):
            if isinstance(value, int):
                numbers.append(_signed(value))
            elif isinstance(value, Span):
                self.document.origin.charge(48 * (value.end - value.begin))
                numbers += self._varints(value).tolist()
            else:
                self.refuse(f"field {number} of {type(self).__name__} is of the wrong kind")
        return numbers

    def integer_array(self, number: int) -> numpy.ndarray[Any, Any]:
        """The numbers of a repeated field as int64."""
        values = self.fields.get(number, [])
        if len(values) == 1 and isinstance(values[0], Span):
            self.document.origin.charge(8 * (values[0].end - values[0].begin))
            return self._varints(values[0])
        return numpy.array(self.integers(number), numpy.int64)

    def number_array(self, number: int, dtype: str) -> numpy.ndarray[Any, Any]:
        """The numbers of a repeated field of 4 or 8 bytes each."""
        parts = []
        for value in self.fields.get(number, []):
            raw = self._read(value) if isinstance(value, Span) else value
            if not isinstance(raw, bytes) or len(raw) % numpy.dtype(dtype).itemsize:
                self.refuse(f"field {number} of {type(self).__name__} is of the wrong kind")
            parts.append(raw)
        return numpy.frombuffer(b"".join(parts), dtype)

    def _spans(self, number: int) -> list[Span]:
        values = self.fields.get(number, [])
        if not all(isinstance(value, Span) for value in values):
            self.refuse(f"field {number} of {type(self).__name__} is of the wrong kind")
        return values

    def _read(self, span: Span) -> bytes:
        self.document.origin.charge(span.end - span.begin)
        return self.document.read(span.begin, span.end - span.begin)

    def _decode(self, span: Span) -> str:
        self.document.origin.charge(4 * (span.end - span.begin))
        try:
            return self._read(span).decode()
        except UnicodeDecodeError as error:
            self.refuse(f"a text at byte {span.begin} is not UTF-8: {error.reason}")

    def _varints(self, span: Span) -> numpy.ndarray[Any, Any]:
        raw = numpy.frombuffer(self._read(span), numpy.uint8)
        if raw.size == 0:
            return numpy.zeros(0, numpy.int64)
        if raw[-1] >= 128:
            self.refuse("the last of the numbers in a row is cut off")
        ends = numpy.flatnonzero(raw < 128)
        starts = numpy.concatenate([[0], ends[:-1] + 1])
        if (ends - starts).max() > 9:
            self.refuse("a number has more than ten bytes")
        places = numpy.arange(raw.size) - numpy.repeat(starts, ends - starts + 1)
        parts = (raw & 127).astype(numpy.uint64) << (7 * places).astype(numpy.uint64)
        return numpy.add.reduceat(parts, starts).astype(numpy.int64)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
