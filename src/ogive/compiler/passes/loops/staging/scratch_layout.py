"""The layout of staged values in scratch memory, which is private to a thread.

A value staged along an axis has one row of scratch memory for each entry of the register tile, and
each lane, in which it is computed. A tile may run past the end of an axis. Rows are long enough for
that, so that no access to them needs a gate.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LANE, UPCAST, Op
from ogive.compiler.passes.loops.staging.sorting_network import filled_length
from ogive.errors import OptimizeError

MOST_BYTES = 3 << 20
"""The greatest scratch memory of a kernel, in bytes. It is on the stack, which has 8 MB."""

ROW_STEP = 16
"""The length of a row is an odd multiple of this number of elements, because rows a power of two
apart would evict each other from a first-level cache."""


class Rows:
    """The rows of one staged value: `length` elements each, `count` elements in all."""

    def __init__(self, stage: UOp, longest: int) -> None:
        counters = sorted(stage.ranges, key=lambda counter: counter.number)
        self.tile = [counter for counter in counters if counter.placement == UPCAST]
        self.lane = next((counter for counter in counters if counter.placement == LANE), None)
        self.lanes = 1 if self.lane is None else int(self.lane.extent.literal)
        steps = -(-longest * self.lanes // ROW_STEP)
        self.length = (steps + 1 - steps % 2) * ROW_STEP
        self.count = self.length
        for counter in self.tile:
            self.count *= int(counter.extent.literal)

    def offset(self, position: UOp) -> UOp:
        """The place of the element at a position along the axis. Lanes are contiguous."""
        offset = position * self.lanes
        if self.lane is not None:
            offset = offset + self.lane
        stride = self.length
        for counter in reversed(self.tile):
            offset = offset + counter * stride
            stride *= int(counter.extent.literal)
        return offset


def lay_out(root: UOp) -> dict[UOp, Rows]:
    """The rows of each staged value of a placed kernel."""
    longest: dict[UOp, int] = {}
    for node in root.walk():
        if node.op is Op.STAGE:
            room = filled_length(node.sorted_count or 1)
            longest[node] = max(longest.get(node, 0), int(node.offset.vmax) + 1, room)
        elif node.op is Op.INDEX and node.base.op is Op.STAGE:
            stage = node.base
            longest[stage] = max(longest.get(stage, 0), int(node.offset.vmax) + 1)
    # Rows of equal tiles get equal lengths, so that one can reuse the memory of another.
    common: dict[frozenset[UOp], int] = {}
    for stage, length in longest.items():
        common[stage.ranges] = max(common.get(stage.ranges, 0), length)
    return {stage: Rows(stage, common[stage.ranges]) for stage in longest}


def row_starts(stage: UOp, tile: tuple[UOp, ...]) -> list[int]:
    """The offset of the row of each entry of the tile of a lowered staged value."""
    lengths = [int(counter.extent.literal) for counter in tile]
    length = stage.count // math.prod(lengths)
    return [number * length for number in range(math.prod(lengths))]


def check_size(root: UOp) -> None:
    """Raise `OptimizeError` if a lowered kernel needs more scratch memory than `MOST_BYTES`."""
    stages = [node for node in root.walk() if node.op is Op.STAGE]
    areas = shared_areas(root)
    size = sum([stage.count * stage.dtype.itemsize for stage in stages if stage not in areas])
    if size > MOST_BYTES:
        raise OptimizeError(f"{size} bytes of scratch memory are more than {MOST_BYTES}")


def shared_areas(root: UOp) -> dict[UOp, UOp]:
    """Staged values that may reuse the memory of another one, each with the first that is there.

    A value may if all readers of the other one are among its operands and read it at the place that
    is written next, or in a loop that ends before.

        before   b[k] = exp(a[k] - m)           after   a[k] = exp(a[k] - m)
    """
    nodes = root.walk()
    readers: dict[UOp, list[UOp]] = {}
    stages = []
    for node in nodes:
        if node.op is Op.STAGE:
            stages.append(node)
        elif node.op is Op.LOAD and node.place.base.op is Op.STAGE:
            readers.setdefault(node.place.base, []).append(node)
    areas: dict[UOp, UOp] = {}
    taken: set[UOp] = set()
    for stage in stages:
        if stage.combine is not None or stage.sorted_count is not None:
            continue  # its places are written more than once
        needed = stage.operand.backward_slice() | {stage.operand}
        for other in stages:
            if other is stage or other not in needed or other in taken:
                continue
            reads = readers.get(other, [])
            if needed.issuperset(reads) and _can_reuse(stage, other, reads, nodes):
                areas[stage] = areas.get(other, other)
                taken.add(other)
                break
    return areas


def _can_reuse(stage: UOp, other: UOp, reads: list[UOp], nodes: list[UOp]) -> bool:
    if _room(stage) != _room(other):
        return False
    loops: set[UOp] = set()
    for read in reads:
        if not _is_written_next(read, stage):
            loops |= read.ranges - stage.ranges
    # A reading loop that ran again for each element written would read some of the new elements.
    around = [node.ranges for node in nodes if node.op is not Op.STORE and loops & {*node.closed}]
    return loops.isdisjoint(stage.closed) and all(
        ranges.isdisjoint(stage.closed) for ranges in around
    )


def _room(stage: UOp) -> tuple[object, ...]:
    """The properties that two staged values must share to use the same memory."""
    space, length, combine, sorted_count, count, _ = stage.arg
    return (stage.dtype, stage.ranges, space, length, combine, sorted_count, count)


def _is_written_next(read: UOp, stage: UOp) -> bool:
    """Whether an element is read at the place that `stage` writes next, lane by lane."""
    lanes = [
        [counter for counter in node.ranges.union(node.closed) if counter.placement == LANE]
        for node in (read, stage)
    ]
    is_apart = stage.count is not None and read.stride != stage.stride
    return read.place.offset is stage.offset and lanes[0] == lanes[1] and not is_apart
