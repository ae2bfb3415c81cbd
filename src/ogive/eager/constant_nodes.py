"""Values of graphs that read no memory: numbers, counters, and what little is made of these.

    CONST 2.0                                   →   array(2.)
    EXPAND(RESHAPE(IOTA 3)) == EXPAND(...)      →   the mask of a diagonal, as `eye` makes it

A function of the library that is given eager tensors makes such tensors beside them. They are small
and known, so an eager tensor that meets one takes it up, instead of settling for its sake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.ir.node import UOp
from ogive.ir.ops import Op

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_NODES = 16
"""How many nodes are evaluated here: `eye` has 7. What has more is no mere constant."""

_COMBINED: dict[Op, Any] = {
    Op.ADD: numpy.add, Op.SUB: numpy.subtract, Op.MUL: numpy.multiply, Op.CMPLT: numpy.less,
    Op.CMPEQ: numpy.equal, Op.CMPNE: numpy.not_equal,
}  # fmt: skip


def constant_value(node: UOp) -> NDArray[Any] | None:
    """The value of a node that follows from constants and counters; None if it is not that."""
    order = _in_order(node)
    if order is None:
        return None
    known: dict[UOp, Any] = {}
    for each in order:
        value = _evaluate(each, [known[source] for source in each.src])
        if value is None:
            return None
        known[each] = value
    return numpy.array(numpy.broadcast_to(known[node], node.shape), node.dtype.numpy)


def _in_order(root: UOp) -> list[UOp] | None:
    """The nodes under one, sources first; None if they are many."""
    order: dict[UOp, None] = {}
    stack = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order[node] = None
        elif node not in order:
            if len(stack) + len(order) > 2 * MOST_NODES:
                return None
            stack.append((node, True))
            stack += [(source, False) for source in node.src]
    return list(order)


def _evaluate(node: UOp, sources: list[Any]) -> Any:
    op, kind = node.op, node.dtype.numpy
    if op is Op.CONST:
        return numpy.asarray(node.arg, kind)
    if op is Op.IOTA and node.arg is not None:
        return numpy.arange(node.arg, dtype=kind)
    if op is Op.RESHAPE:
        return sources[0].reshape(node.shape)
    if op is Op.EXPAND:
        return numpy.broadcast_to(sources[0], node.shape)
    if op is Op.CAST and sources[0].dtype.kind in "bi":
        return sources[0].astype(kind)
    if op in _COMBINED and kind.kind in "bi":
        return _COMBINED[op](*sources)
    return None
