"""log, log2, log10, log1p and the inverse hyperbolic functions.

All write a positive x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2) by integer arithmetic on
the bits, and evaluate log(1 + f) = f + f^2 q(f) with one minimax polynomial. log1p forms f from x
and not from the rounded 1 + x, as 2^-k x + (2^-k - 1), of which only the last sum rounds.
"""

from __future__ import annotations

from fractions import Fraction

from ogive.codegen.math.formats import (
    FORMATS,
    INFINITY,
    LN2,
    LOG2_E,
    LOG10_2,
    LOG10_E,
    NAN,
    bits_of,
    scaled,
    split,
    stretched,
)
from ogive.codegen.text import Block, Operand

# (log(1 + f) - f) / f^2 on sqrt(1/2) <= 1 + f <= sqrt(2); relative error: f32 2^-27.8, f64 2^-56.8.
LOG1P = {
    "f32": (
        -0.49999988, 0.33333325, -0.2500161, 0.20001921, -0.16608202, 0.14183152,
        -0.13253574, 0.12897882, -0.075829916,
    ),
    "f64": (
        -0.5000000000000003, 0.33333333333333043, -0.2499999999997645, 0.2000000000008281,
        -0.16666666671181737, 0.14285714279690742, -0.12499999614182483, 0.11111111103676106,
        -0.1000001763920746, 0.09090927076373433, -0.0833286943711605, 0.07691443356055191,
        -0.07149884319997564, 0.06685792361414865, -0.06194607871400506, 0.05659961319924196,
        -0.056781006942660986, 0.06526820839323437, -0.06003471063670548, 0.026170532587502193,
    ),
}  # fmt: skip

_ROOT_HALF = 0.5**0.5
# From here x^2 dwarfs 1, so that asinh(x) and acosh(x) are log(2x); x^2 does not overflow below.
_LARGE = {"f32": 2.0**60, "f64": 2.0**500}


def shift(f: Block, x: str) -> str:
    """Bits of x moved so that the exponent field is k + bias.

    The mantissa field becomes that of 1 + f less that of sqrt(1/2).
    """
    form = FORMATS[f.dtype]
    offset = bits_of(_ROOT_HALF, f.dtype) - (form.bias << form.mantissa)
    return f.bits.sub(f.bits.bitcast(x, f), offset)


def fraction_of(f: Block, shifted: str) -> str:
    """1 + f from shifted bits."""
    fraction = f.bits.and_(shifted, FORMATS[f.dtype].mantissa_mask)
    return f.bitcast(f.bits.add(fraction, bits_of(_ROOT_HALF, f.dtype)), f.bits)


def exponent_of(f: Block, shifted: str, zero: Operand) -> str:
    """k as a float; `zero` is 2^mantissa plus what the exponent field holds for k = 0."""
    form = FORMATS[f.dtype]
    biased = f.bits.lshr(shifted, form.mantissa)
    counted = f.bits.or_(biased, bits_of(2.0**form.mantissa, f.dtype))
    return f.fsub(f.bitcast(counted, f.bits), zero)


def _logarithm(f: Block, x: str, two: Fraction, e: Fraction) -> str:
    """The logarithm of a base of which the logarithms of 2 and of e are given."""
    form = FORMATS[f.dtype]
    subnormal = f.fcmp("olt", x, form.smallest_normal)
    normal = f.select(subnormal, f.fmul(x, 2.0 ** (form.mantissa + 1)), x)
    zero = 2.0**form.mantissa + form.bias
    shifted = shift(f, normal)
    k = exponent_of(f, shifted, f.select(subnormal, zero + form.mantissa + 1, zero))
    rest = f.fsub(fraction_of(f, shifted), 1.0)
    tail = f.fmul(f.fmul(rest, rest), f.polynomial(rest, scaled(LOG1P[f.dtype], float(e))))
    two_high, two_low = split(two, f.dtype, 2)
    e_high, e_low = split(e, f.dtype, 2)
    if two_low:
        tail = f.fma(k, two_low, tail)
    if e_low:
        tail = f.fma(rest, e_high, f.fma(rest, e_low, tail))
    else:
        tail = f.fadd(rest, tail)
    value = f.fma(k, two_high, tail)
    value = f.select(f.fcmp("olt", x, INFINITY), value, x)
    outside = f.select(f.fcmp("oeq", x, 0.0), -INFINITY, NAN)
    return f.select(f.fcmp("ogt", x, 0.0), value, outside)


def log(f: Block, x: str) -> str:
    return _logarithm(f, x, LN2, Fraction(1))


def log2(f: Block, x: str) -> str:
    return _logarithm(f, x, Fraction(1), LOG2_E)


def log10(f: Block, x: str) -> str:
    return _logarithm(f, x, LOG10_2, LOG10_E)


def _log1p(f: Block, x: str, x_low: str | None = None, doubled: str | None = None) -> str:
    """log(1 + x + x_low) for a finite x > -1, plus log(2) where the mask `doubled` holds."""
    form = FORMATS[f.dtype]
    shifted = shift(f, f.fadd(x, 1.0))
    zero = 2.0**form.mantissa + form.bias
    moved = zero if doubled is None else f.select(doubled, zero - 1.0, zero)
    k = exponent_of(f, shifted, moved)
    # 2^(2 - k) and not 2^-k, which is subnormal for the largest x; the polynomial takes 4f.
    exponent = f.bits.and_(shifted, form.exponent_mask)
    scale = f.bitcast(f.bits.sub((2 * form.bias + 2) << form.mantissa, exponent), f.bits)
    rest = f.fma(x, scale, f.fsub(scale, 4.0))
    q = f.polynomial(rest, scaled(stretched(LOG1P[f.dtype], 0.25), 0.0625))
    high, low = split(LN2, f.dtype, 2)
    tail = f.fma(k, low, f.fmul(f.fmul(rest, rest), q))
    if x_low is not None:
        # To first order, divided by 1 + f; adding it to f would round once more.
        tail = f.fma(f.fmul(x_low, scale), f.fma(rest, -0.0625, 0.25), tail)
    return f.fma(k, high, f.fma(rest, 0.25, tail))


def log1p(f: Block, x: str) -> str:
    # The sign of the result is that of x, which restores a negative zero.
    value = f.select(f.fcmp("olt", x, INFINITY), _log1p(f, x), x)
    outside = f.select(f.fcmp("oeq", x, -1.0), INFINITY, NAN)
    return f.copysign(f.select(f.fcmp("ogt", x, -1.0), value, outside), x)


def asinh(f: Block, x: str) -> str:
    # log1p(a + a^2 / (1 + sqrt(1 + a^2))) for a = |x|.
    a = f.fabs(x)
    large = f.fcmp("ogt", a, _LARGE[f.dtype])
    root = f.sqrt(f.fma(a, a, 1.0))
    ratio = f.fdiv(f.fmul(a, a), f.fadd(root, 1.0))
    total = f.fadd(a, ratio)
    low = f.fsub(ratio, f.fsub(total, a))
    value = _log1p(f, f.select(large, a, total), f.select(large, 0.0, low), large)
    return f.copysign(f.select(f.fcmp("olt", a, INFINITY), value, a), x)


def acosh(f: Block, x: str) -> str:
    # log1p(t + sqrt(2t + t^2)) for t = x - 1.
    t = f.fsub(x, 1.0)
    large = f.fcmp("ogt", x, _LARGE[f.dtype])
    root = f.sqrt(f.fma(t, t, f.fadd(t, t)))
    total = f.fadd(root, t)
    low = f.fsub(t, f.fsub(total, root))
    value = _log1p(f, f.select(large, x, total), f.select(large, 0.0, low), large)
    value = f.select(f.fcmp("olt", x, INFINITY), value, x)
    return f.select(f.fcmp("oge", x, 1.0), value, NAN)


def atanh(f: Block, x: str) -> str:
    # log1p(2a / (1 - a)) / 2 for a = |x|, the quotient with its rounding error.
    a = f.fabs(x)
    double = f.fadd(a, a)
    below = f.fsub(1.0, a)
    belowlow = f.fsub(f.fsub(1.0, below), a)
    reciprocal = f.fdiv(1.0, below)
    ratio = f.fmul(double, reciprocal)
    error = f.fsub(f.fma(f.fneg(ratio), below, double), f.fmul(ratio, belowlow))
    value = f.fmul(_log1p(f, ratio, f.fmul(error, reciprocal)), 0.5)
    outside = f.select(f.fcmp("oeq", a, 1.0), INFINITY, NAN)
    return f.copysign(f.select(f.fcmp("olt", a, 1.0), value, outside), x)
