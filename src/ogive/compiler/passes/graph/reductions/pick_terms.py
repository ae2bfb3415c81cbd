"""A sum in which only the term at one position is not zero becomes a read of that term.

    before   sum over k of where(k == t[i], x[i, k], 0)        reads all of x
    after    x[i, t[i]]                                        a `GATHER`

So a cross entropy reads one likelihood per row. Its graph has the first form, because that gives a
simple gradient. Only positions that are known to be within the axis are taken, since a `GATHER`
outside would fault.
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import count_along, expand
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import transform


def pick_terms(sink: UOp) -> UOp:
    """The graph with a `GATHER` in place of each such sum."""
    if not any(_is_choice(node) for node in sink.walk()):
        return sink
    return transform(sink, lambda node: _pick_term(node) if _is_choice(node) else node)


def _is_choice(node: UOp) -> bool:
    return node.op is Op.REDUCE_AXES and _choosing(node.operand).op is Op.WHERE


def _choosing(term: UOp) -> UOp:
    """A term without negations, which gradients have; it is zero at the same positions."""
    while term.op is Op.NEG:
        term = term.operand
    return term


def _pick_term(node: UOp) -> UOp:
    op, axes = node.arg
    (term,) = node.src
    if op is not Op.ADD or len(axes) != 1:
        return node
    condition, _, otherwise = _choosing(term).src
    if otherwise.op is not Op.CONST or otherwise.arg != 0:
        return node
    position = _only_position(condition, axes[0])
    if position is None:
        return node
    places = [
        expand(position, node.shape) if axis == axes[0] else count_along(axis, node.shape)
        for axis in range(len(node.shape))
    ]
    return UOp(Op.GATHER, node.dtype, (term, *places))


def _only_position(condition: UOp, axis: int) -> UOp | None:
    """The only position along an axis where a condition may hold, or None.

    The position must be known to be within the axis.
    """
    parts = [condition]
    while parts:
        part = parts.pop()
        if part.op is Op.AND:
            parts.extend(part.src)
        elif part.op is Op.CMPEQ and part.left.dtype is dtypes.int64:
            for counter, position in (part.src, part.src[::-1]):
                length = condition.shape[axis]
                if position.op is Op.EXPAND and _counts(counter, axis, length):
                    place = position.operand
                    low, high = place.bounds
                    if place.shape[axis] == 1 and low >= 0 and high < length:
                        return place
    return None


def _counts(node: UOp, axis: int, length: int) -> bool:
    """Whether a value counts the positions along an axis of that length."""
    if not isinstance(length, int):
        return False
    if node.op is Op.EXPAND:
        node = node.operand
    line = tuple([length if other == axis else 1 for other in range(len(node.shape))])
    is_line = node.shape == line
    while node.op is Op.RESHAPE:
        node = node.operand
    return is_line and node.op is Op.IOTA and node.arg == length
