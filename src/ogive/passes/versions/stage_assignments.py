"""Every stored value is computed elsewhere first.

    before   AFTER(x, ASSIGN(x, y)), AFTER(y, ASSIGN(y, x))                  a swap, in no order
    after    AFTER(x, ASSIGN(x, CONTIGUOUS(y))), AFTER(y, ASSIGN(y, CONTIGUOUS(x)))

For assignments that need each other's old values: their regions can be put into no order
otherwise.
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.versions.storage import keep_sources


def stage_assignments(sink: UOp) -> UOp:
    """The graph with all stored values kept, but those that are stored by indices."""
    return keep_sources(
        sink.walk(),
        lambda node, source: (
            node.op is Op.ASSIGN and not node.indices and source is node.value
        ),
    )


def are_staged(sink: UOp) -> bool:
    """Whether all stored values are kept already."""
    return stage_assignments(sink) is sink
