"""A root that is a part of an assigned buffer gets memory of its own.

    before   SINK(SHRINK(x), AFTER(x, ASSIGN(SHRINK(x), 1)))
    after    SINK(CONTIGUOUS(SHRINK(x)), AFTER(x, ASSIGN(SHRINK(x), 1)))

The root is stored elsewhere. Without a copy, the store would write to that memory instead.
"""

from __future__ import annotations

from ogive.compiler.ir.memory import is_memory
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.versions.storage import STORAGE


def separate_targets(sink: UOp) -> UOp:
    """The graph with copies of roots that are parts of targets of assignments."""
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
