"""An assigned value is kept in memory of its own first where storing it directly could go wrong.

    before   ASSIGN(SHRINK(x), SHRINK'(x))         after   ASSIGN(SHRINK(x), CONTIGUOUS(...))

That is where the value reads its target's buffer at other places than it writes, and where it could
fault half-way. A store by indices needs none of this: its target is memory of its own.
"""

from __future__ import annotations

from ogive.compiler.ir.memory import reads_elsewhere
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.fault_checks import can_fault
from ogive.compiler.passes.versions.storage import STORAGE, gather_bits, keep_sources, storage


def stage_overlaps(sink: UOp) -> UOp:
    """The graph with assigned values kept where they may not be stored directly."""
    order = sink.walk()
    stores = [node for node in order if node.op is Op.ASSIGN and not node.indices]
    faulty = _faulty_nodes(order)
    bits = {memory: 1 << at for at, memory in enumerate({storage(s.target) for s in stores})}
    reads = gather_bits(order, bits)
    staged = {
        store
        for store in stores
        if store.value in faulty or _reads_elsewhere(store, bits, reads)
    }
    return keep_sources(order, lambda node, source: node in staged and source is node.value)


def _faulty_nodes(order: list[UOp]) -> set[UOp]:
    """The nodes that may be in one kernel with a node that can fault."""
    faulty: set[UOp] = set()
    for node in order:
        inherits = node.op not in STORAGE and not faulty.isdisjoint(node.src)
        if inherits or can_fault(node):
            faulty.add(node)
    return faulty


def _reads_elsewhere(store: UOp, bits: dict[UOp, int], reads: dict[UOp, int]) -> bool:
    """Whether the value reads the target's buffer at other places than it writes."""
    target, value = store.src
    target_bits = bits[storage(target)]
    return reads_elsewhere(value, target, lambda node: bool(reads[node] & target_bits))
