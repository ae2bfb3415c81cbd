"""Exact algebra on tensor and kernel values.

Every rule keeps every bit of the result: integers wrap, floats are never reassociated, signed zeros
and NaN stay as they were. No rule adds a fault; a fault in dead code may disappear.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.dtype import (
    FLOATS,
    SIGNED,
    UNSIGNED,
    DType,
    bfloat16,
    bool_,
    float8_e4m3,
    float8_e5m2,
    float16,
    float32,
    float64,
    index,
)
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, Op
from ogive.compiler.ir.rewriting.rules import RuleSet, anything, constant, node
from ogive.compiler.ir.shape import split_argument

algebra_rules = RuleSet("algebra")

_INTEGERS = (*SIGNED, *UNSIGNED, index)
_WHOLE = (bool_, *_INTEGERS)
_x, _y, _c = anything("x"), anything("y"), anything("c")
_a, _b = constant("a"), constant("b")
_ix = _x.of(*_INTEGERS)
_one = constant().when(lambda n: n.dtype is not bool_ and n.arg == 1)
_zero = constant().when(lambda n: n.dtype.is_integer and n.arg == 0)
_false = constant().of(bool_).when(lambda n: not n.arg)
_true = constant().of(bool_).when(lambda n: bool(n.arg))
_all_ones = constant().when(
    lambda n: n.dtype.kind in ("int", "uint") and n.arg in (-1, (1 << n.dtype.bits) - 1)
)
_positive_zero = constant().of(*FLOATS).when(lambda n: n.arg == 0 and math.copysign(1, n.arg) > 0)
_negative_zero = constant().of(*FLOATS).when(lambda n: n.arg == 0 and math.copysign(1, n.arg) < 0)


def spread(value: UOp, *others: UOp) -> UOp:
    """`value` expanded to the shape of an elementwise node that has `others` as sources too."""
    if value.shape:
        return value
    for other in others:
        if other.shape:
            argument, lengths = split_argument(other.shape)
            ones = UOp(Op.RESHAPE, value.dtype, (value,), (1,) * len(argument))
            return UOp(Op.EXPAND, value.dtype, (ones, *lengths), argument)
    return value


# Constant folding: evaluates what the kernel would compute.


def _extreme(choose: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def apply(x: Any, y: Any) -> Any:
        if isinstance(x, float) and x == y == 0:
            return None  # targets differ in which of two zeros they choose
        return choose(x, y)

    return apply


_FOLDS: dict[Op, Callable[[Any, Any], Any]] = {
    Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul, Op.AND: operator.and_,
    Op.OR: operator.or_, Op.XOR: operator.xor, Op.SHL: operator.lshift, Op.SHR: operator.rshift,
    Op.FLOORDIV: operator.floordiv, Op.MOD: operator.mod, Op.CMPLT: operator.lt,
    Op.CMPLE: operator.le, Op.CMPEQ: operator.eq, Op.CMPNE: operator.ne,
    Op.MAXIMUM: _extreme(max), Op.MINIMUM: _extreme(min),
}  # fmt: skip
_LOGICAL = {Op.AND, Op.OR, Op.XOR, Op.MAXIMUM, Op.MINIMUM} | COMPARISON


@algebra_rules.rule("a op b → constant", node(tuple(_FOLDS), _a, _b, name="n"))
def fold_binary(n: UOp, a: UOp, b: UOp) -> UOp | None:
    """The value of an operation on constants, or None where it is not defined exactly."""
    op, dtype = n.op, a.dtype
    if dtype is bool_ and op not in _LOGICAL:
        return None
    if op in (Op.FLOORDIV, Op.MOD) and (dtype.is_float or b.arg == 0):
        return None
    if op in (Op.SHL, Op.SHR) and not 0 <= b.arg < dtype.bits:
        return None
    if a.arg != a.arg or b.arg != b.arg:
        return None if op not in COMPARISON else _fold_to(n, _FOLDS[op](a.arg, b.arg))
    if op is Op.FLOORDIV and dtype.canonical(a.arg // b.arg) != a.arg // b.arg:
        return None
    return _fold_to(n, _FOLDS[op](a.arg, b.arg))


@algebra_rules.rule("op a → constant", node((Op.NEG, Op.ABS, Op.NOT), _a, name="n"))
def fold_unary(n: UOp, a: UOp) -> UOp | None:
    """The value of an operation on one constant; None for NaN."""
    if a.arg != a.arg or (a.dtype is bool_ and n.op is not Op.NOT):
        return None
    if n.op is Op.NOT:
        return _fold_to(n, not a.arg if a.dtype is bool_ else ~int(a.arg))
    return _fold_to(n, -a.arg if n.op is Op.NEG else abs(a.arg))


@algebra_rules.rule("cast a → constant", node(Op.CAST, _a, name="n"))
def fold_cast(n: UOp, a: UOp) -> UOp | None:
    """The converted constant, or None where targets differ."""
    value, target = a.arg, n.dtype
    if isinstance(value, float) and not target.is_float:
        if target is bool_:
            return _fold_to(n, value != 0)
        if not math.isfinite(value):
            return None
        low, high = target.limits
        return _fold_to(n, int(value)) if low <= int(value) <= high else None
    if target.is_float and not isinstance(value, float) and int(float(value)) != value:
        return None
    constant = _fold_to(n, value)
    if target.is_storage_only and constant is not None and not math.isfinite(constant.arg):
        return None  # targets differ in what a number too great for an 8-bit float becomes
    return constant


def _fold_to(n: UOp, value: Any) -> UOp | None:
    if value is None or value != value:
        return None
    return UOp.const(n.dtype, value)


# Identities. A constant has no shape, so `x op constant` has the shape of x.

algebra_rules.add("x + 0 → x, integers", _ix + _zero, lambda x: x)
algebra_rules.add("x + -0.0 → x", _x + _negative_zero, lambda x: x)
algebra_rules.add("x - 0 → x, integers", _ix - _zero, lambda x: x)
algebra_rules.add("x - 0.0 → x", _x - _positive_zero, lambda x: x)
algebra_rules.add("x * 1 → x", _x * _one, lambda x: x)
algebra_rules.add("x / 1 → x", node(Op.DIV, _x, _one), lambda x: x)
algebra_rules.add("x // 1 → x, integers", _ix // _one, lambda x: x)
algebra_rules.add("x & -1 → x", _x & _all_ones, lambda x: x)
algebra_rules.add("x & true → x", _x & _true, lambda x: x)
algebra_rules.add("x | 0 → x", _x | _zero, lambda x: x)
algebra_rules.add("x | false → x", _x | _false, lambda x: x)
algebra_rules.add("x ^ 0 → x", node(Op.XOR, _x, _zero), lambda x: x)
algebra_rules.add("x ^ false → x", node(Op.XOR, _x, _false), lambda x: x)
algebra_rules.add("x << 0 → x", node((Op.SHL, Op.SHR), _x, _zero), lambda x: x)


def _fill(x: UOp, value: Any) -> UOp:
    return spread(UOp.const(x.dtype, value), x)


def _fill_bool(x: UOp, value: bool) -> UOp:
    return spread(UOp.const(bool_, value), x)


algebra_rules.add("x * 0 → 0, integers", _ix * _zero, lambda x: _fill(x, 0))
algebra_rules.add("x % 1 → 0, integers", _ix % _one, lambda x: _fill(x, 0))
algebra_rules.add("x & 0 → 0", _x & _zero, lambda x: _fill(x, 0))
algebra_rules.add("x & false → false", _x & _false, lambda x: _fill(x, False))
algebra_rules.add("x | true → true", _x | _true, lambda x: _fill(x, True))
algebra_rules.add("x - x → 0, integers", _ix - _ix, lambda x: _fill(x, 0))
algebra_rules.add("x ^ x → 0", node(Op.XOR, _x, _x), lambda x: _fill(x, 0))
algebra_rules.add("x & x → x", _x & _x, lambda x: x)
algebra_rules.add("x | x → x", _x | _x, lambda x: x)
algebra_rules.add("max(x, x) → x", node((Op.MAXIMUM, Op.MINIMUM), _x, _x), lambda x: x)
algebra_rules.add("x < x → false", node(Op.CMPLT, _x, _x), lambda x: _fill_bool(x, False))
algebra_rules.add(
    "x == x → true, integers",
    node((Op.CMPEQ, Op.CMPLE), _x.of(*_WHOLE), _x),
    lambda x: _fill_bool(x, True),
)
algebra_rules.add(
    "x != x → false, integers", node(Op.CMPNE, _x.of(*_WHOLE), _x), lambda x: _fill_bool(x, False)
)
algebra_rules.add("--x → x", node(Op.NEG, node(Op.NEG, _x)), lambda x: x)
algebra_rules.add("not not x → x", node(Op.NOT, node(Op.NOT, _x)), lambda x: x)


@algebra_rules.rule(
    "x < y → true or false, by bounds", node(tuple(COMPARISON), _x, _y, name="n").of(bool_)
)
def _compare_by_bounds(n: UOp, x: UOp, y: UOp) -> UOp | None:
    low, high = n.bounds
    return spread(UOp.const(bool_, low), x, y) if low == high else None


# Choices


@algebra_rules.rule("where(a, x, y) → x or y", node(Op.WHERE, _a, _x, _y))
def _where_constant(a: UOp, x: UOp, y: UOp) -> UOp:
    return spread(x, y) if a.arg else spread(y, x)


@algebra_rules.rule("where(c, x, x) → x", node(Op.WHERE, _c, _x, _x))
def _where_same(c: UOp, x: UOp) -> UOp:
    return spread(x, c)


@algebra_rules.rule("where(not c, x, y) → where(c, y, x)", node(Op.WHERE, node(Op.NOT, _c), _x, _y))
def _where_not(c: UOp, x: UOp, y: UOp) -> UOp:
    return UOp(Op.WHERE, x.dtype, (c, y, x))


@algebra_rules.rule("where(c, true, false) → c", node(Op.WHERE, _c, _true, _false))
def _where_itself(c: UOp) -> UOp:
    return c


# Conversions


@algebra_rules.rule("cast x → x, of the same dtype", node((Op.CAST, Op.BITCAST), _x, name="n"))
def _same_dtype(n: UOp, x: UOp) -> UOp | None:
    return x if x.dtype is n.dtype else None


_MANTISSA = {
    float8_e4m3: 4, float8_e5m2: 3, float16: 11, bfloat16: 8, float32: 24, float64: 53,
}  # fmt: skip
_WIDENS: dict[DType, tuple[DType, ...]] = {
    float8_e4m3: (float16, bfloat16, float32, float64),
    float8_e5m2: (float16, bfloat16, float32, float64),
    float16: (float32, float64),
    bfloat16: (float32, float64),
    float32: (float64,),
    float64: (),
}


def holds(wide: DType, narrow: DType) -> bool:
    """Whether `wide` can represent every value of `narrow`."""
    if wide is narrow or narrow is bool_:
        return True
    if narrow.is_float:
        return wide in _WIDENS[narrow]
    if wide.is_float:
        return narrow.bits - (narrow.kind == "int") <= _MANTISSA[wide]
    (low, high), (least, greatest) = narrow.limits, wide.limits
    return wide is not bool_ and least <= low and high <= greatest


@algebra_rules.rule(
    "cast (cast x) → cast x, the first lossless",
    node(Op.CAST, node(Op.CAST, _x, name="m"), name="n"),
)
def _double_cast(n: UOp, m: UOp, x: UOp) -> UOp | None:
    source, middle, target = x.dtype, m.dtype, n.dtype
    if not holds(middle, source):
        return None
    if source.is_float and not target.is_float:
        return None  # targets differ in which integer a float out of range becomes
    if middle.is_float and target.is_integer and not holds(target, source):
        return None
    return x if source is target else UOp(Op.CAST, target, (x,))


algebra_rules.add(
    "bitcast (bitcast x) → bitcast x",
    node(Op.BITCAST, node(Op.BITCAST, _x), name="n"),
    lambda n, x: UOp(Op.BITCAST, n.dtype, (x,)),
)
