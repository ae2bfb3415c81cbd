"""Merges regions over the same elements into one, with several stores.

    before   m ← f(m, g)     v ← h(v, g)     p ← k(p, m, v)         three kernels
    after    m, v, p ← f(m, g), h(v, g), k(p, f(m, g), h(v, g))     one, which reads a buffer once

Such regions are elementwise, and elements are independent. So a value that one region stores is in
a register for the others, and a value that one overwrites has been loaded before. A result that no
other region reads is not stored.

Row programs are merged, too, if their elements read the same rows, and one reads the results of the
other only at its own place (`element_reads.py`):

    before   m[i] ← max of x[i, k]     s[i] ← sum of exp(x[i, k] - m[i])          two kernels
    after    m[i], s[i] ← max of x[i, k], sum of exp(x[i, k] - max of x[i, k])    one
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import LONGEST
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.passes.fuse.reads.reduction_directions import find_directions
from ogive.compiler.passes.graph.fault_checks import can_fault
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.passes.regions.element_reads import element_reads, without_ones
from ogive.compiler.passes.regions.flatten_regions import LENGTH, spread
from ogive.compiler.passes.regions.order_assignments import dependencies
from ogive.compiler.passes.versions.storage import storage

MOST_REGIONS = 8
"""The greatest number of regions in one, since each of its buffers takes registers."""


def merge_regions(
    regions: Sequence[Region | HostRegion], sink: UOp, node_limit: int
) -> list[Region | HostRegion]:
    """The regions, merged where possible. `regions` are in order; `sink` has the graph's roots."""
    merger = _Merger(regions, sink.src, node_limit)
    for number in merger.candidates:
        merger.find_partners(number)
    return merger.build()


class _Facts:
    """The facts about a region's graph that decide whether it may be merged."""

    def __init__(self, graph: UOp) -> None:
        nodes = graph.walk()
        self.whole = [n.slot for n in nodes if n.op is Op.PARAM and n.size == LONGEST]
        self.node_count = sum([node.op in ELEMENTWISE for node in nodes])
        self.can_fault = any(can_fault(node) for node in nodes)
        self.reads = None if self.whole or self.can_fault else element_reads(graph)
        self.directions = set() if self.reads is None else find_directions(nodes)


class _Merger:
    """The regions and the groups that they form.

    A group runs in the `place` of one of its members. Earlier members move down to it, or later
    ones up, past regions that do not depend on them and on which they do not depend.
    """

    def __init__(
        self, regions: Sequence[Region | HostRegion], outputs: Sequence[UOp], node_limit: int
    ) -> None:
        self.regions = regions
        self.outputs = set(outputs)
        self.node_limit = node_limit
        graphs = dict.fromkeys([each.graph for each in regions if isinstance(each, Region)])
        self.facts = {graph: _Facts(graph) for graph in graphs}
        self.candidates = [
            number for number, each in enumerate(regions)
            if isinstance(each, Region) and self.is_candidate(each)
        ]  # fmt: skip
        needed = dependencies(regions)
        self.before = [reads | overwrites for reads, overwrites in needed]
        self.after: list[set[int]] = [set() for _ in regions]
        for number, earlier in enumerate(self.before):
            for other in earlier:
                self.after[other].add(number)
        self.faults = self.faults_above([reads for reads, _ in needed])
        self.place = list(range(len(regions)))
        self.members: dict[int, list[int]] = {}
        # The last region that accesses a value.
        self.last_access: dict[UOp, int] = {}
        # The memory of each version of a buffer, so that no chain of versions is walked twice.
        self.memories: dict[UOp, UOp] = {}

    def is_candidate(self, region: Region) -> bool:
        """Whether a region is flattened, or is a row program with memory of its own."""
        facts = self.facts[region.graph]
        is_row_program = facts.reads is not None and region.roots[0].op is not Op.ASSIGN
        return is_row_program or (LENGTH in dict(region.fixed) and not facts.can_fault)

    def faults_above(self, sources: Sequence[set[int]]) -> list[int]:
        """For each region, as bits, the regions that can fault among those it depends on or is."""
        above: list[int] = []
        for number, region in enumerate(self.regions):
            faults = 0
            for source in sources[number]:
                faults |= above[source]
            if isinstance(region, HostRegion) or self.facts[region.graph].can_fault:
                faults |= 1 << number
            above.append(faults)
        return above

    def find_partners(self, number: int) -> None:
        """Let a region join the groups with which it shares a buffer, or begin a group."""
        region = self.region(number)
        accessed = self.accessed(region)
        self.members[number] = [number]
        for value in accessed:
            last = self.last_access.get(value)
            if last is not None and self.place[last] != self.place[number]:
                self.join(*sorted([self.place[last], self.place[number]]))
        self.last_access.update(dict.fromkeys([*accessed, *region.roots], number))

    def region(self, number: int) -> Region:
        region = self.regions[number]
        assert isinstance(region, Region)
        return region

    def accessed(self, region: Region) -> list[UOp]:
        """The values that a region may share with others.

        Those of which a flattened region has all elements, or of which a row program reads the
        element at its own place. An assigned value counts by its `ASSIGN` as well.
        """
        values: list[UOp] = []
        facts = self.facts[region.graph]
        for slot in facts.whole if facts.reads is None else facts.reads.single:
            value = region.values[slot]
            values += [value, *(value.effects if value.op is Op.AFTER else ())]
        return values

    def join(self, first: int, second: int) -> None:
        """Join two groups, if that does not change results."""
        group = sorted([*self.members[first], *self.members[second]])
        if not self.can_merge(group):
            return
        before = set().union(*[self.before[member] for member in self.members[second]])
        after = set().union(*[self.after[member] for member in self.members[first]])
        if all(self.place[other] < first for other in before.difference(group)):
            place = first
        elif all(self.place[other] > second for other in after.difference(group)):
            place = second
        else:
            return
        del self.members[first], self.members[second]
        self.members[place] = group
        for member in group:
            self.place[member] = place

    def can_merge(self, group: Sequence[int]) -> bool:
        """Whether regions can be one kernel, whatever their order."""
        regions = [self.region(member) for member in group]
        nodes = sum([self.facts[region.graph].node_count for region in regions])
        if not self.share_parts(regions):
            return False
        if len(group) > MOST_REGIONS or nodes > self.node_limit:
            return False
        # Otherwise a fault would undo an assignment that does not depend on the faulting region.
        if len({self.faults[member] for member in group}) > 1:
            return False
        # Each buffer is stored once, so that a read is of the version before or after the store.
        if len({self.memory(region.values[0]) for region in regions}) < len(regions):
            return False
        return not self.risks_copy(regions)

    def memory(self, value: UOp) -> UOp:
        """The memory of a version of a buffer, or of a value with memory of its own."""
        versions: list[UOp] = []
        while value.op is Op.AFTER and value not in self.memories:
            versions.append(value)
            value = storage(value.operand)
        memory = self.memories.get(value, value)
        self.memories.update(dict.fromkeys(versions, memory))
        return memory

    def share_parts(self, regions: Sequence[Region]) -> bool:
        """Whether no region is a row program, or all are and share a part that they read.

        A row program may read another one's results at its own place only: a row of results would
        be recomputed for each element. Sums along contiguous rows do not join sums across them.
        """
        reads = [self.facts[region.graph].reads for region in regions]
        programs = [each for each in reads if each is not None]
        if len(programs) < len(regions):
            return not programs
        computed = {root for region in regions for root in region.roots}
        for region, each in zip(regions, programs, strict=True):
            for slot, value in enumerate(region.values[1:], start=1):
                if slot not in each.single and _origin(value) in computed:
                    return False
        parts = [
            {region.values[slot] for slot in each.parts}
            for region, each in zip(regions, programs, strict=True)
        ]
        if len({each.shape for each in programs}) > 1 or not set.intersection(*parts):
            return False
        directions = [self.facts[region.graph].directions for region in regions]
        return len(set.union(*directions)) <= max(map(len, directions))

    def risks_copy(self, regions: Sequence[Region]) -> bool:
        """Whether one region overwrites a buffer that another one copies for later readers.

        The copy must be complete even if the store is interrupted half-way.
        """
        overwritten = {r.values[0] for r in regions if r.roots[0].op is Op.ASSIGN}
        return any(
            not self.facts[region.graph].node_count
            and region.roots[0] in self.outputs
            and not overwritten.isdisjoint(region.values[1:])
            for region in regions
        )

    def build(self) -> list[Region | HostRegion]:
        """The regions in order, each group as one."""
        merged: list[Region | HostRegion] = []
        for number, region in enumerate(self.regions):
            if self.place[number] != number:
                continue
            group = self.members.get(number, [number])
            if len(group) > 1:
                needed = [self.is_needed(member) for member in group]
                region = _merge_group([self.region(member) for member in group], needed)
            merged.append(region)
        return merged

    def is_needed(self, number: int) -> bool:
        """Whether the result of a region has to be in memory."""
        (root,) = self.region(number).roots
        is_read = any(self.place[other] != self.place[number] for other in self.after[number])
        return is_read or root.op is Op.ASSIGN or root in self.outputs


def _merge_group(regions: Sequence[Region], needed: Sequence[bool]) -> Region:
    """One region for several, in order. Results that are not `needed` are not stored."""
    computed = {root for region in regions for root in region.roots}
    storing = list(itertools.compress(regions, needed))
    read = [value for r in regions for value in r.values if _origin(value) not in computed]
    values = tuple(dict.fromkeys([*[region.values[0] for region in storing], *read]))
    slots = {value: slot for slot, value in enumerate(values)}
    results: dict[UOp, UOp] = {}
    stores: list[UOp] = []
    sources: dict[UOp, UOp] = {}
    for region, is_needed in zip(regions, needed, strict=True):
        (store,) = region.graph.src
        target, value = store.src
        done = _renumbered(region, value.walk(), slots, results)
        if not value.shape and target.shape:
            done[value] = spread(done[value], target.shape[0])
        shape = without_ones(target.shape)
        result = results[region.roots[0]] = _reshaped(done[value], shape)
        if is_needed:
            done |= _renumbered(region, target.walk(), slots, {})
            done[store] = store.with_sources((_reshaped(done[target], shape), result))
            stores.append(done[store])
        for node in done.keys() & region.sources.keys():
            sources.setdefault(done[node], region.sources[node])
    graph = UOp(Op.SINK, dtypes.void, tuple(stores))
    roots = tuple([region.roots[0] for region in storing])
    return Region(graph, values, roots, sources, regions[0].fixed)


def _reshaped(node: UOp, shape: Shape) -> UOp:
    return node if node.shape == shape else UOp(Op.RESHAPE, node.dtype, (node,), shape)


def _origin(value: UOp) -> UOp:
    """The root of the region that computes a value."""
    return value.effects[0] if value.op is Op.AFTER else value


def _renumbered(
    region: Region, nodes: Sequence[UOp], slots: dict[UOp, int], results: dict[UOp, UOp]
) -> dict[UOp, UOp]:
    """The nodes of a region over other slots, with `results` in place of reads of other roots."""
    done: dict[UOp, UOp] = {}
    for node in nodes:
        sources = tuple([done[source] for source in node.src])
        if node.op is Op.PARAM:
            value = region.values[node.slot]
            result = results.get(_origin(value))
            if result is None:
                result = node.replace(arg=(slots[value], node.size))
            done[node] = result
        elif node.op in (Op.SHRINK, Op.RESHAPE) and sources[0].shape == node.shape:
            done[node] = sources[0]  # a result of another region, which has the shape already
        else:
            done[node] = node.with_sources(sources)
    return done
