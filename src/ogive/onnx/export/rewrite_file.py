"""A model's own file with other weights: all else is copied as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy

from ogive.errors import ArgumentError, FileError
from ogive.onnx import writing
from ogive.onnx.elements import DTYPES
from ogive.onnx.export.model_emitter import WriteTensor
from ogive.onnx.messages import TensorProto
from ogive.onnx.wire import Document, Memory, Span
from ogive.tensor.tensor import Tensor

GRAPH, INITIALIZER = 7, 5


def replace_weights(
    source: str | bytes, weights: Mapping[str, Tensor], write_tensor: WriteTensor = writing.tensor
) -> bytes:
    """The file with these initializers, made by `write_tensor`, wherever they lay before.

    Raises `FileError` where the file is gone, `ArgumentError` where a shape or dtype is another.
    """
    if isinstance(source, str):
        try:
            with open(source, "rb") as file:
                source = file.read()
        except OSError as error:
            raise FileError(f"onnx.save: the model's own file is not there: {error}") from None
    rewritten = b""
    for number, whole, inner in _fields(source):
        if number == GRAPH:
            rewritten += writing.content(GRAPH, _replace_in_graph(inner, weights, write_tensor))
        else:
            rewritten += whole
    return rewritten


def _replace_in_graph(
    graph: bytes, weights: Mapping[str, Tensor], write_tensor: WriteTensor
) -> bytes:
    parts = []
    for number, whole, inner in _fields(graph):
        if number == INITIALIZER:
            proto = TensorProto(Document(Memory(inner)), Span(0, len(inner)))
            if proto.name in weights:
                tensor = _tensor(proto, weights[proto.name], write_tensor)
                whole = writing.content(INITIALIZER, tensor)
        parts.append(whole)
    return b"".join(parts)


def _tensor(proto: TensorProto, weight: Tensor, write_tensor: WriteTensor) -> bytes:
    dtype = DTYPES.get(proto.data_type)
    if dtype is not weight.dtype or tuple(proto.dims) != tuple(weight.shape):
        given = f"{weight.dtype.name}{list(weight.shape)}"
        raise ArgumentError(
            f"onnx.save: {proto.name!r} is {given}, and in its file of type {proto.data_type} and "
            f"shape {proto.dims}"
        )
    return write_tensor(proto.name, numpy.asarray(weight.detach().numpy()), dtype)


def _fields(raw: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The fields of a message that was read before: number, all of it, and its content."""
    position = 0
    while position < len(raw):
        begin = position
        key, position = _read_varint(raw, position)
        kind, inner = key & 7, b""
        if kind == 2:
            length, position = _read_varint(raw, position)
            inner = raw[position : position + length]
            position += length
        elif kind == 0:
            _, position = _read_varint(raw, position)
        else:
            position += 8 if kind == 1 else 4
        yield key >> 3, raw[begin:position], inner


def _read_varint(raw: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position
