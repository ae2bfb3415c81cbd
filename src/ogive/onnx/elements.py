"""Types of elements, and the tensors of a file: on `DISK` where their bytes can stay there."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.errors import FileError
from ogive.io.checked_files import MAX_RANK, TENSOR, Source, open_source
from ogive.io.words import IS_BIG
from ogive.onnx.messages import SparseTensorProto, TensorProto
from ogive.onnx.narrow import FORMS, Narrow, unpack
from ogive.tensor.tensor import Tensor

Array = numpy.ndarray[Any, Any]

STRING = 8

DTYPES: dict[int, DType] = {
    1: dtypes.float32, 2: dtypes.uint8, 3: dtypes.int8, 4: dtypes.uint16, 5: dtypes.int16,
    6: dtypes.int32, 7: dtypes.int64, 9: dtypes.bool_, 10: dtypes.float16, 11: dtypes.float64,
    12: dtypes.uint32, 13: dtypes.uint64, 14: dtypes.complex64, 15: dtypes.complex128,
    16: dtypes.bfloat16, 17: dtypes.float8_e4m3, 19: dtypes.float8_e5m2,
}  # fmt: skip

NAMES = {STRING: "string"} | {element: form.name for element, form in FORMS.items()}

KNOWN_ELEMENTS = 64
"""Up to so many elements are read at once, and known while a graph is walked."""

KEPT_IN_FILE = 1 << 12
"""Elements of less bytes are read at once: opening the file for them costs more."""


def name_of(element: int) -> str:
    """The name of a type of elements."""
    return DTYPES[element].name if element in DTYPES else NAMES.get(element, f"type {element}")


def find_dtype(element: int) -> DType:
    """The dtype of a type of elements. Raises `FileError` where there is none here."""
    if element not in DTYPES:
        raise FileError(f"tensors of {name_of(element)} cannot be computed with here")
    return DTYPES[element]


def read_tensor(
    proto: TensorProto, folder: str | None, at_once: bool = False
) -> Array | Tensor | Narrow:
    """The tensor of a message: known elements, or a tensor on `DISK`, or in memory if it is read
    `at_once`. Raises `FileError`."""
    name = f"tensor {proto.name!r}"
    shape = _check_shape(proto, name)
    if proto.data_type == STRING:
        return _read_strings(proto, shape, name)
    if proto.data_type in FORMS:
        return _read_narrow(proto, shape, folder, name)
    if proto.data_type not in DTYPES:
        proto.refuse(f"{name} is of {name_of(proto.data_type)}, which there is none of here")
    dtype = DTYPES[proto.data_type]
    if proto.is_external:
        return _read_external(proto, shape, dtype, folder, name)
    origin = proto.document.origin
    nbytes = math.prod(shape) * dtype.itemsize
    if proto.raw is None:
        return _read_numbers(proto, shape, dtype, name)
    begin, end = proto.raw
    if end - begin != nbytes:
        proto.refuse(f"{name} has {end - begin} bytes, and its shape {shape} takes {nbytes}")
    if isinstance(origin, Source) and nbytes >= KEPT_IN_FILE:
        if begin % dtype.itemsize == 0 and not at_once:
            return origin.tensor(shape, dtype, begin)
        return origin.read_tensor(shape, dtype, begin, name)
    return _from_bytes(origin.read(begin, nbytes, name), shape, dtype)


def read_value(
    proto: TensorProto, folder: str | None, at_once: bool = False
) -> Array | Tensor | Narrow:
    """The tensor of a message: known where it is small or text. Raises `FileError`."""
    value = read_tensor(proto, folder, at_once)
    if isinstance(value, Tensor | Narrow) or value.dtype == object or value.size <= KNOWN_ELEMENTS:
        return value
    return Tensor(value)  # memory of our own: what is borrowed may change, so nothing is kept of it


def read_sparse(proto: SparseTensorProto, folder: str | None) -> tuple[str, Array]:
    """The name of a sparse tensor, and all its elements. Raises `FileError`."""
    if proto.values is None or proto.indices is None:
        proto.refuse("a sparse tensor has no values or no indices")
    values, places = read_tensor(proto.values, folder), read_tensor(proto.indices, folder)
    values, places = _elements(values), _elements(places)
    proto.document.origin.charge(math.prod(proto.dims) * values.dtype.itemsize)
    dense = numpy.zeros(proto.dims, values.dtype)
    try:
        if places.ndim == 2:
            dense[tuple(places.T)] = values
        else:
            dense.reshape(-1)[places] = values
    except (IndexError, ValueError) as error:
        proto.refuse(f"a sparse tensor has places outside its shape: {error}")
    return proto.values.name, dense


def _elements(value: Array | Tensor | Narrow) -> Array:
    if isinstance(value, Narrow):
        return value.array()
    return value.numpy() if isinstance(value, Tensor) else value


def _read_narrow(
    proto: TensorProto, shape: tuple[int, ...], folder: str | None, name: str
) -> Narrow:
    """Elements that a byte has several of, or that are no dtype here."""
    count = math.prod(shape)
    nbytes = -(-count * FORMS[proto.data_type].bits // 8)
    if proto.is_external:
        raw = _read_external(proto, (nbytes,), dtypes.uint8, folder, name).numpy().tobytes()
    elif proto.raw is not None:
        begin, end = proto.raw
        raw = proto.document.origin.read(begin, end - begin, name)
    else:
        raw = proto.integer_array(proto.INT32S).astype(numpy.uint8).tobytes()
    if len(raw) != nbytes:
        proto.refuse(f"{name} has {len(raw)} bytes, and its shape {shape} takes {nbytes}")
    proto.document.origin.charge(2 * len(raw) + 5 * count)
    return unpack(proto.data_type, raw, shape)


def _check_shape(proto: TensorProto, name: str) -> tuple[int, ...]:
    shape = tuple(proto.dims)
    if len(shape) > MAX_RANK or any(size < 0 for size in shape) or math.prod(shape) >= 1 << 56:
        proto.refuse(f"{name} has the shape {shape[:8]}; expected up to {MAX_RANK} lengths")
    return shape


def _from_bytes(raw: bytes, shape: tuple[int, ...], dtype: DType) -> Array:
    words = numpy.frombuffer(raw, dtype.numpy)
    if IS_BIG:
        words = words.byteswap()
    return words.reshape(shape)


def _read_strings(proto: TensorProto, shape: tuple[int, ...], name: str) -> Array:
    texts = proto.texts(proto.STRINGS)
    if len(texts) != math.prod(shape):
        proto.refuse(f"{name} has {len(texts)} texts, and its shape is {shape}")
    array = numpy.empty(len(texts), object)
    array[:] = texts
    return array.reshape(shape)


def _read_numbers(proto: TensorProto, shape: tuple[int, ...], dtype: DType, name: str) -> Array:
    """Elements in the field for their kind of numbers."""
    kind = dtype.numpy
    if dtype in (dtypes.float32, dtypes.complex64):
        numbers = proto.number_array(proto.FLOATS, "<f4").view(kind)
    elif dtype in (dtypes.float64, dtypes.complex128):
        numbers = proto.number_array(proto.DOUBLES, "<f8").view(kind)
    elif dtype == dtypes.int64:
        numbers = proto.integer_array(proto.INT64S)
    elif dtype in (dtypes.uint32, dtypes.uint64):
        numbers = proto.integer_array(proto.UINT64S).astype(kind)
    elif kind.kind in "iub":
        numbers = proto.integer_array(proto.INT32S).astype(kind)
    else:  # a float of 8 or 16 bits, by its bits
        width = f"u{dtype.itemsize}"
        numbers = proto.integer_array(proto.INT32S).astype(width).view(kind)
    if numbers.size != math.prod(shape):
        proto.refuse(f"{name} has {numbers.size} elements, and its shape is {shape}")
    return numbers.reshape(shape)


def _read_external(
    proto: TensorProto, shape: tuple[int, ...], dtype: DType, folder: str | None, name: str
) -> Tensor:
    """A tensor in a file beside the model, and only there."""
    about = proto.external
    location = about.get("location", "")
    if folder is None:
        proto.refuse(f"{name} is in a file beside it, {location!r}; load the model by its path")
    root = os.path.realpath(folder)
    place = os.path.realpath(os.path.join(root, location)) if "\0" not in location else ""
    if not location or not place.startswith(root.rstrip(os.sep) + os.sep):
        proto.refuse(f"{name} is said to be in {location!r}, which is outside its folder")
    nbytes = math.prod(shape) * dtype.itemsize
    try:
        offset = int(about.get("offset", "0"))
        length = int(about.get("length", str(nbytes)))
    except ValueError:
        proto.refuse(f"{name} has an offset or length that is no number: {about}")
    if offset < 0 or length != nbytes:
        proto.refuse(f"{name} is {length} bytes from {offset} on; its shape {shape} takes {nbytes}")
    proto.document.origin.charge(TENSOR)
    with open_source(place, "onnx.load", "external data of an ONNX model") as source:
        source.check_extent(offset, shape, dtype, name)
        return source.tensor(shape, dtype, offset)
