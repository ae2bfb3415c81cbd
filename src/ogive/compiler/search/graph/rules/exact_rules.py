"""Rules that keep every bit: movements that cancel, computing values before they are expanded, and
products of integers in another order.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import BINARY, UNARY, Op
from ogive.compiler.ir.rewriting.rules import RuleSet, anything, node
from ogive.compiler.ir.shape import movement_argument
from ogive.compiler.search.graph.rules.labelled import (
    below_movement,
    expand,
    has_fixed_shape,
    name_axes,
    reshape,
)
from ogive.compiler.search.graph.rules.product_rules import add_product_rules

Spans = tuple[tuple[int, int], ...]

exact_rules = RuleSet("graph exact")

_x, _a, _b = anything("x"), anything("a"), anything("b")
_SELECTING = frozenset({Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR})
"""Ops that combine a value with itself to the same value."""

_SPREAD_UNARY = tuple(sorted(UNARY - {Op.BITCAST, Op.REAL, Op.IMAGINARY}, key=lambda op: op.value))
_SPREAD_BINARY = tuple(sorted(BINARY - {Op.DOT, Op.COMPLEX}, key=lambda op: op.value))


@exact_rules.rule(
    "reshape (reshape x) → reshape x", node(Op.RESHAPE, node(Op.RESHAPE, _x), name="n")
)
def _reshape_twice(n: UOp, x: UOp) -> UOp | None:
    return reshape(x, n.shape) if has_fixed_shape(n) and has_fixed_shape(x) else None


@exact_rules.rule("reshape x to its own shape → x", node(Op.RESHAPE, _x, name="n"))
def _reshape_to_same(n: UOp, x: UOp) -> UOp | None:
    return x if n.shape == x.shape else None


@exact_rules.rule(
    "permute (permute x) → permute x",
    node(Op.PERMUTE, node(Op.PERMUTE, _x, name="m"), name="n"),
)
def _permute_twice(n: UOp, m: UOp, x: UOp) -> UOp:
    order = tuple([m.order[axis] for axis in n.order])
    return x if order == tuple(range(len(order))) else UOp(Op.PERMUTE, x.dtype, (x,), order)


@exact_rules.rule("expand (expand x) → expand x", node(Op.EXPAND, node(Op.EXPAND, _x), name="n"))
def _expand_twice(n: UOp, x: UOp) -> UOp | None:
    return expand(x, n.shape) if has_fixed_shape(n) else None


@exact_rules.rule("flip (flip x) → x", node(Op.FLIP, node(Op.FLIP, _x, name="m"), name="n"))
def _flip_twice(n: UOp, m: UOp, x: UOp) -> UOp | None:
    return x if set(n.axes) == set(m.axes) else None


@exact_rules.rule(
    "shrink (shrink x) → shrink x", node(Op.SHRINK, node(Op.SHRINK, _x, name="m"), name="n")
)
def _shrink_twice(n: UOp, m: UOp, x: UOp) -> UOp:
    pairs = zip(_spans(n), _spans(m), strict=True)
    return _shrink(x, tuple([(b + start, e + start) for (b, e), (start, _) in pairs]))


@exact_rules.rule(
    "shrink (pad x) → shrink x, where nothing padded is left",
    node(Op.SHRINK, node(Op.PAD, _x, name="m"), name="n"),
)
def _shrink_padded(n: UOp, m: UOp, x: UOp) -> UOp | None:
    if not has_fixed_shape(x):
        return None
    widths, _ = movement_argument(m)
    moved = [(b - low, e - low) for (b, e), (low, _) in zip(_spans(n), widths, strict=True)]
    if any(b < 0 or e > length for (b, e), length in zip(moved, x.shape, strict=True)):
        return None
    return _shrink(x, tuple(moved))


def _spans(node: UOp) -> Spans:
    spans: Spans = movement_argument(node)
    return spans


def _shrink(x: UOp, spans: Spans) -> UOp:
    whole = all(span == (0, length) for span, length in zip(spans, x.shape, strict=True))
    return x if whole else UOp(Op.SHRINK, x.dtype, (x,), spans)


@exact_rules.rule(
    "(a ++ b)[i:j] → a[i:j], where all is in a",
    node(Op.SHRINK, node(Op.WHERE, anything("c"), _a, _b, name="m"), name="n"),
)
def _slice_of_joined(n: UOp, m: UOp, c: UOp, a: UOp, b: UOp) -> UOp | None:
    """A slice of a concatenation that lies on one side of the border."""
    if not has_fixed_shape(m) or a.shape != m.shape or b.shape != m.shape:
        return None
    condition = below_movement(name_axes(c)) if c.shape == m.shape else None
    if condition is None or condition.node.op is not Op.CMPLT:
        return None
    position, limit = condition.node.src
    if limit.op is not Op.CONST or position.shape != condition.node.shape:
        return None
    counted = below_movement(name_axes(position, condition.names))
    if counted.node.op is not Op.IOTA or len(counted.names) != 1 or counted.names[0] is None:
        return None
    (axis,) = counted.names
    assert isinstance(axis, int), "axes are named by their numbers"
    begin, end = _spans(n)[axis]
    if end <= limit.literal:
        return _shrink(a, _spans(n))
    return _shrink(b, _spans(n)) if begin >= limit.literal else None


@exact_rules.rule(
    "f(expand x) → expand f(x)",
    node(_SPREAD_UNARY, node(Op.EXPAND, _x, name="m"), name="n"),
)
def _function_of_spread(n: UOp, m: UOp, x: UOp) -> UOp | None:
    if not has_fixed_shape(m):
        return None
    return expand(UOp(n.op, n.dtype, (x,), n.arg, n.tag), m.shape)


@exact_rules.rule(
    "f(expand a, expand b) → expand f(a, b), along the axes that both are spread over",
    node(
        _SPREAD_BINARY, node(Op.EXPAND, _a, name="m"), node(Op.EXPAND, _b), name="n"
    ).as_written(),
)
def _function_of_two_spread(n: UOp, m: UOp, a: UOp, b: UOp) -> UOp | None:
    if not all(map(has_fixed_shape, (n, a, b))):
        return None
    if len(a.shape) != len(b.shape) or m.shape != n.shape:
        return None
    shape = tuple([max(pair) for pair in zip(a.shape, b.shape, strict=True)])
    if shape == n.shape:
        return None
    sources = (expand(a, shape), expand(b, shape))
    return expand(UOp(n.op, n.dtype, sources, n.arg, n.tag), n.shape)


@exact_rules.rule(
    "f(expand a, constant) → expand f(a, constant)",
    node(_SPREAD_BINARY, node(Op.EXPAND, _a, name="m"), node(Op.CONST, name="b"), name="n"),
)
def _function_of_spread_and_number(n: UOp, m: UOp, a: UOp, b: UOp) -> UOp | None:
    if not has_fixed_shape(m):
        return None
    sources = (a, b) if n.src[0] is m else (b, a)
    return expand(UOp(n.op, n.dtype, sources, n.arg, n.tag), n.shape)


@exact_rules.rule(
    "max over axes of expand x → max over the others",
    node(Op.REDUCE_AXES, node(Op.EXPAND, _x, name="m"), name="n"),
)
def _reduce_spread(n: UOp, m: UOp, x: UOp) -> UOp | None:
    if n.combine not in _SELECTING or not has_fixed_shape(m):
        return None
    kept = tuple([axis for axis in n.axes if x.shape[axis] != 1])
    if len(kept) == len(n.axes):
        return None
    reduced = UOp(Op.REDUCE_AXES, n.dtype, (x,), (n.combine, kept)) if kept else x
    return expand(reduced, n.shape)


add_product_rules(exact_rules, lambda dtype: dtype.is_integer)
