"""NumPy's `.npz` files: zip archives of `.npy` files."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from itertools import chain

import numpy

from ogive.compiler.live.registry import graph_lock
from ogive.io.checked_files import (
    TENSOR,
    Path,
    Source,
    check_tensors,
    open_source,
    replacing,
    shorten,
)
from ogive.io.npy import parse_header, read_array, to_numpy
from ogive.io.words import IS_BIG
from ogive.io.zips import STORED, Member, read_directory, unpack_member
from ogive.tensor.core import wrap
from ogive.tensor.creation.user_data import fill_buffer
from ogive.tensor.memory.memory_nodes import memory_node
from ogive.tensor.tensor import Tensor

KIND = "a .npz file"
SUFFIX = ".npy"


def load_npz(path: Path) -> dict[str, Tensor]:
    """Load the arrays of a `.npz` file, by name. Compressed arrays are read, others stay on `DISK`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.npz"
    >>> numpy.savez(path, a=numpy.arange(3), b=numpy.ones(2))
    >>> {name: tensor.tolist() for name, tensor in ogive.io.load_npz(path).items()}
    {'a': [0, 1, 2], 'b': [1.0, 1.0]}

    Raises `FileError` if the file is missing, malformed or truncated, or holds anything other than
    arrays of numbers.
    """
    with open_source(path, "load_npz", KIND) as source:
        members = read_directory(source)
        for name in members:
            if not name.endswith(SUFFIX):
                source.refuse(f"member {shorten(name)!r} is not an array; expected names in .npy")
        return {
            name.removesuffix(SUFFIX): _read(source, member) for name, member in members.items()
        }


def save_npz(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name as an uncompressed `.npz` file. The file is replaced atomically.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.npz"
    >>> ogive.io.save_npz(path, {"a": ogive.arange(3)})
    >>> numpy.load(path)["a"]
    array([0, 1, 2])

    Raises `DtypeError` for dtypes that NumPy does not have (bfloat16 and the 8-bit floats),
    `ArgumentTypeError` for anything but a dictionary of tensors, and `FileError` if the file cannot
    be written.
    """
    checked = check_tensors(tensors, "save_npz")
    with replacing(path, "save_npz") as file, zipfile.ZipFile(file, "w") as archive:
        for name, tensor in checked.items():
            array = to_numpy(tensor, "save_npz")
            with archive.open(f"{name}{SUFFIX}", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, array, allow_pickle=False)


def _read(source: Source, member: Member) -> Tensor:
    name = f"array {shorten(member.name)!r}"
    if member.method == STORED:
        return read_array(source, member.begin, member.end, name)
    pieces = unpack_member(source, member)
    first = next(pieces, b"")
    header = parse_header(source, first, name)
    nbytes = math.prod(header.shape) * header.dtype.itemsize
    if header.start + nbytes != member.size:
        source.refuse(f"{name} of shape {shorten(header.shape)} is not {member.size} bytes long")
    source.charge(TENSOR)
    elements = chain([first[header.start :]], pieces)
    is_swapped = header.big_endian != IS_BIG
    buffer = fill_buffer(elements, header.dtype, math.prod(header.shape), is_swapped)
    shape = header.shape[::-1] if header.fortran_order else header.shape
    with graph_lock:
        tensor = wrap(memory_node(buffer, shape, header.dtype), buffer.device)
    return tensor.permute(*reversed(range(len(shape)))) if header.fortran_order else tensor
