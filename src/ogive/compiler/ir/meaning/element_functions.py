"""The meaning of each elementwise op: a table, and the functions that NumPy lacks.

Operands are floats in float64, integers in their dtype, or booleans. Where the table names a NumPy
function, the op means the same: integers wrap around, a comparison with NaN is false, the maximum
of NaN and a number is NaN. On booleans, ADD and MAXIMUM are OR, MUL and MINIMUM are AND.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.compiler.ir.dtype import BY_NAME
from ogive.compiler.ir.meaning.number_formats import Array, held
from ogive.compiler.ir.meaning.threefry_cipher import threefry
from ogive.compiler.ir.ops import Op


def float_remainder(x: Array, y: Array) -> Array:
    """The remainder with the sign of y, as in Python; a zero keeps the sign of x."""
    remainder = numpy.fmod(x, y)
    return numpy.where(_has_other_sign(remainder, y), remainder + y, remainder)


def float_quotient(x: Array, y: Array) -> Array:
    """x / y rounded down, consistent with the remainder: x = quotient * y + remainder."""
    remainder = numpy.fmod(x, y)
    whole = numpy.rint((x - remainder) / y - _has_other_sign(remainder, y))
    return numpy.where(y == 0, x / y, numpy.where(whole == 0, numpy.copysign(0, x / y), whole))


def _has_other_sign(remainder: Array, y: Array) -> Array:
    return numpy.asarray((remainder != 0) & ((remainder < 0) != (y < 0)))


def integer_power(base: Array, exponent: Array) -> Array:
    """base ** exponent, wrapping around. Negative powers are 0, except those of 1 and -1.

    By repeated squaring: each bit of the exponent says whether a square is a factor.
    """
    negative = exponent < 0
    square = numpy.where(negative & (numpy.absolute(base) != 1), 0, base)
    remaining = numpy.where(negative, exponent & 1 | 2, exponent)
    power = numpy.ones(numpy.broadcast(base, exponent).shape, base.dtype)
    while remaining.any():
        power = numpy.where(remaining & 1, power * square, power)
        square, remaining = square * square, remaining >> 1
    return power


def dot(left: Array, right: Array, elements: tuple[str, str]) -> Array:
    """The dot product of the narrow elements packed in two words."""
    factors = []
    for words, name in zip((left, right), elements, strict=True):
        parts = numpy.ascontiguousarray(words)[..., None].view(BY_NAME[name].numpy)
        factors.append(held(parts, BY_NAME[name]))
    if factors[0].dtype.kind == "f":
        return numpy.asarray((factors[0] * factors[1]).sum(-1))
    first, second = [factor.astype(numpy.int32) for factor in factors]
    return numpy.asarray((first * second).sum(-1, dtype=numpy.int32))


def _of_floats(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A Python function of a float, applied to each element of an array."""
    each = numpy.frompyfunc(function, 1, 1)
    return lambda x: numpy.asarray(each(x), numpy.float64)


Function = Callable[..., Any]

ELEMENT_FUNCTIONS: dict[Op, Function] = {
    Op.NEG: numpy.negative,
    Op.NOT: numpy.invert,
    Op.ABS: numpy.absolute,
    Op.FLOOR: numpy.floor,
    Op.CEIL: numpy.ceil,
    Op.ROUND: numpy.rint,
    Op.TRUNC: numpy.trunc,
    Op.RECIPROCAL: numpy.reciprocal,
    Op.SQRT: numpy.sqrt,
    Op.RSQRT: lambda x: 1 / numpy.sqrt(x),
    Op.EXP: numpy.exp,
    Op.EXP2: numpy.exp2,
    Op.EXPM1: numpy.expm1,
    Op.LOG: numpy.log,
    Op.LOG2: numpy.log2,
    Op.LOG10: numpy.log10,
    Op.LOG1P: numpy.log1p,
    Op.SIN: numpy.sin,
    Op.COS: numpy.cos,
    Op.TAN: numpy.tan,
    Op.ASIN: numpy.arcsin,
    Op.ACOS: numpy.arccos,
    Op.ATAN: numpy.arctan,
    Op.SINH: numpy.sinh,
    Op.COSH: numpy.cosh,
    Op.TANH: numpy.tanh,
    Op.ASINH: numpy.arcsinh,
    Op.ACOSH: numpy.arccosh,
    Op.ATANH: numpy.arctanh,
    Op.ERF: _of_floats(math.erf),
    Op.ERFC: _of_floats(math.erfc),
    Op.ADD: numpy.add,
    Op.SUB: numpy.subtract,
    Op.MUL: numpy.multiply,
    Op.DIV: numpy.divide,
    Op.MAXIMUM: numpy.maximum,
    Op.MINIMUM: numpy.minimum,
    Op.ATAN2: numpy.arctan2,
    Op.COPYSIGN: numpy.copysign,
    Op.AND: numpy.bitwise_and,
    Op.OR: numpy.bitwise_or,
    Op.XOR: numpy.bitwise_xor,
    Op.SHL: numpy.left_shift,
    Op.SHR: numpy.right_shift,
    Op.THREEFRY: threefry,
    Op.CMPLT: numpy.less,
    Op.CMPLE: numpy.less_equal,
    Op.CMPEQ: numpy.equal,
    Op.CMPNE: numpy.not_equal,
    Op.WHERE: numpy.where,
}

FLOAT_FUNCTIONS: dict[Op, Function] = {
    Op.FLOORDIV: float_quotient,
    Op.MOD: float_remainder,
    Op.POW: numpy.power,
}
"""The meaning for floats of the ops that mean something else for integers."""

INTEGER_FUNCTIONS: dict[Op, Function] = {
    Op.FLOORDIV: numpy.floor_divide,
    Op.MOD: numpy.remainder,
    Op.POW: integer_power,
}
"""The meaning of the same ops for integers. Divisors are not zero here."""

COMBINING: dict[Op, numpy.ufunc] = {
    Op.ADD: numpy.add,
    Op.MUL: numpy.multiply,
    Op.MAXIMUM: numpy.maximum,
    Op.MINIMUM: numpy.minimum,
    Op.AND: numpy.bitwise_and,
    Op.OR: numpy.bitwise_or,
}
"""The ops that combine elements in reductions, scans and stores."""
