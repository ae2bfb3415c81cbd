"""A scatter becomes a store into memory of its own.

    before   SCATTER(x, value, i...) ADD
    after    AFTER(c, STORE(c, value, i...) ADD), where c = CONTIGUOUS(x)

The copy is a kernel like any other (filling with zeros, say), and the store that follows it changes
what it holds in place. Nobody else reads or writes the copy, so if an index is out of range nothing
is lost but the result.
"""

from __future__ import annotations

from ogive.ir import dtype as dtypes
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp, transform
from ogive.ir.ops import Op


def place_scatters(sink: UOp) -> UOp:
    """The graph without `SCATTER`; no two roots are the same memory."""
    if not any(node.op is Op.SCATTER for node in sink.walk()):
        return sink
    copies: dict[UOp, int] = {}
    placed = transform(sink, lambda node: _place(node, copies) if node.op is Op.SCATTER else node)
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
    """Whether a node is the memory of a scatter. That of an assignment may be several roots."""
    return node.op is Op.AFTER and node.src[0].op is Op.CONTIGUOUS


def _place(node: UOp, copies: dict[UOp, int]) -> UOp:
    base, *rest = node.src
    # The number keeps several copies of one value apart.
    copies[base] = number = copies.get(base, 0) + 1
    copy = UOp(Op.CONTIGUOUS, node.dtype, (base,), ("scatter", number))
    store = UOp(Op.STORE, dtypes.void, (copy, *rest), node.arg, node.tag)
    return UOp(Op.AFTER, node.dtype, (copy, store))
