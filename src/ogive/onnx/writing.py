"""Messages of ONNX as bytes: the wire format, written."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.onnx.elements import DTYPES
from ogive.onnx.messages import AttributeProto, TensorProto

ELEMENTS = {dtype: number for number, dtype in DTYPES.items()}
"""The numbers of types of elements, by dtype."""


def varint(value: int) -> bytes:
    """A number, seven bits to a byte; one with a sign has all of its 64 bits."""
    value &= (1 << 64) - 1
    content_bytes = bytearray()
    while value > 127:
        content_bytes.append(value & 127 | 128)
        value >>= 7
    content_bytes.append(value)
    return bytes(content_bytes)


def number(field: int, value: int) -> bytes:
    """A field that is an integer."""
    return varint(field << 3) + varint(value)


def content(field: int, value: bytes | str) -> bytes:
    """A field that is a message, a text, or bytes."""
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def joined(parts: Iterable[bytes]) -> bytes:
    """Fields one after the other."""
    return b"".join(parts)


def tensor(name: str, array: numpy.ndarray[Any, Any], dtype: DType) -> bytes:
    """A TensorProto with raw bytes."""
    return _tensor_head(name, array.shape, dtype) + content(9, little_endian(array).tobytes())


def external_tensor(
    name: str, shape: Sequence[int], dtype: DType, file: str, begin: int, length: int
) -> bytes:
    """A TensorProto whose elements are so many bytes of a file beside the model."""
    place = {"location": file, "offset": str(begin), "length": str(length)}
    entries = joined(content(13, content(1, key) + content(2, x)) for key, x in place.items())
    return _tensor_head(name, shape, dtype) + entries + number(14, TensorProto.EXTERNAL)


def _tensor_head(name: str, shape: Sequence[int], dtype: DType) -> bytes:
    lengths = joined(number(1, size) for size in shape)
    return lengths + number(2, ELEMENTS[dtype]) + content(8, name)


def little_endian(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The elements one after the other, in the order of bytes that files have."""
    return numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)


def value_info(name: str, element: int, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto of a tensor; a length that may change is a name."""
    dims = joined(
        content(1, number(1, size) if isinstance(size, int) else content(2, size))
        for size in shape
    )
    return content(1, name) + content(2, content(1, number(1, element) + content(2, dims)))


def attribute(name: str, value: Any) -> bytes:
    """An AttributeProto: an integer, a float, a text, or a list of integers or floats."""
    if isinstance(value, bool | int):
        return content(1, name) + number(3, int(value)) + number(20, AttributeProto.INT)
    if isinstance(value, float):
        kind = number(20, AttributeProto.FLOAT)
        return content(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + kind
    if isinstance(value, str):
        return content(1, name) + content(4, value) + number(20, AttributeProto.STRING)
    assert all(isinstance(each, int) for each in value), "lists of integers are all that is written"
    listed = joined(number(8, each) for each in value)
    return content(1, name) + listed + number(20, AttributeProto.INTS)


def node(
    op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: dict[str, Any], name: str
) -> bytes:
    """A NodeProto of the standard operators."""
    message = joined(content(1, each) for each in inputs) + joined(content(2, x) for x in outputs)
    message += content(3, name) + content(4, op)
    return message + joined(content(5, attribute(key, each)) for key, each in attributes.items())


def model(graph: bytes, opset: int, producer: str, ir_version: int) -> bytes:
    """A ModelProto."""
    about = number(1, ir_version) + content(2, producer)
    return about + content(7, graph) + content(8, content(1, "") + number(2, opset))


def with_outputs(raw: bytes, names: Sequence[str]) -> bytes:
    """A model with more outputs: a message that stands twice is one with the fields of both."""
    return raw + content(7, joined(content(12, content(1, name)) for name in names))
