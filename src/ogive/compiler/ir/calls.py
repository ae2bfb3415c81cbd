"""Calls of library functions (`Op.CALL`), and their expansion into other nodes."""

from __future__ import annotations

from collections.abc import Callable

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

GRADIENT_CALLEE = "autograd.gradient"
"""The callee that differentiates its first operand, an expression rather than a value."""

expanders: dict[str, Callable[[UOp], tuple[UOp, ...]]] = {}
"""For each function that may be called by a node, by name: a call → the nodes of all its outputs.

The functions belong to the layers above, which register them here (`tensor/outlined.py`).
"""


def is_gradient(node: UOp) -> bool:
    """Whether a node is a gradient that has not been expanded yet."""
    return node.op is Op.CALL and node.callee == GRADIENT_CALLEE


class Expansions:
    """The expansions of calls. The outputs of one call are built together, once."""

    def __init__(self) -> None:
        self._outputs: dict[tuple[object, ...], tuple[UOp, ...]] = {}

    def of(self, call: UOp) -> UOp:
        """The node that a CALL expands to."""
        key = (call.callee, call.arguments, call.src)
        outputs = self._outputs.get(key)
        if outputs is None:
            outputs = self._outputs[key] = expanders[call.callee](call)
        return outputs[call.output]
