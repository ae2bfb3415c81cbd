"""pow, rsqrt and integer powers.

pow is 2^(y log2 |x|) with the sign and the special cases of C99 put on afterwards. In f32 both
steps run in f64, which leaves the final rounding as the only visible error. In f64 the logarithm is
a sum of two floats good to 2^-65, from s = (m - 1) / (m + 1) and log m = 2s (1 + s^2/3 + s^4 R).
"""

from __future__ import annotations

from fractions import Fraction

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.devices.llvm.math.exponential import EXP2, clamp, scale
from ogive.compiler.devices.llvm.math.float_formats import FORMATS, INFINITY, LN2, NAN, split
from ogive.compiler.devices.llvm.math.logarithm import exponent_of, fraction_of, shift

# log2(1 + f) / f on sqrt(1/2) <= 1 + f <= sqrt(2); relative error 2^-35.3.
POW_LOG2 = (
    1.4426950408687018, -0.7213475208676993, 0.4808983614014256, -0.36067367499563757,
    0.28853729289471175, -0.24045315743621687, 0.20617537353534077, -0.18030078202664174,
    0.1587697335683957, -0.14315456998490153, 0.14474731130398077, -0.1428469219703188,
    0.07738024878441248,
)  # fmt: skip
# 2^r on |r| <= 1/2; relative error 2^-34.3.
POW_EXP2 = (
    1.0, 0.6931471807052204, 0.2402265106858924, 0.05550410364608264, 0.009618037782370739,
    0.0013333935220975327, 0.00015466880596759359, 1.5196353428128584e-05,
)  # fmt: skip
# R(s^2) above on m between sqrt(1/2) and sqrt(2); error of log relative to log: 2^-73.3.
POW_ATANH = (
    0.19999999999999987, 0.14285714285723522, 0.11111111108535003, 0.09090909463571938,
    0.07692276510315052, 0.06668232284912375, 0.058359252875141376, 0.06006788783505364,
)  # fmt: skip


def rsqrt(f: Vectors, x: str) -> str:
    # One step of Newton's from what two roundings left; x y and y are far from underflowing.
    y = f.fdiv(1.0, f.sqrt(x))
    root = f.fmul(x, y)
    minus = f.fneg(y)
    error = f.fma(minus, f.fma(x, y, f.fneg(root)), f.fma(minus, root, 1.0))
    refined = f.fma(f.fmul(y, 0.5), error, y)
    # There is no error to correct for zeros and infinities.
    return f.select(f.fcmp("uno", refined, refined), y, refined)


def pow_(f: Vectors, x: str, y: str) -> str:
    base = f.fabs(x)
    value = _pow_f32(f, base, y) if f.code == "f32" else _pow_f64(f, base, y)
    value = f.select(f.fcmp("oeq", base, 1.0), f.select(f.fcmp("uno", y, y), NAN, 1.0), value)
    whole = f.fcmp("oeq", f.round_even(y), y)
    half = f.fmul(y, 0.5)
    odd = f.masks.and_(whole, f.fcmp("one", f.round_even(half), half))
    value = f.select(odd, f.copysign(value, x), value)
    # A negative finite base has a real power only for whole exponents.
    finite = f.masks.and_(f.fcmp("olt", x, 0.0), f.fcmp("ogt", x, -INFINITY))
    value = f.select(f.masks.and_(finite, f.masks.xor(whole, -1)), NAN, value)
    one = f.masks.or_(f.fcmp("oeq", y, 0.0), f.fcmp("oeq", x, 1.0))
    return f.select(one, 1.0, value)


def _special_logarithm(f: Vectors, base: str, value: str) -> str:
    """The logarithm of a base >= 0, given its value for positive finite ones."""
    value = f.select(f.fcmp("oeq", base, 0.0), -INFINITY, value)
    return f.select(f.fcmp("olt", base, INFINITY), value, base)


def _pow_f32(narrow: Vectors, narrow_base: str, narrow_y: str) -> str:
    f = narrow.of("f64")
    form = FORMATS["f64"]
    base, y = f.fpext(narrow_base, narrow), f.fpext(narrow_y, narrow)
    shifted = shift(f, base)
    k = exponent_of(f, shifted, 2.0**form.mantissa + form.bias)
    rest = f.fsub(fraction_of(f, shifted), 1.0)
    logarithm = f.fma(rest, f.polynomial(rest, POW_LOG2), k)
    exponent = f.fmul(y, _special_logarithm(f, base, logarithm))
    # In f64 the scaling can neither overflow nor underflow: that is left to the rounding.
    exponent = clamp(f, exponent, (-160.0, 140.0))
    whole = f.fadd(exponent, form.shifter)
    r = f.fsub(exponent, f.fsub(whole, form.shifter))
    value = f.bits.bitcast(f.polynomial(r, POW_EXP2), f)
    value = f.bits.add(value, f.bits.shl(f.bits.bitcast(whole, f), form.mantissa))
    return narrow.fptrunc(f.bitcast(value, f.bits), f)


def _pow_f64(f: Vectors, base: str, y: str) -> str:
    form = FORMATS["f64"]
    high, low = _log2_f64(f, base)
    high = _special_logarithm(f, base, high)
    product = f.fmul(y, high)
    rest = f.fma(y, low, f.fma(y, high, f.fneg(product)))
    # Where the product overflows, its error is not a number.
    rest = f.select(f.fcmp("olt", f.fabs(product), 2000.0), rest, 0.0)
    exponent = clamp(f, product, (-1080.0, 1030.0))
    shifter = form.shifter + 2 * form.bias
    whole = f.fadd(exponent, shifter)
    r = f.fadd(f.fsub(exponent, f.fsub(whole, shifter)), rest)
    value = f.polynomial(r, (1.0, *EXP2["f64"]))
    return scale(f, value, f.bits.bitcast(whole, f))


def _log2_f64(f: Vectors, base: str) -> tuple[str, str]:
    """log2 of a positive finite base as a sum of two floats."""
    form = FORMATS["f64"]
    zero = 2.0**form.mantissa + form.bias
    subnormal = f.fcmp("olt", base, form.smallest_normal)
    shifted = shift(f, f.select(subnormal, f.fmul(base, 2.0**54), base))
    k = exponent_of(f, shifted, f.select(subnormal, zero + 54, zero))
    m = fraction_of(f, shifted)

    numerator, denominator = f.fsub(m, 1.0), f.fadd(m, 1.0)
    lost = f.fsub(m, f.fsub(denominator, 1.0))
    reciprocal = f.fdiv(1.0, denominator)
    s = f.fmul(numerator, reciprocal)
    minus_s = f.fneg(s)
    s_low = f.fma(minus_s, lost, f.fma(minus_s, denominator, numerator))
    s_low = f.fmul(s_low, reciprocal)
    z = f.fmul(s, s)
    z_low = f.fma(f.fadd(s, s), s_low, f.fma(s, s, f.fneg(z)))
    # a = 1/3 + z R, then w = z a, then s + s w, each with a low part.
    third, third_low = split(Fraction(1, 3), "f64", 2)
    tail = f.fmul(z, f.polynomial(z, POW_ATANH))
    a = f.fadd(tail, third)
    a_low = f.fadd(f.fadd(f.fsub(third, a), tail), third_low)
    w = f.fmul(z, a)
    w_low = f.fma(z, a_low, f.fma(z_low, a, f.fma(z, a, f.fneg(w))))
    sw = f.fmul(s, w)
    sw_low = f.fma(s, w_low, f.fma(s_low, w, f.fma(s, w, f.fneg(sw))))
    sum_ = f.fadd(s, sw)
    sum_low = f.fadd(f.fadd(f.fsub(s, sum_), sw), f.fadd(sw_low, s_low))
    unit, unit_low = split(2 / LN2, "f64", 2)
    part = f.fmul(sum_, unit)
    part_low = f.fma(sum_, unit_low, f.fma(sum_low, unit, f.fma(sum_, unit, f.fneg(part))))
    high = f.fadd(k, part)
    return high, f.fadd(f.fadd(f.fsub(k, high), part), part_low)


def integer_power(f: Vectors, signed: bool) -> str:
    """The body of base ** exponent modulo 2^bits, by squaring for as long as a lane needs it.

    As in PyTorch, a negative exponent gives 0 unless the base is 1 or -1.
    """
    base, exponent = "%x", "%y"
    if signed:
        negative = f.icmp("slt", exponent, 0)
        unit = f.icmp("eq", f.and_(f.add(base, 1), ~2), 0)
        vanishes = f.masks.and_(negative, f.masks.xor(unit, -1))
        base = f.select(vanishes, 0, base)
        exponent = f.select(negative, f.or_(f.and_(exponent, 1), 2), exponent)
    f.text.branch("step")
    f.text.label("step")
    f.text.effect(f"%power = phi {f.type} [ {f.constant(1)}, %entry ], [ %power.next, %step ]")
    f.text.effect(f"%square = phi {f.type} [ {base}, %entry ], [ %square.next, %step ]")
    f.text.effect(f"%rest = phi {f.type} [ {exponent}, %entry ], [ %rest.next, %step ]")
    odd = f.icmp("ne", f.and_("%rest", 1), 0)
    product = f.mul("%power", "%square")
    f.text.effect(f"%power.next = select {f.masks.type} {odd}, {f.type} {product}, {f.type} %power")
    f.text.effect(f"%square.next = mul {f.type} %square, %square")
    f.text.effect(f"%rest.next = lshr {f.type} %rest, {f.constant(1)}")
    more = f.any(f.icmp("ne", "%rest.next", 0))
    f.text.branch_if(more, "step", "end")
    f.text.label("end")
    return "%power.next"
