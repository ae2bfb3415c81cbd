"""erf and erfc.

Below 1, erf(x) = x (1 + p(x^2)). Above, erf in f32 is a polynomial of |x|, and otherwise comes from

    erfc(x) = exp(-x^2) h((x - c) / (x + c)) / (x + c)

where h varies between 0.56 and 2.2. erfc in f32 is computed in f64, in which x^2 is exact; in f64
the low part of x^2 and the error of 1 / (x + c) are carried along.
"""

from __future__ import annotations

from ogive.codegen.math.exponential import EXP, EXPM1, clamp, power_of_two, reduce, scale
from ogive.codegen.math.formats import FORMATS
from ogive.codegen.text import Block

# erf(x) / x - 1 in x^2 on |x| <= 1; relative error of erf: f32 2^-29.4, f64 2^-56.0.
ERF = {
    "f32": (
        0.12837917, -0.37612626, 0.11283579, -0.026853347, 0.0051871627, -0.00079978653,
        7.806982e-05,
    ),
    "f64": (
        0.12837916709551256, -0.37612638903183343, 0.11283791670936948, -0.026866170641958093,
        0.005223977596720435, -0.0008548325483802601, 0.00012055280442512399,
        -1.4924464151776856e-05, 1.6444125456033947e-06, -1.6183738509372845e-07,
        1.3615313178428442e-08, -7.604628639899912e-10,
    ),
}  # fmt: skip
# erf(x) in x - 2.4375 on 1 <= x <= 3.9; relative error 2^-25.0.
ERF_FAR = (
    0.99943346, 0.0029656817, -0.0072299065, 0.010759948, -0.010694253, 0.0072002327,
    -0.0030267935, 0.000390357, 0.00045015896, -0.00031629435, 4.6378307e-05, 2.9440374e-05,
    -9.328326e-06, -2.4555567e-07,
)  # fmt: skip
# h for c = 4; relative error: f32 2^-28.4 for 1 <= x <= 10.3, f64 2^-54.0 for 0.8 <= x <= 27.5.
ERFC = {
    "f32": (
        1.0959956585192654, -0.9765487041271058, 0.7732090992298072, -0.5408553498010914,
        0.33084132210828276, -0.1739875223559682, 0.07647560844043952, -0.026502235017080003,
        0.005758885232961975,
    ),
    "f64": (
        1.095995661000491, -0.9765487290808819, 0.7732087022652564, -0.5408538313132668,
        0.330851587876957, -0.17401093723812025, 0.0763815149311737, -0.02637005338257014,
        0.006112055435272241, -0.0002809583678790822, -0.0004550515116671825, 0.00017680952895981567,
        -3.638281339314764e-06, -1.884815789524482e-05, 4.696519103858343e-06, 1.3956023085101122e-06,
        -8.373827714793396e-07, -4.10510234542205e-08, 1.0253248249527433e-07, -1.630959902054985e-08,
    ),
}  # fmt: skip

_CENTRE = 4.0
# erf rounds to 1 above; erfc is zero above.
_ERF_LIMIT = {"f32": 3.9, "f64": 6.0}
_ERFC_LIMIT = {"f32": 10.25, "f64": 27.5}


def erf(f: Block, x: str) -> str:
    magnitude = f.at_most(f.fabs(x), _ERF_LIMIT[f.dtype])
    near = f.fma(x, f.polynomial(f.fmul(x, x), ERF[f.dtype]), x)
    if f.dtype == "f32":
        far = f.polynomial(f.fsub(magnitude, 2.4375), ERF_FAR)
    else:
        far = f.fsub(1.0, _tail(f, magnitude, "f64"))
    return f.select(f.fcmp("olt", magnitude, 1.0), near, f.copysign(far, x))


def _tail(f: Block, x: str, precision: str) -> str:
    """erfc(x) for x >= 1 in f64, short of the low part of x^2."""
    k, r = reduce(f, f.fneg(f.fmul(x, x)), FORMATS["f64"].bias)
    exponential = f.fmul(f.polynomial(r, EXP[precision]), power_of_two(f, k))
    reciprocal = f.fdiv(1.0, f.fadd(x, _CENTRE))
    h = f.polynomial(f.fma(reciprocal, -2 * _CENTRE, 1.0), ERFC[precision])
    return f.fmul(exponential, f.fmul(h, reciprocal))


def erfc(f: Block, x: str) -> str:
    return _erfc_f32(f, x) if f.dtype == "f32" else _erfc_f64(f, x)


def _erfc_f32(narrow: Block, narrow_x: str) -> str:
    limit = _ERFC_LIMIT["f32"]
    f = narrow.of("f64")
    x = f.fpext(clamp(narrow, narrow_x, (-limit, limit)), narrow)
    magnitude = f.fabs(x)
    tail = _tail(f, magnitude, "f32")
    far = f.select(f.fcmp("olt", x, 0.0), f.fsub(2.0, tail), tail)
    near = f.fma(x, f.polynomial(f.fmul(x, x), ERF["f32"]), x)
    value = f.select(f.fcmp("olt", magnitude, 1.0), f.fsub(1.0, near), far)
    return narrow.fptrunc(value, f)


def _erfc_f64(f: Block, x: str) -> str:
    magnitude = f.at_most(f.fabs(x), _ERFC_LIMIT["f64"])
    square = f.fmul(magnitude, magnitude)
    square_low = f.fma(magnitude, magnitude, f.fneg(square))
    k, r = reduce(f, f.fneg(square), 2 * FORMATS["f64"].bias)
    p = f.fma(f.fmul(r, r), f.polynomial(r, EXPM1["f64"]), r)
    # `error` is what the reciprocal lacks, relative to itself.
    shifted = f.fadd(magnitude, _CENTRE)
    shifted_low = f.fsub(magnitude, f.fsub(shifted, _CENTRE))
    reciprocal = f.fdiv(1.0, shifted)
    minus = f.fneg(reciprocal)
    error = f.fma(minus, shifted_low, f.fma(minus, shifted, 1.0))
    variable = f.fma(reciprocal, -2 * _CENTRE, 1.0)
    variable = f.fma(f.fmul(reciprocal, error), -2 * _CENTRE, variable)
    # h and h / (x + c) with their rounding errors, so that only the last sum rounds visibly.
    first, *others = ERFC["f64"]
    rest = f.polynomial(variable, tuple(others))
    h = f.fma(variable, rest, first)
    h_low = f.fma(variable, rest, f.fsub(first, h))
    quotient = f.fmul(h, reciprocal)
    quotient_low = f.fma(h_low, reciprocal, f.fma(h, reciprocal, f.fneg(quotient)))
    missing = f.fsub(error, square_low)
    p = f.fadd(p, f.fma(missing, p, missing))
    tail = scale(f, f.fadd(quotient, f.fma(quotient, p, quotient_low)), k)
    far = f.select(f.fcmp("olt", x, 0.0), f.fsub(2.0, tail), tail)
    # 1 - erf(x) as (1 - x) - x p(x^2): the difference is exact where the result is small.
    product = f.fmul(x, f.polynomial(f.fmul(x, x), ERF["f64"]))
    near = f.fsub(f.fsub(1.0, x), product)
    return f.select(f.fcmp("olt", magnitude, 0.8), near, far)
