"""Forms of operations element by element."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import cast_array, meet, to_float, unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.tensors import MOST_ELEMENTS
from ogive.tensor.elementwise import arithmetic, unary_functions

_ndarray = numpy.ndarray


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands that meet, whose result is not too large."""
    if x.__class__ is _ndarray and y.__class__ is _ndarray:
        if x.dtype is not y.dtype and x.dtype != y.dtype:
            x, y = meet(x, y)
        if x.size * y.size > MOST_ELEMENTS and x.shape != y.shape:
            if numpy.prod(numpy.broadcast_shapes(x.shape, y.shape)) > MOST_ELEMENTS:
                raise Refused
        return x, y
    return meet(x, y)


def _sides(x: Any, y: Any, to_x: Any, to_y: Any) -> tuple[Any, ...]:
    """The gradients of those operands that are tensors."""
    found = []
    if x.__class__ is _ndarray:
        found.append(unbroadcast(to_x(), x) if x.dtype.kind == "f" else None)
    if y.__class__ is _ndarray:
        found.append(unbroadcast(to_y(), y) if y.dtype.kind == "f" else None)
    return tuple(found)


@form(arithmetic.add)
def add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`x + alpha * other`."""
    x, other = _pair(x, other)
    if alpha != 1:
        other = numpy.multiply(*meet(other, alpha)) if other.__class__ is _ndarray else other * alpha
    return x + other


@gradient(add)
def _add(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _sides(x, other, lambda: given, lambda: given if alpha == 1 else given * alpha)
