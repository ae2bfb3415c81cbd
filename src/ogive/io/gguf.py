"""GGUF: metadata, descriptions of tensors, and their bytes.

    GGUF  version  number of tensors  number of entries
    entry ...                key, type, value
    tensor ...               name, number of axes, lengths, type, offset
    (padding)  the tensors   offsets count from here, in multiples of the alignment

Lengths are written with the fastest axis first, and reversed here.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.io.checked_files import Path, Source, open_source, shorten
from ogive.io.quants import QUANTIZATIONS
from ogive.named import NamedTuple
from ogive.tensor.tensor import Tensor

KIND = "a GGUF file"
MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
MAX_RANK = 4
MAX_NESTING = 8

NUMBERS = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 10: "<u8", 11: "<i8",
    12: "<f8",
}  # fmt: skip
"""The numeric types of metadata, by their names in NumPy."""

BOOL, STRING, ARRAY = 7, 8, 9

PLAIN: dict[int, DType] = {
    0: dtypes.float32, 1: dtypes.float16, 24: dtypes.int8, 25: dtypes.int16, 26: dtypes.int32,
    27: dtypes.int64, 28: dtypes.float64, 30: dtypes.bfloat16,
}  # fmt: skip
"""The types of tensors that are not quantized."""

QUANTIZED = {
    2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K",
}  # fmt: skip


# The memory of objects, in bytes, rounded up.
_ENTRY = 256
"""An entry of metadata, or the description of a tensor, besides its text and numbers."""
_LISTED = 72
"""A text or a list in a list, besides its content."""
_NUMBER = 48
"""A number in a list, while it is read."""
_DEQUANTIZED = 64 << 10
"""The graph that dequantizes a tensor."""


class Entry(NamedTuple):
    """The description of a tensor in the file."""

    name: str
    kind: int
    shape: tuple[int, ...]
    begin: int
    nbytes: int


def load_gguf(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Load a GGUF file lazily: its metadata, and its tensors by name.

    Plain tensors are on `DISK`. Quantized tensors (Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4_K Q5_K Q6_K) are
    float32, and are dequantized in the kernels that use them; `realize()` stores the dequantized
    numbers. Shapes have the fastest axis last.

    >>> import struct, tempfile
    >>> path = tempfile.mkdtemp() + "/empty.gguf"
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    >>> ogive.io.load_gguf(path)
    ({}, {})

    Raises `FileError` if the file is missing, malformed or truncated, or has tensors of another
    type.
    """
    with open_source(path, "load_gguf", KIND) as source:
        reader = _Reader(source)
        metadata, entries = reader.read()
        return metadata, {entry.name: _tensor(source, entry) for entry in entries}


def _tensor(source: Source, entry: Entry) -> Tensor:
    if entry.kind in PLAIN:
        return source.tensor(entry.shape, PLAIN[entry.kind], entry.begin)
    source.charge(_DEQUANTIZED)
    form = QUANTIZATIONS[QUANTIZED[entry.kind]]
    *rows, length = entry.shape
    blocks = source.tensor((*rows, length // form.numbers, form.nbytes), dtypes.uint8, entry.begin)
    return form.dequantize(blocks).reshape(*entry.shape)


class _Reader:
    """A reader of the parts before the tensors. `position` is the next byte."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.position = 0

    def read(self) -> tuple[dict[str, Any], list[Entry]]:
        """Read and check the metadata and the descriptions of tensors."""
        magic, version = self.take("<4sI", "the magic and version")
        if magic != MAGIC:
            self.source.refuse(f"it begins with {magic!r}; expected {MAGIC!r}")
        if version not in VERSIONS:
            self.source.refuse(f"its version is {version}; known are 2 and 3, little endian")
        tensors, entries = self.take("<QQ", "the counts")
        self.check_count(entries, 13, "entries of metadata")
        self.check_count(tensors, 24, "tensors")
        metadata: dict[str, Any] = {}
        for _ in range(entries):
            self.source.charge(_ENTRY)
            key = self.text("a key")
            if key in metadata:
                self.source.refuse(f"the key {shorten(key)!r} is there twice")
            (kind,) = self.take("<I", f"the type of {shorten(key)!r}")
            metadata[key] = self.value(kind, key, MAX_NESTING)
        described = [self.describe() for _ in range(tensors)]
        return metadata, self.place(described, self.alignment(metadata))

    def take(self, layout: str, what: str) -> tuple[Any, ...]:
        """Read the next numbers, in a `struct` layout."""
        numbers = self.source.unpack(self.position, layout, what)
        self.position += struct.calcsize(layout)
        return numbers

    def check_count(self, count: int, size: int, what: str) -> None:
        """Raise `FileError` if the rest of the file cannot hold `count` objects of `size` bytes."""
        if count * size > self.source.size - self.position:
            self.source.refuse(
                f"{count} {what} are announced, and the file has "
                f"{self.source.size - self.position} bytes left"
            )

    def text(self, what: str) -> str:
        """Read the next text, which follows its length."""
        (length,) = self.take("<Q", f"the length of {what}")
        raw = self.source.read(self.position, length, what)
        self.source.charge(_LISTED + 5 * length)  # its bytes, and up to 4 for a character
        self.position += length
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            self.source.refuse(f"{what} is not UTF-8: {error.reason}")

    def value(self, kind: int, key: str, nesting: int) -> Any:
        """Read the next value of metadata."""
        what = f"the value of {shorten(key)!r}"
        if kind == STRING:
            return self.text(what)
        if kind == ARRAY:
            inner, count = self.take("<IQ", what)
            if inner in NUMBERS or inner == BOOL:
                return self.numbers(inner, count, what)
            if nesting == 0:
                self.source.refuse(f"{what} is nested more than {MAX_NESTING} deep")
            self.check_count(count, 8, f"entries of {what}")
            self.source.charge(_LISTED * (1 + count))
            return [self.value(inner, key, nesting - 1) for _ in range(count)]
        return self.numbers(kind, 1, what)[0]

    def numbers(self, kind: int, count: int, what: str) -> list[Any]:
        """Read the next numbers or truth values of metadata."""
        if kind not in NUMBERS and kind != BOOL:
            self.source.refuse(f"{what} is of type {kind}; known are 0 to 12")
        dtype = numpy.dtype(NUMBERS.get(kind, "u1"))
        self.check_count(count, dtype.itemsize, f"numbers of {what}")
        self.source.charge(_LISTED + _NUMBER * count)
        raw = self.source.read(self.position, count * dtype.itemsize, what)
        self.position += len(raw)
        values: list[Any] = numpy.frombuffer(raw, dtype).tolist()
        if kind == BOOL:
            if any(value > 1 for value in values):
                self.source.refuse(f"{what} has a truth value that is neither 0 nor 1")
            values = [value == 1 for value in values]
        return values

    def alignment(self, metadata: dict[str, Any]) -> int:
        """Return the alignment of the tensors, a power of two."""
        value = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
        if type(value) is not int or value <= 0 or value & (value - 1) or value > 1 << 30:
            self.source.refuse(f"its alignment is {shorten(value)}; expected a power of two")
        return value

    def describe(self) -> Entry:
        """Read the next description of a tensor. Its offset counts from the first tensor."""
        self.source.charge(2 * _ENTRY)
        name = self.text("the name of a tensor")
        quoted = f"tensor {shorten(name)!r}"
        (rank,) = self.take("<I", f"the axes of {quoted}")
        if rank > MAX_RANK:
            self.source.refuse(f"{quoted} has {rank} axes; at most {MAX_RANK} are allowed")
        *lengths, kind, offset = self.take(f"<{rank}QIQ", quoted)
        shape = self.source.check_shape(lengths[::-1], quoted)
        if kind in PLAIN:
            nbytes = math.prod(shape) * PLAIN[kind].itemsize
        elif kind in QUANTIZED:
            form = QUANTIZATIONS[QUANTIZED[kind]]
            if not shape or shape[-1] % form.numbers:
                self.source.refuse(
                    f"{quoted} is {QUANTIZED[kind]} of shape {shorten(shape)}; its rows are of "
                    f"blocks of {form.numbers}"
                )
            nbytes = math.prod(shape) // form.numbers * form.nbytes
        else:
            known = ", ".join([dtype.name for dtype in PLAIN.values()] + [*QUANTIZED.values()])
            self.source.refuse(f"{quoted} is of type {kind}; known are {known}")
        return Entry(name, kind, shape, offset, nbytes)

    def place(self, described: list[Entry], alignment: int) -> list[Entry]:
        """Return the descriptions with offsets into the file.

        Raises `FileError` unless the tensors are aligned, inside the file, and do not overlap.
        """
        base = -(-self.position // alignment) * alignment
        if len({entry.name for entry in described}) != len(described):
            self.source.refuse("two of its tensors have the same name")
        before = base
        for entry in sorted(described, key=lambda entry: (entry.begin, entry.nbytes)):
            begin = base + entry.begin
            end = begin + entry.nbytes
            if entry.begin % alignment or begin < before or end > self.source.size:
                self.source.refuse(
                    f"tensor {shorten(entry.name)!r} would be bytes {begin} to {end} of a file of "
                    f"{self.source.size}; expected a multiple of {alignment} after the tensors, "
                    f"at {before} or later"
                )
            before = end
        return [entry._replace(begin=base + entry.begin) for entry in described]
