"""Checks that a lowered kernel writes every element of scratch memory that it reads.

A staged value is complete before it is read, because its readers have it as a source. What remains
to be shown is which elements it writes. Its offset, its lanes and their stride tell:

    writes   r0*16 + lane, r0 < 2, 16 lanes       all of a row of 32
    writes   loop + lane, loop < 2, 8 lanes       9 elements of a row of 16: only these may be read

A tile that is not full reads past the end of a row, and those lanes are not used. So only elements
below the length of a row count. Strides show that most rows are written without gaps. For the
others, every place written and read is enumerated, up to a limit. Rows whose end depends on another
counter or on a variable are not checked: their readers end there too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, LANE, UPCAST, Op
from ogive.compiler.ir.symbolic.evaluate import evaluate, is_known, tabulate
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form

MOST_PLACES = 1 << 15
"""The greatest number of places of an access that are enumerated."""


def find_uncovered(root: UOp) -> tuple[UOp, str] | None:
    """The first access of a lowered kernel that reads an unwritten element, and what was expected.

    None if there is none.
    """
    readers: dict[UOp, list[UOp]] = {}
    for node in root.walk():
        if node.op in (Op.LOAD, Op.TALLY) and node.place.base.op is Op.STAGE:
            readers.setdefault(node.place.base, []).append(node)
    for stage, reads in readers.items():
        rows = _Rows(stage)
        written = None if rows.are_dense() else rows.written()
        if written is None:
            continue
        for read in reads:
            missing = rows.missing(read, written)
            if missing is not None:
                return read, f"element {missing} of a row to be staged before it is read"
    return None


class _Rows:
    """The rows of a lowered staged value."""

    def __init__(self, stage: UOp) -> None:
        self.stage = stage
        self.length, self.stride = stage.length, stage.stride
        tile = [counter for counter in stage.ranges if counter.placement == UPCAST]
        self.inner = {counter for counter in stage.ranges if counter.placement in (UPCAST, LANE)}
        self.lanes = math.prod([_extent(c) for c in self.inner if c.placement == LANE])
        self.step = stage.count // math.prod([_extent(counter) for counter in tile])

    def are_dense(self) -> bool:
        """Whether the strides show that each row is written without gaps."""
        terms, constant = linear_form(self.stage.offset)
        steps = [(step, counter) for counter, step in terms.items() if counter not in self.inner]
        lane = _lane(self.stage.closed)
        if lane is not None and self.stride != IRREGULAR:
            steps.append((self.stride, lane))
        if constant or any(counter.op is not Op.RANGE for _, counter in steps):
            return False
        reach: int = self.lanes
        for step, counter in sorted(steps, key=lambda pair: pair[0]):
            if not 0 < step <= reach:
                return False
            reach += step * (_extent(counter) - 1)
        return bool(reach >= self.length * self.lanes)

    def written(self) -> set[int] | None:
        """The places that are written; None if they are not known, or too many."""
        lane = _lane((*self.stage.closed, *self.stage.ranges))
        places = self.stage.offset
        if lane is not None and self.stride != IRREGULAR:
            places = places + lane * self.stride
        places_written = _tabulated(places, None) if is_known(places) else None
        return None if places_written is None else set(places_written)

    def missing(self, read: UOp, written: set[int]) -> int | None:
        """The first element of a row that is read and not written, or None."""
        places = _places(read)
        gate = read.place.gate
        if is_known(places):
            candidates = _tabulated(places, gate if gate is not None and is_known(gate) else None)
        else:
            low, high = places.bounds
            candidates = list(range(int(low), int(high) + 1)) if high - low < MOST_PLACES else None
        for place in candidates or ():
            number: int = place % self.step // self.lanes
            if number < self.length and place not in written:
                return number
        return None


def _places(read: UOp) -> UOp:
    """The place that an access reads, as an expression of its counters."""
    offset = read.place.offset
    lanes = None if read.op is Op.TALLY else read.lanes
    if lanes is None:
        return offset
    return offset + (lanes if read.stride == IRREGULAR else lanes * read.stride)


def _tabulated(places: UOp, gate: UOp | None) -> list[int] | None:
    """The values of an expression for all counters where a gate holds; None if too many."""
    counters = sorted(
        places.ranges | (gate.ranges if gate is not None else frozenset()),
        key=lambda counter: counter.number,
    )
    extents = [_extent(counter) for counter in counters]
    if math.prod(extents) > MOST_PLACES:
        return None
    grid = list(itertools.product(*map(range, extents)))
    if not grid:
        return []
    columns: dict[UOp, Sequence[int]] = dict(zip(counters, zip(*grid, strict=True), strict=True))
    if not columns:
        return [evaluate(places)]
    values = tabulate(places, columns)
    if gate is None:
        return values
    held = tabulate(gate, columns)
    return [value for value, holds in zip(values, held, strict=True) if holds]


def _lane(counters: tuple[UOp, ...]) -> UOp | None:
    return next((counter for counter in counters if counter.placement == LANE), None)


def _extent(counter: UOp) -> int:
    return int(counter.extent.vmax)
