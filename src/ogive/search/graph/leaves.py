"""Questions about a value in a window: does it follow from inputs alone, how many elements has it?

An input of the graph, such as a weight, is a `PARAM` with a device. A value that another part of
the graph computes is a `PARAM` without one.
"""

from __future__ import annotations

import math

from ogive.ir.memory import PANELS
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import greatest

MOST_NODES = 64
"""The most nodes that are looked at. A value of more nodes does not count as made from inputs."""


def follows_from_inputs(value: UOp) -> bool:
    """Whether a value is computed from inputs alone, by at most `MOST_NODES` nodes."""
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
    """A value that follows from inputs, marked to be computed once and kept until they change."""
    return UOp(Op.CONTIGUOUS, value.dtype, (value,), PANELS)


def element_count(node: UOp) -> int:
    """The most elements that a value can have, if its lengths vary."""
    return math.prod([greatest(length) for length in node.shape])
