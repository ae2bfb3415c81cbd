"""erf and erfc of arrays, which NumPy does not have.

A few numbers are given to Python's own, one by one, at about 0.1 µs each. More than that are
computed by a quotient of polynomials, where a float32 is wanted:

    erf(x) = tanh(x p(x²) / q(x²))

NumPy has a fast tanh, and its argument is so smooth that four coefficients are enough for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused

FEW = 128
"""Up to how many elements one by one is faster than polynomials."""

_MOST = 1 << 12
"""The number of elements up to which this module is faster than a kernel."""


def erf(x: Any) -> Any:
    """The error function of floats."""
    return _polynomials(x) if x.size > FEW and x.dtype == numpy.float32 else _each(math.erf, x)


def erfc(x: Any) -> Any:
    """1 - erf(x)."""
    return _each(math.erfc, x)


def _each(function: Callable[[float], float], x: Any) -> Any:
    if x.size > _MOST:
        raise Refused
    return numpy.array([function(value) for value in x.ravel().tolist()], x.dtype).reshape(x.shape)


BLOCK = 1 << 13
"""The number of elements computed at a time, so that intermediates stay in a core's cache."""

_FARTHEST = 3.95
"""Beyond, erf is 1 to a float32."""

_ABOVE = (1.1283791708468025, 0.2798068117399285, 0.042646536870373376, 0.002178279609949187)
_BELOW = (1, 0.15689256274699473, 0.02368991008064687, 0.0003249239056957873)
"""artanh(erf(x)) / x in x², up to 3.95; relative error of erf: 2^-28. Computed in float64, so that
nothing but the result is rounded."""


def _polynomials(x: Any) -> Any:
    if x.size <= BLOCK:
        return _of_block(x)
    line = x.reshape(-1)
    values = numpy.empty(line.shape, line.dtype)
    for start in range(0, line.size, BLOCK):
        values[start : start + BLOCK] = _of_block(line[start : start + BLOCK])
    return values.reshape(x.shape)


def _of_block(narrow: Any) -> Any:
    x = narrow.astype(numpy.float64)
    square = numpy.minimum(x * x, _FARTHEST**2)
    total = _polynomial(square, _ABOVE)
    total /= _polynomial(square, _BELOW)
    total *= x
    return numpy.tanh(total, total).astype(numpy.float32)


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule; the constant term is first."""
    total = x * coefficients[3]
    total += coefficients[2]
    total *= x
    total += coefficients[1]
    total *= x
    total += coefficients[0]
    return total
