"""The arguments of kernels."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.named import NamedTuple


class Signature(NamedTuple):
    """The arguments of a kernel in order: the slots of its buffers, then its variables."""

    slots: tuple[int, ...]
    variables: tuple[str, ...]


def kernel_signature(root: UOp) -> Signature:
    """The arguments of a kernel: the slots that it accesses and the variables that it uses."""
    nodes = root.walk()
    slots = sorted({node.slot for node in nodes if node.op is Op.PARAM})
    variables = sorted({node.name for node in nodes if node.op is Op.VARIABLE})
    return Signature(tuple(slots), tuple(variables))
