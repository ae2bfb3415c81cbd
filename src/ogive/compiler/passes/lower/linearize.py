"""A placed kernel graph becomes nested blocks of ordered instructions.

Every value goes into the innermost loop on which it depends. So nothing is recomputed, and nothing
has to be hoisted later. Within a block, loops and instructions come after what they need.

    softmax     parallel r0 { loop r1 { max } ; loop r2 { sum of exp } ; loop r3 { store } }
"""

from __future__ import annotations

import heapq
from dataclasses import field

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LOOP, PARALLEL, Op
from ogive.named import NamedTuple, record


@record(eq=False)
class Loop:
    """A loop over `counter`.

    Before it, the accumulators of the reductions and scans in `starts` are initialized. It fills
    the staged values in `stages`.
    """

    counter: UOp
    body: list[Item] = field(default_factory=list)
    starts: list[UOp] = field(default_factory=list)
    stages: list[UOp] = field(default_factory=list)


class Accumulate(NamedTuple):
    """The instruction that adds a value to the accumulators of a reduction or to staged memory."""

    into: UOp


Step = UOp | Accumulate
Item = Step | Loop
Need = tuple[Step, Step]
"""A step, and a step that must come before it."""


def is_loop(counter: UOp) -> bool:
    """Whether a counter is that of a loop, not of lanes or registers."""
    return counter.placement in (LOOP, PARALLEL)


def loop_counters(counters: frozenset[UOp] | tuple[UOp, ...]) -> list[UOp]:
    """The counters of loops among `counters`, from the outside in."""
    return sorted([c for c in counters if is_loop(c)], key=lambda c: c.number)


def linearize(root: UOp) -> list[Item]:
    """The instructions of a kernel, outermost block first."""
    nodes = root.walk()
    nest = _Nest(nodes)
    return nest.build(nodes)


class _Nest:
    """The loops of a kernel as a tree. None stands for the block of the kernel itself."""

    def __init__(self, nodes: list[UOp]) -> None:
        self.parent: dict[UOp, UOp | None] = {}
        self.depth: dict[UOp | None, int] = {None: 0}
        stores = [node for node in nodes if node.op is Op.STORE]
        for store in stores:
            self.add_chain(None, loop_counters(store.closed))
        for node in reversed(nodes):
            if node.op in (Op.REDUCE, Op.STAGE):
                self.add_chain(self.innermost(node.ranges), loop_counters(node.closed))

    def add_chain(self, outer: UOp | None, counters: list[UOp]) -> None:
        for counter in counters:
            if counter not in self.parent:
                self.parent[counter] = outer
                self.depth[counter] = self.depth[outer] + 1
            outer = counter

    def innermost(self, counters: frozenset[UOp] | tuple[UOp, ...]) -> UOp | None:
        loops = [counter for counter in counters if is_loop(counter)]
        return max(loops, key=lambda counter: self.depth[counter], default=None)

    def block_of(self, item: Step) -> UOp | None:
        if isinstance(item, Accumulate):
            loops = loop_counters(item.into.closed)
            return loops[-1] if loops else self.innermost(item.into.ranges)
        if item.op is Op.STORE:
            return self.innermost(item.closed)
        return self.innermost(item.ranges)

    def path(self, block: UOp | None) -> list[UOp]:
        """The loops around a block, from the outside in."""
        loops: list[UOp] = []
        while block is not None:
            loops.append(block)
            block = self.parent[block]
        loops.reverse()
        return loops

    def build(self, nodes: list[UOp]) -> list[Item]:
        """The block of the kernel itself, with the bodies of all loops filled in."""
        loops: dict[UOp, Loop] = {counter: Loop(counter) for counter in self.parent}
        items = _items(nodes)
        _note_starts(items, loops)
        paths = {item: self.path(self.block_of(item)) for item in items}
        blocks: dict[UOp | None, list[Item]] = {None: [], **{counter: [] for counter in loops}}
        rank: dict[Item, int] = {}
        for item in items:
            path = paths[item]
            blocks[path[-1] if path else None].append(item)
            rank[item] = len(rank)
            for counter in path:
                rank.setdefault(loops[counter], len(rank))
        for counter, outer in self.parent.items():
            rank.setdefault(loops[counter], len(rank))
            blocks[outer].append(loops[counter])
        edges = self.edges(_needs(items) + _loads_before_stores(nodes), paths, loops)
        for counter, loop in loops.items():
            loop.body = _order(blocks[counter], edges, rank)
        return _order(blocks[None], edges, rank)

    def edges(
        self, needs: list[Need], paths: dict[Step, list[UOp]], loops: dict[UOp, Loop]
    ) -> dict[Item, set[Item]]:
        """For each item, the items of the same block that must come after it.

        An item stands for all that is inside it.
        """
        edges: dict[Item, set[Item]] = {}
        for user, source in needs:
            if source in paths:
                before, after = _at_common_level(source, user, paths, loops)
                if before is not after:
                    edges.setdefault(before, set()).add(after)
        for counter in loops:
            # A symbolic extent is computed in the innermost loop on which it depends.
            extent = counter.extent
            if extent in paths:
                inside = self.path(counter)[len(paths[extent])]
                edges.setdefault(extent, set()).add(loops[inside])
        return edges


def _items(nodes: list[UOp]) -> list[Step]:
    """The instructions of each node. A reduction or a staged value has two: one that accumulates
    and one that reads the result."""
    items: list[Step] = []
    for node in nodes:
        if node.op in (Op.REDUCE, Op.STAGE):
            items.append(Accumulate(node))
        if node.op not in (Op.SINK, Op.RANGE, Op.CONST, Op.PARAM):
            items.append(node)
    return items


def _note_starts(items: list[Step], loops: dict[UOp, Loop]) -> None:
    """Record in each loop the reductions, scans and staged values that begin with it."""
    for item in items:
        if isinstance(item, Accumulate):
            closed = loop_counters(item.into.closed)
            if closed:
                loop = loops[closed[0]]
                (loop.starts if item.into.op is Op.REDUCE else loop.stages).append(item.into)
        elif item.op is Op.SCAN:
            loops[item.loop].starts.append(item)


def _needs(items: list[Step]) -> list[Need]:
    """The pairs of steps given by sources. Reading a result needs its accumulation."""
    needs: list[Need] = []
    for item in items:
        if isinstance(item, Accumulate):
            needs.extend([(item, source) for source in item.into.src])
            needs.append((item.into, item))
        elif item.op not in (Op.REDUCE, Op.STAGE):
            needs.extend([(item, source) for source in item.src])
    return needs


def _loads_before_stores(nodes: list[UOp]) -> list[Need]:
    """The pairs that put all loads of a buffer before a store to it, since they read old values."""
    loads: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is Op.LOAD:
            loads.setdefault(node.place.base, []).append(node)
    stores = [node for node in nodes if node.op is Op.STORE]
    return [(store, load) for store in stores for load in loads.get(store.place.base, ())]


def _at_common_level(
    source: Step, user: Step, paths: dict[Step, list[UOp]], loops: dict[UOp, Loop]
) -> tuple[Item, Item]:
    """The two items, or the loops around them, in the innermost block that contains both."""
    left, right = paths[source], paths[user]
    depth = 0
    while depth < len(left) and depth < len(right) and left[depth] is right[depth]:
        depth += 1
    before: Item = loops[left[depth]] if depth < len(left) else source
    after: Item = loops[right[depth]] if depth < len(right) else user
    return before, after


def _order(block: list[Item], edges: dict[Item, set[Item]], rank: dict[Item, int]) -> list[Item]:
    """The items of one block, each after those it needs, otherwise in the order of the graph."""
    members = set(block)
    waiting: dict[Item, int] = dict.fromkeys(block, 0)
    for item in block:
        for after in edges.get(item, ()):
            if after in members:
                waiting[after] += 1
    ready = [(rank[item], index) for index, item in enumerate(block) if waiting[item] == 0]
    position = {item: index for index, item in enumerate(block)}
    heapq.heapify(ready)
    ordered: list[Item] = []
    while ready:
        item = block[heapq.heappop(ready)[1]]
        ordered.append(item)
        for after in edges.get(item, ()):
            if after in members:
                waiting[after] -= 1
                if waiting[after] == 0:
                    heapq.heappush(ready, (rank[after], position[after]))
    assert len(ordered) == len(block), "loops need each other"
    return ordered
