"""Files of any format: bounded reads, sizes checked before they are believed, whole writes."""

from __future__ import annotations

import io
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NoReturn

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.dtype import DType
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentTypeError, FileError, MissingFileError, OgiveError
from ogive.io.words import IS_BIG, to_numbers
from ogive.named import NamedTuple
from ogive.tensor.core import wrap
from ogive.tensor.creation.user_data import read_buffer, read_file
from ogive.tensor.memory.memory_nodes import memory_node
from ogive.tensor.tensor import Tensor
from ogive.tensor.values.interchange import restored


class Contents(NamedTuple):
    """A file whose bytes are in memory, and its name for errors. Its tensors are read at once."""

    data: bytes
    name: str = "the file object"


Path = str | os.PathLike[str] | Contents

MAX_RANK = 64
"""The most axes that NumPy, and so a tensor whose values are asked for, can have."""

FREE_BYTES = 64 << 20
BYTES_PER_BYTE = 32
"""All that is made from a file may take this much, elements of tensors apart.

Plain data takes 4 to 30 times what it takes in a file, small numbers and short texts the most.
"""

TENSOR = 2560
"""The bytes that a tensor takes which is still in its file."""


class Source:
    """An open file, of which no read goes past the end.

    `kind` is the format it is taken for ("a GGUF file"), named in every error.
    """

    def __init__(self, path: str, file: BinaryIO, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.is_in_memory = isinstance(file, io.BytesIO)
        self.size = file.seek(0, os.SEEK_END)
        self._file = file
        self._left = FREE_BYTES + BYTES_PER_BYTE * self.size

    def refuse(self, problem: str) -> NoReturn:
        """Raise `FileError`: this file is not what it is taken for."""
        raise FileError(f"{self.path!r} is not {self.kind} that can be read: {problem}")

    def charge(self, nbytes: int) -> None:
        """Count bytes that something made from this file takes; best before it is made.

        Raises `FileError` when that is out of proportion. So no file, however its parts are packed
        or refer to each other, takes much more memory, or time, than its own size accounts for.
        """
        self._left -= nbytes
        if self._left < 0:
            self.refuse(
                f"what its {self.size} bytes describe takes more than "
                f"{FREE_BYTES + BYTES_PER_BYTE * self.size} bytes, besides the elements of tensors"
            )

    def read(self, offset: int, count: int, what: str) -> bytes:
        """`count` bytes from `offset` on, which are to be `what`. Raises `FileError`."""
        if offset + count > self.size:
            self.refuse(
                f"{what} would be bytes {offset} to {offset + count}, and the file ends at "
                f"{self.size}"
            )
        try:
            self._file.seek(offset)
            data = self._file.read(count)
        except OSError as error:
            raise FileError(f"{self.path!r} cannot be read ({error.strerror})") from error
        if len(data) != count:
            self.refuse(f"it was cut off while it was read, in {what}")
        return data

    def _read_into(self, offset: int, memory: memoryview, what: str) -> None:
        """Fill memory with the bytes from `offset` on, which are to be `what`."""
        try:
            self._file.seek(offset)
            count = self._file.readinto(memory)  # type: ignore[attr-defined]
        except OSError as error:
            raise FileError(f"{self.path!r} cannot be read ({error.strerror})") from error
        if count != memory.nbytes:
            self.refuse(f"it was cut off while it was read, in {what}")

    def unpack(self, offset: int, layout: str, what: str) -> tuple[Any, ...]:
        """The numbers that a `struct` layout finds at `offset`. Raises `FileError`."""
        return struct.unpack(layout, self.read(offset, struct.calcsize(layout), what))

    def tensor(
        self, shape: Sequence[int], dtype: DType, offset: int, big_endian: bool = False
    ) -> Tensor:
        """A tensor over checked bytes of this file: on `DISK`, where its byte order is ours, unless
        these are in memory already."""
        self.charge(TENSOR)
        if big_endian == IS_BIG or dtype.itemsize == 1:
            return self._elements(shape, dtype, offset)
        self.charge(2 * TENSOR * dtype.itemsize)
        raw = self._elements((*shape, dtype.itemsize), dtypes.uint8, offset)
        return to_numbers(raw, dtype, big_endian)

    def _elements(self, shape: Sequence[int], dtype: DType, offset: int) -> Tensor:
        if not self.is_in_memory:
            return Tensor.from_file(self.path, shape, dtype, offset)
        data = self.read(offset, math.prod(shape) * dtype.itemsize, "a tensor")
        held = numpy.frombuffer(data, numpy.uint8 if dtype.is_bool else dtype.numpy)
        return restored(Tensor, (held != 0 if dtype.is_bool else held).reshape(shape), False)

    def read_tensor(
        self, shape: Sequence[int], dtype: DType, offset: int, what: str
    ) -> Tensor:
        """A tensor in memory, of checked little-endian elements from `offset` on. Raises
        `FileError`."""
        buffer = read_buffer(
            lambda memory: self._read_into(offset, memory, what), dtype, math.prod(shape), IS_BIG
        )
        with graph_lock:
            return wrap(memory_node(buffer, tuple(shape), dtype), buffer.device)

    def check_shape(self, shape: Any, name: str) -> tuple[int, ...]:
        """`shape` as lengths, once it is known to be that of a tensor. Raises `FileError`."""
        if not isinstance(shape, list | tuple) or len(shape) > MAX_RANK:
            self.refuse(f"{name} has the shape {shorten(shape)}; expected up to 64 lengths")
        for size in shape:
            if type(size) is not int or not 0 <= size < 1 << 63:
                self.refuse(f"{name} has the shape {shorten(shape)}; a length is 0 to 2**63 - 1")
        if math.prod(shape) >= 1 << 63:
            self.refuse(f"{name} has the shape {shorten(shape)}, of more than 2**63 - 1 elements")
        return tuple(shape)

    def check_extent(self, begin: int, shape: Sequence[int], dtype: DType, name: str) -> int:
        """The offset after a tensor that begins at `begin`. Raises `FileError` if it is outside."""
        end = begin + math.prod(shape) * dtype.itemsize
        if end > self.size:
            self.refuse(
                f"{name} is {dtype.name} {shorten(tuple(shape))} from offset {begin} on and would "
                f"end at {end}, and the file ends at {self.size}"
            )
        return end


def in_memory(tensor: Tensor) -> Tensor:
    """A tensor on `DISK` on the CPU: read now where it is all of some bytes, else when computed."""
    buffer = read_file(tensor.node)
    if buffer is None:
        return tensor.to(DEFAULT_DEVICE)
    with graph_lock:
        return wrap(memory_node(buffer, tensor.shape, tensor.dtype), buffer.device)


def shorten(value: Any) -> str:
    """`value` as it is quoted in an error: what a file claims may be long, and deeply nested."""
    if isinstance(value, list | tuple):
        entries = [shorten(each) if type(each) in _PLAIN else "..." for each in value[:8]]
        return f"({', '.join(entries)}{', ...' if len(value) > 8 else ''})"
    text = str(value) if type(value) in _PLAIN else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


_PLAIN = (str, bytes, bool, int, float, type(None))


def to_path(path: Any, name: str) -> str:
    """The absolute path that the user gave. Raises `ArgumentTypeError`."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(f"{name} takes a path, not {type(path).__name__}")
    return os.path.abspath(os.fspath(path))


@contextmanager
def open_source(path: Any, name: str, kind: str) -> Iterator[Source]:
    """Open a file to find out what is in it. Raises `FileError` when that cannot be done."""
    if isinstance(path, Contents):
        yield Source(path.name, io.BytesIO(path.data), kind)
        return
    place = to_path(path, name)
    with _open(place, kind) as file:
        yield Source(place, file, kind)


def _open(place: str, kind: str) -> BinaryIO:
    problem = None
    try:
        if os.path.isfile(place):  # opening a pipe would wait for somebody to write to it
            return open(place, "rb")
        if os.path.exists(place):
            problem = "it is a folder" if os.path.isdir(place) else "it is not a regular file"
    except (OSError, ValueError) as error:
        problem = str(error)
    if problem is None:
        raise MissingFileError(f"{place!r} cannot be read as {kind}: there is no such file")
    raise FileError(f"{place!r} cannot be read as {kind}: {problem}")


@contextmanager
def replacing(path: Any, name: str, is_synced: bool = True) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` once all is written, or not at all; if it
    `is_synced`, whatever happens to the machine.

    Raises `FileError` when it cannot be written.
    """
    place = to_path(path, name)
    folder, last = os.path.split(place)
    temporary = os.path.join(folder, f".{last[:100]}.{os.urandom(8).hex()}.part")
    try:
        file = open(temporary, "xb")  # noqa: SIM115  (closed below)
    except (OSError, ValueError) as error:
        raise FileError(f"{place!r} cannot be written: {error}") from error
    try:
        with file:
            yield file
            file.flush()
            if is_synced:
                os.fsync(file.fileno())
        os.replace(temporary, place)
    except OSError as error:
        if isinstance(error, OgiveError):
            raise
        raise FileError(f"{place!r} cannot be written: {error}") from error
    finally:
        with suppress(OSError, ValueError):  # it has its new name, or was never there
            os.unlink(temporary)


def check_tensors(tensors: Any, name: str) -> dict[str, Tensor]:
    """`tensors` as a dictionary from names to tensors, all of them computed.

    Raises `ArgumentTypeError`.
    """
    if not isinstance(tensors, Mapping):
        hint = "; give its state_dict()" if hasattr(tensors, "state_dict") else ""
        raise ArgumentTypeError(
            f"{name} takes a dictionary of names and tensors, not {type(tensors).__name__}{hint}"
        )
    checked: dict[str, Tensor] = {}
    for key, value in tensors.items():
        if not isinstance(key, str):
            raise ArgumentTypeError(f"{name}: the name of a tensor is text, not {key!r}")
        if isinstance(value, dict | list | tuple):
            raise ArgumentTypeError(
                f"{name}: {key!r} is a {type(value).__name__}; expected a tensor: the format has "
                "no nesting, so join the names, as 'encoder.weight'"
            )
        checked[key] = value if isinstance(value, Tensor) else Tensor(value)
    Tensor.realize_batch(list(checked.values()))
    return checked
