"""Loads whose lanes are at known places that are not contiguous.

Examples are every second element, a reversed row, or a short block in another order. The kernel
loads whole vectors that contain all elements of a tile, and picks the lanes out of them by
shuffles.

    before   a[r0*48 + (u0*16 + lane)%4*12 + (u0*16 + lane)//4]        48 elements one by one
    after    a[r0*48 ...], a[r0*48 + 16 ...], a[r0*48 + 32 ...]        and two shuffles a vector
"""

from __future__ import annotations

import itertools

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, LANE, UPCAST, Op
from ogive.compiler.ir.symbolic.evaluate import tabulate
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from ogive.compiler.passes.lower.lower_accesses import lane_of, upcast_counters
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

MOST_ELEMENTS = 1024
"""The greatest number of elements of a tile that are examined one by one."""


class Picks(NamedTuple):
    """The vectors to load for a tile, and the places of its elements in them.

    `windows` are the offsets of the vectors from the sum of the terms in `base`. `sources` has, for
    each entry of the tile and each lane, the number of the window and the position in it.
    """

    base: dict[UOp, int]
    windows: list[int]
    sources: dict[tuple[int, ...], list[tuple[int, int]]]

    @property
    def cost(self) -> int:
        """The number of loads and shuffles."""
        shuffles = [len({window for window, _ in entry}) for entry in self.sources.values()]
        return len(self.windows) + sum(shuffles)

    @property
    def are_distinct(self) -> bool:
        """Whether no element is picked twice."""
        picked = [source for entry in self.sources.values() for source in entry]
        return len(set(picked)) == len(picked)


def find_picks(load: UOp, lanes: int, target: Target) -> Picks | None:
    """The picks for a load; None if its places are not known or single loads take no longer."""
    if lanes == 1 or load.stride in (None, 0, 1):
        return None
    lane = lane_of(load.ranges)
    assert lane is not None
    linear, constant = linear_form(load.place.offset)
    apart = load.lanes if load.stride == IRREGULAR else None
    by_lane = {lane: load.stride} if apart is None else linear_form(apart)[0]
    terms = {**linear, **by_lane}
    counters = upcast_counters(load)
    inside = {term for term in terms if not term.ranges.isdisjoint((*counters, lane))}
    if not all(map(_is_known, inside)):
        return None
    entries = list(itertools.product(*[range(counter.extent.literal) for counter in counters]))
    if len(entries) * lanes > MOST_ELEMENTS:
        return None
    grid = [(*entry, number) for entry in entries for number in range(lanes)]
    columns = dict(zip((*counters, lane), zip(*grid, strict=True), strict=True))
    places = [constant] * len(grid)
    for term in inside:
        factor = terms.pop(term)
        places = [at + factor * v for at, v in zip(places, tabulate(term, columns), strict=True)]
    windows = _cover(places, lanes)
    if windows is None:
        return None
    picked = [_source(place, windows, lanes) for place in places]
    sources = {entry: picked[i * lanes : (i + 1) * lanes] for i, entry in enumerate(entries)}
    picks = Picks(terms, windows, sources)
    return picks if picks.cost <= target.costs.accesses.gathered_lane * len(grid) else None


def _is_known(term: UOp) -> bool:
    """Whether a term depends on tile and lane counters only."""
    if any(counter.placement not in (UPCAST, LANE) for counter in term.ranges):
        return False
    return all(n.dtype is dtypes.index and n.op is not Op.VARIABLE for n in term.walk())


def _cover(places: list[int], lanes: int) -> list[int] | None:
    """The starts of vectors that contain all `places` and nothing outside their range.

    None if that range is shorter than a vector.
    """
    last = max(places) - lanes + 1
    windows: list[int] = []
    for place in sorted(set(places)):
        if not windows or place >= windows[-1] + lanes:
            windows.append(min(place, last))
    return windows if windows[0] == min(places) else None


def _source(place: int, windows: list[int], lanes: int) -> tuple[int, int]:
    """The number of the window that contains a place, and the position in it."""
    for number, first in enumerate(windows):
        if first <= place < first + lanes:
            return number, place - first
    raise AssertionError(f"no window of {windows} has {place}")
