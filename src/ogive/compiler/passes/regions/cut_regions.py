"""Cuts the graph at the kept values into regions.

A region is the work of one kernel, as a graph of its own. Its `PARAM` slots are numbered by first
visit, so that equal work anywhere in the program is the *same* interned node:

    before   EXP(CONTIGUOUS(ADD(PARAM 7, CONST 1)))
    after    SINK(ASSIGN(PARAM 0, ADD(PARAM 1, CONST 1)))   SINK(ASSIGN(PARAM 0, EXP(PARAM 1)))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SCRATCH, Op
from ogive.compiler.passes.fuse.choice import Choice
from ogive.compiler.passes.versions.storage import storage
from ogive.named import NamedTuple, record


@record(frozen=True)
class Region:
    """The work of one kernel: the normalized graph, and the value of each slot.

    `values[slot]` is a node of the parametric graph: a `PARAM`, an `AFTER` or a kept node.
    `roots` are the kept nodes that the region computes, one for each `ASSIGN` of the graph; they
    are written to the first slots, in order. `sources` has for each node of the region its node in
    the parametric graph. `fixed` has the values of the compiler's own variables in the graph
    (`flatten_regions.py`, `reroll_regions.py`).
    """

    graph: UOp
    values: tuple[UOp, ...]
    roots: tuple[UOp, ...]
    sources: dict[UOp, UOp] = field(compare=False, default_factory=dict)
    fixed: tuple[tuple[str, int], ...] = ()


class HostRegion(NamedTuple):
    """A step of the host instead of a kernel: a copy between devices, or a call of a function.

    `values` are the nodes that it writes, then those that it reads. `roots` are the written ones.
    """

    root: UOp
    values: tuple[UOp, ...]
    roots: tuple[UOp, ...]


def cut_regions(choice: Choice) -> list[Region | HostRegion]:
    """The regions that compute the kept values, producers first. A call with several results has
    one region."""
    kept = set(choice.kept)
    regions: list[Region | HostRegion] = []
    called: set[UOp] = set()
    for node in choice.kept:
        if node.op not in (Op.COPY, Op.CUSTOM):
            regions.append(_cut_region(node, kept, choice.staged, choice.orders.get(node)))
        elif node not in called:
            region = _host_region(node)
            called.update(region.roots)
            regions.append(region)
    return regions


def _host_region(root: UOp) -> HostRegion:
    """The region of a `COPY`, or of the call of which a `CUSTOM` node is an output."""
    if root.op is Op.COPY:
        return HostRegion(root, (root, root.operand), (root,))
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
        node = node.operand
    return node


def _cut_region(
    root: UOp,
    kept: set[UOp],
    staged: Mapping[UOp, int],
    order: tuple[int, ...] | None = None,
) -> Region:
    """The region that computes the kept node `root` from memory.

    `staged` has the values to keep in scratch memory, each along an axis. `order` is the order of
    the axes in its loops; None keeps their own.
    """
    cutting = _Cutting(root, kept, staged)
    if root.op is Op.ASSIGN:
        base = storage(root.target)
        cutting.parameter(base, storage_count(base))
        target, value, *positions = cutting.cut(root.src)
        argument = root.arg
    else:
        memory = cutting.parameter(root, upper_count(root.shape))
        target, positions, argument = shaped(memory, root.shape), [], None
        (value,) = cutting.cut(root.src if root.op is Op.CONTIGUOUS else (root,))
    if order is not None:
        target, value = [UOp(Op.PERMUTE, n.dtype, (n,), order) for n in (target, value)]
    store = UOp(Op.ASSIGN, dtypes.void, (target, value, *positions), argument)
    graph = UOp(Op.SINK, dtypes.void, (store,))
    return Region(graph, tuple(cutting.values), (root,), cutting.sources() | {store: root})


class _Cutting:
    """The cutting of one region: its values by slot, and the new form of each node."""

    def __init__(self, root: UOp, kept: set[UOp], staged: Mapping[UOp, int]) -> None:
        self.root = root
        self.kept = kept
        self.staged = staged
        self.values: list[UOp] = []
        self._slots: dict[UOp, UOp] = {}
        self._done: dict[UOp, UOp] = {}

    def parameter(self, value: UOp, count: int) -> UOp:
        """The next slot, memory of `count` elements for a value."""
        slot = self._slots[value] = UOp(Op.PARAM, value.dtype, (), (len(self.values), count))
        self.values.append(value)
        return slot

    def cut(self, nodes: tuple[UOp, ...]) -> list[UOp]:
        """The nodes over the region's own slots."""
        done = self._done
        for node in _walk_inside(nodes, self.kept, self.root):
            if node in self._slots and node is not self.root:
                done[node] = shaped(self._slots[node], node.shape)
            elif is_leaf(node, self.kept, self.root):
                done[node] = shaped(self.parameter(node, storage_count(node)), node.shape)
            elif node.src:
                sources = tuple([done[source] for source in node.src])
                done[node] = UOp(node.op, node.dtype, sources, node.arg)
                if node in self.staged:
                    row = (SCRATCH, self.staged[node])
                    done[node] = UOp(Op.STAGE_AXIS, node.dtype, (done[node],), row)
            else:
                done[node] = node
        return [done[node] for node in nodes]

    def sources(self) -> dict[UOp, UOp]:
        """For each node of the region, the node of the graph from which it was cut."""
        sources = {new: old for old, new in self._done.items()}
        return sources | {self._done[n].operand: n for n in self.staged if n in self._done}


def storage_count(node: UOp) -> int:
    """The number of elements in the memory of a region's leaf."""
    count: int = node.size if node.op is Op.PARAM else upper_count(node.shape)
    return count


def is_leaf(node: UOp, kept: set[UOp], root: UOp) -> bool:
    """Whether a region reads `node` from memory."""
    return node.op in (Op.PARAM, Op.AFTER) or (node in kept and node is not root)


def _walk_inside(roots: tuple[UOp, ...], kept: set[UOp], root: UOp) -> list[UOp]:
    """The nodes of one region down to its leaves, sources first."""
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
