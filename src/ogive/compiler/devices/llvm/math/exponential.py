"""exp, exp2, expm1 and the hyperbolic functions.

All write x = k ln 2 + r with an integer k and |r| <= (ln 2) / 2, evaluate a polynomial of r, and
scale by powers of two made directly from exponent bits. With H + L = ln 2, h = x - k H is exact by
fma and r = h - k L rounds once. exp lives with that; the others sum 2^k, 2^k h and what is small
beside them, - k L and the polynomial, so that only the last sum rounds visibly.

Here and elsewhere polynomials are minimax, but for the rounding of their coefficients: each is
rounded and the rest fitted again (`tests/compiler/devices/llvm/minimax.py`).
"""

from __future__ import annotations

from ogive.compiler.devices.llvm.ir_text import Operand, Vectors
from ogive.compiler.devices.llvm.math.compensated import add, multiply_add
from ogive.compiler.devices.llvm.math.float_formats import FORMATS, LN2, LOG2_E, nearest, split
from ogive.compiler.targets.target import Scaling

# (exp(r) - 1 - r) / r^2 on |r| <= 0.347; relative error of expm1: f32 2^-30.1, f64 2^-61.5.
EXPM1 = {
    "f32": (0.5, 0.16666666, 0.041666493, 0.0083335405, 0.0013933092, 0.00019798017),
    "f64": (
        0.5, 0.16666666666666677, 0.041666666666666685, 0.00833333333332179,
        0.0013888888888893773, 0.00019841269885385448, 2.48015872782456e-05,
        2.7557245078827237e-06, 2.755733059583076e-07, 2.5108721453051256e-08,
        2.0893492992307355e-09,
    ),
}  # fmt: skip
# exp(r) on the same; relative error: f32 2^-27.4, f64 2^-63.
EXP = {
    "f32": (1.0, 1.0, 0.49999997, 0.16666546, 0.041667435, 0.008366273, 0.0013870697),
    "f64": (1.0, 1.0, *EXPM1["f64"]),
}
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
# (sinh(r) - r) / r^3 in r^2 on |r| <= 0.347; relative error of sinh: f32 2^-34.3, f64 2^-61.7.
SINH = {
    "f32": (0.16666667, 0.008333175, 0.00019974033),
    "f64": (
        0.16666666666666677, 0.008333333333321374, 0.00019841269886875152,
        2.755724336429086e-06, 2.5109360841013387e-08,
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

# Beyond these exp is infinite or zero even after rounding; k stays within what scaling can do.
_EXP_RANGE = {"f32": (-105.0, 89.5), "f64": (-746.0, 710.5)}
_EXP2_RANGE = {"f32": (-152.0, 129.0), "f64": (-1077.0, 1025.0)}
# expm1 rounds to -1 below, and overflows above with k = bias + 1 and a positive r.
_EXPM1_RANGE = {"f32": (-17.5, 88.8), "f64": (-37.5, 709.8)}
# sinh and cosh overflow above, with k = bias + 2.
_COSH_LIMIT = {"f32": 89.5, "f64": 710.5}
# tanh rounds to 1 above half of these.
_TANH_LIMIT = {"f32": 20.0, "f64": 40.0}
# Below these expm1(x) and sinh(x) round to x.
_TINY = {"f32": 2.0**-25, "f64": 2.0**-54}


def reduce(f: Vectors, x: str, offset: int) -> tuple[str, str]:
    """k + offset in the low bits of an integer, and r, for x = k ln 2 + r."""
    shifted, k, high = _without_multiple(f, x, offset)
    return shifted, f.fma(k, -split(LN2, f.code, 2)[1], high)


def reduce_exactly(f: Vectors, x: str, offset: int) -> tuple[str, str, str]:
    """k + offset in the low bits of an integer, and r as a sum of two floats, the first exact."""
    shifted, k, high = _without_multiple(f, x, offset)
    return shifted, high, f.fmul(k, -split(LN2, f.code, 2)[1])


def _without_multiple(f: Vectors, x: str, offset: int) -> tuple[str, str, str]:
    """k + offset in the low bits of an integer, k, and x - k H, which is exact."""
    shifter = FORMATS[f.code].shifter + offset
    shifted = f.fma(x, nearest(LOG2_E, f.code), shifter)
    k = f.fsub(shifted, shifter)
    return f.bits.bitcast(shifted, f), k, f.fma(k, -split(LN2, f.code, 2)[0], x)


def power_of_two(f: Vectors, biased: Operand) -> str:
    """2**(biased - bias) from the low bits of an integer."""
    return f.bitcast(f.bits.shl(biased, FORMATS[f.code].mantissa), f.bits)


def scale(f: Vectors, value: str, k: str) -> str:
    """value * 2**n for k = n + 2 * bias as `reduce` gives it, rounded once even where the result is
    subnormal: so an instruction for it gives the same bits."""
    if f.scaling is not None:
        zero = FORMATS[f.code].shifter + 2 * FORMATS[f.code].bias
        exponent = f.fsub(f.bitcast(k, f.bits), zero)
        return _scale_registers(f, value, exponent, f.scaling)
    half = f.bits.lshr(k, 1)
    rest = f.bits.sub(k, half)
    return f.fmul(f.fmul(value, power_of_two(f, half)), power_of_two(f, rest))


def _scale_registers(f: Vectors, value: str, exponent: str, scaling: Scaling) -> str:
    """value * 2**exponent by the target's instruction, one register after the other."""
    register, result = f.of(f.code, scaling.lanes), "poison"
    types = [register.type] * 3 + [f"i{scaling.lanes}", "i32"]
    for first in range(0, f.lanes, scaling.lanes):
        factor, power = [register.part(whole, f, first) for whole in (value, exponent)]
        # No lane is masked out; 4 rounds as everything else does.
        operands = [factor, power, "poison", "-1", "4"]
        scaled = f.text.intrinsic(register.type, scaling.intrinsic, types, operands)
        result = f.with_part(result, scaled, register, first)
    return result


def clamp(f: Vectors, x: str, limits: tuple[float, float]) -> str:
    return f.at_least(f.at_most(x, limits[1]), limits[0])


def exp(f: Vectors, x: str) -> str:
    lowest, highest = _EXP_RANGE[f.code]
    x = f.at_least(x, lowest)
    # An instruction for the scaling overflows by itself, whatever r is by then: the polynomial has
    # an even degree and no zero, and an infinite exponent counts for more than a NaN beside it.
    if f.scaling is None:
        x = f.at_most(x, highest)
    k, r = reduce(f, x, 2 * FORMATS[f.code].bias)
    return scale(f, f.polynomial(r, EXP[f.code]), k)


def exp2(f: Vectors, x: str) -> str:
    shifter = FORMATS[f.code].shifter + 2 * FORMATS[f.code].bias
    x = clamp(f, x, _EXP2_RANGE[f.code])
    shifted = f.fadd(x, shifter)
    r = f.fsub(x, f.fsub(shifted, shifter))
    value = f.polynomial(r, (1.0, *EXP2[f.code]))
    return scale(f, value, f.bits.bitcast(shifted, f))


def _half_expm1(f: Vectors, x: str, growing: bool) -> tuple[str, str]:
    """expm1(x) / 2 as a sum of two floats; half of it, since 2^k itself may overflow.

    2^k - 1 rounds where k is large or far below 0. What it loses is in the second float for large
    k if `growing`, and for the others if not.
    """
    shifted, high, low = reduce_exactly(f, x, FORMATS[f.code].bias - 1)
    r = f.fadd(high, low)
    if f.code == "f64":
        # To first order, what rounding r changes below. In f32 it rounds for large k only.
        low = f.fma(r, f.fadd(f.fsub(high, r), low), low)
    tail = f.fma(f.fmul(r, r), f.polynomial(r, EXPM1[f.code]), low)
    unit = power_of_two(f, shifted)
    minus_half = f.constant(-0.5)
    base, base_low = add(f, unit, minus_half) if growing else add(f, minus_half, unit)
    total, lost = multiply_add(f, unit, high, base)
    return total, f.fma(unit, tail, f.fadd(lost, base_low))


def expm1(f: Vectors, x: str) -> str:
    half = f.fadd(*_half_expm1(f, clamp(f, x, _EXPM1_RANGE[f.code]), growing=True))
    # Halving would round a subnormal, and the sum loses the sign of a zero.
    tiny = f.fcmp("olt", f.fabs(x), _TINY[f.code])
    return f.select(tiny, x, f.fadd(half, half))


def _hyperbolic(f: Vectors, x: str, sign: int) -> str:
    """(exp(|x|) + sign exp(-|x|)) / 2."""
    # With c = cosh(r) - 1, s = sinh(r) - r, u = 2^k and d = 2^-k, twice the result is
    # (u + sign d) (1 + c) + (u - sign d) (r + s). A quarter of each: 2^k itself may overflow.
    form = FORMATS[f.code]
    limited = f.at_most(f.fabs(x), _COSH_LIMIT[f.code])
    shifted, high, low = reduce_exactly(f, limited, form.bias - 2)
    r = f.fadd(high, low)
    square = f.fmul(r, r)
    even = f.fmul(square, f.polynomial(square, COSH[f.code]))
    odd = f.fma(f.fmul(square, r), f.polynomial(square, SINH[f.code]), low)
    # 2^-k stops mattering long before its exponent would leave the format.
    biased = f.bits.and_(shifted, 2 * form.bias + 1)
    opposite = f.bits.intrinsic("smax", f.bits.sub(2 * form.bias - 4, biased), 0)
    up, down = power_of_two(f, biased), power_of_two(f, opposite)
    opposed = f.fneg(down)
    outer, outer_low = add(f, up, down if sign > 0 else opposed)
    inner = f.fadd(up, opposed if sign > 0 else down)
    total, lost = multiply_add(f, inner, high, outer)
    tail = f.fma(outer, even, f.fma(inner, odd, f.fadd(lost, outer_low)))
    half = f.fadd(total, tail)
    return f.fadd(half, half)


def sinh(f: Vectors, x: str) -> str:
    # Halving would round a subnormal.
    tiny = f.fcmp("olt", f.fabs(x), _TINY[f.code])
    return f.select(tiny, x, f.copysign(_hyperbolic(f, x, -1), x))


def cosh(f: Vectors, x: str) -> str:
    return _hyperbolic(f, x, 1)


def tanh(f: Vectors, x: str) -> str:
    # t = -e / (1 + e) for e = expm1(-2|x|) / 2; then what is left of e + t + t e, in which e + t is
    # exact, corrects t.
    double = f.at_least(f.fmul(f.fabs(x), -2.0), -_TANH_LIMIT[f.code])
    e, e_low = add(f, *_half_expm1(f, double, growing=False))
    reciprocal = f.fdiv(-1.0, f.fadd(e, 1.0))
    t = f.fmul(e, reciprocal)
    left = f.fadd(f.fma(t, e, f.fadd(t, e)), e_low)
    return f.copysign(f.fma(f.fma(t, e_low, left), reciprocal, t), x)
