"""Whether a value depends on inputs alone, such as weights, or on computed values.

In a window of a graph, inputs are `PARAM`s with a device, and values that the rest of the graph
computes are `PARAM`s without one.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.memory import PANELS
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import greatest

MOST_NODES = 64
"""The most nodes that are visited. A value of more nodes is taken to be computed."""


def follows_from_inputs(value: UOp) -> bool:
    """Whether a value depends on inputs alone."""
    pending, seen = [value], {value}
    while pending:
        node = pending.pop()
        if node.op is Op.PARAM and len(node.arg) < 3:
            return False
        if node.op is Op.VARIABLE or len(seen) > MOST_NODES:
            return False
        below = [source for source in node.src if source not in seen]
        seen.update(below)
        pending.extend(below)
    return True


def keep_once(value: UOp) -> UOp:
    """A value of inputs alone, computed once and kept until one of them changes."""
    return UOp(Op.CONTIGUOUS, value.dtype, (value,), PANELS)


def element_count(node: UOp) -> int:
    """The greatest number of elements of a value."""
    return math.prod([greatest(length) for length in node.shape])
