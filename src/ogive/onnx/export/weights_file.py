"""Weights in a file beside a model, which says where in it each of them lies."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.onnx import writing

LEAST = 1024
"""Bytes from which on a tensor is written beside; smaller ones, as shapes, stay in the model."""

ALIGNMENT = 4096
"""Tensors begin at a page, so that whoever reads the file can map them."""


class WeightsFile:
    """A file that is written, whose `name` the model has for it."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name = name
        self._file = file
        self._end = 0

    def tensor(self, name: str, array: numpy.ndarray[Any, Any], dtype: DType) -> bytes:
        """A TensorProto; the elements are written to the file."""
        if array.nbytes < LEAST:
            return writing.tensor(name, array, dtype)
        begin = -(-self._end // ALIGNMENT) * ALIGNMENT
        self._file.write(b"\0" * (begin - self._end))
        self._file.write(writing.little_endian(array).data)
        self._end = begin + array.nbytes
        return writing.external_tensor(name, array.shape, dtype, self._name, begin, array.nbytes)
