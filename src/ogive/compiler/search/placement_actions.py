"""The placements that differ from a given one in one respect.

    before   lanes {1: 16}, upcast {1: 4}, parallel 1
    after    lanes {1: 8}; lanes {0: 16}; upcast {1: 6}; upcast {0: 2, 1: 4}; parallel 2; ...

Axes need not be divided evenly: the excess is gated, so a larger tile also pads an axis. An
impossible placement (a value with two axes in lanes) is refused by `place_axes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.loops.accesses import memory_accesses
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes, reduction_axes
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.placement_encoding import MOST_TILE, placement_key
from ogive.compiler.targets.target import Target
from ogive.named import record

TILES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MOST_LANES_TRIED = 64
"""The most lanes of one axis that the search tries."""


@record(frozen=True)
class Actions:
    """The possible changes to placements of one kernel."""

    outputs: tuple[int, ...]
    extents: dict[int, int]  # by axis, reductions included
    lanes: int  # how many of the widest elements fill a vector register

    @staticmethod
    def of(loops: UOp, target: Target) -> Actions:
        """The possible changes for a loop graph."""
        outputs, reductions = output_axes(loops), reduction_axes(loops)
        width = max([access.index.dtype.itemsize for access in memory_accesses(loops)], default=4)
        return Actions(
            tuple([counter.number for counter in outputs]),
            {counter.number: axis_extent(counter) for counter in (*outputs, *reductions)},
            max(target.vector_bytes // width, 2),
        )

    def neighbours(self, placement: Placement) -> list[Placement]:
        """The placements that are one change away, each once."""
        by_key = {placement_key(placement): placement}
        for changed in self._changes(placement):
            by_key.setdefault(placement_key(changed), changed)
        return list(by_key.values())[1:]

    def _changes(self, placement: Placement) -> Iterator[Placement]:
        yield from self._together(placement)
        for axis in self.extents:
            yield from self._tiles(placement, axis)
        for axis in self.extents:
            yield from self._lanes(placement, axis)
        yield from self._orders(placement)
        for parallel in (placement.parallel - 1, placement.parallel + 1):
            if 0 <= parallel <= len(self.outputs):
                yield replace(placement, parallel=parallel)

    def _together(self, placement: Placement) -> Iterator[Placement]:
        """Changes to all axes in lanes at once, since the loops of a softmax want the same."""
        for factor in (2.0, 0.5):
            upcast = dict(placement.upcast)
            for axis in placement.lanes:
                upcast[axis] = max(1, int(upcast.get(axis, 1) * factor))
            yield from self._with(placement, placement.lanes, upcast)
        for factor in (2.0, 0.5):
            lanes = {axis: int(count * factor) for axis, count in placement.lanes.items()}
            yield from self._with(placement, lanes, placement.upcast)

    def _tiles(self, placement: Placement, axis: int) -> Iterator[Placement]:
        now = placement.upcast.get(axis, 1)
        smaller = [tile for tile in TILES if tile < now]
        larger = [tile for tile in TILES if tile > now]
        for tile in (*larger[:1], *smaller[-1:], now * 2, now // 2, 1):
            if tile >= 1:
                yield from self._with(placement, placement.lanes, {**placement.upcast, axis: tile})

    def _lanes(self, placement: Placement, axis: int) -> Iterator[Placement]:
        now = placement.lanes.get(axis, 1)
        if now > 1:
            for count in (now * 2, now // 2, 1):
                yield from self._with(
                    placement, {**placement.lanes, axis: count}, placement.upcast
                )
            return
        yield from self._with(placement, {**placement.lanes, axis: self.lanes}, placement.upcast)
        for other, count in placement.lanes.items():
            moved = {a: c for a, c in placement.lanes.items() if a != other} | {axis: count}
            yield from self._with(placement, moved, placement.upcast)

    def _orders(self, placement: Placement) -> Iterator[Placement]:
        order = placement.order or self.outputs
        for place in range(1, len(order)):
            swapped = list(order)
            swapped[place - 1 : place + 1] = order[place], order[place - 1]
            yield replace(placement, order=tuple(swapped))
            yield replace(placement, order=(order[place], *order[:place], *order[place + 1 :]))

    def _with(
        self, placement: Placement, lanes: Mapping[int, int], upcast: Mapping[int, int]
    ) -> Iterator[Placement]:
        """The placement with these lanes and tiles, if no axis is padded to twice its length."""
        lanes = {axis: count for axis, count in lanes.items() if count > 1}
        upcast = {axis: count for axis, count in upcast.items() if count > 1}
        tile = 1
        for axis, extent in self.extents.items():
            step = lanes.get(axis, 1) * upcast.get(axis, 1)
            tile *= upcast.get(axis, 1)
            if step > 1 and step >= 2 * extent:
                return
        if tile <= MOST_TILE and max(lanes.values(), default=1) <= MOST_LANES_TRIED:
            yield replace(placement, lanes=lanes, upcast=upcast)
