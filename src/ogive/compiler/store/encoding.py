"""Encoding of numbers, texts and keys as bytes, and decoding with checks.

Everything that leaves the process is written with these: entries on disk, and messages of the
search to its worker. The format is little-endian and plain: a text is its length and its UTF-8, a
list its length and its items. Bytes that cannot have been written by this module raise
`DamagedRecord`. Graphs are in `graph_encoding.py`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence

from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.store.content_keys import DIGEST_BYTES, Key

MOST = 1 << 24
"""The greatest length of a list in a record."""

MOST_BYTES = 1 << 56
"""The greatest size of a buffer, so that address arithmetic cannot wrap."""

MOST_TEXT = 1 << 28
MOST_DIGITS = 64
"""The most bytes of a number of any size."""

Bounds = Mapping[str, tuple[int, int]]
"""The least and the greatest value of each variable, by name."""


class DamagedRecord(ValueError):
    """Raised for bytes that are not a valid record."""


class CannotEncode(ValueError):
    """Raised for a value without an encoding. The record that contains it is not written."""


class Writer:
    """Appends fields to bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def number(self, value: int) -> None:
        self.parts.append(struct.pack("<q", value))

    def numbers(self, values: Sequence[int]) -> None:
        self.parts.append(struct.pack(f"<q{len(values)}q", len(values), *values))

    def integer(self, value: int) -> None:
        """A number of any size."""
        self.data(value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))

    def real(self, value: float) -> None:
        self.parts.append(struct.pack("<d", value))

    def byte(self, value: int) -> None:
        self.parts.append(bytes((value,)))

    def data(self, value: bytes) -> None:
        self.number(len(value))
        self.parts.append(value)

    def text(self, value: str) -> None:
        self.data(value.encode())

    def key(self, value: Key) -> None:
        self.parts += value

    def variables(self, variables: Bounds) -> None:
        self.number(len(variables))
        for name, bounds in variables.items():
            self.text(name)
            self.parts.append(struct.pack("<2q", *bounds))

    def finish(self) -> bytes:
        return b"".join(self.parts)


class Reader:
    """Reads fields from bytes, in order, and checks each of them."""

    def __init__(self, data: bytes) -> None:
        self.bytes = data
        self.position = 0

    def take(self, size: int) -> bytes:
        end = self.position + size
        if size < 0 or end > len(self.bytes):
            raise DamagedRecord("it ends too early")
        taken = self.bytes[self.position : end]
        self.position = end
        return taken

    def number(self, low: int = 0, high: int = MOST) -> int:
        value: int = struct.unpack("<q", self.take(8))[0]
        return within(value, low, high)

    def numbers(self, low: int, high: int) -> tuple[int, ...]:
        count = self.number()
        values: tuple[int, ...] = struct.unpack(f"<{count}q", self.take(8 * count))
        if values and not (low <= min(values) and max(values) <= high):
            raise DamagedRecord("a number is out of range")
        return values

    def integer(self) -> int:
        """A number of any size, within reason."""
        return int.from_bytes(self.data(MOST_DIGITS), "little", signed=True)

    def real(self) -> float:
        """A float, which may be infinite or NaN."""
        value: float = struct.unpack("<d", self.take(8))[0]
        return value

    def seconds(self) -> float:
        value = self.real()
        if not 0 < value < math.inf:
            raise DamagedRecord("a time is none")
        return value

    def byte(self, high: int = 255) -> int:
        return within(self.take(1)[0], 0, high)

    def data(self, most: int = MOST_TEXT) -> bytes:
        return self.take(self.number(0, most))

    def text(self, most: int = 1 << 16) -> str:
        try:
            return self.data(most).decode()
        except UnicodeDecodeError:
            raise DamagedRecord("a text is not UTF-8") from None

    def name(self) -> str:
        name = self.text()
        if not name.isidentifier():
            raise DamagedRecord("a name is none")
        return name

    def variable(self) -> str:
        name = self.text()
        if not (name.isidentifier() or name.removeprefix(OWN).isalnum()):
            raise DamagedRecord("a name is none")
        return name

    def key(self) -> Key:
        return Key(self.take(DIGEST_BYTES), self.take(DIGEST_BYTES))

    def variables(self) -> dict[str, tuple[int, int]]:
        bounds: dict[str, tuple[int, int]] = {}
        for _ in range(self.number()):
            name = self.variable()
            low, high = struct.unpack("<2q", self.take(16))
            if name in bounds or not 0 <= low <= high:
                raise DamagedRecord("a variable makes no sense")
            bounds[name] = (low, high)
        return bounds

    def finish(self) -> None:
        if self.position != len(self.bytes):
            raise DamagedRecord("something follows it")


def within(value: int, low: int, high: int) -> int:
    """`value` if it is between `low` and `high`. Raises `DamagedRecord` otherwise."""
    if not low <= value <= high:
        raise DamagedRecord("a number is out of range")
    return value
