"""List the placements that differ from a given one by one change.

    before   lanes {1: 16}, upcast {1: 4}, parallel 1
    after    lanes {1: 8}; lanes {0: 16}; upcast {1: 6}; upcast {0: 2, 1: 4}; parallel 2; ...

Lanes and tiles need not divide an axis: excess elements are gated. So a larger tile is also how an
axis gets padded. `place_axes` refuses placements that cannot be carried out, such as two lane axes
in one value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ogive.ir.node import UOp
from ogive.named import record
from ogive.passes.loops.accesses import memory_accesses
from ogive.passes.loops.kernel_axes import axis_extent, output_axes, reduction_axes
from ogive.passes.place.placement import Placement
from ogive.search.placement_encoding import MOST_TILE, placement_key
from ogive.targets.target import Target

TILES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MOST_LANES = 64


@record(frozen=True)
class Actions:
    """The changes that a kernel's placements allow."""

    outputs: tuple[int, ...]  # the output axes
    extents: dict[int, int]  # the length of each axis, output or reduction
    lanes: int  # how many elements of the widest dtype fill a vector register

    @staticmethod
    def of(loops: UOp, target: Target) -> Actions:
        """The actions of a kernel, given as a loop graph."""
        outputs, reductions = output_axes(loops), reduction_axes(loops)
        width = max([access.index.dtype.itemsize for access in memory_accesses(loops)], default=4)
        return Actions(
            tuple([counter.number for counter in outputs]),
            {counter.number: axis_extent(counter) for counter in (*outputs, *reductions)},
            max(target.vector_bytes // width, 2),
        )

    def neighbours(self, placement: Placement) -> list[Placement]:
        """The distinct placements one change away."""
        distinct = {placement_key(placement): placement}
        for changed in self._changes(placement):
            distinct.setdefault(placement_key(changed), changed)
        return list(distinct.values())[1:]

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
        """Change all axes that have lanes at once: the loops of a softmax need equal lanes."""
        for factor in (2.0, 0.5):
            upcast = dict(placement.upcast)
            for axis in placement.lanes:
                upcast[axis] = max(1, int(upcast.get(axis, 1) * factor))
            yield from self._with(placement, placement.lanes, upcast)
        for factor in (2.0, 0.5):
            lanes = {axis: int(count * factor) for axis, count in placement.lanes.items()}
            yield from self._with(placement, lanes, placement.upcast)

    def _tiles(self, placement: Placement, axis: int) -> Iterator[Placement]:
        """Change the tile of an axis."""
        current = placement.upcast.get(axis, 1)
        smaller = [tile for tile in TILES if tile < current]
        larger = [tile for tile in TILES if tile > current]
        for tile in (*larger[:1], *smaller[-1:], current * 2, current // 2, 1):
            if tile >= 1:
                yield from self._with(placement, placement.lanes, {**placement.upcast, axis: tile})

    def _lanes(self, placement: Placement, axis: int) -> Iterator[Placement]:
        """Change the lanes of an axis; give it lanes, or those of another axis."""
        current = placement.lanes.get(axis, 1)
        if current > 1:
            for count in (current * 2, current // 2, 1):
                yield from self._with(
                    placement, {**placement.lanes, axis: count}, placement.upcast
                )
            return
        yield from self._with(placement, {**placement.lanes, axis: self.lanes}, placement.upcast)
        for other, count in placement.lanes.items():
            moved = {a: c for a, c in placement.lanes.items() if a != other} | {axis: count}
            yield from self._with(placement, moved, placement.upcast)

    def _orders(self, placement: Placement) -> Iterator[Placement]:
        """Swap two neighbouring output loops, or make one of them the outermost."""
        order = placement.order or self.outputs
        for place in range(1, len(order)):
            swapped = list(order)
            swapped[place - 1 : place + 1] = order[place], order[place - 1]
            yield replace(placement, order=tuple(swapped))
            yield replace(placement, order=(order[place], *order[:place], *order[place + 1 :]))

    def _with(
        self, placement: Placement, lanes: Mapping[int, int], upcast: Mapping[int, int]
    ) -> Iterator[Placement]:
        """The placement with other lanes and tiles, unless it pads an axis to twice its length or
        exceeds a limit."""
        lanes = {axis: count for axis, count in lanes.items() if count > 1}
        upcast = {axis: count for axis, count in upcast.items() if count > 1}
        tile = 1
        for axis, extent in self.extents.items():
            step = lanes.get(axis, 1) * upcast.get(axis, 1)
            tile *= upcast.get(axis, 1)
            if step > 1 and step >= 2 * extent:
                return
        if tile <= MOST_TILE and max(lanes.values(), default=1) <= MOST_LANES:
            yield replace(placement, lanes=lanes, upcast=upcast)
