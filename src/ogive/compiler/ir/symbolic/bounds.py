"""Interval analysis: the least and the greatest value of integer and boolean nodes.

`infer_bounds` assumes that index arithmetic does not overflow, which the compiler guarantees for
the addresses it computes. Fixed-width integers may wrap, so their interval is the whole dtype where
the exact one does not fit. `infer_sound_bounds` does without the assumption: it gives None for an
index expression that cannot be shown to fit in 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.dtype import Scalar, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

Interval = tuple[Any, Any]
_BOTH = (False, True)
_INEXACT = ("float", "complex")
"""Kinds of dtypes that have no bounds, because a NaN is within none."""


def infer_bounds(node: UOp) -> tuple[Scalar, Scalar]:
    """The interval of `node`. The intervals of its sources are known."""
    dtype = node.dtype
    op = node.op
    if op is Op.CONST:
        return (node.arg, node.arg)
    if dtype.kind in _INEXACT or dtype.name == "void":
        return dtype.limits
    exact = _EXACT.get(op)
    if exact is None:
        return dtype.limits
    interval = exact(node)
    if interval is None:
        return dtype.limits
    if dtype is index:
        return interval
    if dtype.kind == "bool":
        return interval if isinstance(interval[0], bool) else _BOTH
    low, high = dtype.limits
    return interval if low <= interval[0] and interval[1] <= high else (low, high)


def infer_sound_bounds(node: UOp) -> tuple[int, int] | None:
    """The interval of `node` if it holds in 64-bit arithmetic too, else None."""
    if node.dtype.kind in _INEXACT or node.dtype.name == "void":
        return None
    if node.dtype is not index:
        # A condition or a conversion is as reliable as the indices it is computed from.
        if any(source.dtype is index and source.sound_bounds is None for source in node.src):
            low, high = node.dtype.limits
        else:
            low, high = node.bounds
        return int(low), int(high)
    for source in node.src:
        if source.dtype is index and source.sound_bounds is None:
            return None
    low, high = node.bounds
    least, greatest = index.limits
    return (int(low), int(high)) if least <= low and high <= greatest else None


def _range(node: UOp) -> Interval:
    return 0, max(node.extent._bounds[1] - 1, 0)


def _variable(node: UOp) -> Interval:
    return node.low, node.high


def _bind(node: UOp) -> Interval:
    return node.variable._bounds


def _iota(node: UOp) -> Interval:
    stop: Any = node.stop if node.symbolic is None else node.symbolic._bounds[1]
    return 0, max(stop - 1, 0)


def _add(node: UOp) -> Interval:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    return a + c, b + d


def _sub(node: UOp) -> Interval:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    return a - d, b - c


def _mul(node: UOp) -> Interval:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if c is d or c == d:
        return (a * c, b * c) if c >= 0 else (b * c, a * c)
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def _neg(node: UOp) -> Interval:
    low, high = node.operand._bounds
    return -high, -low


def _abs(node: UOp) -> Interval:
    low, high = node.operand._bounds
    if low >= 0:
        return low, high
    return (-high, -low) if high <= 0 else (0, max(-low, high))


def _floordiv(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if c > 0 or d < 0:
        corners = (a // c, a // d, b // c, b // d)
        return min(corners), max(corners)
    return None


def _mod(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if c > 0:
        if c == d and a // c == b // c:
            return a % c, b % c
        return (a, b) if a >= 0 and b < c else (0, min(b, d - 1) if a >= 0 else d - 1)
    return (c + 1, 0) if d < 0 else None


def _maximum(node: UOp) -> Interval:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    return max(a, c), max(b, d)


def _minimum(node: UOp) -> Interval:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    return min(a, c), min(b, d)


def _shift_left(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if c < 0 or d >= node.dtype.bits:
        return None
    corners = (a << c, a << d, b << c, b << d)
    return min(corners), max(corners)


def _shift_right(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if c < 0 or d >= node.dtype.bits:
        return None
    corners = (a >> c, a >> d, b >> c, b >> d)
    return min(corners), max(corners)


def _and(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if node.dtype.kind == "bool":
        return a and c, b and d
    if a >= 0 and c >= 0:
        return 0, min(b, d)
    if a >= 0:
        return 0, b
    return (0, d) if c >= 0 else None


def _or(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if node.dtype.kind == "bool":
        return a or c, b or d
    if a >= 0 and c >= 0:
        return max(a, c), (1 << max(b.bit_length(), d.bit_length())) - 1
    return None


def _xor(node: UOp) -> Interval | None:
    (a, b), (c, d) = node.left._bounds, node.right._bounds
    if node.dtype.kind == "bool":
        return (a != c, a != c) if a == b and c == d else _BOTH
    if a >= 0 and c >= 0:
        return 0, (1 << max(b.bit_length(), d.bit_length())) - 1
    return None


def _not(node: UOp) -> Interval:
    low, high = node.operand._bounds
    if node.dtype.kind == "bool":
        return not high, not low
    if node.dtype.kind == "uint":
        top = (1 << node.dtype.bits) - 1
        return top - high, top - low
    return -1 - high, -1 - low


def _less(node: UOp) -> Interval:
    left, right = node.src
    if left.dtype.kind in _INEXACT:
        return _BOTH
    (a, b), (c, d) = left._bounds, right._bounds
    return b < c, a < d


def _less_or_equal(node: UOp) -> Interval:
    left, right = node.src
    if left.dtype.kind in _INEXACT:
        return _BOTH
    (a, b), (c, d) = left._bounds, right._bounds
    return b <= c, a <= d


def _equal(node: UOp) -> Interval:
    left, right = node.src
    if left.dtype.kind in _INEXACT:
        return _BOTH
    if left is right:
        return True, True
    (a, b), (c, d) = left._bounds, right._bounds
    return a == b == c == d, not (b < c or d < a)


def _not_equal(node: UOp) -> Interval:
    if node.left.dtype.kind in _INEXACT:
        return _BOTH
    never, always = _equal(node)
    return not always, not never


def _where(node: UOp) -> Interval:
    condition, chosen, other = node.src
    low, high = condition._bounds
    (a, b), (c, d) = chosen._bounds, other._bounds
    if low:
        return a, b
    if not high:
        return c, d
    if condition.op is Op.CMPLT and condition.right.op is Op.CONST:
        # A wrapped index, such as where(x < n, x + m, x): the condition bounds x in each branch.
        x, most = condition.left, condition.right.literal
        if chosen is x:
            b = min(b, most - 1)
        elif chosen.op is Op.ADD and chosen.left is x and x._bounds[1] >= most:
            (e, f) = chosen.right._bounds
            a, b = x._bounds[0] + e, most - 1 + f
        if other is x:
            c = max(c, most)
    return min(a, c), max(b, d)


def _check(node: UOp) -> Interval:
    """The checked value below its limit, or the fallback."""
    value, condition = node.src[:2]
    low, high = value._bounds
    if condition.op is Op.CMPLT and condition.left is value:
        high = min(high, condition.right._bounds[1] - 1)
    return min(low, node.fallback), max(high, node.fallback)


def _same(node: UOp) -> Interval:
    return node.operand._bounds


def _pad(node: UOp) -> Interval:
    (low, high), fill = node.operand._bounds, node.fill
    return min(low, fill), max(high, fill)


def _cast(node: UOp) -> Interval | None:
    source = node.operand
    if source.dtype.kind in _INEXACT:
        return None
    low, high = source._bounds
    if node.dtype.kind == "bool":
        return low > 0 or high < 0, low != 0 or high != 0
    return int(low), int(high)


_EXACT: dict[Op, Callable[[UOp], Interval | None]] = {
    Op.RANGE: _range, Op.VARIABLE: _variable, Op.BIND: _bind, Op.IOTA: _iota,
    Op.ADD: _add, Op.SUB: _sub, Op.MUL: _mul, Op.NEG: _neg, Op.ABS: _abs,
    Op.FLOORDIV: _floordiv, Op.MOD: _mod, Op.MAXIMUM: _maximum, Op.MINIMUM: _minimum,
    Op.SHL: _shift_left, Op.SHR: _shift_right, Op.AND: _and, Op.OR: _or, Op.XOR: _xor,
    Op.NOT: _not, Op.CMPLT: _less, Op.CMPLE: _less_or_equal, Op.CMPEQ: _equal,
    Op.CMPNE: _not_equal, Op.WHERE: _where, Op.CAST: _cast, Op.CHECK: _check,
    Op.RESHAPE: _same, Op.PERMUTE: _same, Op.EXPAND: _same, Op.SHRINK: _same, Op.FLIP: _same,
    Op.PAD: _pad, Op.GATHER: _same,
}  # fmt: skip
"""For each op, the interval of a node in unbounded integers; None where nothing is known."""
