"""Regions over the same elements become one, with several stores.

    before   m ← f(m, g)     v ← h(v, g)     p ← k(p, m, v)         three kernels
    after    m, v, p ← f(m, g), h(v, g), k(p, f(m, g), h(v, g))     one, that reads a buffer once

Such regions work element by element, each element on its own. So what one of them stores is for
the others a value at hand, and what one of them overwrites they have loaded before, whatever the
order. A result that nobody else reads is not stored at all.

The same goes for row programs whose elements go through the same rows, where one reads of the
other's results the element at its own place (`element_reads.py`):

    before   m[i] ← max of x[i, k]     s[i] ← sum of exp(x[i, k] - m[i])          two kernels
    after    m[i], s[i] ← max of x[i, k], sum of exp(x[i, k] - max of x[i, k])    one
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ogive.ir import dtype as dtypes
from ogive.ir.memory import LONGEST
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op
from ogive.ir.shape import Shape
from ogive.passes.fuse.reads.reduction_directions import find_directions
from ogive.passes.graph.fault_checks import can_fault
from ogive.passes.regions.cut_regions import HostRegion, Region
from ogive.passes.regions.element_reads import element_reads, without_ones
from ogive.passes.regions.flatten_regions import LENGTH, spread
from ogive.passes.regions.order_assignments import dependencies
from ogive.passes.versions.storage import storage

MOST_REGIONS = 8
"""How many regions become one at most: each of its buffers takes registers."""


def merge_regions(
    regions: Sequence[Region | HostRegion], sink: UOp, node_limit: int
) -> list[Region | HostRegion]:
    """The same work in fewer regions. `regions` are in order; `sink` has what is asked for."""
    merger = _Merger(regions, sink.src, node_limit)
    for number in merger.candidates:
        merger.find_partners(number)
    return merger.build()


class _Facts:
    """The facts about a region's graph that decide on merging."""

    def __init__(self, graph: UOp) -> None:
        nodes = graph.walk()
        self.whole = [n.slot for n in nodes if n.op is Op.PARAM and n.size == LONGEST]
        self.node_count = sum([node.op in ELEMENTWISE for node in nodes])
        self.can_fault = any(can_fault(node) for node in nodes)
        self.reads = None if self.whole or self.can_fault else element_reads(graph)
        self.directions = set() if self.reads is None else find_directions(nodes)


class _Merger:
    """Regions and the groups that they form.

    A group runs in the `place` of one of its members: earlier members move down to it, or later
    ones up, past regions that neither need them nor are needed by them.
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
        # The last region that reads or writes a value.
        self.toucher: dict[UOp, int] = {}
        # What each version of a buffer lies in, so that no chain of versions is gone down again.
        self.memories: dict[UOp, UOp] = {}

    def is_candidate(self, region: Region) -> bool:
        """Whether a region works on whole buffers element by element, or is a row program with
        memory of its own."""
        facts = self.facts[region.graph]
        is_row_program = facts.reads is not None and region.roots[0].op is not Op.ASSIGN
        return is_row_program or (LENGTH in dict(region.fixed) and not facts.can_fault)

    def faults_above(self, sources: Sequence[set[int]]) -> list[int]:
        """For each region, as bits, the regions that it follows from, or is, and that can fault."""
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
        """Let a region join the groups that it shares a buffer with, or begin one."""
        region = self.region(number)
        touched = self.touched(region)
        self.members[number] = [number]
        for value in touched:
            other = self.toucher.get(value)
            if other is not None and self.place[other] != self.place[number]:
                self.join(*sorted([self.place[other], self.place[number]]))
        self.toucher.update(dict.fromkeys([*touched, *region.roots], number))

    def region(self, number: int) -> Region:
        region = self.regions[number]
        assert isinstance(region, Region)
        return region

    def touched(self, region: Region) -> list[UOp]:
        """The values a region has all elements of, an assignment's by its `ASSIGN` too; or those
        that a row program reads at its elements' places."""
        values: list[UOp] = []
        facts = self.facts[region.graph]
        for slot in facts.whole if facts.reads is None else facts.reads.single:
            value = region.values[slot]
            values += [value, *(value.effects if value.op is Op.AFTER else ())]
        return values

    def join(self, first: int, second: int) -> None:
        """Put two groups together, if that changes nothing but the time it takes."""
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
        """Whether regions, wherever they run, can be one kernel."""
        regions = [self.region(member) for member in group]
        nodes = sum([self.facts[region.graph].node_count for region in regions])
        if not self.share_parts(regions):
            return False
        if len(group) > MOST_REGIONS or nodes > self.node_limit:
            return False
        # Else a fault would take back an assignment that does not follow from it.
        if len({self.faults[member] for member in group}) > 1:
            return False
        # An element of a buffer is stored once, and so a read of it is of one of two versions.
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
        """Whether regions are no row programs, or all of one kind that go through the same.

        What one reads of another's results is the element at its own place: a row of them would be
        computed anew for each element, and the rows under it for each of those. No sums along the
        rows of memory join those across them.
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
        """Whether one region overwrites what another copies for those who still read it.

        If the store is interrupted half-way, the copy has to be whole.
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
        """Whether what a region computes has to be in memory."""
        (root,) = self.region(number).roots
        is_read = any(self.place[other] != self.place[number] for other in self.after[number])
        return is_read or root.op is Op.ASSIGN or root in self.outputs


def _merge_group(regions: Sequence[Region], needed: Sequence[bool]) -> Region:
    """One region for several, in order; of those that are not `needed` nothing is stored."""
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
    """The root of the region that computes what a value holds."""
    return value.effects[0] if value.op is Op.AFTER else value


def _renumbered(
    region: Region, nodes: Sequence[UOp], slots: dict[UOp, int], results: dict[UOp, UOp]
) -> dict[UOp, UOp]:
    """Nodes of a region over other slots, with the `results` of others for what reads them."""
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
            done[node] = sources[0]  # a result, as long as what is read of it
        else:
            done[node] = node.with_sources(sources)
    return done
