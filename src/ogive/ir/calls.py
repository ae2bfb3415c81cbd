"""Calls of the library's functions (`Op.CALL`), and the nodes that they stand for."""

from __future__ import annotations

from collections.abc import Callable

from ogive.ir.node import UOp
from ogive.ir.ops import Op

GRADIENT_CALLEE = "autograd.gradient"
"""The callee whose first operand is an expression rather than a value: it is differentiated."""

expanders: dict[str, Callable[[UOp], tuple[UOp, ...]]] = {}
"""For each function whose calls may be nodes, by its name: what all outputs of a call stand for.

The functions are of the layers above, which say so (`tensor/outlined.py`); the language only knows
that there are some.
"""


def is_gradient(node: UOp) -> bool:
    """Whether a node is a gradient that has not been worked out."""
    return node.op is Op.CALL and node.callee == GRADIENT_CALLEE


class Expansions:
    """The nodes that calls stand for, over their operands; outputs of one call are made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[UOp, ...]] = {}

    def of(self, call: UOp) -> UOp:
        """The node that a CALL stands for."""
        key = (call.callee, call.arguments, call.src)
        outputs = self._made.get(key)
        if outputs is None:
            outputs = self._made[key] = expanders[call.callee](call)
        return outputs[call.output]
