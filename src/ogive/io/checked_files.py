"""Files of any format: bounded reads, checked sizes, and atomic writes."""

from __future__ import annotations

import io
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NoReturn

import numpy

from ogive.errors import ArgumentTypeError, FileError, MissingFileError, OgiveError
from ogive.io.words import IS_BIG, to_numbers
from ogive.ir import dtype as dtypes
from ogive.ir.device_names import DEFAULT_DEVICE
from ogive.ir.dtype import DType
from ogive.live.registry import graph_lock
from ogive.named import NamedTuple
from ogive.tensor.core import wrap
from ogive.tensor.creation.user_data import fill_buffer, read_file
from ogive.tensor.memory.memory_nodes import memory_node
from ogive.tensor.tensor import Tensor
from ogive.tensor.values.interchange import restored


class Contents(NamedTuple):
    """The bytes of a file in memory, and its name for errors. Its tensors are read at once."""

    data: bytes
    name: str = "the file object"


Path = str | os.PathLike[str] | Contents

MAX_RANK = 64
"""How many axes an array of NumPy can have, and so a tensor whose values are read."""

FREE_BYTES = 64 << 20
BYTES_PER_BYTE = 32
"""How many bytes of memory may be used for each byte of a file, the elements of tensors apart.

Plain data takes 4 to 30 times what it takes in a file, small numbers and short texts the most.
"""

TENSOR = 2560
"""The memory of a lazy tensor, whose elements are still in the file, in bytes."""


_PIECE = 1 << 18
"""How many bytes are read at a time where they are copied to other memory."""


class Source:
    """An open file. No read goes past its end.

    `kind` is the expected format ("a GGUF file"), which every error names.
    """

    def __init__(self, path: str, file: BinaryIO, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.is_in_memory = isinstance(file, io.BytesIO)
        self.size = file.seek(0, os.SEEK_END)
        self._file = file
        self._left = FREE_BYTES + BYTES_PER_BYTE * self.size

    def refuse(self, reason: str) -> NoReturn:
        """Raise `FileError`: the file is not of the expected format."""
        raise FileError(f"{self.path!r} is not {self.kind} that can be read: {reason}")

    def charge(self, nbytes: int) -> None:
        """Count memory that an object made from this file takes, if possible before it is made.

        Raises `FileError` if the total is out of proportion to the size of the file. So no file,
        however its parts are compressed or refer to each other, can take much memory or time.
        """
        self._left -= nbytes
        if self._left < 0:
            self.refuse(
                f"what its {self.size} bytes describe takes more than "
                f"{FREE_BYTES + BYTES_PER_BYTE * self.size} bytes, besides the elements of tensors"
            )

    def read(self, offset: int, count: int, what: str) -> bytes:
        """Read `count` bytes from `offset` on. Raises `FileError`, which names them as `what`."""
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

    def unpack(self, offset: int, layout: str, what: str) -> tuple[Any, ...]:
        """Read the numbers of a `struct` layout at `offset`. Raises `FileError`."""
        return struct.unpack(layout, self.read(offset, struct.calcsize(layout), what))

    def tensor(
        self, shape: Sequence[int], dtype: DType, offset: int, big_endian: bool = False
    ) -> Tensor:
        """Return a tensor over bytes of this file whose extent has been checked.

        It is on `DISK`, unless the file is in memory. Bytes in the other byte order are swapped
        when the tensor is computed.
        """
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
        """Read a tensor of little-endian elements into memory. Its extent has been checked.

        Raises `FileError`.
        """
        count = math.prod(shape)
        ends = (offset, offset + count * dtype.itemsize)
        pieces = (
            self.read(at, min(_PIECE, ends[1] - at), what) for at in range(*ends, _PIECE)
        )
        buffer = fill_buffer(pieces, dtype, count, swapped=IS_BIG)
        with graph_lock:
            return wrap(memory_node(buffer, tuple(shape), dtype), buffer.device)

    def check_shape(self, shape: Any, name: str) -> tuple[int, ...]:
        """Check a shape, and return it as a tuple. Raises `FileError`."""
        if not isinstance(shape, list | tuple) or len(shape) > MAX_RANK:
            self.refuse(f"{name} has the shape {shorten(shape)}; expected up to 64 lengths")
        for size in shape:
            if type(size) is not int or not 0 <= size < 1 << 63:
                self.refuse(f"{name} has the shape {shorten(shape)}; a length is 0 to 2**63 - 1")
        if math.prod(shape) >= 1 << 63:
            self.refuse(f"{name} has the shape {shorten(shape)}, of more than 2**63 - 1 elements")
        return tuple(shape)

    def check_extent(self, begin: int, shape: Sequence[int], dtype: DType, name: str) -> int:
        """Return the offset after a tensor that begins at `begin`.

        Raises `FileError` if it is beyond the end of the file.
        """
        end = begin + math.prod(shape) * dtype.itemsize
        if end > self.size:
            self.refuse(
                f"{name} is {dtype.name} {shorten(tuple(shape))} from offset {begin} on and would "
                f"end at {end}, and the file ends at {self.size}"
            )
        return end


def in_memory(tensor: Tensor) -> Tensor:
    """Move a tensor on `DISK` to the CPU. Views of it are read only when they are computed."""
    buffer = read_file(tensor.node)
    if buffer is None:
        return tensor.to(DEFAULT_DEVICE)
    with graph_lock:
        return wrap(memory_node(buffer, tensor.shape, tensor.dtype), buffer.device)


def shorten(value: Any) -> str:
    """Return `value`, which may be long and deeply nested, as a short text for an error."""
    if isinstance(value, list | tuple):
        entries = [shorten(each) if type(each) in _PLAIN else "..." for each in value[:8]]
        return f"({', '.join(entries)}{', ...' if len(value) > 8 else ''})"
    text = str(value) if type(value) in _PLAIN else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


_PLAIN = (str, bytes, bool, int, float, type(None))


def to_path(path: Any, name: str) -> str:
    """Return a path argument as an absolute path. Raises `ArgumentTypeError`."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(f"{name} takes a path, not {type(path).__name__}")
    return os.path.abspath(os.fspath(path))


@contextmanager
def open_source(path: Any, name: str, kind: str) -> Iterator[Source]:
    """Open a file for reading. Raises `FileError`."""
    if isinstance(path, Contents):
        yield Source(path.name, io.BytesIO(path.data), kind)
        return
    place = to_path(path, name)
    with _open(place, kind) as file:
        yield Source(place, file, kind)


def _open(place: str, kind: str) -> BinaryIO:
    problem = None
    try:
        if os.path.isfile(place):  # opening a pipe would wait for a writer
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
    """Yield a new file that replaces `path` when the block ends, or not at all if it raises.

    With `is_synced`, that holds even if the machine fails. Raises `FileError` if the file cannot be
    written.
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
        with suppress(OSError, ValueError):  # it has been renamed, or was never made
            os.unlink(temporary)


def check_tensors(tensors: Any, name: str) -> dict[str, Tensor]:
    """Check a dictionary of names and tensors, and compute all of them together.

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
                f"{name}: {key!r} is a {type(value).__name__}; expected a tensor (the format has "
                "no nesting, so join the names, as 'encoder.weight')"
            )
        checked[key] = value if isinstance(value, Tensor) else Tensor(value)
    Tensor.realize_batch(list(checked.values()))
    return checked
