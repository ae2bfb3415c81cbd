"""erf and erfc of arrays, which NumPy does not have.

A few numbers are computed one by one by Python's `math.erf`, at about 0.1 µs each. Larger arrays of
float32 are computed in float64, by the polynomials that kernels use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.devices.llvm.math.error import ERF, ERF_FAR
from ogive.eager.forms import Refused

FEW = 256
"""The number of elements up to which `math.erf` is faster than the polynomials."""

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


def _polynomials(narrow: Any) -> Any:
    if narrow.size <= BLOCK:
        return _of_block(narrow)
    line = narrow.reshape(-1)
    made = numpy.empty(line.shape, line.dtype)
    for start in range(0, line.size, BLOCK):
        made[start : start + BLOCK] = _of_block(line[start : start + BLOCK])
    return made.reshape(narrow.shape)


def _of_block(narrow: Any) -> Any:
    x = numpy.clip(narrow.astype(numpy.float64), -4, 4)
    near = x + x * _polynomial(x * x, ERF["f32"])
    far = numpy.copysign(_polynomial(abs(x) - 2.4375, ERF_FAR), x)
    return numpy.where(abs(x) < 1, near, far).astype(numpy.float32)


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Evaluate a polynomial by Horner's rule. Its constant term comes first."""
    total = numpy.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= x
        total += coefficient
    return total
