"""The arguments of kernels."""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.named import NamedTuple


class Signature(NamedTuple):
    """The arguments of a kernel: its buffers by slot, then its variables, in order."""

    slots: tuple[int, ...]
    variables: tuple[str, ...]


def kernel_signature(root: UOp) -> Signature:
    """Derived from the kernel itself: the slots it touches and the variables it uses."""
    nodes = root.walk()
    slots = sorted({node.slot for node in nodes if node.op is Op.PARAM})
    variables = sorted({node.name for node in nodes if node.op is Op.VARIABLE})
    return Signature(tuple(slots), tuple(variables))
