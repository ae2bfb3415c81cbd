"""Gives reductions in different blocks counters of their own.

`rangeify` lets independent reductions share counters. Once it is known which counters are loops,
some of them may depend on fewer loops than others. These are computed further out, once.

    before   loop r0 { loop r1 { sum of a[r1] ; sum of b[r0, r1] } }
    after    loop r2 { sum of a[r2] } ; loop r0 { loop r1 { sum of b[r0, r1] } }
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.passes.lower.linearize import loop_counters


def separate_loops(root: UOp) -> UOp:
    """A placed kernel in which all reductions that share a loop are in the same block."""
    while True:
        moved = _reductions_elsewhere(root)
        if not moved:
            return root
        counters = loop_counters(moved[0].closed)
        number = 1 + max([node.number for node in root.walk() if node.op is Op.RANGE])
        own = {
            counter: make_range(counter.extent, number + position, counter.placement)
            for position, counter in enumerate(counters)
        }
        replacements = {reduction: replace_ranges(reduction, own) for reduction in moved}
        (root,) = substitute((root,), replacements, revisit=False)


def _reductions_elsewhere(root: UOp) -> list[UOp]:
    """Reductions in one block that share a loop with reductions in another block."""
    blocks: dict[UOp, dict[UOp | None, list[UOp]]] = {}
    for node in root.walk():
        closed = loop_counters(node.closed) if node.op in (Op.REDUCE, Op.STAGE) else []
        if closed:
            block = [None, *loop_counters(node.ranges)][-1]
            for around, counter in zip((block, *closed), closed, strict=False):
                blocks.setdefault(counter, {}).setdefault(around, []).append(node)
    for places in blocks.values():
        if len(places) > 1:
            return next(iter(places.values()))
    return []
