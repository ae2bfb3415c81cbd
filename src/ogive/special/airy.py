"""Airy's function, computed in float64. The error is at most 3·10⁻¹⁴, and relative above 0.

    -10 to 2     a fit of the power series
    above        π·Ai(x) = √(x/3)·K(ζ) of the order ⅓, with ζ = ⅔·x^(3/2)
    below        the asymptotic series in 1/ζ, of a wave
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from decimal import Decimal

from ogive.special.bessel import fitted_integral
from ogive.special.fits import Coefficients, evaluate, fit, sum_series, wide
from ogive.tensor.elementwise.special_functions import polynomial
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

LEAST, MOST = -10.0, 2.0

AT_ZERO = Decimal("0.35502805388781723926006318600418317639797917419918")
SLOPE = Decimal("-0.25881940379280679840518356018920396347909113835494")
"""Ai(0) = 3^(-⅔)/Γ(⅔), and Ai'(0) = -3^(-⅓)/Γ(⅓)."""


def airy_ai(x: Tensor) -> Tensor:
    """Ai(x), the solution of y″ = x·y that vanishes at ∞. Shapes: unchanged.

    >>> round(ogive.special.airy_ai(Tensor([0.0])).item(), 5)
    0.35503
    """
    value, dtype = wide(x, "airy_ai")
    middle = evaluate(_fitted_series(), (value.clamp(LEAST, MOST) - LEAST) / (MOST - LEAST))
    result = where(value > MOST, _above(value.clamp(min=MOST)), middle)
    result = where(value < LEAST, _below(value.neg().clamp(min=-LEAST)), result)
    return where(value.isinf(), 0.0, result).cast(dtype)


def _above(x: Tensor) -> Tensor:
    zeta = x * x.sqrt() * (2 / 3)
    low = 2 / 3 * MOST**1.5
    scaled = evaluate(fitted_integral(1 / 3, low), low / zeta)
    return (x / (zeta * 3)).sqrt() * scaled * zeta.neg().exp() * (1 / math.pi)


def _below(x: Tensor) -> Tensor:
    zeta = x * x.sqrt() * (2 / 3)
    inverse = zeta.reciprocal()
    terms = [1.0]
    for k in range(1, 25):
        factor = (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))
        terms.append(terms[-1] * factor)
    signed = [term * (-1) ** (k // 2) for k, term in enumerate(terms)]
    P = polynomial(inverse.square(), signed[::2])
    Q = polynomial(inverse.square(), signed[1::2]) * inverse
    sine, cosine = zeta.sin(), zeta.cos()
    wave = P * (cosine + sine) + Q * (sine - cosine)
    return wave * (x.sqrt() * (2 * math.pi)).rsqrt()


@functools.cache
def _fitted_series() -> Coefficients:
    return fit(lambda t: sum_series(_terms, LEAST + t * (MOST - LEAST)), 56)


def _terms(x: Decimal) -> Iterator[Decimal]:
    """Yield terms of the series whose powers y″ = x·y relates to each other: every third one."""
    even, odd = AT_ZERO, SLOPE * x
    for k in range(1, 2000):
        yield even + odd
        even *= x**3 / ((3 * k - 1) * (3 * k))
        odd *= x**3 / ((3 * k) * (3 * k + 1))
