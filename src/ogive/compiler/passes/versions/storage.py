"""The memory that holds a value, and edges of the graph that go through memory.

An assignment makes a new *version* of a buffer: `AFTER(old, ASSIGN(view of old, value))`. Both
versions are the same memory, so every reader of the old version must run before the store.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

STORAGE = frozenset({
    Op.PARAM, Op.AFTER, Op.CONTIGUOUS, Op.SCAN_AXIS, Op.ARRANGE, Op.COPY, Op.CUSTOM,
})  # fmt: skip
"""The ops whose values are always in memory, whatever other values are kept."""


def storage(node: UOp) -> UOp:
    """The version of a buffer under a chain of movement ops."""
    while node.op not in STORAGE and node.src:
        node = node.src[0]
    return node


def gather_bits(order: list[UOp], bits: dict[UOp, int]) -> dict[UOp, int]:
    """For each node, the union of the bits of all nodes that it reads or computes in its kernel."""
    by_node: dict[UOp, int] = {}
    for node in order:
        gathered = bits.get(node, 0)
        if node.op not in STORAGE:
            for source in node.src:
                gathered |= by_node[source]
        by_node[node] = gathered
    return by_node


def keep_sources(order: list[UOp], wanted: Callable[[UOp, UOp], bool]) -> UOp:
    """The graph with the `wanted` (node, source) edges kept in memory; `order` is its walk."""
    done: dict[UOp, UOp] = {}
    for node in order:
        sources = []
        for source in node.src:
            new = done[source]
            if source.op is not Op.CONTIGUOUS and wanted(node, source):
                new = UOp(Op.CONTIGUOUS, new.dtype, (new,), ())
            sources.append(new)
        done[node] = node.with_sources(tuple(sources))
    return done[order[-1]]
