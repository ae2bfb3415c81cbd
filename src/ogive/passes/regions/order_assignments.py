"""In-place assignment without surprises.

An assignment makes a new *version* of a buffer: `AFTER(old, ASSIGN(view of old, value))`. In memory
the two are one buffer, so whoever reads the old version must run before the store.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from ogive.ir.memory import is_memory, reads_elsewhere
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.regions.cut_regions import STORAGE, HostRegion, Region, storage
from ogive.passes.regions.fault_checks import can_fault


def separate_targets(sink: UOp) -> UOp:
    """Give a root that is a part of a buffer, to which something is stored, memory of its own.

        before   SINK(SHRINK(x), AFTER(x, ASSIGN(SHRINK(x), 1)))
        after    SINK(CONTIGUOUS(SHRINK(x)), AFTER(x, ASSIGN(SHRINK(x), 1)))

    Otherwise the root, which is kept elsewhere, would be what the store writes to.
    """
    targets: set[UOp] = set()
    for node in sink.walk():
        if node.op is Op.ASSIGN:
            view = node.src[0]
            while view.op not in STORAGE:
                targets.add(view)
                view = view.src[0]
    roots = [
        UOp(Op.CONTIGUOUS, root.dtype, (root,), ("part", position))
        if root in targets and not is_memory(root)
        else root
        for position, root in enumerate(sink.src)
    ]
    return UOp(Op.SINK, sink.dtype, tuple(roots))


def separate_versions(sink: UOp) -> UOp:
    """Give each assignment to the same version of a buffer, but the first, a copy to write to.

        before   ADD(AFTER(x, ASSIGN(x, 1)), AFTER(x, ASSIGN(x, 2)))
        after    ADD(AFTER(x, ASSIGN(x, 1)), AFTER(CONTIGUOUS(x), ASSIGN(CONTIGUOUS(x), 2)))
    """
    order = sink.walk()
    writers: dict[UOp, list[UOp]] = {}
    for node in order:
        if node.op is Op.AFTER:
            writers.setdefault(storage(node.src[0]), []).append(node)
    if all(len(nodes) == 1 for nodes in writers.values()):
        return sink
    done: dict[UOp, UOp] = {}
    for node in order:
        sources = tuple([done[source] for source in node.src])
        number = writers[storage(node.src[0])].index(node) if node.op is Op.AFTER else 0
        if number:
            version = done[storage(node.src[0])]
            # The number keeps several copies of one version apart.
            copy = UOp(Op.CONTIGUOUS, version.dtype, (version,), ("version", number))
            target, *rest = sources[1].src
            store = sources[1].replace(src=(_rebase(target, copy), *rest))
            sources = (_rebase(sources[0], copy), store)
        done[node] = node.with_sources(sources)
    return done[sink]


def _rebase(view: UOp, base: UOp) -> UOp:
    """A chain of movement ops over another version."""
    chain = []
    while view.op not in STORAGE:
        chain.append(view)
        view = view.src[0]
    for node in reversed(chain):
        base = node.replace(src=(base, *node.src[1:]))
    return base


def stage_overlaps(sink: UOp, everything: bool = False) -> UOp:
    """Compute a stored value elsewhere first where storing it directly could go wrong.

        before   ASSIGN(SHRINK(x), SHRINK'(x))         after   ASSIGN(SHRINK(x), CONTIGUOUS(...))

    That is where it reads the buffer it is stored to at other places than it writes, and where it
    could fault half-way. `everything` stages all stores, for assignments that need each other's
    old values (a swap). What is stored by indices goes into memory that nobody else knows.
    """
    order = sink.walk()
    stores = [node for node in order if node.op is Op.ASSIGN and len(node.src) == 2]
    if not everything:
        faulty = _faulty_nodes(order)
        bits = {memory: 1 << at for at, memory in enumerate({storage(s.src[0]) for s in stores})}
        reads = _gather_bits(order, bits)
        stores = [
            store
            for store in stores
            if store.src[1] in faulty or _reads_elsewhere(store, bits, reads)
        ]
    staged = set(stores)
    return _stage(order, lambda node, source: node in staged and source is node.src[1])


def _faulty_nodes(order: list[UOp]) -> set[UOp]:
    """The nodes that can be in one kernel with something that may fault."""
    found: set[UOp] = set()
    for node in order:
        inherits = node.op not in STORAGE and not found.isdisjoint(node.src)
        if inherits or can_fault(node):
            found.add(node)
    return found


def _gather_bits(order: list[UOp], bits: dict[UOp, int]) -> dict[UOp, int]:
    """For each node the bits of all nodes that can be in one kernel with it, or that it reads."""
    found: dict[UOp, int] = {}
    for node in order:
        gathered = bits.get(node, 0)
        if node.op not in STORAGE:
            for source in node.src:
                gathered |= found[source]
        found[node] = gathered
    return found


def _reads_elsewhere(store: UOp, bits: dict[UOp, int], reads: dict[UOp, int]) -> bool:
    """Whether the value reads the target's buffer other than element by element in place."""
    target, value = store.src
    own = bits[storage(target)]
    return reads_elsewhere(value, target, lambda node: bool(reads[node] & own))


def _stage(order: list[UOp], wanted: Callable[[UOp, UOp], bool]) -> UOp:
    """The graph with the wanted (node, source) edges going through memory of their own."""
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


def keep_old_versions(sink: UOp) -> UOp:
    """Keep what was read from an old version where it is combined with what comes after a store.

        before   ADD(MUL(x, 2), AFTER(x, STORE))      after   ADD(CONTIGUOUS(MUL(x, 2)), AFTER(...))

    The kept part is a kernel of its own, which runs before the store like any other reader.
    """
    order = sink.walk()
    stores = [node for node in order if node.op is Op.ASSIGN]
    if not stores:
        return sink
    bits = {store: 1 << number for number, store in enumerate(stores)}
    overwriting: dict[UOp, int] = {}
    for store in stores:
        version = storage(store.src[0])
        overwriting[version] = overwriting.get(version, 0) | bits[store]
    # For each node: the stores it comes after, and those that overwrite what its kernel reads.
    after: dict[UOp, int] = {}
    for node in order:
        passed = 0
        for source in node.src:
            passed |= after[source] | bits.get(source, 0)
        after[node] = passed
    endangered = _gather_bits(order, overwriting)

    def is_overtaken(node: UOp, source: UOp) -> bool:
        if node.op in (Op.AFTER, Op.SINK) or (node.op is Op.ASSIGN and source is node.src[0]):
            return False
        return bool(after[node] & ~after[source] & endangered[source])

    return _stage(order, is_overtaken)


def order_regions(regions: list[Region | HostRegion]) -> list[Region | HostRegion] | None:
    """Each region after those it reads from, and before those that overwrite what it reads.

    None if that is impossible."""
    after = [reads | overwrites for reads, overwrites in dependencies(regions)]
    order = _topological(after)
    return [regions[position] for position in order] if len(order) == len(regions) else None


def dependencies(regions: Sequence[Region | HostRegion]) -> list[tuple[set[int], set[int]]]:
    """For each region, the positions of those it reads from, and whose reads it overwrites."""
    writer = {root: position for position, region in enumerate(regions) for root in region.roots}
    found: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in regions]
    readers: dict[UOp, list[int]] = {}
    for position, region in enumerate(regions):
        for value in region.values:
            readers.setdefault(value, []).append(position)
            for source in (value, *(value.src[1:] if value.op is Op.AFTER else ())):
                if writer.get(source, position) != position:
                    found[position][0].add(writer[source])
    for position, region in enumerate(regions):
        for root, version in zip(region.roots, region.values, strict=False):
            if root.op is Op.ASSIGN:
                found[position][1].update(readers[version])
        found[position][1].discard(position)
    return found


def _topological(after: Sequence[set[int]]) -> list[int]:
    """Positions in order, without those on a cycle or behind one."""
    waiting = [len(before) for before in after]
    followers: list[list[int]] = [[] for _ in after]
    for position, before in enumerate(after):
        for earlier in before:
            followers[earlier].append(position)
    ready = [position for position, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        position = heapq.heappop(ready)
        order.append(position)
        for follower in followers[position]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, follower)
    return order
