"""The number of roundings on the longest path from the inputs to a value: a bound of its error.

To first order, the error of a result is at most this many units of rounding (`eps / 2` of its
dtype) times the sum of the absolute values of its terms. This is the textbook bound, which assumes
sums that are added up term by term, and is far above actual errors.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, TRANSCENDENTAL, Op
from ogive.compiler.search.graph.leaves import element_count

FUNCTION = 4
"""The roundings of an elementary function: all are within 4 units (docs/numerics.md)."""

_EXACT = frozenset({
    Op.NEG, Op.ABS, Op.MAXIMUM, Op.MINIMUM, Op.WHERE, Op.COPYSIGN, Op.BITCAST, Op.FLOOR, Op.CEIL,
    Op.TRUNC, Op.ROUND,
})  # fmt: skip


def count_roundings(roots: Sequence[UOp]) -> int:
    """The greatest number of roundings on a path to one of these values."""
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
