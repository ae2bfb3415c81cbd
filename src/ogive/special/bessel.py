"""Bessel functions of the orders 0 and 1, computed in float64.

    J, Y   up to 25 a fit of the power series in x² (for Y, besides log(x)·J), from there Hankel's
           asymptotic series; the error is at most 4·10⁻¹⁴
    K      up to 2 the power series, from there a fit of √x·eˣ·K in 1/x; the relative error is at
           most 10⁻¹⁴

The values of that fit are √x·eˣ·K(x) = ∫ exp(-2x sinh²(t/2√x)) cosh(νt/√x) dt.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal

from ogive.special.fits import Coefficients, evaluate, fit, sum_series, wide
from ogive.tensor.elementwise.special_functions import polynomial
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

EULER = 0.5772156649015329
BOUND = 25.0
TERMS = 46
"""The number of coefficients of the fit of the power series up to `BOUND`."""

LOW = 2.0
"""From here on, K is not computed as the difference of two growing series, which would cancel."""


def bessel_j0(x: Tensor) -> Tensor:
    """J₀, the Bessel function of the first kind of order 0. Shapes: unchanged.

    >>> ogive.special.bessel_j0(Tensor([0.0])).round().tolist()
    [1.0]
    """
    return _first_kind(x, 0, "bessel_j0")


def bessel_j1(x: Tensor) -> Tensor:
    """J₁, the Bessel function of the first kind of order 1. Shapes: unchanged.

    >>> ogive.special.bessel_j1(Tensor([0.0])).tolist()
    [0.0]
    """
    return _first_kind(x, 1, "bessel_j1")


def bessel_y0(x: Tensor) -> Tensor:
    """Y₀, the Bessel function of the second kind: -∞ at 0, NaN below. Shapes: unchanged.

    >>> ogive.special.bessel_y0(Tensor([0.0])).tolist()
    [-inf]
    """
    return _second_kind(x, 0, "bessel_y0")


def bessel_y1(x: Tensor) -> Tensor:
    """Y₁, the Bessel function of the second kind: -∞ at 0, NaN below. Shapes: unchanged.

    >>> ogive.special.bessel_y1(Tensor([0.0])).tolist()
    [-inf]
    """
    return _second_kind(x, 1, "bessel_y1")


def modified_bessel_i0(x: Tensor) -> Tensor:
    """I₀, `Tensor.i0` under another name. Shapes: unchanged.

    >>> ogive.special.modified_bessel_i0(Tensor([0.0])).tolist()
    [1.0]
    """
    return x.i0()


def modified_bessel_i1(x: Tensor) -> Tensor:
    """I₁, `Tensor.i1` under another name. Shapes: unchanged.

    >>> ogive.special.modified_bessel_i1(Tensor([0.0])).tolist()
    [0.0]
    """
    return x.i1()


def modified_bessel_k0(x: Tensor) -> Tensor:
    """K₀, the modified Bessel function of the second kind: ∞ at 0, NaN below. Shapes: unchanged.

    >>> ogive.special.modified_bessel_k0(Tensor([0.0])).tolist()
    [inf]
    """
    return _modified(x, 0, False, "modified_bessel_k0")


def modified_bessel_k1(x: Tensor) -> Tensor:
    """K₁, the modified Bessel function of the second kind: ∞ at 0, NaN below. Shapes: unchanged.

    >>> ogive.special.modified_bessel_k1(Tensor([0.0])).tolist()
    [inf]
    """
    return _modified(x, 1, False, "modified_bessel_k1")


def scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    """eˣ·K₀(x), which does not vanish. Shapes: unchanged.

    >>> ogive.special.scaled_modified_bessel_k0(Tensor([0.0])).tolist()
    [inf]
    """
    return _modified(x, 0, True, "scaled_modified_bessel_k0")


def scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    """eˣ·K₁(x), which does not vanish. Shapes: unchanged.

    >>> ogive.special.scaled_modified_bessel_k1(Tensor([0.0])).tolist()
    [inf]
    """
    return _modified(x, 1, True, "scaled_modified_bessel_k1")


def spherical_bessel_j0(x: Tensor) -> Tensor:
    """sin(x)/x. Shapes: unchanged.

    >>> ogive.special.spherical_bessel_j0(Tensor([0.0])).tolist()
    [1.0]
    """
    value, dtype = wide(x, "spherical_bessel_j0")
    held = where(value.eq(0), 1.0, value)
    ratio = where(value.eq(0), 1.0, held.sin() / held)
    return where(value.isinf(), 0.0, ratio).cast(dtype)


# Ordinary ones


def _first_kind(given: Tensor, order: int, name: str) -> Tensor:
    x, dtype = wide(given, name)
    size = x.abs()
    value = where(size < BOUND, _near(size.clamp(max=BOUND), order), _far(size, order, False))
    value = where(size.isinf(), 0.0, value)
    return (where(x < 0, -value, value) if order else value).cast(dtype)


def _second_kind(given: Tensor, order: int, name: str) -> Tensor:
    x, dtype = wide(given, name)
    near = where(x > 0, x, 1.0).clamp(max=BOUND)
    regular = evaluate(_fitted_rest(order), near.square() * BOUND**-2)
    value = ((near * 0.5).log() + EULER) * _near(near, order) * (2 / math.pi)
    value = value - (regular * near + 2 / near if order else regular) * (1 / math.pi)
    value = where(x < BOUND, value, _far(x, order, True))
    value = where(x.isinf(), 0.0, value)
    return where(x > 0, value, where(x.eq(0), -math.inf, math.nan)).cast(dtype)


def _near(size: Tensor, order: int) -> Tensor:
    value = evaluate(_fitted_series(order), size.square() * BOUND**-2)
    return value * size if order else value


@functools.cache
def _fitted_series(order: int) -> Coefficients:
    """J₀, or J₁(x)/x, in t = (x/25)²: Σ (-x²/4)ᵏ / (k! (k + n)!), for order 1 halved."""
    scale = 0.5 if order else 1.0
    return fit(lambda t: sum_series(_powers(order), -t * BOUND**2) * scale, TERMS)


@functools.cache
def _fitted_rest(order: int) -> Coefficients:
    """The part of -π·Y that is neither a pole nor a logarithm; for order 1, divided by x."""
    scale = 0.5 if order else 2.0
    return fit(lambda t: sum_series(_harmonic(order), -t * BOUND**2) * scale, TERMS)


def _powers(order: int) -> Callable[[Decimal], Iterator[Decimal]]:
    """The terms of Σ (x²/4)ᵏ / (k! (k + n)!) as a function of x²."""

    def terms(square: Decimal) -> Iterator[Decimal]:
        term = Decimal(1)
        for k in range(1, 1000):
            yield term
            term *= square / (4 * k * (k + order))

    return terms


def _harmonic(order: int) -> Callable[[Decimal], Iterator[Decimal]]:
    """The same terms times Hₖ, or for order 1 Hₖ + Hₖ₊₁, H being the harmonic numbers."""

    def terms(square: Decimal) -> Iterator[Decimal]:
        total = Decimal(0)
        for k, power in enumerate(_powers(order)(square)):
            total += Decimal(1) / k if k else 0
            yield power * (2 * total + Decimal(1) / (k + 1) if order else total)

    return terms


def _far(size: Tensor, order: int, second: bool) -> Tensor:
    """Hankel's series: P and Q in 1/x, turned by the angle x - (2n + 1)·π/4."""
    x = size.clamp(min=BOUND)
    inverse = x.reciprocal()
    terms = [1.0]
    for k in range(1, 26):
        terms.append(terms[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    signed = [term * (-1) ** (k // 2) for k, term in enumerate(terms)]
    P = polynomial(inverse.square(), signed[::2])
    Q = polynomial(inverse.square(), signed[1::2]) * inverse
    sine, cosine = x.sin(), x.cos()
    plus, minus = sine + cosine, sine - cosine
    # The cosine and sine of the angle, times √2.
    across, along = (minus, -plus) if order else (plus, minus)
    mixed = P * along + Q * across if second else P * across - Q * along
    return mixed * (x * math.pi).rsqrt()


# Modified ones


def _modified(given: Tensor, order: int, scaled: bool, name: str) -> Tensor:
    x, dtype = wide(given, name)
    near = where(x > 0, x, 1.0).clamp(max=LOW)
    square = near.square()
    growing = polynomial(square, _head(_powers(order)))
    harmonic = polynomial(square, _head(_harmonic(order)))
    logarithm = (near * 0.5).log() + EULER
    if order:
        small = near.reciprocal() + (logarithm * growing * 0.5 - harmonic * 0.25) * near
    else:
        small = harmonic - logarithm * growing
    far = x.clamp(min=LOW)
    large = evaluate(fitted_integral(float(order), LOW), LOW / far) * far.rsqrt()
    if scaled:
        small = small * near.exp()
    else:
        large = large * far.neg().exp()
    value = where(x < LOW, small, where(x.isinf(), 0.0, large))
    return where(x > 0, value, where(x.eq(0), math.inf, math.nan)).cast(dtype)


def _head(terms: Callable[[Decimal], Iterator[Decimal]]) -> list[float]:
    """The coefficients of the first powers of x², enough up to x = 2."""
    return [float(term) for term, _ in zip(terms(Decimal(1)), range(18), strict=False)]


@functools.cache
def fitted_integral(order: float, low: float) -> Coefficients:
    """√x·eˣ·K(x) in t = low/x, from `low` to ∞."""
    return fit(lambda t: _integral(order, low / t), 32)


def _integral(order: float, x: float, step: float = 0.125) -> float:
    """Return √x·eˣ·K(x) by the trapezoidal rule.

    It is exact to the last bit, because the integrand vanishes like e^(-s²/2).
    """
    values = [0.5]
    for k in range(1, 97):
        s = k * step / math.sqrt(x)
        values.append(math.exp(-2 * x * math.sinh(s / 2) ** 2) * math.cosh(order * s))
    return step * math.fsum(values)
