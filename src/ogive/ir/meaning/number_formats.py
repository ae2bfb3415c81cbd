"""How values are held, and how they are converted from dtype to dtype.

Floats are held as float64, whatever their dtype, and are always numbers that their dtype has:
`rounded` takes a result there. Integers and booleans are held as they are, and index numbers as
int64.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType

Array = NDArray[Any]
"""A value: an element for each position of its node's shape."""


def held(array: Array, dtype: DType) -> Array:
    """The value of elements as memory of a dtype holds them."""
    return array.astype(numpy.float64 if dtype.is_float else dtype.numpy)


def rounded(value: Array, dtype: DType) -> Array:
    """Floats as the nearest ones, ties to even, that a dtype has; any other value as it is.

    The 16- and 8-bit floats are reached through float32, as in PyTorch.
    """
    if not dtype.is_float or dtype is dtypes.float64:
        return value
    narrow = value.astype(numpy.float32)
    if dtype is not dtypes.float32:
        narrow = narrow.astype(dtype.numpy)
    return narrow.astype(numpy.float64)


def cast(value: Array, source: DType, target: DType) -> Array:
    """A value of one dtype in another. Integers wrap around; floats drop their fraction."""
    if target.is_bool:
        return numpy.asarray(value != 0)
    if target.is_float:
        # Straight from an integer to float32: by way of float64 it would be rounded twice.
        narrow = value if source.is_float or target is dtypes.float64 else value.astype("f4")
        return rounded(narrow.astype(numpy.float64), target)
    if source.is_float:
        return _whole(value, target).astype(target.numpy)
    return value.astype(target.numpy)


def _whole(value: Array, target: DType) -> Array:
    """Floats as integers, of which those of `target` take the last bits.

    What does not fit becomes the least integer of 32 bits for targets of up to as many, and of 64
    for the others, as processors have it. uint64 takes what lies above those of int64, too.
    """
    if target is dtypes.uint64:
        upper = value >= 2.0**63
        lower = _signed(numpy.where(upper, value - 2.0**63, value), 64)
        return numpy.where(upper, lower ^ numpy.int64(-(2**63)), lower)
    return _signed(value, 32 if target.bits < 32 or target is dtypes.int32 else 64)


def _signed(value: Array, bits: int) -> Array:
    whole = numpy.trunc(value)
    limit = 2.0 ** (bits - 1)
    fits = (whole >= -limit) & (whole < limit)
    return numpy.where(fits, numpy.where(fits, whole, 0).astype(numpy.int64), -(2 ** (bits - 1)))


def bitcast(value: Array, source: DType, target: DType) -> Array:
    """The bits of a value read as another dtype of the same size; as bool, whether any is set."""
    bits = value.astype(source.numpy)
    if target.is_bool:
        return numpy.asarray(bits.view(numpy.uint8) != 0)
    return held(bits.view(target.numpy), target)
