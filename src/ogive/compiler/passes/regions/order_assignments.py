"""Orders regions so that every version of a buffer is read before it is overwritten.

    before   p ← k(p, m)     m ← f(p, g)          in the order of the graph
    after    m ← f(p, g)     p ← k(p, m)          the reader of p runs before its writer

If there is no such order, staging all assignments makes one possible.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.passes.versions.stage_assignments import are_staged
from ogive.errors import ScheduleError


def order_assignments(
    regions: list[Region | HostRegion], sink: UOp
) -> list[Region | HostRegion] | None:
    """Order regions: each after those it reads from, and before those that overwrite its inputs.

    If there is no such order, gives None as long as not all assignments are staged, and raises
    `ScheduleError` otherwise.
    """
    if not any(root.op is Op.ASSIGN for region in regions for root in region.roots):
        return regions
    after = [reads | overwrites for reads, overwrites in dependencies(regions)]
    order = _topological(after)
    if len(order) == len(regions):
        return [regions[position] for position in order]
    if are_staged(sink):
        raise ScheduleError("the assignments of this graph cannot be put into an order")
    return None


def dependencies(regions: Sequence[Region | HostRegion]) -> list[tuple[set[int], set[int]]]:
    """For each region, the positions of those it reads from, and of those whose reads it
    overwrites."""
    writer = {root: position for position, region in enumerate(regions) for root in region.roots}
    needed: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in regions]
    readers: dict[UOp, list[int]] = {}
    for position, region in enumerate(regions):
        for value in region.values:
            readers.setdefault(value, []).append(position)
            for source in (value, *(value.effects if value.op is Op.AFTER else ())):
                if writer.get(source, position) != position:
                    needed[position][0].add(writer[source])
    for position, region in enumerate(regions):
        for root, version in zip(region.roots, region.values, strict=False):
            if root.op is Op.ASSIGN:
                needed[position][1].update(readers[version])
        needed[position][1].discard(position)
    return needed


def _topological(after: Sequence[set[int]]) -> list[int]:
    """The positions in topological order, without those on a cycle or after one."""
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
