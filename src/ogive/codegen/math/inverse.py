"""asin, acos, atan and atan2.

atan takes 1/x where |x| > 1, asin and acos take sqrt((1 - |x|) / 2) where |x| > 1/2, so that one
minimax polynomial in the square serves each; constants are added with their low parts.
"""

from __future__ import annotations

from ogive.codegen.math.formats import NAN, PI, split
from ogive.codegen.text import Block

# (atan(x) - x) / x^3 in x^2 on |x| <= 1; relative error of atan: f32 2^-28.5, f64 2^-57.6.
ATAN = {
    "f32": (
        -0.333333, 0.1999853, -0.14264014, 0.1095086, -0.083991945, 0.057878435, -0.031092875,
        0.0108658, -0.0017820159,
    ),
    "f64": (
        -0.3333333333333307, 0.19999999999951737, -0.14285714282587145, 0.11111111007311258,
        -0.09090907007220253, 0.07692279881862399, -0.06666404363845954, 0.058805294455715376,
        -0.05253525138024265, 0.04722342705452013, -0.04219228578455313, 0.036642851085783024,
        -0.029905251920663928, 0.02198646034305117, -0.013901985397877771, 0.007197455676418588,
        -0.0028853819299541985, 0.000831476693113831, -0.0001521926007653386,
        1.3228081513487267e-05,
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


def _odd(f: Block, x: str, square: str, coefficients: tuple[float, ...]) -> str:
    """x + x^3 p(x^2)."""
    return f.fma(f.fmul(square, x), f.polynomial(square, coefficients), x)


def _atan(f: Block, x: str, base: str) -> str:
    """atan(x) + base for |x| <= 1 and a base that is a multiple of pi/2 with its low part lost."""
    pi_high, pi_low = split(PI, f.dtype, 2)
    value = _odd(f, x, f.fmul(x, x), ATAN[f.dtype])
    return f.fadd(base, f.fma(base, pi_low / pi_high, value))


def atan(f: Block, x: str) -> str:
    magnitude = f.fabs(x)
    steep = f.fcmp("ogt", magnitude, 1.0)
    argument = f.select(steep, f.fdiv(-1.0, magnitude), magnitude)
    base = f.select(steep, split(PI, f.dtype, 1)[0] / 2, 0.0)
    return f.copysign(_atan(f, argument, base), x)


def atan2(f: Block, y: str, x: str) -> str:
    pi = split(PI, f.dtype, 1)[0]
    across, up = f.fabs(x), f.fabs(y)
    steep = f.fcmp("ogt", up, across)
    smaller, larger = f.select(steep, across, up), f.select(steep, up, across)
    # Equal magnitudes give 1 even if infinite, but two zeros give 0.
    diagonal = f.masks.and_(f.fcmp("oeq", up, across), f.fcmp("one", up, 0.0))
    flat = f.fcmp("oeq", smaller, 0.0)
    ratio = f.select(diagonal, 1.0, f.select(flat, smaller, f.fdiv(smaller, larger)))
    negative = f.bits.icmp("slt", f.bits.bitcast(x, f), 0)
    base = f.select(steep, pi / 2, f.select(negative, pi, 0.0))
    turned = f.masks.xor(steep, negative)
    value = _atan(f, f.select(turned, f.fneg(ratio), ratio), base)
    value = f.select(f.fcmp("uno", x, y), NAN, value)
    return f.copysign(value, y)


def _half_angle(f: Block, magnitude: str) -> tuple[str, str, str]:
    """Whether |x| > 1/2, the argument of asin that serves it, and asin of that less itself."""
    far = f.fcmp("ogt", magnitude, 0.5)
    square = f.select(far, f.fma(magnitude, -0.5, 0.5), f.fmul(magnitude, magnitude))
    root = f.select(far, f.sqrt(square), magnitude)
    return far, root, f.fmul(f.fmul(square, root), f.polynomial(square, ASIN[f.dtype]))


def asin(f: Block, x: str) -> str:
    high, low = split(PI / 2, f.dtype, 2)
    far, root, tail = _half_angle(f, f.fabs(x))
    main = f.fma(root, -2.0, high)
    lost = f.fma(root, -2.0, f.fsub(high, main))
    value = f.fadd(main, f.fma(tail, -2.0, f.fadd(lost, low)))
    return f.copysign(f.select(far, value, f.fadd(root, tail)), x)


def acos(f: Block, x: str) -> str:
    # Near 0: pi/2 - asin(x). Far from it: 2 angle on the right, pi - 2 angle on the left.
    high, low = split(PI / 2, f.dtype, 2)
    far, root, tail = _half_angle(f, f.fabs(x))
    angle = f.fadd(root, tail)
    double = f.fadd(angle, angle)
    left = f.fcmp("olt", x, 0.0)
    from_pi = f.fadd(f.fsub(2 * low, double), 2 * high)
    near = f.fadd(f.fsub(low, f.copysign(angle, x)), high)
    return f.select(far, f.select(left, from_pi, double), near)
