"""NumPy's `.npy` files: a magic string, a header, and the elements.

    \\x93NUMPY 1 0   length   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   elements

The header is a Python dictionary. It is not evaluated, but read by a parser that knows only these
three entries. Arrays of objects, whose elements are a pickle, are refused.
"""

from __future__ import annotations

import re
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.errors import DtypeError
from ogive.io.checked_files import Path, Source, check_tensors, open_source, replacing, shorten
from ogive.io.words import IS_BIG
from ogive.named import NamedTuple
from ogive.tensor.tensor import Tensor

MAGIC = b"\x93NUMPY"
HEADER_LIMIT = 1 << 20
KIND = "a .npy file"

CODES = {
    f"{dtype.numpy.kind}{dtype.itemsize}": dtype
    for dtype in dtypes.ALL
    if dtype.numpy.isbuiltin == 1
}
"""The dtypes that a header can name: NumPy's own."""


class Header(NamedTuple):
    """The header of an array. The elements begin at `start`."""

    dtype: DType
    big_endian: bool
    fortran_order: bool
    shape: tuple[int, ...]
    start: int


def load_npy(path: Path) -> Tensor:
    """Load the array of a `.npy` file lazily.

    It is on `DISK`, also in Fortran order, and only the parts that are used are read. An array in
    the other byte order is swapped when it is computed.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.npy"
    >>> numpy.save(path, numpy.arange(6).reshape(2, 3))
    >>> ogive.io.load_npy(path)[1].tolist()
    [3, 4, 5]

    Raises `FileError` if the file is missing, malformed or truncated, or holds objects, records or
    text.
    """
    with open_source(path, "load_npy", KIND) as source:
        return read_array(source, 0, source.size, "the array")


def save_npy(path: Path, tensor: Tensor) -> None:
    """Write one tensor as a `.npy` file. A file at `path` is replaced atomically.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.npy"
    >>> ogive.io.save_npy(path, ogive.arange(3))
    >>> numpy.load(path)
    array([0, 1, 2])

    Raises `DtypeError` for dtypes that NumPy does not have (bfloat16 and the 8-bit floats), and
    `FileError` if the file cannot be written.
    """
    array = to_numpy(check_tensors({"tensor": tensor}, "save_npy")["tensor"], "save_npy")
    with replacing(path, "save_npy") as file:
        numpy.lib.format.write_array(file, array, allow_pickle=False)


def to_numpy(tensor: Tensor, name: str) -> NDArray[Any]:
    """Return the values of a tensor. Raises `DtypeError` for a dtype that NumPy does not have."""
    if tensor.dtype not in CODES.values():
        raise DtypeError(
            f"{name}: the format has no {tensor.dtype.name}; save as safetensors, or cast to "
            "float32 first"
        )
    return tensor.numpy(force=True)


def read_array(source: Source, begin: int, end: int, name: str) -> Tensor:
    """Return the array in bytes `begin` to `end`, lazily. Raises `FileError`."""
    length = min(end - begin, HEADER_LIMIT)
    header = parse_header(source, source.read(begin, length, "the header"), name)
    start = begin + header.start
    stop = source.check_extent(start, header.shape, header.dtype, name)
    if stop != end:
        source.refuse(f"{name} would end at {stop}; expected {end}")
    shape = header.shape[::-1] if header.fortran_order else header.shape
    tensor = source.tensor(shape, header.dtype, start, header.big_endian)
    return tensor.permute(*reversed(range(len(shape)))) if header.fortran_order else tensor


def parse_header(source: Source, data: bytes, name: str) -> Header:
    """Parse the header in the first bytes of an array. Raises `FileError`."""
    if data[:6] != MAGIC:
        source.refuse(f"{name} begins with {data[:6]!r}; expected {MAGIC!r}")
    version = tuple(data[6:8])
    if version not in ((1, 0), (2, 0), (3, 0)):
        source.refuse(f"{name} has the version {version}; known are (1, 0), (2, 0), (3, 0)")
    width = 2 if version == (1, 0) else 4
    length = int.from_bytes(data[8 : 8 + width], "little")
    start = 8 + width + length
    if start > len(data):
        source.refuse(f"{name} has a header of {length} bytes, and {len(data)} are there")
    text = data[8 + width : start].decode("utf-8" if version == (3, 0) else "latin1", "replace")
    fields = _parse_dictionary(text)
    if fields is None:
        source.refuse(
            f"{name} has the header {shorten(text)!r}; expected descr, fortran_order and shape"
        )
    dtype, big_endian = _parse_dtype(source, fields["descr"], name)
    shape = source.check_shape([int(size) for size in re.findall(r"\d+", fields["shape"])], name)
    return Header(dtype, big_endian, fields["fortran_order"] == "True", shape, start)


_FIELD = re.compile(
    r"""\s*(?P<quote>['"])(?P<key>descr|fortran_order|shape)(?P=quote)\s*:\s*
    (?P<value>
      '[^'\\]*' | "[^"\\]*"                              # '<f4'
      | True | False
      | \(\s*(?:\d{1,20}L?\s*,\s*){0,99}(?:\d{1,20}L?\s*)?\)  # (2, 3)
      | \[.*\]                                           # a record: a list of fields
    )\s*(?P<end>,\s*\}|\}|,)""",
    re.VERBOSE,
)


def _parse_dictionary(text: str) -> dict[str, str] | None:
    """Return the texts of the three entries of a header; None if it is malformed."""
    text = text.strip()
    if text[:1] != "{":
        return None
    fields: dict[str, str] = {}
    position, is_open = 1, True
    while is_open:
        match = _FIELD.match(text, position)
        if match is None or match["key"] in fields:
            return None
        fields[match["key"]] = match["value"]
        position, is_open = match.end(), match["end"] == ","
    kinds = {key: value[0] for key, value in fields.items()}
    well_formed = (
        position == len(text)
        and kinds.get("descr", "") in ("'", '"', "[")
        and kinds.get("fortran_order", "") in ("T", "F")
        and kinds.get("shape", "") == "("
    )
    return fields if well_formed else None


def _parse_dtype(source: Source, written: str, name: str) -> tuple[DType, bool]:
    match = re.fullmatch(r"([<>|=]?)(\w\d+)", written[1:-1])
    dtype = CODES.get(match[2]) if match else None
    if match is None or dtype is None:
        advice = ""
        if "O" in written:
            advice = "; objects are a pickle, which would run what is in it"
        source.refuse(
            f"{name} has the dtype {shorten(written)}; known are {', '.join(CODES)}{advice}"
        )
    return dtype, match[1] == ">" or (match[1] in ("", "=", "|") and IS_BIG)
