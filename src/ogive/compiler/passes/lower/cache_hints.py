"""Hints to the caches: streaming stores and prefetches.

Before a store changes a cache line, the processor reads it from memory; later it writes it back. If
a kernel writes more than the caches hold, its results are read from memory later in any case. A
streaming store writes whole lines to memory without reading them first. That saves a third of the
traffic of a copy.

    before   store <16 x float> %v, ptr %p, align 4
    after    store <16 x float> %v, ptr %p, align 64, !nontemporal !0        and a fence at the end

A row program reads its row several times, but from memory only the first time. It computes little
while it waits for memory, and reads no memory while it computes. So its last loop over a row
prefetches the next row:

    before   for row: for k: m = max(m, x[row, k]);  for k: s += exp(x[row, k] - m)
    after    the second loop also prefetches x[row + 1, k] into the second-level cache

Four other kinds of kernels prefetch, too:

- A product that reads an operand in place reads a few columns of all rows, which are far apart. It
  prefetches the columns of the next tile.
- A product whose many tiles read one panel prefetches the next panel.
- A transpose prefetches the next elements of each row, since it reads more rows than the
  processor's prefetcher can follow.
- A sum of more than the caches hold prefetches a few lines ahead, since the processor's prefetcher
  stops at the end of a page.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeGuard

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LOOP, PARALLEL, UPCAST, Op
from ogive.compiler.ir.symbolic.index_arithmetic import from_linear, integer, linear_form, where
from ogive.compiler.passes.lower.linearize import Item, Loop
from ogive.compiler.passes.lower.lower_accesses import lane_count, lane_of
from ogive.compiler.passes.lower.transposed_access import transposed_counter
from ogive.compiler.targets.target import CACHE_LINE, Target
from ogive.named import record


@record(frozen=True)
class Traffic:
    """The hints of a kernel.

    `streamed` has the stores that bypass the caches. `ahead` has the loads that prefetch, each with
    the distance in elements, an index expression.
    """

    streamed: frozenset[UOp] = frozenset()
    ahead: Mapping[UOp, UOp] = field(default_factory=dict)


def plan_traffic(root: UOp, program: list[Item], target: Target) -> Traffic:
    """The cache hints of a lowered kernel, whose instructions are `program`.

    Stores to memory that the kernel also reads are not streamed, since that is in the caches.
    """
    nodes = root.walk()
    stores = [node for node in nodes if node.op is Op.STORE]
    loads = [node for node in nodes if node.op is Op.LOAD]
    transposed = [load for load in loads if transposed_counter(load, lane_count(load), target)]
    ahead = next_columns(program, target) | next_panels(program, target)
    ahead |= next_lines(program, target) | next_rows(program, target)
    # A kernel that also transposes its results, such as a scan, writes line after line.
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
    """The loads that read more than the caches hold, once and in order, with the prefetch distance.

    The distance is that of the elements read some lines later.
    """
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
    """The loads of a loop and of the loops inside it, each with the counters around it."""
    counters = [*around, loop.counter]
    for item in loop.body:
        if isinstance(item, Loop):
            yield from _loads_of(item, counters)
        elif _reads_memory(item):
            yield item, counters


def _lines_later(load: UOp, counters: list[UOp], target: Target) -> UOp:
    """The distance in elements of what a load reads some lines later.

    Past the end of a row, it is in the row that the next iterations read.
    """
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
    """Whether each iteration reads the elements right after those of the one before."""
    terms, _ = linear_form(load.place.offset)
    length = lane_count(load)
    for term in sorted(terms, key=lambda term: terms[term]):
        if term.op is Op.RANGE and term.placement == UPCAST and terms[term] == length:
            length *= int(term.extent.literal)
    return load.stride == 1 and terms.get(counter) == length


def next_rows(program: list[Item], target: Target) -> dict[UOp, UOp]:
    """The loads in the last of several loops over a row, each with the stride of rows."""
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
    """The loads of a few columns of each row, with the distance of the columns of the next tile.

    Only if rows are far apart and take more than a cache holds.
    """
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
    """The loads of a panel that several tiles read in turn, with the distance of the next panel.

    Only if a near cache cannot hold all panels, but can hold two.
    """
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
    """Whether an instruction loads from a buffer, not from scratch memory."""
    return isinstance(item, UOp) and item.op is Op.LOAD and item.place.base.op is Op.PARAM


def _row_stride(load: UOp, counter: UOp) -> int:
    """The distance of the vectors that one iteration and the next one read; 0 if it varies.

    If several axes share the counter, this is the stride along the last one.
    """
    return _strides(load, counter).get(1, 0)


def _strides(load: UOp, counter: UOp) -> dict[int, int]:
    """For each axis in a counter, its period in iterations, and the distance of vectors along it.

    An axis with period n advances by one in n iterations. Empty if a distance varies.
    """
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
    """The period of `counter // period % length`; 1 for the counter itself; None for others."""
    if part.op is Op.MOD:
        part = part.left
    if part.op is Op.FLOORDIV and part.right.op is Op.CONST and part.left is counter:
        return int(part.right.literal)
    return 1 if part is counter else None


def _before_last(term: UOp, counter: UOp) -> dict[UOp, int]:
    """The terms of a part of an index, for all tiles but a last one that starts earlier."""
    if term.op is not Op.MINIMUM:
        return {term: 1}
    (start, *others) = [source for source in term.src if counter in source.ranges]
    return {term: 1} if others else linear_form(start)[0]


def _bytes_within(load: UOp, counter: UOp) -> int:
    """The greatest number of bytes that a load reads in one iteration of a counter."""
    counts = [int(inner.extent.vmax) for inner in load.ranges if inner is not counter]
    return math.prod(counts) * load.dtype.itemsize


def _least_bytes(store: UOp) -> int:
    """The least number of bytes that a store writes, for all values of variables."""
    counts = [int(counter.extent.vmin) for counter in store.closed]
    return math.prod(counts) * store.place.dtype.itemsize


def _transposed_rows(store: UOp, target: Target) -> UOp | None:
    """The counter along which the elements of each lane of a store are contiguous, or None."""
    lane = lane_of(store.closed)
    return None if lane is None else transposed_counter(store, int(lane.extent.literal), target)


def _fills_lines(store: UOp, target: Target) -> bool:
    """Whether a store writes aligned vectors, and those of a tile make up whole cache lines.

    Memory that is written starts at a cache line: it is never borrowed and never a window.
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
