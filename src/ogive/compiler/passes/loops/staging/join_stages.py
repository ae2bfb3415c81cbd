"""Lets the first loop that reads a staged value compute it.

`rangeify` gives a staged value a loop of its own. If a reduction, or another staged value, reads
all of it before all other readers, one loop can do both:

    before   loop r1 { e[r1] = exp(x[r1]) } ; loop r2 { sum of e[r2] } ; loop r3 { store e[r3] }
    after    loop r2 { e[r2] = exp(x[r2]) ; sum of exp(x[r2]) } ; loop r3 { store e[r3] }
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges


def join_stages(root: UOp) -> UOp:
    """The loop graph with every staged value computed by its first reader, where possible."""
    before = root
    while (joined := _find_first_reader(root)) is not None:
        stage, counter = joined
        own = stage.offset
        value = replace_ranges(stage.operand, {own: counter})
        moved = UOp(Op.STAGE, stage.dtype, (value, counter, counter), stage.arg)
        read = UOp(Op.LOAD, stage.dtype, (UOp(Op.INDEX, stage.dtype, (stage, counter)),))
        (root,) = substitute((root,), {stage: moved, read: value}, revisit=False)
    return root if root is before else _renumbered(root)


def _renumbered(root: UOp) -> UOp:
    """The graph with its counters numbered without gaps."""
    counters = [node for node in root.walk() if node.op is Op.RANGE]
    counters.sort(key=lambda counter: counter.number)
    return replace_ranges(
        root,
        {
            counter: make_range(counter.extent, number, counter.placement)
            for number, counter in enumerate(counters)
        },
    )


def _find_first_reader(root: UOp) -> tuple[UOp, UOp] | None:
    """A staged value with a loop of its own, and the counter of the loop to join."""
    nodes = root.walk()
    closing: dict[UOp, list[UOp]] = {}
    for node in nodes:
        for counter in node.closed:
            closing.setdefault(counter, []).append(node)
    reads: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is Op.INDEX and node.base.op is Op.STAGE:
            reads.setdefault(node.base, []).append(node)
    for stage, places in reads.items():
        own = stage.offset
        if closing.get(own) != [stage] or stage.sorted_count:
            continue  # joined already, or sorted, so that it is read only after its loop
        for place in places:
            counter = place.offset
            if counter.op is Op.RANGE and len(place.src) == 2 and counter.src == own.src:
                others = [other for other in places if other is not place]
                if all(_can_join(stage, node, others) for node in closing[counter]):
                    return stage, counter
    return None


def _can_join(stage: UOp, reader: UOp, others: list[UOp]) -> bool:
    """Whether `reader` is in the same loops as the staged value, and before its other readers."""
    if reader.op is Op.STORE or reader.ranges != stage.ranges:
        return False
    return reader.backward_slice().isdisjoint(others)
