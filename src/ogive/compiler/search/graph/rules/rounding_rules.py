"""Rules that change nothing but the rounding of floats. `exactness="rounding"` enables them.

They combine values with few elements, such as the scales and shifts of a batch norm, before they
are applied to values with many:

    before   ((x - mean) * inverse) * gain + bias          after   x * scale + shift
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import RuleSet, anything, constant, node
from ogive.compiler.search.graph.leaves import element_count, follows_from_inputs
from ogive.compiler.search.graph.rules.labelled import (
    Labelled,
    below_movement,
    combine,
    has_fixed_shape,
    name_axes,
    spread_to,
)
from ogive.compiler.search.graph.rules.product_rules import add_product_rules

rounding_rules = RuleSet("graph rounding")

FEW = 4
"""The least ratio of elements of a result to those of a value that counts as few."""

_x, _c, _d = anything("x"), anything("c"), anything("d")
_ADDING = (Op.ADD, Op.SUB)

add_product_rules(rounding_rules, lambda dtype: dtype.is_float)


def _few(value: UOp, n: UOp) -> Labelled | None:
    """A value with few elements that depends on inputs alone, or None."""
    if value.op is Op.CONST:
        return Labelled(value, ())
    if value.shape != n.shape:
        return None
    below = below_movement(name_axes(value))
    if element_count(below.node) * FEW > element_count(n) or not follows_from_inputs(below.node):
        return None
    return below


def _is_many(value: UOp, n: UOp) -> bool:
    return value.op is not Op.CONST and value.shape == n.shape and _few(value, n) is None


def _is_float(n: UOp) -> bool:
    return n.dtype.is_float and has_fixed_shape(n) and bool(n.shape)


def _join(op: Op, n: UOp, *values: Labelled) -> UOp:
    first, second = values
    return spread_to(combine(op, first, second), name_axes(n))


@rounding_rules.rule(
    "(x ± c) * d → x * d ± c * d, of few c and d",
    node(Op.MUL, node(_ADDING, _x, _c, name="m").as_written(), _d, name="n"),
)
def _distribute(n: UOp, m: UOp, x: UOp, c: UOp, d: UOp) -> UOp | None:
    if not _is_float(n) or not _is_many(x, n):
        return None
    shift, scale = _few(c, n), _few(d, n)
    if shift is None or scale is None:
        return None
    scaled = UOp(Op.MUL, n.dtype, (x, d))
    return UOp(m.op, n.dtype, (scaled, _join(Op.MUL, n, shift, scale)))


@rounding_rules.rule(
    "(x ± c) ± d → x ± (c ± d), of few c and d",
    node(_ADDING, node(_ADDING, _x, _c, name="m").as_written(), _d, name="n").as_written(),
)
def _add_up(n: UOp, m: UOp, x: UOp, c: UOp, d: UOp) -> UOp | None:
    if not _is_float(n) or not _is_many(x, n):
        return None
    first, second = _few(c, n), _few(d, n)
    if first is None or second is None:
        return None
    same = Op.ADD if m.op is n.op else Op.SUB
    return UOp(m.op, n.dtype, (x, _join(same, n, first, second)))


@rounding_rules.rule(
    "(x * c) * d → x * (c * d), of few c and d",
    node(Op.MUL, node(Op.MUL, _x, _c), _d, name="n"),
)
def _multiply_up(n: UOp, x: UOp, c: UOp, d: UOp) -> UOp | None:
    if not _is_float(n) or not _is_many(x, n):
        return None
    first, second = _few(c, n), _few(d, n)
    if first is None or second is None:
        return None
    return UOp(Op.MUL, n.dtype, (x, _join(Op.MUL, n, first, second)))


@rounding_rules.rule(
    "x / expand d → x * expand (1 / d)", node(Op.DIV, _x, node(Op.EXPAND, _d), name="n")
)
def _multiply_by_reciprocal(n: UOp, x: UOp, d: UOp) -> UOp | None:
    if not _is_float(n) or x.shape != n.shape or element_count(d) * FEW > element_count(n):
        return None
    inverse = UOp(Op.RECIPROCAL, n.dtype, (d,))
    return UOp(Op.MUL, n.dtype, (x, UOp(Op.EXPAND, n.dtype, (inverse,), n.shape)))


@rounding_rules.rule("x / c → x * (1 / c)", node(Op.DIV, _x, constant("c"), name="n"))
def _multiply_by_inverse(n: UOp, x: UOp, c: UOp) -> UOp | None:
    if not n.dtype.is_float or not math.isfinite(c.literal) or not c.literal:
        return None
    inverse = UOp.const(n.dtype, 1 / c.literal)
    if not math.isfinite(inverse.literal) or not inverse.literal:
        return None
    return UOp(Op.MUL, n.dtype, (x, inverse))


@rounding_rules.rule("1 / sqrt(x) → rsqrt(x)", node(Op.RECIPROCAL, node(Op.SQRT, _x), name="n"))
def _reciprocal_root(n: UOp, x: UOp) -> UOp | None:
    return UOp(Op.RSQRT, n.dtype, (x,)) if n.dtype.is_float else None


def _power(x: UOp, exponent: float) -> UOp | None:
    if exponent == 0.5:
        return UOp(Op.SQRT, x.dtype, (x,))
    if exponent == -0.5:
        return UOp(Op.RSQRT, x.dtype, (x,))
    if exponent not in (2, 3, 4):
        return None
    square = UOp(Op.MUL, x.dtype, (x, x))
    return {
        2: square,
        3: UOp(Op.MUL, x.dtype, (square, x)),
        4: UOp(Op.MUL, x.dtype, (square, square)),
    }[int(exponent)]


@rounding_rules.rule("x to the power of 2 → x * x, and the like", node(Op.POW, _x, _c, name="n"))
def _small_power(n: UOp, x: UOp, c: UOp) -> UOp | None:
    exponent = below_movement(name_axes(c)).node if c.shape == n.shape else c
    if not n.dtype.is_float or exponent.op is not Op.CONST or x.op is Op.CONST:
        return None
    return _power(x, exponent.literal) if x.shape == n.shape else None
