"""Assembling numbers from bytes, as part of the graph."""

from __future__ import annotations

import sys

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.tensor.tensor import Tensor

IS_BIG = sys.byteorder == "big"
_UNSIGNED = {dtype.itemsize: dtype for dtype in dtypes.UNSIGNED}


def to_numbers(raw: Tensor, dtype: DType, big_endian: bool = False) -> Tensor:
    """Assemble numbers from their bytes along the last axis.

    Shapes: (..., itemsize) of uint8 → (...).

    >>> from ogive.io.words import to_numbers
    >>> to_numbers(Tensor([[1, 2], [3, 4]], dtype="uint8"), ogive.int16).tolist()
    [513, 1027]
    """
    size = dtype.itemsize
    if size == 1:
        number = raw[..., 0]
        return number != 0 if dtype.is_bool else number.bitcast(dtype)
    unsigned = _UNSIGNED[size]
    number = raw[..., 0].cast(unsigned)
    if big_endian:
        number = number << 8 * (size - 1)
    for position in range(1, size):
        shift = 8 * (size - 1 - position if big_endian else position)
        byte = raw[..., position].cast(unsigned)
        number = number | (byte << shift if shift else byte)
    return number if dtype is unsigned else number.bitcast(dtype)
