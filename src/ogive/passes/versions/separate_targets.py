"""A root that is a part of a buffer, to which something is stored, has memory of its own.

    before   SINK(SHRINK(x), AFTER(x, ASSIGN(SHRINK(x), 1)))
    after    SINK(CONTIGUOUS(SHRINK(x)), AFTER(x, ASSIGN(SHRINK(x), 1)))

Otherwise the root, which is kept elsewhere, would be what the store writes to.
"""

from __future__ import annotations

from ogive.ir.memory import is_memory
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.versions.storage import STORAGE


def separate_targets(sink: UOp) -> UOp:
    """The graph with copies for roots that are parts of what is stored to."""
    targets: set[UOp] = set()
    for node in sink.walk():
        if node.op is Op.ASSIGN:
            view = node.target
            while view.op not in STORAGE:
                targets.add(view)
                view = view.operand
    roots = [
        UOp(Op.CONTIGUOUS, root.dtype, (root,), ("part", position))
        if root in targets and not is_memory(root)
        else root
        for position, root in enumerate(sink.src)
    ]
    return UOp(Op.SINK, sink.dtype, tuple(roots))
