"""exp, exp2, expm1 and the hyperbolic functions.

All write x = k ln 2 + r with an integer k and |r| <= (ln 2) / 2, evaluate a polynomial of r, and
scale by powers of two made directly from exponent bits. The reduction r = (x - k H) - k L with
H + L = ln 2 loses nothing: by fma the first step is exact.

Polynomials are minimax (Remez exchange, each coefficient rounded and the rest fitted again).
"""

from __future__ import annotations

from ogive.codegen.math.formats import FORMATS, LN2, LOG2_E, nearest, split, stretched
from ogive.codegen.text import Block, Operand
from ogive.device.target import Scaling

# (exp(r) - 1 - r) / r^2 on |r| <= 0.347; relative error of expm1: f32 2^-26.1, f64 2^-61.5.
EXPM1 = {
    "f32": (0.49999997, 0.16666546, 0.041667435, 0.008366273, 0.0013870697),
    "f64": (
        0.5, 0.16666666666666677, 0.041666666666666685, 0.00833333333332179,
        0.0013888888888893773, 0.00019841269885385448, 2.48015872782456e-05,
        2.7557245078827237e-06, 2.755733059583076e-07, 2.5108721453051256e-08,
        2.0893492992307355e-09,
    ),
}  # fmt: skip
EXP = {dtype: (1.0, 1.0, *coefficients) for dtype, coefficients in EXPM1.items()}
# (2^r - 1) / r on |r| <= 0.5; relative error of 2^r: f32 2^-28.3, f64 2^-57.7.
EXP2 = {
    "f32": (0.6931472, 0.24022648, 0.055503596, 0.009618502, 0.0013390991, 0.00015328133),
    "f64": (
        0.6931471805599453, 0.2402265069591011, 0.05550410866482179, 0.009618129107600789,
        0.0013333558146530484, 0.00015403530449910202, 1.5252733647285044e-05,
        1.3215438434229776e-06, 1.0178155106460309e-07, 7.073299631113763e-09,
        4.439548375252432e-10,
    ),
}  # fmt: skip
# (sinh(r) - r) / r^3 in r^2 on |r| <= 1; relative error of sinh: f32 2^-31.4, f64 2^-63.0.
SINH = {
    "f32": (0.16666667, 0.0083333105, 0.00019842896, 2.782333e-06),
    "f64": (
        0.16666666666666666, 0.008333333333333573, 0.00019841269841061173,
        2.7557319310077796e-06, 2.50520894172155e-08, 1.6061338447294283e-10,
        7.503320512004828e-13, 6.473715442176797e-15,
    ),
}  # fmt: skip
# (cosh(r) - 1) / r^2 in r^2 on |r| <= 0.347; error of cosh: f32 2^-33.2, f64 2^-70.0.
COSH = {
    "f32": (0.5, 0.04166646, 0.0013935438),
    "f64": (
        0.5, 0.041666666666666685, 0.0013888888888873283, 2.480158734920173e-05,
        2.7557251821704086e-07, 2.0921768238323344e-09,
    ),
}  # fmt: skip
# (tanh(x) - x) / x^3 in x^2 on |x| <= 0.55; relative error of tanh: f32 2^-29.7, f64 2^-60.6.
TANH = {
    "f32": (-0.33333316, 0.13332544, -0.05384754, 0.021050658, -0.006242745),
    "f64": (
        -0.333333333333333, 0.1333333333332658, -0.053968253963736876, 0.02186948838517316,
        -0.008863232590234828, 0.0035920919174268753, -0.0014555421220507766, 0.0005884415363176061,
        -0.00023337415719098343, 8.330600479499844e-05, -1.9488368122506196e-05,
    ),
}  # fmt: skip

# Beyond these exp is infinite or zero even after rounding; k stays within what scaling can do.
_EXP_RANGE = {"f32": (-105.0, 89.5), "f64": (-746.0, 710.5)}
_EXP2_RANGE = {"f32": (-152.0, 129.0), "f64": (-1077.0, 1025.0)}
# expm1 rounds to -1 below, and overflows above with k = bias + 1 and a positive r.
_EXPM1_RANGE = {"f32": (-17.5, 88.8), "f64": (-37.5, 709.8)}
# sinh and cosh overflow above, with k = bias + 2.
_COSH_LIMIT = {"f32": 89.5, "f64": 710.5}
# tanh rounds to 1 above.
_TANH_LIMIT = {"f32": 10.0, "f64": 20.0}
# Below these expm1(x) rounds to x.
_TINY = {"f32": 2.0**-25, "f64": 2.0**-54}


def reduce(f: Block, x: str, offset: int) -> tuple[str, str]:
    """k + offset in the low bits of an integer, and r, for x = k ln 2 + r."""
    shifter = FORMATS[f.dtype].shifter + offset
    high, low = split(LN2, f.dtype, 2)
    shifted = f.fma(x, nearest(LOG2_E, f.dtype), shifter)
    k = f.fsub(shifted, shifter)
    r = f.fma(k, -low, f.fma(k, -high, x))
    return f.bits.bitcast(shifted, f), r


def power_of_two(f: Block, biased: Operand) -> str:
    """2**(biased - bias) from the low bits of an integer."""
    return f.bitcast(f.bits.shl(biased, FORMATS[f.dtype].mantissa), f.bits)


def scale(f: Block, value: str, k: str) -> str:
    """value * 2**n for k = n + 2 * bias as `reduce` gives it, rounded once even where the result is
    subnormal: so an instruction for it gives the same bits."""
    if f.scaling is not None:
        zero = FORMATS[f.dtype].shifter + 2 * FORMATS[f.dtype].bias
        exponent = f.fsub(f.bitcast(k, f.bits), zero)
        return _scale_registers(f, value, exponent, f.scaling)
    half = f.bits.lshr(k, 1)
    rest = f.bits.sub(k, half)
    return f.fmul(f.fmul(value, power_of_two(f, half)), power_of_two(f, rest))


def _scale_registers(f: Block, value: str, exponent: str, scaling: Scaling) -> str:
    """value * 2**exponent by the target's instruction, one register after the other."""
    register, masks, result = f.of(f.dtype, scaling.lanes), f"i{scaling.lanes}", "poison"
    kind, symbol = register.type, f"@llvm.{scaling.intrinsic}"
    f.declarations.add(f"declare {kind} {symbol}({kind}, {kind}, {kind}, {masks}, i32)")
    for first in range(0, f.lanes, scaling.lanes):
        factor, power = [register.part(whole, f, first) for whole in (value, exponent)]
        # No lane is masked out; 4 rounds as everything else does.
        operands = f"{kind} {factor}, {kind} {power}, {kind} poison, {masks} -1, i32 4"
        scaled = register.write(f"call {kind} {symbol}({operands})")
        result = f.with_part(result, scaled, register, first)
    return result


def clamp(f: Block, x: str, limits: tuple[float, float]) -> str:
    return f.at_least(f.at_most(x, limits[1]), limits[0])


def exp(f: Block, x: str) -> str:
    lowest, highest = _EXP_RANGE[f.dtype]
    x = f.at_least(x, lowest)
    # An instruction for the scaling overflows by itself, whatever r is by then: the polynomial has
    # an even degree and no zero, and an infinite exponent counts for more than a NaN beside it.
    if f.scaling is None:
        x = f.at_most(x, highest)
    k, r = reduce(f, x, 2 * FORMATS[f.dtype].bias)
    return scale(f, f.polynomial(r, EXP[f.dtype]), k)


def exp2(f: Block, x: str) -> str:
    shifter = FORMATS[f.dtype].shifter + 2 * FORMATS[f.dtype].bias
    x = clamp(f, x, _EXP2_RANGE[f.dtype])
    shifted = f.fadd(x, shifter)
    r = f.fsub(x, f.fsub(shifted, shifter))
    value = f.polynomial(r, (1.0, *EXP2[f.dtype]))
    return scale(f, value, f.bits.bitcast(shifted, f))


def expm1(f: Block, x: str) -> str:
    # Half of the result, (2^k (p + 1) - 1) / 2, since 2^k itself may overflow.
    clamped = clamp(f, x, _EXPM1_RANGE[f.dtype])
    k, r = reduce(f, clamped, FORMATS[f.dtype].bias - 1)
    p = f.fma(f.fmul(r, r), f.polynomial(r, EXPM1[f.dtype]), r)
    half_scale = power_of_two(f, k)
    half = f.fma(half_scale, p, f.fsub(half_scale, 0.5))
    # Halving would round a subnormal, and the sum loses the sign of a zero.
    tiny = f.fcmp("olt", f.fabs(x), _TINY[f.dtype])
    return f.select(tiny, x, f.fadd(half, half))


def _odd(f: Block, r: str, square: str) -> str:
    """sinh(r) for |r| <= 1."""
    return f.fma(f.fmul(square, r), f.polynomial(square, SINH[f.dtype]), r)


def _half_exponentials(f: Block, k: str, odd: str, square: str) -> tuple[str, str, str]:
    """a, b, c with exp(x) / 4 = a + b and exp(-x) / 4 = c, given sinh(r) and r^2."""
    form = FORMATS[f.dtype]
    even = f.fmul(square, f.polynomial(square, COSH[f.dtype]))
    # 2^-k stops mattering long before its exponent would leave the format.
    biased = f.bits.and_(k, 2 * form.bias + 1)
    opposite = f.bits.intrinsic("smax", f.bits.sub(2 * form.bias - 4, biased), 0)
    up, down = power_of_two(f, biased), power_of_two(f, opposite)
    return up, f.fmul(up, f.fadd(even, odd)), f.fma(down, f.fsub(even, odd), down)


def sinh(f: Block, x: str) -> str:
    # Below 1 the odd polynomial is the result; above, it serves r.
    magnitude = f.fabs(x)
    limited = f.at_most(magnitude, _COSH_LIMIT[f.dtype])
    k, r = reduce(f, limited, FORMATS[f.dtype].bias - 2)
    small = f.fcmp("olt", magnitude, 1.0)
    r = f.select(small, magnitude, r)
    square = f.fmul(r, r)
    odd = _odd(f, r, square)
    up, rest, down = _half_exponentials(f, k, odd, square)
    half = f.fadd(up, f.fsub(rest, down))
    return f.copysign(f.select(small, odd, f.fadd(half, half)), x)


def cosh(f: Block, x: str) -> str:
    limited = f.at_most(f.fabs(x), _COSH_LIMIT[f.dtype])
    k, r = reduce(f, limited, FORMATS[f.dtype].bias - 2)
    square = f.fmul(r, r)
    up, rest, down = _half_exponentials(f, k, _odd(f, r, square), square)
    half = f.fadd(up, f.fadd(rest, down))
    return f.fadd(half, half)


def tanh(f: Block, x: str) -> str:
    # x + x^3 t(x^2) near zero, 1 - 2 / (exp(2|x|) + 1) beyond, where an error of exp hardly shows:
    # so r needs no low part.
    magnitude = f.at_most(f.fabs(x), _TANH_LIMIT[f.dtype])
    shifter = FORMATS[f.dtype].shifter + FORMATS[f.dtype].bias
    shifted = f.fma(magnitude, nearest(2 * LOG2_E, f.dtype), shifter)
    r = f.fma(f.fsub(shifted, shifter), -nearest(LN2 / 2, f.dtype), magnitude)
    exponential = f.polynomial(r, stretched(EXP[f.dtype], 2.0))
    unit = power_of_two(f, f.bits.bitcast(shifted, f))
    far = f.fsub(1.0, f.fdiv(2.0, f.fma(unit, exponential, 1.0)))
    square = f.fmul(magnitude, magnitude)
    near = f.fma(f.fmul(square, magnitude), f.polynomial(square, TANH[f.dtype]), magnitude)
    return f.copysign(f.select(f.fcmp("olt", magnitude, 0.55), near, far), x)
