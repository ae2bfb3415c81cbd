"""What a value follows from: inputs alone, which may be weights, or what is computed before.

In a window of a graph, inputs are `PARAM`s with a device, and values that the rest of the graph
computes are `PARAM`s without one.
"""

from __future__ import annotations

import math

from ogive.ir.memory import PANELS
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import greatest

MOST_NODES = 64
"""How many nodes are looked at: more are no weight."""


def follows_from_inputs(value: UOp) -> bool:
    """Whether a value can be computed before anything else is."""
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
    """A value that follows from inputs, computed once and kept until one of them changes."""
    return UOp(Op.CONTIGUOUS, value.dtype, (value,), PANELS)


def element_count(node: UOp) -> int:
    """How many elements a value has, at most."""
    return math.prod([greatest(length) for length in node.shape])
