"""Stage 5, first half: cut the parametric graph at the kept values into regions.

A region is what one kernel computes, as a graph of its own over `PARAM` slots numbered by first
visit, so that equal work anywhere in the program is the *same* interned node:

    SINK(STORE(RESHAPE(PARAM 0), ADD(RESHAPE(PARAM 1), CONST 1)))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ogive.ir import dtype as dtypes
from ogive.ir.memory import shaped, upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import SCRATCH, Op

STORAGE = frozenset({Op.PARAM, Op.AFTER, Op.CONTIGUOUS, Op.SCAN, Op.COPY, Op.CUSTOM})
"""The ops whose values are in memory whatever is chosen."""


@dataclass(frozen=True)
class Region:
    """One kernel's work: the normalized graph, and for each slot the value that stands there.

    `values[slot]` is a node of the parametric graph: a `PARAM`, an `AFTER` or a kept node.
    `roots` are the kept nodes the region computes, one for each `STORE` of the graph; they are
    written to the first slots, in order.
    `sources` leads from the region's nodes back to the parametric graph's. `fixed` has the values
    of the scheduler's own variables in the graph (`flatten.py`, `reroll.py`).
    """

    graph: UOp
    values: tuple[UOp, ...]
    roots: tuple[UOp, ...]
    sources: dict[UOp, UOp] = field(compare=False, default_factory=dict)
    fixed: tuple[tuple[str, int], ...] = ()


class HostRegion(NamedTuple):
    """What a step that is no kernel does: a copy between devices, or a custom function's call.

    `values` are the nodes that it writes, then those that it reads; `roots` are the former.
    """

    root: UOp
    values: tuple[UOp, ...]
    roots: tuple[UOp, ...]


def host_region(root: UOp) -> HostRegion:
    """The work of a `COPY`, or of the call that a `CUSTOM` node is an output of."""
    if root.op is Op.COPY:
        return HostRegion(root, (root, root.src[0]), (root,))
    name, outputs, _ = root.arg
    roots = tuple(
        [
            UOp(Op.CUSTOM, dtype, root.src, (name, outputs, number))
            for number, (_, dtype) in enumerate(outputs)
        ]
    )
    return HostRegion(root, (*roots, *[without_shape(node) for node in root.src]), roots)


def without_shape(node: UOp) -> UOp:
    """The memory under reshapes."""
    while node.op is Op.RESHAPE:
        node = node.src[0]
    return node


def cut_region(
    root: UOp,
    kept: set[UOp],
    staged: Mapping[UOp, int],
    order: tuple[int, ...] | None = None,
) -> Region:
    """The region that computes the kept node `root` from memory.

    `staged` has the values that a kernel keeps in scratch memory, each along an axis. `order` is
    that of the axes in its loops, where it is not their own.
    """
    slots: dict[UOp, UOp] = {}
    values: list[UOp] = []

    def parameter(value: UOp, dtype: dtypes.DType, count: int) -> UOp:
        made = UOp(Op.PARAM, dtype, (), (len(values), count))
        values.append(value)
        slots[value] = made
        return made

    if root.op is Op.STORE:
        target, value, *indices = root.src
        base = storage(target)
        parameter(base, target.dtype, storage_count(base))
    else:
        target, indices = None, []
        value = root.src[0] if root.op is Op.CONTIGUOUS else root
        made = parameter(root, root.dtype, upper_count(root.shape))
        target_node = shaped(made, root.shape)
    done: dict[UOp, UOp] = {}
    roots = (value,) if target is None else (target, value, *indices)
    for node in _walk_inside(roots, kept, root):
        if node in slots and node is not root:
            done[node] = shaped(slots[node], node.shape)
        elif is_leaf(node, kept, root):
            done[node] = shaped(
                parameter(node, node.dtype, storage_count(node)), node.shape
            )
        elif node.src:
            sources = tuple([done[source] for source in node.src])
            done[node] = UOp(node.op, node.dtype, sources, node.arg)
            if node in staged:
                row = (SCRATCH, staged[node])
                done[node] = UOp(Op.STAGE, node.dtype, (done[node],), row)
        else:
            done[node] = node
    if target is not None:
        target_node = done[target]
    positions = [done[index] for index in indices]
    argument = root.arg if root.op is Op.STORE else None
    stored: tuple[UOp, ...] = (target_node, done[value])
    if order is not None:
        stored = tuple([UOp(Op.PERMUTE, node.dtype, (node,), order) for node in stored])
    store = UOp(Op.STORE, dtypes.void, (*stored, *positions), argument)
    origins = {new: old for old, new in done.items()} | {store: root}
    origins |= {done[node].src[0]: node for node in staged if node in done}
    return Region(UOp(Op.SINK, dtypes.void, (store,)), tuple(values), (root,), origins)


def storage(node: UOp) -> UOp:
    """The version of a buffer that a chain of movement ops starts from."""
    while node.op not in STORAGE and node.src:
        node = node.src[0]
    return node


def storage_count(node: UOp) -> int:
    """How many elements the memory of a region's leaf has."""
    count: int = node.arg[1] if node.op is Op.PARAM else upper_count(node.shape)
    return count


def is_leaf(node: UOp, kept: set[UOp], root: UOp) -> bool:
    """Whether a region reads `node` from memory."""
    return node.op in (Op.PARAM, Op.AFTER) or (node in kept and node is not root)


def _walk_inside(roots: tuple[UOp, ...], kept: set[UOp], root: UOp) -> list[UOp]:
    """Nodes of one region, sources first, without going below its leaves."""
    order: list[UOp] = []
    state: dict[UOp, bool] = {}
    stack = list(reversed(roots))
    while stack:
        node = stack[-1]
        if node in state:
            stack.pop()
            if not state[node]:
                state[node] = True
                order.append(node)
            continue
        state[node] = False
        if not is_leaf(node, kept, root):
            stack.extend([s for s in reversed(node.src) if s not in state])
    return order

