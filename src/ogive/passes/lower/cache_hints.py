"""Hints to the caches: which stores go past them, which rows are soon to be read.

A processor reads a line into its cache before a store changes it, and writes it back later. Where a
kernel writes more than the caches hold, whoever reads it next finds it in memory all the same: a
streaming store sends whole lines there and spares the read, a third of what a copy moves.

    before   store <16 x float> %v, ptr %p, align 4
    after    store <16 x float> %v, ptr %p, align 64, !nontemporal !0        and a fence at the end

A row program reads its row several times, and only the first time from memory. Meanwhile nothing is
computed, and later nothing is read. The last loop over the row therefore asks for the next row:

    before   for row: for k: m = max(m, x[row, k]);  for k: s += exp(x[row, k] - m)
    after    the second loop also prefetches x[row + 1, k] into the second-level cache

A product that reads an operand where it lies takes a few columns of all rows, which lie far apart:
beside each of them it asks for those that the next tile takes.

One whose operand lies in panels, each of which many tiles go through, asks for the next panel
meanwhile: the first tile would wait for it.

So does a transpose with what it reads next of each of its rows: they are too many for a processor
to notice by itself that each goes on. And so does a sum of more than the caches hold with what lies
a few lines further on, since processors look ahead no further than to the end of a page.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeGuard

from ogive.ir.node import UOp
from ogive.ir.ops import LOOP, PARALLEL, UPCAST, Op
from ogive.ir.symbolic.index_arithmetic import from_linear, integer, linear_form, where
from ogive.named import record
from ogive.passes.lower.linearize import Item, Loop
from ogive.passes.lower.lower_accesses import lane_count, lane_of
from ogive.passes.lower.transposed_access import transposed_counter
from ogive.targets.target import CACHE_LINE, Target


@record(frozen=True)
class Traffic:
    """`streamed` has the stores that go past the caches, `ahead` the loads beside which something
    further on is asked for, with how many elements further on it lies: an index expression."""

    streamed: frozenset[UOp] = frozenset()
    ahead: Mapping[UOp, UOp] = field(default_factory=dict)


def plan_traffic(root: UOp, program: list[Item], target: Target) -> Traffic:
    """The hints of a lowered kernel, whose instructions are `program`, to the caches.

    Memory that it reads as well as writes is in the caches anyway, and is not streamed to.
    """
    nodes = root.walk()
    stores = [node for node in nodes if node.op is Op.STORE]
    loads = [node for node in nodes if node.op is Op.LOAD]
    transposed = [load for load in loads if transposed_counter(load, lane_count(load), target)]
    ahead = next_columns(program, target) | next_panels(program, target)
    ahead |= next_lines(program, target) | next_rows(program, target)
    # What is transposed back, as a scan is, is written line after line.
    is_far = bool(transposed) and not all(_transposed_rows(store, target) for store in stores)
    least = target.streamed_transposed_bytes if is_far else target.streamed_bytes
    if least is None or sum(map(_least_bytes, stores)) < least:
        return Traffic(ahead=ahead)
    read = {load.place.base for load in loads}
    written_only = [store for store in stores if store.place.base not in read]
    further = target.costs.accesses.ahead_lines * CACHE_LINE
    ahead |= {load: integer(further // load.dtype.itemsize) for load in transposed}
    streamed = frozenset([store for store in written_only if _fills_lines(store, target)])
    return Traffic(streamed, ahead)


def next_lines(program: list[Item], target: Target) -> dict[UOp, UOp]:
    """The loads that pass once, and in order, over more than the caches hold, each with how far
    away that is which is read some lines later."""
    if target.streamed_bytes is None:
        return {}
    loads = [pair for item in program if isinstance(item, Loop) for pair in _loads_of(item, [])]
    passes = Counter([load.place.base for load, _ in loads])
    ahead: dict[UOp, UOp] = {}
    for load, counters in loads:
        size = math.prod([int(counter.extent.vmin) for counter in load.ranges])
        is_long = size * load.dtype.itemsize >= target.streamed_bytes
        is_once = passes[load.place.base] == 1 and load.ranges.issuperset(counters)
        if is_long and is_once and len(counters) > 1 and _follows(load, counters[-1]):
            ahead[load] = _lines_later(load, counters, target)
    return ahead


def _loads_of(loop: Loop, around: list[UOp]) -> Iterator[tuple[UOp, list[UOp]]]:
    """The loads of a loop and of those in it, each with the counters around it."""
    counters = [*around, loop.counter]
    for item in loop.body:
        if isinstance(item, Loop):
            yield from _loads_of(item, counters)
        elif _reads_memory(item):
            yield item, counters


def _lines_later(load: UOp, counters: list[UOp], target: Target) -> UOp:
    """How far away that is which is read some lines later: behind the end of a row, it is in the
    next row of the tile that follows."""
    lines = target.costs.accesses.ahead_bytes // load.dtype.itemsize
    terms, _ = linear_form(load.place.offset)
    inner: dict[UOp, int] = {}
    length = terms[counters[-1]]
    for counter in reversed(counters):
        step, count = terms.get(counter, 0), counter.extent
        if step != length or count.op is not Op.CONST:
            break
        inner[counter] = step
        length *= count.literal
    else:
        return integer(lines)
    position = from_linear(inner)
    if step <= length or lines >= length:
        return integer(lines)
    return where(position.lt(length - lines), integer(lines), integer(lines + step - length))


def _follows(load: UOp, counter: UOp) -> bool:
    """Whether each iteration reads what lies behind that of the last one."""
    terms, _ = linear_form(load.place.offset)
    length = lane_count(load)
    for term in sorted(terms, key=lambda term: terms[term]):
        if term.op is Op.RANGE and term.placement == UPCAST and terms[term] == length:
            length *= int(term.extent.literal)
    return load.stride == 1 and terms.get(counter) == length


def next_rows(program: list[Item], target: Target) -> dict[UOp, UOp]:
    """The loads of the last loops over rows that were read before, each with its row's stride."""
    ahead: dict[UOp, UOp] = {}
    for outer in _parallel_loops(program):
        loops = [item for item in outer.body if isinstance(item, Loop)]
        if len(loops) < 2:
            continue
        last: dict[tuple[UOp, int], UOp] = {}
        for loop in loops:
            read: dict[tuple[UOp, int], UOp] = {}
            for load in _loads_within(loop):
                stride = _row_stride(load, outer.counter)
                is_far = stride * load.dtype.itemsize >= target.costs.memory.apart_bytes
                if is_far and _bytes_within(load, outer.counter) <= target.l2_bytes // 4:
                    read[load.place.base, stride] = load
            for row, load in read.items():
                if row in last:
                    ahead.pop(last[row], None)
                    ahead[load] = integer(row[1])
            last |= read
    return ahead


def next_columns(program: list[Item], target: Target) -> dict[UOp, UOp]:
    """The loads that take a few columns of each row, rows being far apart and more of them than a
    cache holds, each with how far away the columns are that the next tile takes."""
    ahead: dict[UOp, UOp] = {}
    for outer in _parallel_loops(program):
        for load in _loads_within(outer):
            size = load.dtype.itemsize
            strides = _strides(load, outer.counter)
            stride = strides[min(strides)] if strides else 0
            terms, _ = linear_form(load.place.offset)
            steps = [step for c, step in terms.items() if c.op is Op.RANGE and c.placement == LOOP]
            apart = target.costs.memory.apart_bytes
            is_near = 0 < stride * size < apart <= max(steps, default=0) * size
            if is_near and load.place.base.size * size > target.l2_bytes:
                ahead[load] = integer(stride)
    return ahead


def next_panels(program: list[Item], target: Target) -> dict[UOp, UOp]:
    """The loads of a panel that several tiles read one after the other, if the panels are more than
    a near cache holds but two of them are not, each with how far away the next panel is."""
    ahead: dict[UOp, UOp] = {}
    for outer in _parallel_loops(program):
        for load in _loads_within(outer):
            strides = _strides(load, outer.counter)
            if len(strides) != 1 or 1 in strides or load.stride != 1:
                continue
            size = load.dtype.itemsize
            (stride,) = strides.values()
            is_panel = CACHE_LINE <= stride * size <= target.l2_bytes // 4
            if is_panel and load.place.base.size * size > target.l2_bytes:
                ahead[load] = integer(stride)
    return ahead


def _parallel_loops(program: list[Item]) -> list[Loop]:
    return [
        item for item in program if isinstance(item, Loop) and item.counter.placement == PARALLEL
    ]


def _loads_within(loop: Loop) -> Iterator[UOp]:
    for item in loop.body:
        if isinstance(item, Loop):
            yield from _loads_within(item)
        elif _reads_memory(item):
            yield item


def _reads_memory(item: Item) -> TypeGuard[UOp]:
    """Whether an instruction loads from memory that is not the kernel's own."""
    return isinstance(item, UOp) and item.op is Op.LOAD and item.place.base.op is Op.PARAM


def _row_stride(load: UOp, counter: UOp) -> int:
    """How far apart vectors are that one iteration and the next one read; 0 if that varies.

    Where the counter is that of several axes, the next iteration is mostly one along the last."""
    return _strides(load, counter).get(1, 0)


def _strides(load: UOp, counter: UOp) -> dict[int, int]:
    """How far apart vectors are that are read one after so many iterations and the next ones: that
    many and the distance, for each axis that the counter is made of. Nothing if that varies."""
    terms, _ = linear_form(load.place.offset)
    strides: dict[int, int] = {}
    for term, factor in terms.items():
        if counter in term.ranges:
            for part, step in _before_last(term, counter).items():
                period = _period(part, counter)
                if period is None or period in strides:
                    return {}
                strides[period] = step * factor
    return strides if load.stride == 1 else {}


def _period(part: UOp, counter: UOp) -> int | None:
    """After how many iterations `counter // period % length`, or without either, changes."""
    if part.op is Op.MOD:
        part = part.left
    if part.op is Op.FLOORDIV and part.right.op is Op.CONST and part.left is counter:
        return int(part.right.literal)
    return 1 if part is counter else None


def _before_last(term: UOp, counter: UOp) -> dict[UOp, int]:
    """A part of an index, by what it is linear in, for all tiles but a last one that starts earlier
    than it would."""
    if term.op is not Op.MINIMUM:
        return {term: 1}
    (start, *others) = [source for source in term.src if counter in source.ranges]
    return {term: 1} if others else linear_form(start)[0]


def _bytes_within(load: UOp, counter: UOp) -> int:
    """How much a load reads, at most, in one iteration of a counter."""
    counts = [int(other.extent.vmax) for other in load.ranges if other is not counter]
    return math.prod(counts) * load.dtype.itemsize


def _least_bytes(store: UOp) -> int:
    """The least number of bytes that a store writes, whatever the variables are."""
    counts = [int(counter.extent.vmin) for counter in store.closed]
    return math.prod(counts) * store.place.dtype.itemsize


def _transposed_rows(store: UOp, target: Target) -> UOp | None:
    """The counter along which a store writes the elements of each of its lanes, if it does."""
    lane = lane_of(store.closed)
    return None if lane is None else transposed_counter(store, int(lane.extent.literal), target)


def _fills_lines(store: UOp, target: Target) -> bool:
    """Whether vectors lie at multiples of their size, and those of a tile make up whole lines.

    Memory that is written begins at a line: none of it is borrowed, and windows are only read.
    """
    lane, rows = lane_of(store.closed), _transposed_rows(store, target)
    is_plain = store.stride == 1 and store.combine is None
    along = lane if is_plain else rows
    if lane is None or along is None:
        return False
    length = int(along.extent.literal)
    width = min(length, int(lane.extent.literal))
    terms, constant = linear_form(store.place.offset)
    others = [step for counter, step in terms.items() if counter is not along]
    if any(number % width for number in (constant, length, *others)):
        return False
    for counter in store.closed:
        if counter.placement == UPCAST and terms.get(counter) == length:
            length *= int(counter.extent.literal)
    return length * store.place.dtype.itemsize % CACHE_LINE == 0
