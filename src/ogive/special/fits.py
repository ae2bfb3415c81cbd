"""Approximations by Chebyshev polynomials, found when a function is first used.

A function that is smooth on an interval is Σ cₖ Tₖ there, with coefficients that fall off fast.
They are the cosine transform of its values at the interval's Chebyshev points, which are computed
with as many digits as it takes: by a power series in decimals, or by an integral that the
trapezoidal rule gives to the last bit. So there are no tables of numbers here, only where they come
from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import Any

from ogive.errors import ArgumentTypeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.tensor.elementwise.binary_operations import float_dtype
from ogive.tensor.tensor import Tensor

DIGITS = 60
"""Of a decimal: what a power series loses to terms that cancel, and twice what a float holds."""

Coefficients = tuple[float, ...]


def wide(x: Any, name: str) -> tuple[Tensor, DType]:
    """`x` in float64, and the dtype of the result."""
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"{name} takes a tensor, not {type(x).__name__}")
    dtype = float_dtype(x.dtype, name)
    return x.cast(dtypes.float64), dtype


def fit(function: Callable[[float], float], count: int) -> Coefficients:
    """The first coefficients of a function on [0, 1]."""
    angles = [math.pi * (k + 0.5) / count for k in range(count)]
    values = [function((1 + math.cos(angle)) / 2) for angle in angles]
    coefficients = [
        2 / count * math.fsum([v * math.cos(k * a) for v, a in zip(values, angles, strict=True)])
        for k in range(count)
    ]
    return (coefficients[0] / 2, *coefficients[1:])


def evaluate(coefficients: Coefficients, t: Tensor) -> Tensor:
    """Σ cₖ Tₖ(2t - 1) for t in [0, 1], from the last coefficient on (Clenshaw)."""
    double = t * 4 - 2
    last: Any = coefficients[-1]
    current: Any = double * last + coefficients[-2]
    for coefficient in reversed(coefficients[1:-2]):
        last, current = current, double * current - last + coefficient
    total: Tensor = double * 0.5 * current - last + coefficients[0]
    return total


def sum_series(terms: Callable[[Decimal], Iterator[Decimal]], x: float) -> float:
    """A power series at `x`, up to where its terms have become nothing."""
    with localcontext() as context:
        context.prec = DIGITS
        total, least = Decimal(0), Decimal(10) ** (25 - DIGITS)
        for number, term in enumerate(terms(Decimal(x))):
            total += term
            if abs(term) < least and number > 8:
                return float(total)
    raise AssertionError("a power series ends when its terms vanish")
