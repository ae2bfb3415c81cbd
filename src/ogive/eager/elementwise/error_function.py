"""erf and erfc of arrays, which NumPy lacks.

A few numbers are given to Python's own, one by one, at about 0.1 µs each. More than that are
computed by a polynomial, where a float32 is wanted:

    erf(x) = tanh(x p(x²))

NumPy has a fast tanh, and p is smooth: 10 coefficients are enough for all x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused

FEW = 128
"""Up to how many elements one by one is faster than a polynomial."""

_MOST = 1 << 12
"""Up to how many it is faster than a kernel."""


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
"""How many elements are computed with at a time: what is between them stays in a core's cache."""

_FARTHEST = 3.95
"""Beyond, erf is 1 to a float32."""

_INNER = (
    1.8169979794608948, 0.5689656367068747, -0.09277482040801396, 0.028166316177452494,
    -0.02154521208247595, -0.03372715547582722, -0.012526856591701385, 0.036371922443044324,
    0.057470799872557876, 0.019465992203040905,
)  # fmt: skip
"""artanh(erf(x)) / x in 2 (x / 3.95)² - 1; relative error of erf: 2^-26.6. In float64, so that
nothing but the result is rounded."""


def _polynomials(x: Any) -> Any:
    if x.size <= BLOCK:
        return _of_block(x)
    line = x.reshape(-1)
    made = numpy.empty(line.shape, line.dtype)
    for start in range(0, line.size, BLOCK):
        made[start : start + BLOCK] = _of_block(line[start : start + BLOCK])
    return made.reshape(x.shape)


def _of_block(narrow: Any) -> Any:
    x = narrow.astype(numpy.float64)
    place = numpy.minimum(x * x, _FARTHEST**2)
    place *= 2 / _FARTHEST**2
    place -= 1
    total = place * _INNER[-1]
    for coefficient in _INNER[-2:0:-1]:
        total += coefficient
        total *= place
    total += _INNER[0]
    total *= x
    return numpy.tanh(total, total).astype(numpy.float32)
