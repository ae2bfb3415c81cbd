"""A scatter becomes a store into memory of its own.

    before   SCATTER(x, value, i...) ADD
    after    AFTER(c, ASSIGN(c, value, i...) ADD), where c = CONTIGUOUS(x)

One kernel makes the copy (it fills it with zeros, say), and the store that follows changes it in
place. Nothing else reads or writes the copy, so an index out of range spoils only the result. A
scatter into a scatter that nothing else reads stores into the same copy:

    before   SCATTER(SCATTER(x, v, i...), w, j...)
    after    AFTER(a, ASSIGN(a, w, j...)), where a = AFTER(c, ASSIGN(c, v, i...))
"""

from __future__ import annotations

from collections import Counter

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op


def place_scatters(sink: UOp) -> UOp:
    """The graph without `SCATTER`. No two roots are the same memory."""
    if not any(node.op is Op.SCATTER for node in sink.walk()):
        return sink
    placed = _Placing(sink).placed
    taken: set[UOp] = set()
    roots = []
    for position, root in enumerate(placed.src):
        leaf = memory_leaf(root)
        if _is_placed(leaf) and leaf in taken:
            root = UOp(Op.CONTIGUOUS, root.dtype, (root,), ("result", position))
        taken.add(leaf)
        roots.append(root)
    return placed.with_sources(tuple(roots))


def _is_placed(node: UOp) -> bool:
    """Whether a node is memory made for a scatter. Assigned memory may be several roots instead."""
    while node.op is Op.AFTER:
        node = node.operand
        if node.op is Op.CONTIGUOUS:
            return True
    return False


class _Placing:
    """The placement of all scatters of a graph; `placed` is the new graph."""

    def __init__(self, sink: UOp) -> None:
        self.uses = Counter([source for node in sink.walk() for source in node.src])
        self.copies: Counter[UOp] = Counter()
        done: dict[UOp, UOp] = {}
        for node in sink.walk():
            sources = tuple([done[source] for source in node.src])
            if node.op is Op.SCATTER:
                done[node] = self.place(node, *sources)
            else:
                done[node] = node.with_sources(sources)
        self.placed = done[sink]

    def place(self, node: UOp, base: UOp, *value_and_indices: UOp) -> UOp:
        memory = base
        if node.operand.op is not Op.SCATTER or self.uses[node.operand] > 1:
            # The number makes several copies of one value different nodes.
            self.copies[base] += 1
            number = self.copies[base]
            memory = UOp(Op.CONTIGUOUS, node.dtype, (base,), ("scatter", number))
        store = UOp(Op.ASSIGN, dtypes.void, (memory, *value_and_indices), node.arg, node.tag)
        return UOp(Op.AFTER, node.dtype, (memory, store))
