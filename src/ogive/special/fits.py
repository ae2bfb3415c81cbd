"""Approximations by Chebyshev polynomials, computed at the first use of a function.

A function that is smooth on an interval is Σ cₖ Tₖ there, with coefficients that decrease fast.
They are the cosine transform of its values at the Chebyshev points of the interval. The values are
computed with as many digits as needed: by a power series in decimals, or by an integral for which
the trapezoidal rule is exact. So the source has no tables of coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.errors import ArgumentTypeError
from ogive.tensor.elementwise.binary_operations import float_dtype
from ogive.tensor.tensor import Tensor

DIGITS = 60
"""The digits of decimals: twice those of a float64, and those that cancel in a power series."""

Coefficients = tuple[float, ...]


def wide(x: Any, name: str) -> tuple[Tensor, DType]:
    """Return `x` in float64, and the dtype of the result."""
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"{name} takes a tensor, not {type(x).__name__}")
    dtype = float_dtype(x.dtype, name)
    return x.cast(dtypes.float64), dtype


def fit(function: Callable[[float], float], count: int) -> Coefficients:
    """Return the first coefficients of a function on [0, 1]."""
    angles = [math.pi * (k + 0.5) / count for k in range(count)]
    values = [function((1 + math.cos(angle)) / 2) for angle in angles]
    coefficients = [
        2 / count * math.fsum([v * math.cos(k * a) for v, a in zip(values, angles, strict=True)])
        for k in range(count)
    ]
    return (coefficients[0] / 2, *coefficients[1:])


def evaluate(coefficients: Coefficients, t: Tensor) -> Tensor:
    """Return Σ cₖ Tₖ(2t - 1) for t in [0, 1], by Clenshaw's recurrence."""
    double = t * 4 - 2
    last: Any = coefficients[-1]
    current: Any = double * last + coefficients[-2]
    for coefficient in reversed(coefficients[1:-2]):
        last, current = current, double * current - last + coefficient
    total: Tensor = double * 0.5 * current - last + coefficients[0]
    return total


def sum_series(terms: Callable[[Decimal], Iterator[Decimal]], x: float) -> float:
    """Return the sum of a power series at `x`, up to the first term that changes nothing."""
    with localcontext() as context:
        context.prec = DIGITS
        total, least = Decimal(0), Decimal(10) ** (25 - DIGITS)
        for number, term in enumerate(terms(Decimal(x))):
            total += term
            if abs(term) < least and number > 8:
                return float(total)
    raise AssertionError("a power series ends when its terms vanish")
