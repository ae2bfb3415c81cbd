"""The NumPy arrays that hold values of each dtype, and conversions between dtypes.

Floats of any dtype are held as float64, and are always numbers of their dtype: `rounded` rounds
each result to one. Integers and booleans are held in their own dtype, index numbers as int64.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType

Array = NDArray[Any]
"""A value: one element for each position in the shape of its node."""


def held(array: Array, dtype: DType) -> Array:
    """The value of an array read from memory of `dtype`."""
    return array.astype(numpy.float64 if dtype.is_float else dtype.numpy)


def rounded(value: Array, dtype: DType) -> Array:
    """Floats rounded to the nearest of `dtype`, ties to even; other values as they are.

    16- and 8-bit floats are rounded to float32 first, as in PyTorch.
    """
    if not dtype.is_float or dtype is dtypes.float64:
        return value
    narrow = value.astype(numpy.float32)
    if dtype is not dtypes.float32:
        narrow = narrow.astype(dtype.numpy)
    return narrow.astype(numpy.float64)


def cast(value: Array, source: DType, target: DType) -> Array:
    """A value of dtype `source` in dtype `target`: integers wrap, floats lose their fraction."""
    if target.is_bool:
        return numpy.asarray(value != 0)
    if target.is_float:
        # An integer goes straight to float32: by way of float64 it would be rounded twice.
        narrow = value if source.is_float or target is dtypes.float64 else value.astype("f4")
        return rounded(narrow.astype(numpy.float64), target)
    if source.is_float:
        return _whole(value, target).astype(target.numpy)
    return value.astype(target.numpy)


def _whole(value: Array, target: DType) -> Array:
    """Floats as integers wide enough that their last bits are the value in `target`.

    A float that does not fit becomes the least 32-bit integer if `target` is int32 or narrower,
    else the least 64-bit integer, as on processors. uint64 also holds floats above int64's range.
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
    """The bits of a value read as another dtype of the same size; for bool, whether any is set."""
    bits = value.astype(source.numpy)
    if target.is_bool:
        return numpy.asarray(bits.view(numpy.uint8) != 0)
    return held(bits.view(target.numpy), target)
