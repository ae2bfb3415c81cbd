"""log, log2, log10, log1p and the inverse hyperbolic functions.

All write a positive x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2) by integer arithmetic on
the bits, and evaluate log(1 + f) = f - f^2/2 + f^3 q(f) with one minimax polynomial; k log(2), f
and f^2/2 are summed with their rounding errors. log1p forms f from x and not from the rounded
1 + x, as 2^-k x + (2^-k - 1), of which only the last sum rounds, by an amount that is known.
"""

from __future__ import annotations

from fractions import Fraction

from ogive.compiler.devices.llvm.ir_text import Operand, Vectors
from ogive.compiler.devices.llvm.math.compensated import add, multiply_add, square_root
from ogive.compiler.devices.llvm.math.float_formats import (
    FORMATS,
    INFINITY,
    LN2,
    LOG2_E,
    LOG10_2,
    LOG10_E,
    NAN,
    bits_of,
    nearest,
    split,
)

# (log(1 + f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1 + f <= sqrt(2); relative error of log(1 + f):
# f32 2^-27.3, f64 2^-56.6.
LOG1P = {
    "f32": (
        0.3333333, -0.25000823, 0.20001256, -0.1662333, 0.1420114, -0.13159816, 0.12765473,
        -0.07640257,
    ),
    "f64": (
        0.3333333333333314, -0.2499999999998797, 0.2000000000006674, -0.1666666666982667,
        0.14285714280088532, -0.12499999691408202, 0.11111111147310118, -0.10000015206414013,
        0.09090923946661725, -0.08332913574617828, 0.07691529417035764, -0.07149438301767928,
        0.06684594170662027, -0.061966972786550854, 0.05668351285117552, -0.056776404804194526,
        0.06503481854749121, -0.05982138797322736, 0.0261550606572535,
    ),
}  # fmt: skip

_ROOT_HALF = 0.5**0.5
# From here x^2 dwarfs 1, so that asinh(x) and acosh(x) are log(2x); x^2 does not overflow below.
_LARGE = {"f32": 2.0**60, "f64": 2.0**500}


def shift(f: Vectors, x: str) -> str:
    """Bits of x moved so that the exponent field is k + bias.

    The mantissa field becomes that of 1 + f less that of sqrt(1/2).
    """
    form = FORMATS[f.code]
    offset = bits_of(_ROOT_HALF, f.code) - (form.bias << form.mantissa)
    return f.bits.sub(f.bits.bitcast(x, f), offset)


def fraction_of(f: Vectors, shifted: str) -> str:
    """1 + f from shifted bits."""
    fraction = f.bits.and_(shifted, FORMATS[f.code].mantissa_mask)
    return f.bitcast(f.bits.add(fraction, bits_of(_ROOT_HALF, f.code)), f.bits)


def exponent_of(f: Vectors, shifted: str, zero: Operand) -> str:
    """k as a float; `zero` is 2^mantissa plus what the exponent field holds for k = 0."""
    form = FORMATS[f.code]
    biased = f.bits.lshr(shifted, form.mantissa)
    counted = f.bits.or_(biased, bits_of(2.0**form.mantissa, f.code))
    return f.fsub(f.bitcast(counted, f.bits), zero)


def _of_fraction(f: Vectors, rest: str) -> tuple[str, str]:
    """log(1 + rest) as a sum of two floats, of which the second may be a tenth of the first."""
    square = f.fmul(rest, rest)
    main, lost = multiply_add(f, square, -0.5, rest)
    return main, f.fma(f.fmul(square, rest), f.polynomial(rest, LOG1P[f.code]), lost)


def _sum(f: Vectors, k: str, two: Fraction, main: str, tail: str) -> str:
    """k log(2) + main + tail for a small tail; only the last sum rounds visibly."""
    form = FORMATS[f.code]
    # So short a first part that its product with any k is exact.
    unit = Fraction(2) ** (form.bias.bit_length() + 1 - form.mantissa)
    high = round(two / unit) * unit
    total, lost = add(f, f.fmul(k, float(high)), main)
    if two != high:
        tail = f.fma(k, nearest(two - high, f.code), tail)
    return f.fadd(total, f.fadd(lost, tail))


def _logarithm(f: Vectors, x: str, two: Fraction, e: Fraction) -> str:
    """The logarithm of a base of which the logarithms of 2 and of e are given."""
    form = FORMATS[f.code]
    subnormal = f.fcmp("olt", x, form.smallest_normal)
    normal = f.select(subnormal, f.fmul(x, 2.0 ** (form.mantissa + 1)), x)
    zero = 2.0**form.mantissa + form.bias
    shifted = shift(f, normal)
    k = exponent_of(f, shifted, f.select(subnormal, zero + form.mantissa + 1, zero))
    rest = f.fsub(fraction_of(f, shifted), 1.0)
    main, tail = _of_fraction(f, rest)
    if e != 1:
        high, low = split(e, f.code, 2)
        product = f.fmul(main, high)
        product_low = f.fma(main, low, f.fma(main, high, f.fneg(product)))
        main, tail = product, f.fma(tail, high, product_low)
    value = _sum(f, k, two, main, tail)
    value = f.select(f.fcmp("olt", x, INFINITY), value, x)
    outside = f.select(f.fcmp("oeq", x, 0.0), -INFINITY, NAN)
    return f.select(f.fcmp("ogt", x, 0.0), value, outside)


def log(f: Vectors, x: str) -> str:
    return _logarithm(f, x, LN2, Fraction(1))


def log2(f: Vectors, x: str) -> str:
    return _logarithm(f, x, Fraction(1), LOG2_E)


def log10(f: Vectors, x: str) -> str:
    return _logarithm(f, x, LOG10_2, LOG10_E)


def _log1p(f: Vectors, x: str, x_low: str | None = None, doubled: str | None = None) -> str:
    """log(1 + x + x_low) for a finite x > -1, plus log(2) where the mask `doubled` holds."""
    form = FORMATS[f.code]
    shifted = shift(f, f.fadd(x, 1.0))
    zero = 2.0**form.mantissa + form.bias
    moved = zero if doubled is None else f.select(doubled, zero - 1.0, zero)
    k = exponent_of(f, shifted, moved)
    # 2^(2 - k) and not 2^-k, which is subnormal for the largest x; so it gives 4f.
    exponent = f.bits.and_(shifted, form.exponent_mask)
    scale = f.bitcast(f.bits.sub((2 * form.bias + 2) << form.mantissa, exponent), f.bits)
    fourfold, lost = multiply_add(f, x, scale, f.fsub(scale, 4.0))
    if x_low is not None:
        lost = f.fma(x_low, scale, lost)
    rest = f.fmul(fourfold, 0.25)
    main, tail = _of_fraction(f, rest)
    # What 4f lacks counts to first order, divided by 1 + f.
    tail = f.fma(lost, f.fma(rest, -0.25, 0.25), tail)
    return _sum(f, k, LN2, main, tail)


def log1p(f: Vectors, x: str) -> str:
    # The sign of the result is that of x, which restores a negative zero.
    value = f.select(f.fcmp("olt", x, INFINITY), _log1p(f, x), x)
    outside = f.select(f.fcmp("oeq", x, -1.0), INFINITY, NAN)
    return f.copysign(f.select(f.fcmp("ogt", x, -1.0), value, outside), x)


def asinh(f: Vectors, x: str) -> str:
    # log1p(a + (sqrt(1 + a^2) - 1)) for a = |x|.
    a = f.fabs(x)
    square = f.fmul(a, a)
    above = f.fadd(square, 1.0)
    above_low = f.fadd(f.fsub(square, f.fsub(above, 1.0)), f.fma(a, a, f.fneg(square)))
    root, root_low = square_root(f, above, above_low)
    value = _log_of_sum(f, a, f.fsub(root, 1.0), root_low, a)
    return f.copysign(f.select(f.fcmp("olt", a, INFINITY), value, a), x)


def acosh(f: Vectors, x: str) -> str:
    # log1p(sqrt(x^2 - 1) + (x - 1)).
    square = f.fmul(x, x)
    below, lost = add(f, square, f.constant(-1.0))
    root, root_low = square_root(f, below, f.fadd(lost, f.fma(x, x, f.fneg(square))))
    value = _log_of_sum(f, root, f.fsub(x, 1.0), root_low, x)
    value = f.select(f.fcmp("olt", x, INFINITY), value, x)
    return f.select(f.fcmp("oge", x, 1.0), value, NAN)


def _log_of_sum(f: Vectors, larger: str, smaller: str, low: str, x: str) -> str:
    """log1p(larger + smaller + low), or log(2x) where x is so large that its square overflows."""
    large = f.fcmp("ogt", x, _LARGE[f.code])
    total, lost = add(f, larger, smaller)
    total, low = add(f, total, f.fadd(lost, low))
    return _log1p(f, f.select(large, x, total), f.select(large, 0.0, low), large)


def atanh(f: Vectors, x: str) -> str:
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
