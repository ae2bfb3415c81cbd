"""Bound the error of a value: count the roundings on the longest path from the inputs to it.

To first order, the error is at most that many units of rounding (`eps / 2` of the dtype), times the
sum of the absolute values of the terms. This is the textbook bound. It assumes that the terms of a
sum are added one after the other, and is far above real errors.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, TRANSCENDENTAL, Op
from ogive.search.graph.leaves import element_count

FUNCTION = 4
"""The roundings that an elementary function counts as: all err by at most 4 units
(docs/numerics.md)."""

_EXACT = frozenset({
    Op.NEG, Op.ABS, Op.MAXIMUM, Op.MINIMUM, Op.WHERE, Op.COPYSIGN, Op.BITCAST, Op.FLOOR, Op.CEIL,
    Op.TRUNC, Op.ROUND,
})  # fmt: skip


def count_roundings(roots: Sequence[UOp]) -> int:
    """The most roundings on a path from the inputs to any of the `roots`."""
    counts: dict[UOp, int] = {}
    for node in UOp(Op.SINK, dtypes.void, tuple(roots)).walk()[:-1]:
        below = max([counts[source] for source in node.src], default=0)
        counts[node] = below + _own(node)
    return max([counts[root] for root in roots], default=0)


def _own(node: UOp) -> int:
    if not node.dtype.is_float or node.op in _EXACT:
        return 0
    if node.op in TRANSCENDENTAL:
        return FUNCTION
    if node.op is Op.REDUCE_AXES:
        terms = element_count(node.operand) // max(element_count(node), 1)
        return terms - 1 if node.combine in (Op.ADD, Op.MUL) else 0
    return 1 if node.op in ELEMENTWISE else 0
