"""Every assigned value is kept in memory of its own first.

    before   AFTER(x, ASSIGN(x, y)), AFTER(y, ASSIGN(y, x))                  a swap, in no order
    after    AFTER(x, ASSIGN(x, CONTIGUOUS(y))), AFTER(y, ASSIGN(y, CONTIGUOUS(x)))

This is for assignments that need each other's old values: without it, no order of their regions is
right.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.versions.storage import keep_sources


def stage_assignments(sink: UOp) -> UOp:
    """The graph with all assigned values kept, except those assigned by indices."""
    return keep_sources(
        sink.walk(),
        lambda node, source: (
            node.op is Op.ASSIGN and not node.indices and source is node.value
        ),
    )


def are_staged(sink: UOp) -> bool:
    """Whether all assigned values are kept already."""
    return stage_assignments(sink) is sink
