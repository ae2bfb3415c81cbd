"""sin, cos and tan of any finite argument.

All take the distance to the nearest multiple k pi/2 as a sum r + l of two floats. A moderate
argument is reduced by fma: with pi/2 = A + B + C, x - k A is exact; what r = x - k A - k B loses
by rounding is in l, and so is k C. A vector with a larger argument in some lane branches
to a routine that multiplies it by the bits of 1/pi that matter (Payne and Hanek) in 192-bit
integers, lane by lane.
"""

from __future__ import annotations

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.devices.llvm.math.compensated import add, divide, multiply_add
from ogive.compiler.devices.llvm.math.float_formats import ATTRIBUTES, FORMATS, PI, nearest, split

# (sin(r) - r) / r^3 in r^2 on |r| <= pi/4 + 0.01; relative error of sin: f32 2^-27.8, f64 2^-57.7.
SIN = {
    "f32": (-0.16666654, 0.008332104, -0.00019507446),
    "f64": (
        -0.16666666666666624, 0.008333333333320422, -0.00019841269828195767,
        2.755731312717576e-06, -2.5050668924461887e-08, 1.589158645732575e-10,
    ),
}  # fmt: skip
# (cos(r) - 1 + r^2/2) / r^4 in r^2 on the same; error of cos: f32 2^-32.7, f64 2^-63.7.
COS = {
    "f32": (0.041666646, -0.0013887294, 2.4429413e-05),
    "f64": (
        0.04166666666666658, -0.0013888888888870952, 2.480158728750989e-05,
        -2.755731378485135e-07, 2.0875646426342135e-09, -1.1355682960236472e-11,
    ),
}  # fmt: skip
# (tan(r) - r) / r^3 in r^2 on |r| <= pi/8 + 0.005; relative error of tan: f32 2^-28.7, f64 2^-58.2.
TAN = {
    "f32": (0.33333287, 0.13336147, 0.05344261, 0.025679937),
    "f64": (
        0.3333333333333355, 0.13333333333279046, 0.05396825401548826, 0.02186948652410254,
        0.00886328390408323, 0.003591428181975726, 0.0014620329669874062, 0.0005573524210132572,
        0.0003314175659203536,
    ),
}  # fmt: skip

# Up to these, rounding 2x / pi to an integer exceeds one half by less than 0.005.
_MODERATE = {"f32": 2.0**16, "f64": 2.0**30}
# Below these tan(x) rounds to x.
_TINY = {"f32": 2.0**-13, "f64": 2.0**-28}

# 1/pi in 64-bit words after a word of zeros: bit j of the string weighs 2^(63 - j).
_WORDS = 20
_WIDTH = {"f32": 32, "f64": 64}
TABLE = "@ogive.reciprocal_pi"


def _reciprocal_pi(bits: int) -> int:
    """floor(2^bits / pi), by Machin's formula in integers."""
    one = 1 << (bits + 32)

    def arctangent(inverse: int) -> int:
        term, total, divisor = one // inverse, 0, 1
        while term:
            total += term // divisor if divisor % 4 == 1 else -(term // divisor)
            term //= inverse * inverse
            divisor += 2
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return (one << bits) // pi


def table() -> str:
    """The definition of the words of 1/pi."""
    digits = _reciprocal_pi(64 * (_WORDS - 1))
    words = [(digits >> 64 * place) & (2**64 - 1) for place in reversed(range(_WORDS - 1))]
    text = ", ".join(f"i64 {word}" for word in [0, *words])
    return f"{TABLE} = private unnamed_addr constant [{_WORDS} x i64] [{text}]\n"


def _reduce(f: Vectors, x: str) -> tuple[str, str, str]:
    """k in the low bits of an integer, r, and what r lacks."""
    shifter = FORMATS[f.code].shifter
    first, second, third = split(PI / 2, f.code, 3)
    shifted = f.fma(x, nearest(2 / PI, f.code), shifter)
    k = f.fsub(shifted, shifter)
    exact = f.fma(k, -first, x)
    product = f.fmul(k, second)
    product_low = f.fma(k, second, f.fneg(product))
    r = f.fsub(exact, product)
    low = f.fsub(f.fsub(f.fsub(exact, r), product), product_low)
    return _replace_large(f, x, f.bits.bitcast(shifted, f), r, f.fma(k, -third, low))


def _replace_large(f: Vectors, x: str, *moderate: str) -> tuple[str, str, str]:
    """The parts of the reduction, replaced in the lanes where x is too large for them."""
    large = f.fcmp("ogt", f.fabs(x), _MODERATE[f.code])
    some = f.any(large)
    f.text.branch_if(some, "large", "done")
    f.text.label("large")
    types = (f.bits, f, f)
    parts = _parts(f)
    result = f.instruction(f"call {parts} {reduction_symbol(f)}({f.type} {x})")
    mixed = []
    for index, (each, value) in enumerate(zip(types, moderate, strict=True)):
        slow = f.instruction(f"extractvalue {parts} {result}, {index}")
        mixed.append(each.select(large, slow, value))
    f.text.branch("done")
    f.text.label("done")
    k, r, low = (
        each.instruction(f"phi {each.type} [ {value}, %entry ], [ {other}, %large ]")
        for each, value, other in zip(types, moderate, mixed, strict=True)
    )
    return k, r, low


def _sine(f: Vectors, x: str, quarter_turns: int) -> str:
    """sin(x + quarter_turns * pi/2)."""
    k, r, low = _reduce(f, x)
    if quarter_turns:
        k = f.bits.add(k, quarter_turns)
    square = f.fmul(r, r)
    sine = f.fadd(r, f.fma(f.fmul(square, r), f.polynomial(square, SIN[f.code]), low))
    most, lost = multiply_add(f, square, -0.5, f.constant(1.0))
    lost = f.fma(f.fneg(r), low, lost)
    cosine = f.fadd(most, f.fma(f.fmul(square, square), f.polynomial(square, COS[f.code]), lost))
    odd = f.bits.icmp("ne", f.bits.and_(k, 1), 0)
    value = f.bits.bitcast(f.select(odd, cosine, sine), f)
    sign = f.bits.and_(f.bits.shl(k, _WIDTH[f.code] - 2), 1 << (_WIDTH[f.code] - 1))
    return f.bitcast(f.bits.xor(value, sign), f.bits)


def sin(f: Vectors, x: str) -> str:
    # A zero keeps its sign, which the sum in r loses.
    return f.select(f.fcmp("oeq", x, 0.0), x, _sine(f, x, 0))


def cos(f: Vectors, x: str) -> str:
    return _sine(f, x, 1)


def tan(f: Vectors, x: str) -> str:
    # 2t / (1 - t^2) for t = tan(r / 2); an odd number of quarter turns turns the quotient over.
    k, r, low = _reduce(f, x)
    half, half_low = f.fmul(r, 0.5), f.fmul(low, 0.5)
    square = f.fmul(half, half)
    tail = f.fma(half_low, square, half_low)
    tail = f.fma(f.fmul(square, half), f.polynomial(square, TAN[f.code]), tail)
    t, t_low = add(f, half, tail)
    double, double_low = f.fadd(t, t), f.fadd(t_low, t_low)
    minus = f.fneg(double)
    below, lost = multiply_add(f, f.fneg(t), t, f.constant(1.0))
    below_low = f.fma(minus, t_low, lost)
    odd = f.bits.icmp("ne", f.bits.and_(k, 1), 0)
    dividend = f.select(odd, below, double), f.select(odd, below_low, double_low)
    divisor = f.select(odd, minus, below), f.select(odd, f.fneg(double_low), below_low)
    # Halving would round a subnormal, and a sum loses the sign of a zero.
    tiny = f.fcmp("olt", f.fabs(x), _TINY[f.code])
    return f.select(tiny, x, f.fadd(*divide(f, dividend, divisor)))


def _parts(f: Vectors) -> str:
    return f"{{ {f.bits.type}, {f.type}, {f.type} }}"


def reduction_symbol(f: Vectors) -> str:
    return f"@ogive.reduce.{f.code}.x{f.lanes}"


def reduction(f: Vectors) -> str:
    """The routine for large arguments: k modulo 4 and the two parts of r, lane by lane.

    A lane whose argument is not large holds nothing of use.
    """
    parts = _parts(f)
    types = (f.bits, f, f)
    attributes = f"cold noinline {ATTRIBUTES}"
    head = f"define internal {parts} {reduction_symbol(f)}({f.type} %x) {attributes} {{"
    if f.lanes == 1:
        values = _reduce_scalar(f, "%x")
    else:
        f.text.branch("lane")
        f.text.label("lane")
        f.text.effect("%i = phi i32 [ 0, %entry ], [ %next, %lane ]")
        for name, each in zip("krl", types, strict=True):
            f.text.effect(f"%{name} = phi {each.type} [ poison, %entry ], [ %{name}.next, %lane ]")
        f.text.effect(f"%element = extractelement {f.type} %x, i32 %i")
        elements = _reduce_scalar(f, "%element")
        for name, each, element in zip("krl", types, elements, strict=True):
            inserted = f"{each.type} %{name}, {each.element} {element}, i32 %i"
            f.text.effect(f"%{name}.next = insertelement {inserted}")
        f.text.effect("%next = add i32 %i, 1")
        f.text.effect(f"%more = icmp ult i32 %next, {f.lanes}")
        f.text.branch_if("%more", "lane", "end")
        f.text.label("end")
        values = ("%k.next", "%r.next", "%l.next")
    result = "poison"
    for index, (each, value) in enumerate(zip(types, values, strict=True)):
        result = f.instruction(f"insertvalue {parts} {result}, {each.type} {value}, {index}")
    return "\n".join([head, "entry:", *f.text.lines, f"  ret {parts} {result}", "}\n"])


def _reduce_scalar(f: Vectors, x: str) -> tuple[str, str, str]:
    """k modulo 4 and the parts of r of one scalar of f's type."""
    number, double, word, long = (f.of(dtype, 1) for dtype in (f.code, "f64", "i64", "i128"))
    wide = x if f.code == "f64" else double.fpext(x, number)
    pattern = word.bitcast(wide, double)
    significand = word.or_(word.and_(pattern, 2**52 - 1), 2**52)
    exponent = word.and_(word.lshr(pattern, 52), 0x7FF)
    # |x| = significand * 2^(exponent - 1075): bits of 1/pi heavier than 2^(1075 - exponent) give
    # multiples of 2 pi, so the window starts there, at this bit of the table.
    start = word.intrinsic("smax", word.sub(exponent, 1075 - 63), 0)
    window = [long.zext(part, word) for part in _window(word, start)]
    # |x| / pi modulo 2, in units of 2^-127, is four quadrants; a signed fraction of one is left.
    factor = long.zext(significand, word)
    heavy, middle, light = (long.mul(factor, part) for part in window)
    turns = long.add(long.add(long.shl(heavy, 64), middle), long.lshr(light, 64))
    quadrant = word.trunc(long.lshr(long.add(turns, 1 << 125), 126), long)
    rest = long.shl(turns, 2)
    below = long.icmp("slt", rest, 0)
    high, low = _to_angle(f, long.select(below, long.sub(0, rest), rest))
    # Infinity less itself is NaN.
    high = double.fadd(high, double.fsub(wide, wide))
    negative = word.icmp("slt", pattern, 0)
    quadrant = word.select(negative, word.sub(0, quadrant), quadrant)
    flip = double.masks.xor(below, negative)
    high = double.select(flip, double.fneg(high), high)
    low = double.select(flip, double.fneg(low), low)
    if f.code == "f64":
        return quadrant, high, low
    narrow = number.fptrunc(high, double)
    rest_of_high = double.fsub(high, double.fpext(narrow, number))
    return f.of("i32", 1).trunc(quadrant, word), narrow, number.fptrunc(rest_of_high, double)


def _window(word: Vectors, start: str) -> list[str]:
    """Three words of the table from bit `start` on."""
    first, shift = word.lshr(start, 6), word.and_(start, 63)
    words = []
    for index in range(4):
        place = word.add(first, index)
        address = word.instruction(f"getelementptr i64, ptr {TABLE}, i64 {place}")
        words.append(word.instruction(f"load i64, ptr {address}"))
    return [word.intrinsic("fshl", words[i], words[i + 1], shift) for i in range(3)]


def _to_angle(f: Vectors, fraction: str) -> tuple[str, str]:
    """An unsigned fraction of 2^128, times pi/2, as a sum of two doubles."""
    double, word, long = f.of("f64", 1), f.of("i64", 1), f.of("i128", 1)
    operands = [long.or_(fraction, 1), "true"]
    zeros = f.text.intrinsic("i128", "ctlz.i128", ["i128", "i1"], operands)
    top = word.trunc(long.lshr(long.shl(fraction, zeros), 64), long)
    # The upper 53 bits of the top word convert exactly, and so do the other 11.
    upper = double.uitofp(word.and_(top, -2048), word)
    lower = double.uitofp(word.and_(top, 2047), word)
    pi_high, pi_low = split(PI / 2, "f64", 2)
    high = double.fmul(upper, pi_high)
    error = double.fma(upper, pi_high, double.fneg(high))
    low = double.fma(upper, pi_low, double.fma(lower, pi_high, error))
    exponent = word.sub(FORMATS["f64"].bias - 64, word.trunc(zeros, long))
    unit = double.bitcast(word.shl(exponent, 52), word)
    total = double.fadd(high, low)
    low = double.fadd(double.fsub(high, total), low)
    return double.fmul(total, unit), double.fmul(low, unit)
