"""The incomplete gamma functions and Hurwitz' zeta function, computed in float64.

P(a, x) + Q(a, x) = 1. One of them is computed, and the other follows:

    P   the power series in x           where x is small compared with a, or below 2
    Q   a continued fraction in 1/x     where x is great compared with a
    P   Temme's uniform series          for a above 20 where x is within a/2 of a

The error is at most 10⁻¹³. It is relative for the one that is computed.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.tensor.elementwise.binary_operations import float_dtype
from ogive.tensor.elementwise.pairwise import meet
from ogive.tensor.elementwise.special_functions import BERNOULLI, polynomial
from ogive.tensor.linear_algebra.host_matrices import with_gradient
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

SERIES, FRACTION = 66, 44
"""The number of terms of the series and of levels of the fraction, enough where each is used."""

UNIFORM, NEAR = 20.0, 0.5
"""The uniform series is used for a from `UNIFORM` on, and |x - a| up to `NEAR`·a."""

POWERS, ORDERS = 22, 10
"""The number of powers of η in the uniform series, and of powers of 1/a."""


def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of `digamma`, which tensors have as a method. Shapes: unchanged.

    >>> polygamma(1, Tensor([1.0])).shape
    (1,)
    """
    return input.polygamma(n)


def gammainc(input: Tensor, other: Tensor) -> Tensor:
    """P(a, x) = ∫ tᵃ⁻¹ e⁻ᵗ dt / Γ(a) from 0 to x, a being `input`. Shapes: broadcast.

    NaN for a negative a or x. No gradient goes to a.

    >>> ogive.special.gammainc(Tensor([1.0]), Tensor([0.0])).tolist()
    [0.0]
    """
    return _regularized(input, other, False, "gammainc")


def gammaincc(input: Tensor, other: Tensor) -> Tensor:
    """Q(a, x) = 1 - P(a, x); see `gammainc`. Shapes: broadcast.

    >>> ogive.special.gammaincc(Tensor([1.0]), Tensor([0.0])).tolist()
    [1.0]
    """
    return _regularized(input, other, True, "gammaincc")


def zeta(input: Any, other: Any) -> Tensor:
    """Σ (q + k)⁻ˣ over all k ≥ 0, for x > 1 and q > 0, x being `input` and q `other`.

    Shapes: broadcast. ∞ at x = 1 and where q is 0, -1, -2, ...; NaN elsewhere.

    >>> ogive.special.zeta(Tensor([2.0]), 1.0).sub(math.pi**2 / 6).abs().lt(1e-6).tolist()
    [True]
    """
    a, b, dtype = meet(input, other, "zeta", float_dtype)
    x, q = a.cast(dtypes.float64), b.cast(dtypes.float64)
    s, held = where(x > 1, x, 2.0), where(q > 0, q, 1.0)
    terms = 9
    far = held + terms
    # The Euler-Maclaurin formula: an integral, half a term, and derivatives at the end.
    total = far.pow(1 - s) / (s - 1) + far.pow(-s) * 0.5
    rising, power = s, far.pow(-s - 1)
    for k, bernoulli in enumerate(BERNOULLI):
        total = total + power * rising * (bernoulli / math.factorial(2 * k + 2))
        rising = rising * (s + (2 * k + 1)) * (s + (2 * k + 2))
        power = power / far.square()
    for k in reversed(range(terms)):
        total = total + (held + k).pow(-s)
    pole = x.eq(1) | ((q <= 0) & q.eq(q.floor()) & (x > 1))
    result = where((x > 1) & (q > 0), total, where(pole, math.inf, math.nan))
    return result.cast(dtype)


def _regularized(input: Tensor, other: Tensor, upper: bool, name: str) -> Tensor:
    left, right, dtype = meet(input, other, name, float_dtype)
    a, x = left.cast(dtypes.float64), right.cast(dtypes.float64)
    held_a = where(a > 0, a, 1.0).detach()
    held_x = where((x > 0) & ~x.isinf(), x, 1.0)
    value = _value(held_a, held_x.detach(), upper)

    def backward(upstream: Tensor) -> Tensor:
        slope = ((held_a - 1) * held_x.log() - held_x - held_a.lgamma()).exp()
        return upstream * (-slope if upper else slope)

    result = with_gradient([held_x], value, backward)
    nothing, everything = (1.0, 0.0) if upper else (0.0, 1.0)
    result = where(x.eq(0), nothing, where(x == math.inf, everything, result))
    result = where(a.eq(0) & (x > 0), everything, where(a.isinf() & ~x.isinf(), nothing, result))
    wrong = (a < 0) | (x < 0) | a.isnan() | x.isnan() | (a.eq(0) & x.eq(0))
    return where(wrong | (a.isinf() & x.isinf()), math.nan, result).cast(dtype)


def _value(a: Tensor, x: Tensor, upper: bool) -> Tensor:
    """P or Q for positive a and x."""
    by_fraction = (x > a + 1) & (x > 2)
    near = (a > UNIFORM) & ((x - a).abs() < a * NEAR)
    front = (a * x.log() - x - (a + 1).lgamma()).exp()
    lower = front * _series(where(by_fraction, a + 1, a), where(by_fraction, a, x))
    above = front * a * _fraction(a, where(by_fraction, x, a + 3))
    if upper:
        far = where(by_fraction, above, 1 - lower)
    else:
        far = where(by_fraction, 1 - above, lower)
    close = _uniform(where(near, a, UNIFORM), where(near, x, UNIFORM), upper)
    return where(near, close, far)


def _series(a: Tensor, x: Tensor) -> Tensor:
    """Σ xᵏ / ((a + 1)(a + 2) ··· (a + k)), from the last term on."""
    total: Any = 1.0
    for k in reversed(range(1, SERIES)):
        total = total * x / (a + k) + 1
    series: Tensor = total
    return series


def _fraction(a: Tensor, x: Tensor) -> Tensor:
    """1/(x + 1 - a - 1·(1 - a)/(x + 3 - a - 2·(2 - a)/(x + 5 - a - ...))), from the inside."""
    total: Any = x + (2 * FRACTION + 1) - a
    for k in reversed(range(1, FRACTION + 1)):
        total = x + (2 * k - 1) - a - (k - a) * k / total
    fraction: Tensor = total.reciprocal()
    return fraction


def _uniform(a: Tensor, x: Tensor, upper: bool) -> Tensor:
    """½ erfc(∓η√(a/2)) ∓ e^(-aη²/2)/√(2πa) Σ Cₖ(η) a⁻ᵏ, where η²/2 = x/a - 1 - log(x/a)."""
    excess = (x - a) / a
    half_square = excess - excess.log1p()
    # Near 0 the difference vanishes; its series does not.
    small = excess.square() * polynomial(excess, [(-1) ** k / (k + 2) for k in range(14)])
    half_square = where(excess.abs() < 0.1, small, half_square).clamp(min=0)
    eta = (half_square * 2).sqrt().copysign(excess)
    inverse = a.reciprocal()
    series: Any = 0.0
    for coefficients in reversed(_uniform_coefficients()):
        series = series * inverse + polynomial(eta, coefficients)
    series = series * (half_square * -a).exp() * (a * (2 * math.pi)).rsqrt()
    edge = eta * (a * 0.5).sqrt()
    share: Tensor = edge.erfc() * 0.5 + series if upper else edge.neg().erfc() * 0.5 - series
    return share


@functools.cache
def _uniform_coefficients() -> list[list[float]]:
    """Cₖ(η) as powers of η. With μ = λ - 1, μ·μ' = η·(1 + μ); C₀ = 1/μ - 1/η, and then
    Cₖ = Cₖ₋₁'/η + γₖ/μ with the γₖ for which there is no pole at 0."""
    count = POWERS + 2 * ORDERS + 2
    mu = [Fraction(0), Fraction(1)]
    for n in range(2, count + 1):
        # The coefficient of ηⁿ on both sides: μₙ occurs in the first and last product.
        inner = sum([mu[i] * mu[n + 1 - i] * (n + 1 - i) for i in range(2, n)], Fraction(0))
        mu.append((mu[n - 1] - inner) / (n + 1))
    inverse = [Fraction(1)]  # of μ/η
    for n in range(1, count):
        inverse.append(-sum([mu[i + 1] * inverse[n - i] for i in range(1, n + 1)], Fraction(0)))
    current = inverse[1:]
    series = [current]
    for _ in range(1, ORDERS):
        pole = -current[1]
        current = [
            (n + 2) * current[n + 2] + pole * inverse[n + 1] for n in range(len(current) - 2)
        ]
        series.append(current)
    return [[float(c) for c in line[:POWERS]] for line in series]
