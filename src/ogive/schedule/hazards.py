"""In-place assignment without surprises.

An assignment makes a new *version* of a buffer: `AFTER(old, STORE(view of old, value))`. In memory
the two are one buffer, so whoever reads the old version must run before the store.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from ogive.ir.memory import is_memory, reads_elsewhere
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.schedule.checks import can_fault
from ogive.schedule.regions import STORAGE, HostRegion, Region, storage


def separate_targets(sink: UOp) -> UOp:
    """Give a root that is a part of a buffer, to which something is stored, memory of its own.

        before   SINK(SHRINK(x), AFTER(x, STORE(SHRINK(x), 1)))
        after    SINK(CONTIGUOUS(SHRINK(x)), AFTER(x, STORE(SHRINK(x), 1)))

    Otherwise the root, which is kept elsewhere, would be what the store writes to.
    """
    targets: set[UOp] = set()
    for node in sink.walk():
        if node.op is Op.STORE:
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

        before   ADD(AFTER(x, STORE(x, 1)), AFTER(x, STORE(x, 2)))
        after    ADD(AFTER(x, STORE(x, 1)), AFTER(CONTIGUOUS(x), STORE(CONTIGUOUS(x), 2)))
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

        before   STORE(SHRINK(x), SHRINK'(x))         after   STORE(SHRINK(x), CONTIGUOUS(...))

    That is where it reads the buffer it is stored to at other places than it writes, and where it
    could fault half-way. `everything` stages all stores, for assignments that need each other's
    old values (a swap). What is stored by indices goes into memory that nobody else knows.
    """
    order = sink.walk()
    staged = {
        node
        for node in order
        if node.op is Op.STORE
        and len(node.src) == 2
        and (everything or _reads_elsewhere(node) or _may_fault(node.src[1]))
    }
    return _stage(order, lambda node, source: node in staged and source is node.src[1])


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


def _reads_elsewhere(store: UOp) -> bool:
    """Whether the value reads the target's buffer other than element by element in place."""
    target, value = store.src
    return reads_elsewhere(value, target, storage(target), _kernel_walk)


def _may_fault(value: UOp) -> bool:
    return any(can_fault(node) for node in _kernel_walk(value))


def _kernel_walk(value: UOp) -> set[UOp]:
    """The nodes that can be in one kernel with `value`, and the memory that it reads."""
    seen = {value}
    stack = [value]
    while stack:
        node = stack.pop()
        if node.op in STORAGE:
            continue
        for source in node.src:
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return seen


def keep_old_versions(sink: UOp) -> UOp:
    """Keep what was read from an old version where it is combined with what comes after a store.

        before   ADD(MUL(x, 2), AFTER(x, STORE))      after   ADD(CONTIGUOUS(MUL(x, 2)), AFTER(...))

    The kept part is a kernel of its own, which runs before the store like any other reader.
    """
    order = sink.walk()
    stores = [node for node in order if node.op is Op.STORE]
    if not stores:
        return sink
    bits = {store: 1 << number for number, store in enumerate(stores)}
    overwriting: dict[UOp, int] = {}
    for store in stores:
        version = storage(store.src[0])
        overwriting[version] = overwriting.get(version, 0) | bits[store]
    # For each node: the stores it comes after (bits), and the versions it reads in its own kernel.
    needed: dict[UOp, int] = {}
    reads: dict[UOp, set[UOp]] = {}
    for node in order:
        after = 0
        for source in node.src:
            after |= needed[source] | bits.get(source, 0)
        needed[node] = after
        if node.op in (Op.PARAM, Op.AFTER) or node in overwriting:
            reads[node] = {node}
        elif node.op in STORAGE or node.op is Op.STORE:
            reads[node] = set()
        else:
            reads[node] = set().union(*[reads[source] for source in node.src])

    def is_overtaken(node: UOp, source: UOp) -> bool:
        if node.op in (Op.AFTER, Op.SINK) or (node.op is Op.STORE and source is node.src[0]):
            return False
        late = needed[node] & ~needed[source]
        return any(late & overwriting.get(version, 0) for version in reads[source])

    return _stage(order, is_overtaken)


def order_regions(regions: list[Region | HostRegion]) -> list[Region | HostRegion] | None:
    """Each region after those it reads from, and before those that overwrite what it reads.

    None if that is impossible."""
    writer = {root: position for position, region in enumerate(regions) for root in region.roots}
    after: dict[int, set[int]] = {position: set() for position in range(len(regions))}
    readers: dict[UOp, list[int]] = {}
    for position, region in enumerate(regions):
        for value in region.values:
            readers.setdefault(value, []).append(position)
            if value in writer and value not in region.roots:
                after[position].add(writer[value])
            if value.op is Op.AFTER:
                for effect in value.src[1:]:
                    if writer.get(effect, position) != position:
                        after[position].add(writer[effect])
    for position, region in enumerate(regions):
        if region.root.op is not Op.STORE:
            continue
        for reader in readers.get(region.written, ()):
            if reader != position:
                after[position].add(reader)
    order = _topological(after)
    return [regions[position] for position in order] if len(order) == len(regions) else None


def _topological(after: dict[int, set[int]]) -> list[int]:
    """Positions in order, without those on a cycle or behind one."""
    waiting = {position: len(before) for position, before in after.items()}
    followers: dict[int, list[int]] = {position: [] for position in after}
    for position, before in after.items():
        for earlier in before:
            followers[earlier].append(position)
    ready = [position for position, count in waiting.items() if count == 0]
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
