"""safetensors files: a length, a header in JSON, and the tensors one after the other.

    8 bytes        N, little endian
    N bytes        {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
    the rest       the tensors; offsets count from here, without gaps and without overlap

The whole header is checked before the first tensor is made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError
from ogive.io.checked_files import Path, Source, check_tensors, open_source, replacing, shorten
from ogive.tensor.tensor import Tensor

HEADER_LIMIT = 100_000_000
"""The longest header that is written or read, in bytes."""

ALIGNMENT = 8
KIND = "a safetensors file"

# The memory of parsed objects, besides their texts, in bytes.
_VALUE = 64
_PAIR = 192

DTYPES: dict[str, DType] = {
    "BOOL": dtypes.bool_,
    "U8": dtypes.uint8,
    "U16": dtypes.uint16,
    "U32": dtypes.uint32,
    "U64": dtypes.uint64,
    "I8": dtypes.int8,
    "I16": dtypes.int16,
    "I32": dtypes.int32,
    "I64": dtypes.int64,
    "F8_E4M3": dtypes.float8_e4m3,
    "F8_E5M2": dtypes.float8_e5m2,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
    "C64": dtypes.complex64,
}
_CODES = {dtype: code for code, dtype in DTYPES.items()}

Entry = tuple[DType, tuple[int, ...], int, int]
"""The description of a tensor in a header: dtype, shape, and where its bytes begin and end."""


class NamedTensors(dict[str, Tensor]):
    """Tensors by name, with the `metadata` of their file."""

    def __init__(self, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
        super().__init__(tensors)
        self.metadata = dict(metadata)


def load_safetensors(path: Path) -> NamedTensors:
    """Load the tensors of a safetensors file, by name, in the order of the header.

    They are on `DISK`: bytes are read when a tensor is computed with. The result is a dictionary
    with the attribute `metadata`, the file's own dictionary of texts.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/model.safetensors"
    >>> ogive.io.save_safetensors(path, {"weight": ogive.ones(2, 3)}, {"author": "me"})
    >>> loaded = ogive.io.load_safetensors(path)
    >>> loaded["weight"].device, loaded.metadata
    ('DISK', {'author': 'me'})

    Raises `FileError` if the file is missing, malformed or truncated, or has an unsupported dtype.
    """
    with open_source(path, "load_safetensors", KIND) as source:
        entries, metadata = _read_header(source)
        tensors = {
            name: source.tensor(shape, dtype, begin)
            for name, (dtype, shape, begin, _) in entries.items()
        }
    return NamedTensors(tensors, metadata)


def save_safetensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors by name, and metadata, to a safetensors file.

    The tensors are computed together. A file at `path` is replaced atomically. Tensors that were
    loaded lazily from that same file must not be used after that.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/model.safetensors"
    >>> ogive.io.save_safetensors(path, {"weight": ogive.arange(3)})
    >>> ogive.io.load_safetensors(path)["weight"].tolist()
    [0, 1, 2]

    Raises `ArgumentTypeError` for anything but a dictionary of tensors, `ArgumentError` for a name
    that a header cannot hold, and `FileError` if the file cannot be written.
    """
    checked = check_tensors(tensors, "save_safetensors")
    # The widest dtypes first, so that each tensor begins at a multiple of its item size.
    order = sorted(checked, key=lambda name: (-checked[name].dtype.itemsize, name))
    header = _header({name: checked[name] for name in order}, metadata)
    with replacing(path, "save_safetensors") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for name in order:
            numbers = checked[name].numpy(force=True).reshape(-1)
            words = numbers.view(f"u{checked[name].dtype.itemsize}")
            file.write(words.astype(words.dtype.newbyteorder("<"), copy=False).data.cast("B"))


def _header(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> bytes:
    described: dict[str, Any] = {}
    if metadata is not None:
        for key, text in metadata.items():
            if not isinstance(key, str) or not isinstance(text, str):
                raise ArgumentTypeError(
                    f"save_safetensors: metadata is texts by name, not {key!r}: {text!r}"
                )
        described["__metadata__"] = dict(metadata)
    begin = 0
    for name, tensor in tensors.items():
        if name == "__metadata__":
            raise ArgumentError("save_safetensors: the name '__metadata__' is reserved")
        if tensor.dtype not in _CODES:
            raise DtypeError(
                f"save_safetensors: {shorten(name)!r} is of {tensor.dtype.name}, which the format "
                f"has no name for; it has {', '.join(DTYPES)}"
            )
        shape = [evaluate(size) for size in tensor.shape]
        end = begin + math.prod(shape) * tensor.dtype.itemsize
        described[name] = {
            "dtype": _CODES[tensor.dtype], "shape": shape, "data_offsets": [begin, end],
        }  # fmt: skip
        begin = end
    try:
        header = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise ArgumentError("save_safetensors: a name or text is not valid Unicode") from None
    return header + b" " * (-len(header) % ALIGNMENT)


# Reading


def _read_header(source: Source) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the checked entries of the header. Their offsets count from the start of the file."""
    (length,) = source.unpack(0, "<Q", "the length of the header")
    if length > min(HEADER_LIMIT, source.size - 8):
        source.refuse(
            f"the header is said to have {length} bytes, and the file has {source.size - 8} after "
            f"that; at most {HEADER_LIMIT} are allowed"
        )
    described = _parse(source, source.read(8, length, "the header"))
    metadata = described.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        source.refuse("__metadata__ is not a dictionary of texts")
    base = 8 + length
    entries = {name: _check(source, name, about, base) for name, about in described.items()}
    _check_layout(source, entries, base)
    return entries, metadata


def _parse(source: Source, header: bytes) -> dict[str, Any]:
    if header[:1] != b"{":
        source.refuse(f"the header begins with {header[:1]!r}; expected '{{'")
    # Charge the header, its text and the texts in it; then a value for each of these, and an entry.
    source.charge(len(header) * (3 if header.isascii() else 9))
    source.charge(_VALUE * sum(header.count(mark) for mark in b"[{,"))
    source.charge(_PAIR * header.count(b":"))
    try:
        described = json.loads(
            header.decode(), object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
        "".join(described).encode()  # fails for names with lone surrogates, written as escapes
    except (ValueError, RecursionError) as error:
        source.refuse(f"the header is not valid JSON: {shorten(str(error))}")
    assert isinstance(described, dict), "JSON that begins with a brace is an object"
    return described


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise ValueError(f"the name {shorten(name)!r} is there twice")
        entries[name] = value
    return entries


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _check(source: Source, name: str, about: Any, base: int) -> Entry:
    quoted = f"tensor {shorten(name)!r}"
    if not isinstance(about, dict) or set(about) != {"dtype", "shape", "data_offsets"}:
        source.refuse(
            f"{quoted} is described by {shorten(about)}; expected dtype, shape and data_offsets"
        )
    code = about["dtype"]
    if not isinstance(code, str) or code not in DTYPES:
        source.refuse(f"{quoted} has the dtype {shorten(code)}; known are {', '.join(DTYPES)}")
    dtype = DTYPES[code]
    shape = source.check_shape(about["shape"], quoted)
    offsets = about["data_offsets"]
    if (
        not isinstance(offsets, list)
        or [type(offset) for offset in offsets] != [int, int]
        or not 0 <= offsets[0] <= offsets[1] < 1 << 63
    ):
        source.refuse(f"{quoted} has the data_offsets {shorten(offsets)}; expected [begin, end]")
    begin, end = base + offsets[0], base + offsets[1]
    if source.check_extent(begin, shape, dtype, quoted) != end:
        source.refuse(
            f"{quoted} is {code} {shorten(shape)}, which is {math.prod(shape) * dtype.itemsize} "
            f"bytes, and its data_offsets {offsets} span {offsets[1] - offsets[0]}"
        )
    return dtype, shape, begin, end


def _check_layout(source: Source, entries: Mapping[str, Entry], base: int) -> None:
    """Check that the tensors fill the file: each begins where another ends."""
    position = base
    spans = [(begin, end, name) for name, (*_, begin, end) in entries.items()]
    for begin, end, name in sorted(spans):
        if begin != position:
            what = "overlaps another" if begin < position else f"leaves {begin - position} bytes"
            source.refuse(
                f"tensor {shorten(name)!r} begins at {begin - base} and {what}; the one before it "
                f"ends at {position - base}"
            )
        position = end
    if position != source.size:
        source.refuse(f"{source.size - position} bytes follow the last tensor")
