"""erf and erfc.

Below about 1, erf(x) = x (1 + p(x^2)). Above, erf in f32 is a polynomial of |x|, and otherwise
comes from

    erfc(x) = exp(-x^2) h((x - c) / (x + c)) / (x + c)

where h varies between 0.56 and 2.2. erfc in f32 is computed in f64, in which x^2 is exact; in f64
the low part of x^2 and the error of 1 / (x + c) are carried along.
"""

from __future__ import annotations

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.devices.llvm.math.compensated import add, multiply_add
from ogive.compiler.devices.llvm.math.exponential import (
    EXP,
    EXPM1,
    clamp,
    power_of_two,
    reduce,
    reduce_exactly,
    scale,
)
from ogive.compiler.devices.llvm.math.float_formats import FORMATS

# erf(x) / x - 1 in x^2 on |x| <= 1 in f32, 1.125 in f64; relative error of erf: 2^-29.4, 2^-56.
ERF = {
    "f32": (
        0.12837917, -0.37612626, 0.11283579, -0.026853347, 0.0051871627, -0.00079978653,
        7.806982e-05,
    ),
    "f64": (
        0.12837916709551256, -0.37612638903183426, 0.11283791670943213, -0.026866170643364395,
        0.0052239776116220615, -0.0008548326373895579, 0.0001205531323544033,
        -1.4925245354092353e-05, 1.6456388667359644e-06, -1.6309793115127194e-07,
        1.443192146386933e-08, -1.0629991775015988e-09, 4.887814668979119e-11,
    ),
}  # fmt: skip
# erf(x) in x - 2.4375 on 1 <= x <= 4; relative error 2^-26.5.
ERF_FAR = (
    0.99943346, 0.002965681, -0.0072292252, 0.010759933, -0.010700502, 0.007200219,
    -0.0030077044, 0.00039057562, 0.0004233326, -0.00031664709, 6.545436e-05, 2.9646058e-05,
    -1.6006932e-05, -2.862489e-07, 9.1502193e-07,
)  # fmt: skip
# h for c = 4; relative error: f32 2^-28.4 for 1 <= x <= 10.3, f64 2^-55.6 for 0.8 <= x <= 27.5,
# to which the f64 constant term needs its low part.
ERFC = {
    "f32": (
        1.0959956585192654, -0.9765487041271058, 0.7732090992298072, -0.5408553498010914,
        0.33084132210828276, -0.1739875223559682, 0.07647560844043952, -0.026502235017080003,
        0.005758885232961975,
    ),
    "f64": (
        1.095995661000491, -0.9765487290808814, 0.7732087022652366, -0.5408538313133129,
        0.3308515878780727, -0.17401093723684458, 0.07638151490676887, -0.026370053396064536,
        0.006112055704651153, -0.0002809583219900631, -0.00045505319353892964,
        0.00017680971199737146, -3.632074591818735e-06, -1.8850175609164282e-05,
        4.683097613401751e-06, 1.4022875084534012e-06, -8.216603199861223e-07,
        -5.109978198592011e-08, 9.482893862076874e-08, -1.0489830511254304e-08,
    ),
}  # fmt: skip
ERFC_LOW = 5.757254511326975e-17
# The derivative of h, to a tenth.
_ERFC_SLOPE = (-0.9479, 1.5471, -2.0806, 1.4666)

_CENTRE = 4.0
_ERF_NEAR = {"f32": 1.0, "f64": 1.125}
# erf rounds to 1 above; erfc is zero above.
_ERF_LIMIT = {"f32": 4.0, "f64": 6.0}
_ERFC_LIMIT = {"f32": 10.25, "f64": 27.5}


def erf(f: Vectors, x: str) -> str:
    magnitude = f.at_most(f.fabs(x), _ERF_LIMIT[f.code])
    near = f.fma(x, _excess(f, x), x)
    if f.code == "f32":
        far = f.polynomial(f.fsub(magnitude, 2.4375), ERF_FAR)
    else:
        far = f.fsub(1.0, _tail(f, magnitude, "f64"))
    return f.select(f.fcmp("olt", magnitude, _ERF_NEAR[f.code]), near, f.copysign(far, x))


def _excess(f: Vectors, x: str) -> str:
    """erf(x) / x - 1 for |x| <= 1, or a little more in f64."""
    square = f.fmul(x, x)
    if f.code == "f32":
        return f.polynomial(square, ERF["f32"])
    # The last but one of the sums has a low part. So has the square: it counts times the
    # derivative where it shows.
    first, second, *others = ERF["f64"]
    value, lost = multiply_add(f, square, f.polynomial(square, tuple(others)), f.constant(second))
    low = f.fma(f.fma(x, x, f.fneg(square)), -0.25, f.fmul(square, lost))
    return f.fadd(f.fma(square, value, first), low)


def _tail(f: Vectors, x: str, precision: str) -> str:
    """erfc(x) for x >= 1 in f64."""
    square = f.fmul(x, x)
    k, r = reduce(f, f.fneg(square), FORMATS["f64"].bias)
    shifted = f.fadd(x, _CENTRE)
    reciprocal = f.fdiv(1.0, shifted)
    if precision == "f64":
        # Where it shows, near 1, h falls about as fast as the reciprocal does: so what that lacks,
        # relative to itself, counts twice. It joins the exponent, as the low part of x^2 does.
        minus = f.fneg(reciprocal)
        lost = f.fsub(x, f.fsub(shifted, _CENTRE))
        error = f.fma(minus, lost, f.fma(minus, shifted, 1.0))
        square_low = f.fma(x, x, f.fneg(square))
        r = f.fadd(r, f.fma(error, 2.0, f.fneg(square_low)))
    exponential = f.fmul(f.polynomial(r, EXP[precision]), power_of_two(f, k))
    h = f.polynomial(f.fmul(f.fsub(x, _CENTRE), reciprocal), ERFC[precision])
    return f.fmul(exponential, f.fmul(h, reciprocal))


def erfc(f: Vectors, x: str) -> str:
    return _erfc_f32(f, x) if f.code == "f32" else _erfc_f64(f, x)


def _erfc_f32(narrow: Vectors, narrow_x: str) -> str:
    limit = _ERFC_LIMIT["f32"]
    f = narrow.of("f64")
    x = f.fpext(clamp(narrow, narrow_x, (-limit, limit)), narrow)
    magnitude = f.fabs(x)
    tail = _tail(f, magnitude, "f32")
    far = f.select(f.fcmp("olt", x, 0.0), f.fsub(2.0, tail), tail)
    near = f.fma(x, f.polynomial(f.fmul(x, x), ERF["f32"]), x)
    value = f.select(f.fcmp("olt", magnitude, 1.0), f.fsub(1.0, near), far)
    return narrow.fptrunc(value, f)


def _erfc_f64(f: Vectors, x: str) -> str:
    magnitude = f.at_most(f.fabs(x), _ERFC_LIMIT["f64"])
    square = f.fmul(magnitude, magnitude)
    square_low = f.fma(magnitude, magnitude, f.fneg(square))
    k, high, low = reduce_exactly(f, f.fneg(square), 2 * FORMATS["f64"].bias)
    # `error` is what the reciprocal lacks, relative to itself.
    shifted = f.fadd(magnitude, _CENTRE)
    shifted_low = f.fsub(magnitude, f.fsub(shifted, _CENTRE))
    reciprocal = f.fdiv(1.0, shifted)
    minus = f.fneg(reciprocal)
    error = f.fma(minus, shifted_low, f.fma(minus, shifted, 1.0))
    rounded = f.fma(reciprocal, -2 * _CENTRE, 1.0)
    lost = f.fma(reciprocal, -2 * _CENTRE, f.fsub(1.0, rounded))
    lost = f.fma(f.fmul(reciprocal, error), -2 * _CENTRE, lost)
    variable, variable_low = add(f, rounded, lost)
    # h and h / (x + c) with their rounding errors, so that only the last sums round visibly.
    first, second, third, *others = ERFC["f64"]
    h = f.polynomial(variable, tuple(others))
    h_low = f.constant(0.0)
    for coefficient in (third, second, first):
        h, lost = multiply_add(f, variable, h, f.constant(coefficient))
        h_low = f.fma(variable, h_low, lost)
    slope = f.polynomial(variable, _ERFC_SLOPE)
    h_low = f.fadd(h_low, f.fma(variable_low, slope, ERFC_LOW))
    quotient = f.fmul(h, reciprocal)
    quotient_low = f.fma(h_low, reciprocal, f.fma(h, reciprocal, f.fneg(quotient)))
    # exp(r) = 1 + high + p; what is missing joins p.
    r = f.fadd(high, low)
    missing = f.fsub(error, square_low)
    p = f.fma(f.fmul(r, r), f.polynomial(r, EXPM1["f64"]), low)
    p = f.fadd(p, f.fma(missing, f.fadd(high, p), missing))
    value, value_low = multiply_add(f, quotient, high, quotient)
    value_low = f.fadd(value_low, f.fma(quotient_low, r, quotient_low))
    tail = scale(f, f.fadd(value, f.fma(quotient, p, value_low)), k)
    far = f.select(f.fcmp("olt", x, 0.0), f.fsub(2.0, tail), tail)
    # 1 - erf(x) as (1 - x) - x p(x^2).
    product = f.fmul(x, _excess(f, x))
    below, lost = add(f, f.constant(1.0), f.fneg(x))
    near = f.fadd(below, f.fsub(lost, product))
    return f.select(f.fcmp("olt", magnitude, 0.8), near, far)
