"""Whether all that a lowered kernel reads of its scratch memory was staged there before.

A staged value is whole before anybody reads it, since readers have it as their source. What is to
be shown is where it was written, by its place, its lanes and their stride:

    staged   r0*16 + lane, r0 < 2, 16 lanes       all of a row of 32
    staged   loop + lane, loop < 2, 8 lanes       9 elements of a row of 16: no more may be read

A tile reads past the end of a row where it does not fill it, and nobody uses that; so what counts
are the elements of a row below its length. Rows that are written without gaps are told by strides;
of others, and of who reads them, each place is worked out, up to a number. Rows that end where
another counter or a variable says are not looked at: whoever reads them ends there too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ogive.ir.node import UOp
from ogive.ir.ops import IRREGULAR, LANE, UPCAST, Op
from ogive.ir.symbolic.evaluate import evaluate, is_known, tabulate
from ogive.ir.symbolic.index_arithmetic import linear_form

MOST_PLACES = 1 << 15
"""Places of an access up to which each is looked at."""


def find_uncovered(root: UOp) -> tuple[UOp, str] | None:
    """The first access of a lowered kernel that reads what was not staged, and what was expected;
    None if there is none."""
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
        """Whether strides say that each row is written without gaps."""
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
        """The places that are written; None if they are too many to be looked at, or not known."""
        lane = _lane((*self.stage.closed, *self.stage.ranges))
        places = self.stage.offset
        if lane is not None and self.stride != IRREGULAR:
            places = places + lane * self.stride
        places_written = _tabulated(places, None) if is_known(places) else None
        return None if places_written is None else set(places_written)

    def missing(self, read: UOp, written: set[int]) -> int | None:
        """An element of a row that is read and was not written, if there is one."""
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
    """Where an access reads, as an expression of its counters."""
    offset = read.place.offset
    lanes = None if read.op is Op.TALLY else read.lanes
    if lanes is None:
        return offset
    return offset + (lanes if read.stride == IRREGULAR else lanes * read.stride)


def _tabulated(places: UOp, gate: UOp | None) -> list[int] | None:
    """All values of an expression where a gate holds; None if they are too many."""
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
