"""asin, acos, atan and atan2.

atan and atan2 take quotients of at most tan(pi/8), asin and acos take sqrt((1 - |x|) / 2) where
|x| > 1/2, so that one minimax polynomial in the square serves each; quotients, roots, constants and
sums of what is large have low parts.
"""

from __future__ import annotations

from fractions import Fraction

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.devices.llvm.math.compensated import add, divide, multiply_add, square_root
from ogive.compiler.devices.llvm.math.float_formats import FORMATS, NAN, PI, nearest, split

# (atan(x) - x) / x^3 in x^2 on |x| <= tan(pi/8); relative error of atan: f32 2^-30.3, f64 2^-59.3.
ATAN = {
    "f32": (-0.33333316, 0.1999853, -0.14244433, 0.10599557, -0.06091211),
    "f64": (
        -0.333333333333332, 0.1999999999995366, -0.14285714280197584, 0.11111110783358838,
        -0.09090897752747074, 0.07692060113234862, -0.06663102912598695, 0.05847881955770899,
        -0.050392781133349746, 0.03806409251542039, -0.017906954217652274,
    ),
}  # fmt: skip
# (asin(x) - x) / x^3 in x^2 on |x| <= 1/2; relative error of asin: f32 2^-27.5, f64 2^-55.9.
ASIN = {
    "f32": (0.16666752, 0.0749531, 0.0454693, 0.024181575, 0.042169478),
    "f64": (
        0.1666666666666541, 0.07500000000336594, 0.044642856828578284, 0.030381959129849756,
        0.022371758158548857, 0.017359703946845547, 0.013885236240123205, 0.012169251626988236,
        0.00652761412830758, 0.019529758212582588, -0.01622737730897422, 0.031914941777853305,
    ),
}  # fmt: skip


_TAN_PI_8 = 2.0**0.5 - 1.0
# atan rounds to pi/2 above. To divide, atan2 scales a divisor below by the first factor, one above
# by the second: then neither remainders nor reciprocals underflow where it shows.
_LARGE = {"f32": 2.0**60, "f64": 2.0**500}
_FACTORS = {"f32": (2.0**60, 2.0**-30), "f64": (2.0**500, 2.0**-250)}
# More than any finite divisor that has been scaled.
_BEYOND = {"f32": 2.0**121, "f64": 2.0**1001}


def _quotient(f: Vectors, smaller: str, larger: str) -> tuple[str, str, str]:
    """Where smaller / larger > tan(pi/8), and a quotient with its low part: (s - l) / (s + l)
    there, whose arctangent is pi/4 less, and smaller / larger elsewhere."""
    middle = f.fcmp("ogt", smaller, f.fmul(f.at_most(larger, _BEYOND[f.code]), _TAN_PI_8))
    difference, total = add(f, f.fneg(larger), smaller), add(f, larger, smaller)
    dividend = f.select(middle, difference[0], smaller), f.select(middle, difference[1], 0.0)
    divisor = f.select(middle, total[0], larger), f.select(middle, total[1], 0.0)
    return middle, *divide(f, dividend, divisor)


def _arctangent(f: Vectors, x: str, x_low: str, mirrored: str, base: str) -> str:
    """base + atan(x), or base - atan(x) where it is mirrored, for a base of `_multiple_of_pi`."""
    x, x_low = (f.select(mirrored, f.fneg(part), part) for part in (x, x_low))
    square = f.fmul(x, x)
    short = _multiple_of_pi(f.code, 1)
    # The derivative is 1 / (1 + x^2), about.
    derivative = f.fsub(1.0, square)
    low = f.fma(x_low, derivative, f.fmul(base, nearest(PI / Fraction(short) - 1, f.code)))
    tail = f.fma(f.fmul(square, x), f.polynomial(square, ATAN[f.code]), low)
    main, lost = add(f, base, x)
    return f.fadd(main, f.fadd(lost, tail))


def _multiple_of_pi(dtype: str, factor: float) -> float:
    """factor * pi, short of low bits: so few are left that a factor of 3/4 is exact."""
    unit = Fraction(2) ** (3 - FORMATS[dtype].mantissa)
    return float(round(PI / unit) * unit) * factor


def atan(f: Vectors, x: str) -> str:
    magnitude = f.at_most(f.fabs(x), _LARGE[f.code])
    steep = f.fcmp("ogt", magnitude, 1.0)
    smaller, larger = f.select(steep, 1.0, magnitude), f.select(steep, magnitude, 1.0)
    middle, quotient, low = _quotient(f, smaller, larger)
    quarter, half = (_multiple_of_pi(f.code, factor) for factor in (0.25, 0.5))
    base = f.select(middle, quarter, f.select(steep, half, 0.0))
    return f.copysign(_arctangent(f, quotient, low, steep, base), x)


def atan2(f: Vectors, y: str, x: str) -> str:
    across, up = f.fabs(x), f.fabs(y)
    steep = f.fcmp("ogt", up, across)
    smaller, larger = f.select(steep, across, up), f.select(steep, up, across)
    factor = f.select(f.fcmp("olt", larger, _LARGE[f.code]), *_FACTORS[f.code])
    middle, *parts = _quotient(f, f.fmul(smaller, factor), f.fmul(larger, factor))
    # Two zeros and infinities give no quotient, or one without a low part.
    quotient, low = (f.select(f.fcmp("ord", part, part), part, 0.0) for part in parts)
    negative = f.bits.icmp("slt", f.bits.bitcast(x, f), 0)
    quarter, half, whole = (_multiple_of_pi(f.code, factor) for factor in (0.25, 0.5, 1.0))
    straight = f.select(steep, half, f.select(negative, whole, 0.0))
    base = f.select(middle, f.select(negative, 3 * quarter, quarter), straight)
    value = _arctangent(f, quotient, low, f.masks.xor(steep, negative), base)
    return f.copysign(f.select(f.fcmp("uno", x, y), NAN, value), y)


def _half_angle(f: Vectors, magnitude: str) -> tuple[str, str, str]:
    """Whether |x| > 1/2, the argument of asin that serves it, and asin of that less itself."""
    far = f.fcmp("ogt", magnitude, 0.5)
    square = f.select(far, f.fma(magnitude, -0.5, 0.5), f.fmul(magnitude, magnitude))
    root, root_low = square_root(f, square)
    root, root_low = f.select(far, root, magnitude), f.select(far, root_low, 0.0)
    cube = f.fmul(square, root)
    return far, root, f.fma(cube, f.polynomial(square, ASIN[f.code]), root_low)


def asin(f: Vectors, x: str) -> str:
    high, low = split(PI / 2, f.code, 2)
    far, root, tail = _half_angle(f, f.fabs(x))
    main, lost = multiply_add(f, root, -2.0, f.constant(high))
    value = f.fadd(main, f.fma(tail, -2.0, f.fadd(lost, low)))
    return f.copysign(f.select(far, value, f.fadd(root, tail)), x)


def acos(f: Vectors, x: str) -> str:
    # Near 0: pi/2 - asin(x). Far from it: 2 angle on the right, 2 (pi/2 - angle) on the left.
    high, low = split(PI / 2, f.code, 2)
    far, root, tail = _half_angle(f, f.fabs(x))
    away = f.select(far, root, x)
    away_low = f.select(far, tail, f.copysign(tail, x))
    main, lost = add(f, f.constant(high), f.fneg(away))
    left = f.fadd(main, f.fadd(lost, f.fsub(low, away_low)))
    value = f.select(f.fcmp("ogt", x, 0.5), f.fadd(root, tail), left)
    return f.select(far, f.fadd(value, value), value)
