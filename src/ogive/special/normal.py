"""Functions related to the error function and the normal distribution, computed in float64."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from decimal import Decimal, localcontext

from ogive.special.fits import DIGITS, Coefficients, evaluate, fit, sum_series, wide
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

SCALE = 3.0
"""The scale of the fit in t = 3/(x + 3): half of its interval is for x below 3."""


def erfcx(x: Tensor) -> Tensor:
    """exp(x²)·erfc(x), which decreases like 1/x. Shapes: unchanged.

    >>> ogive.special.erfcx(Tensor([0.0])).round(decimals=6).tolist()
    [1.0]
    """
    value, dtype = wide(x, "erfcx")
    return _erfcx(value).cast(dtype)


def log_ndtr(x: Tensor) -> Tensor:
    """The logarithm of the area under the normal distribution left of x. Shapes: unchanged.

    >>> ogive.special.log_ndtr(Tensor([0.0])).exp().round(decimals=6).tolist()
    [0.5]
    """
    value, dtype = wide(x, "log_ndtr")
    left = value.clamp(max=-1)
    below = (_erfcx(left * -math.sqrt(0.5)) * 0.5).log() - left.square() * 0.5
    above = ((value.clamp(min=-1) * math.sqrt(0.5)).erfc() * -0.5).log1p()
    result = where(value < -1, below, above)
    return where(value == -math.inf, -math.inf, result).cast(dtype)


def entr(x: Tensor) -> Tensor:
    """-x·log(x), 0 at 0 and -∞ below. Shapes: unchanged.

    >>> ogive.special.entr(Tensor([0.0, 1.0, -1.0])).tolist()
    [0.0, -0.0, -inf]
    """
    value, dtype = wide(x, "entr")
    held = where(value > 0, value, 1.0)
    result = where(value > 0, -held * held.log(), where(value.eq(0), 0.0, -math.inf))
    return where(value.isnan(), value, result).cast(dtype)


def _erfcx(x: Tensor) -> Tensor:
    size = where(x < 0, -x, x)  # with the slope 1 at 0, where abs() has none
    t = SCALE / (size + SCALE)
    right = evaluate(_fitted(), t) / (size * 2 + 1)
    # Below -27 it is infinite, and so is the square.
    left = x.clamp(max=0).square().exp() * 2 - right
    return where(x < 0, left, right)


@functools.cache
def _fitted() -> Coefficients:
    """(1 + 2x)·erfcx(x) for x ≥ 0, in t = 3/(x + 3)."""

    def value(t: float) -> float:
        x = SCALE / t - SCALE
        return (1 + 2 * x) * (_near(x) if x < SCALE else _far(x))

    return fit(value, 36)


def _near(x: float) -> float:
    """exp(x²) less the series of exp(x²)·erf(x) = 2/√π Σ 2ᵏ x^(2k + 1) / (1·3·5···(2k + 1))."""

    def terms(point: Decimal) -> Iterator[Decimal]:
        # The differences of the terms of both series, since the sums would cancel.
        power, term = Decimal(1), point * 2 / _ROOT_OF_PI
        for k in range(1, 1000):
            yield power - term
            power *= point * point / k
            term *= 2 * point * point / (2 * k + 1)

    return sum_series(terms, x)


_ROOT_OF_PI = Decimal("1.7724538509055160272981674833411451827975494561223871")


def _far(x: float) -> float:
    """1/√π / (x + ½/(x + 1/(x + 3/2/(x + ...)))), from the inside."""
    with localcontext() as context:
        context.prec = DIGITS
        point = Decimal(x)
        total = point
        for k in reversed(range(1, 400)):
            total = point + Decimal(k) / 2 / total
        return float(1 / (_ROOT_OF_PI * total))
