"""Promote and convert the dtypes of arrays, by PyTorch's rules."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir.dtype import result_type
from ogive.eager.forms import Refused
from ogive.eager.half_precision import widen
from ogive.eager.tensors import DTYPES, FLOATS
from ogive.tensor.eager_sizes import COPIES_PER_ELEMENT, LARGE, SMALL, allowance

_ndarray = numpy.ndarray
_FLOAT32 = numpy.dtype("float32")
_FLOAT64 = numpy.dtype("float64")
_INT64 = numpy.dtype("int64")
_COMPLEX = (numpy.dtype("complex64"), numpy.dtype("complex128"))
_LIMITS = {
    kind: (numpy.iinfo(kind).min, numpy.iinfo(kind).max) for kind in DTYPES if kind.kind in "iu"
}
_common: dict[tuple[Any, ...], Any] = {}
"""The promoted dtype of arrays, by their dtypes and whether they have axes."""


def in_rows(array: Any) -> Any:
    """The array with its elements in row-major order; the array itself, if they are.

    PyTorch's scans, softmax, joins and the like give tensors that lie so, whatever they are given.
    What is written to `flatten()` of such a tensor changes it.
    """
    return array if array.flags.c_contiguous else array.copy()


def cast_array(array: Any, dtype: Any) -> Any:
    """Convert an array to `dtype`. An array of that dtype is returned itself.

    Raises `Refused` for floats outside the range of integers, whose conversion NumPy leaves open.
    """
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "c" != dtype.kind:
        raise Refused
    if array.dtype.kind in FLOATS and dtype.kind in "iu" and array.size:
        array = widen(array)
        limits = numpy.iinfo(dtype)
        least, greatest = numpy.minimum.reduce(array, None), numpy.maximum.reduce(array, None)
        if not (least > limits.min - 1 and greatest < limits.max + 1):
            raise Refused
    return array.astype(dtype)


def meet(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, at least one of them an array, in their promoted dtype."""
    if y.__class__ is not numpy.ndarray:
        return _with_number(x, y)
    if x.__class__ is not numpy.ndarray:
        second, first = _with_number(y, x)
        return first, second
    one, other = x.dtype, y.dtype
    if one is other or one == other:
        return x, y
    dtype = _meeting(one, other, x.ndim > 0, y.ndim > 0)
    return x.astype(dtype), y.astype(dtype)


def _with_number(array: Any, number: Any) -> tuple[Any, Any]:
    kind = number.__class__
    own = array.dtype.kind
    if own in "fc" and kind in (float, int, bool):
        return array, number
    if kind is complex:
        return (array if own == "c" else array.astype(_COMPLEX[array.dtype == _FLOAT64])), number
    if own in "iu" and kind is int:
        least, greatest = _LIMITS[array.dtype]
        if least <= number <= greatest:
            return array, number
        raise Refused
    if own in "iub" and kind is float:
        return array.astype(_FLOAT32), number
    if kind is bool:
        return array, number if own == "b" else int(number)
    if own == "b" and kind is int:
        return array.astype(_INT64), number
    raise Refused


def _meeting(one: Any, other: Any, has_axes: bool, other_has: bool) -> Any:
    key = (one, other, has_axes, other_has)
    dtype = _common.get(key)
    if dtype is None:
        operands = [(DTYPES[one], int(has_axes)), (DTYPES[other], int(other_has))]
        dtype = _common[key] = result_type(operands, []).numpy
    return dtype


def to_float(array: Any) -> Any:
    """An array as floats or complex numbers: integers and booleans become float32."""
    return array if array.dtype.kind in "fc" else array.astype(_FLOAT32)


def check_size(shape: Any) -> None:
    """Raise `Refused` if a result of that shape would not be small."""
    if allowance.is_beyond(math.prod(shape)):
        raise Refused


def check_copied(count: int) -> None:
    """Raise `Refused` where a copy of so many elements is left to the compiler, which could not
    make it faster."""
    if count > LARGE or allowance.is_beyond(count // COPIES_PER_ELEMENT):
        raise Refused


def unbroadcast(given: Any, operand: Any) -> Any:
    """The gradient of a broadcast operand: `given`, summed over the axes that were repeated."""
    shape = operand.shape
    if given.shape != shape:
        extra = given.ndim - len(shape)
        axes = tuple(range(extra)) + tuple(
            [n + extra for n, length in enumerate(shape) if length == 1 != given.shape[n + extra]]
        )
        wide = _FLOAT32 if given.itemsize == 2 and given.dtype.kind in FLOATS else None
        given = given.sum(axes, wide, keepdims=True).reshape(shape)
    return given if given.dtype == operand.dtype else cast_gradient(given, operand)


def cast_gradient(given: Any, operand: Any) -> Any:
    """A gradient in the dtype of its operand, for a real one its real part. None for integers."""
    if operand.dtype.kind not in "fVc":
        return None
    is_narrower = given.dtype.kind == "c" != operand.dtype.kind
    return (given.real if is_narrower else given).astype(operand.dtype, copy=False)


def pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, at least one of them an array, in their promoted dtype.

    Raises `Refused` if their result would not be small.
    """
    if x.__class__ is _ndarray and y.__class__ is _ndarray:
        if x.dtype is not y.dtype and x.dtype != y.dtype:
            x, y = meet(x, y)
        check_together(x, y)
        return x, y
    return meet(x, y)


def float_pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands promoted to floats. Integers and booleans become float32 first, one by one,
    since no integer dtype need hold the values of both."""
    are_arrays = x.__class__ is _ndarray and y.__class__ is _ndarray
    if are_arrays and x.dtype.kind in "iub" and y.dtype.kind in "iub":
        check_together(x, y)
        return x.astype(_FLOAT32), y.astype(_FLOAT32)
    x, y = pair(x, y)
    return (
        to_float(x) if x.__class__ is _ndarray else x,
        to_float(y) if y.__class__ is _ndarray else y,
    )


def check_together(x: Any, y: Any) -> None:
    """Raise `Refused` if two arrays, broadcast together, are not small."""
    if x.size * y.size > SMALL:
        long, short = (x.shape, y.shape) if x.ndim >= y.ndim else (y.shape, x.shape)
        if long[len(long) - len(short) :] != short:
            check_size(numpy.broadcast_shapes(long, short))


def sides(x: Any, y: Any, to_x: Any, to_y: Any) -> tuple[Any, ...]:
    """The gradients of the operands that are tensors. Of two, each is a function, for the case that
    it is wanted."""
    if y.__class__ is not _ndarray:
        return (unbroadcast(to_x(), x),)
    if x.__class__ is not _ndarray:
        return (unbroadcast(to_y(), y),)
    return (
        (lambda: unbroadcast(to_x(), x)) if x.dtype.kind in "fc" else None,
        (lambda: unbroadcast(to_y(), y)) if y.dtype.kind in "fc" else None,
    )
