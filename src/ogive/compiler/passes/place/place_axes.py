"""Applies a placement: every axis of a kernel becomes the counters that it says.

    before   out[r0] = x[r0], r0 < 1000              lanes r0: 16, tile r0: 4
    after    out[(r0*4 + u1)*16 + l2] = ..., gated   r0 < 16 parallel, u1 < 4 upcast, l2 < 16 lanes

An axis of length n becomes up to four counters,
`((outer * upcast + tile) * threads + thread) * lanes + lane`:

- `lanes`: neighbouring elements in one vector register;
- `threads`: elements that the threads of a block compute at once, if the target has blocks;
- `upcast`: elements in separate registers (a register tile, or several accumulators);
- the rest stays a loop. The outermost output loops together become one PARALLEL loop, which the
  runtime divides among threads.

An axis whose iterations must run in order (of a scan, of a scatter that may meet an element twice,
of rows that are added up) is a LOOP from the beginning, and stays inside the output loops. The axis
of a scan may have a tile of a few iterations, which run one after the other, and threads: then each
entry of the tile is the iterations of a warp, in order.

Any placement of any kernel gives right results, whatever the lengths: excess lanes and tile entries
are gated, or the last tile starts earlier.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LANE, LOOP, PARALLEL, THREAD, UPCAST, Op
from ogive.compiler.ir.positions import index_node
from ogive.compiler.ir.shape import Dim
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form, minimum
from ogive.compiler.passes.loops.kernel_axes import (
    axis_extent,
    counters_together,
    ordered_axes,
    output_axes,
    reduction_axes,
    scanned_axes,
)
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.passes.place.placement import Placement
from ogive.errors import OptimizeError

MOST_UNROLLED = 4
"""The greatest number of tiles for which LLVM unrolls a loop that moves them."""


def place_axes(root: UOp, placement: Placement) -> UOp:
    """The kernel with every counter replaced by placed ones.

    Raises `OptimizeError` if the placement names axes that the kernel does not have, or puts two
    axes of one value into lanes.
    """
    outputs = output_axes(root)
    reductions = reduction_axes(root)
    by_number = {counter.number: counter for counter in (*outputs, *reductions)}
    divided = {*placement.upcast, *placement.threads}
    scanned = [counter for counter in scanned_axes(root) if counter.number in divided]
    _check(placement, outputs, by_number, scanned)
    _check_lanes(root, placement)
    nest = [by_number[number] for number in placement.order] if placement.order else outputs
    loops = _Loops(placement)
    loops.place_parallel(nest[: placement.parallel])
    loops.place(nest[placement.parallel :])
    replacements = {
        counter: loops.make(counter.extent)
        for counter in (*ordered_axes(root), *_accumulated_axes(root))
        if counter not in scanned
    }
    for counter in scanned:
        loops.outer[counter] = loops.make(_loop_extent(counter.extent, counter, placement))
    moved = _moved_tiles(root, nest, placement)
    loops.start(nest, moved)
    loops.place(reductions)
    stores_again = bool(moved) and _may_store_again(root)
    gates: dict[UOp, UOp] = {}
    within: dict[UOp, UOp] = {}
    nearest: dict[UOp, UOp] = {}
    for counter in (*nest, *scanned, *reductions):
        position = replacements[counter] = loops.position(counter)
        if counter in moved:
            if not stores_again:
                tile = placement.upcast.get(counter.number, 1)
                # Elements that the tile before has stored are left out.
                gates[counter] = (loops.outer[counter] * tile).lt(position + 1)
            continue
        if _runs_over(counter, placement):
            extent = replace_ranges(counter.extent, replacements)
            gates[counter] = position.lt(extent)
            within[counter] = gates[counter]
            is_symbolic = counter.extent.op is not Op.CONST
            if is_symbolic and counter in nest and counter.number not in placement.lanes:
                nearest[counter] = minimum(position, extent - 1)
        if counter.ranges_below:
            # All rows are in memory of the full length, whatever part of it each reads.
            within[counter] = position.lt(axis_extent(counter))
    return replace_ranges(root, replacements, gates, within, nearest)


def _accumulated_axes(root: UOp) -> list[UOp]:
    """The counters of ordered loops that accumulate into staged values."""
    axes: dict[UOp, None] = {}
    for node in root.walk():
        if node.op is Op.STAGE:
            axes.update(dict.fromkeys([c for c in node.closed if c.placement is not None]))
    return list(axes)


class _Loops:
    """Makes the placed counters, numbered from the outermost inwards.

    `outer` has the loop over the tiles of each axis, `starts` the start of the tile of each output
    axis.
    """

    def __init__(self, placement: Placement) -> None:
        self.placement = placement
        self.outer: dict[UOp, UOp] = {}
        self.starts: dict[UOp, UOp] = {}
        self._numbers = itertools.count()

    def make(self, extent: Dim, kind: str = LOOP) -> UOp:
        """One more counter."""
        return make_range(extent, next(self._numbers), kind)

    def place_parallel(self, counters: Sequence[UOp]) -> None:
        """One PARALLEL counter for the product of the loops of the given axes."""
        extents = [_loop_extent(c.extent, c, self.placement) for c in counters]
        total: Dim = 1
        for extent in extents:
            total = total * extent
        if total == 1:
            self.outer.update(dict.fromkeys(counters, index_node(0)))
            return
        position = self.make(total, PARALLEL)
        for counter, extent in zip(reversed(counters), reversed(extents), strict=True):
            self.outer[counter] = position % extent if counter is not counters[0] else position
            position = position // extent

    def place(self, counters: Sequence[UOp]) -> None:
        """A LOOP for each of the given axes whose loop runs more than once."""
        for counter in counters:
            extent = _loop_extent(self._longest(counter), counter, self.placement)
            self.outer[counter] = self.make(extent) if extent != 1 else index_node(0)

    def start(self, counters: Sequence[UOp], moved: Set[UOp]) -> None:
        """Set the starts of the tiles of the given axes. Those in `moved` end within the axis."""
        for counter in counters:
            step = _step(counter, self.placement)
            start = self.outer[counter] * step
            if counter in moved:
                start = minimum(start, counter.extent - step)
            self.starts[counter] = start

    def position(self, counter: UOp) -> UOp:
        """The position along an axis, as an expression of its placed counters."""
        number = counter.number
        tile = self.placement.upcast.get(number, 1)
        lanes = self.placement.lanes.get(number, 1)
        position = self.starts.get(counter, self.outer[counter] * _step(counter, self.placement))
        threads = self.placement.threads.get(number, 1)
        if tile > 1:
            position = position + self.make(tile, UPCAST) * (threads * lanes)
        if threads > 1:
            position = position + self.make(threads, THREAD) * lanes
        if lanes > 1:
            position = position + self.make(lanes, LANE)
        return position

    def _longest(self, counter: UOp) -> UOp:
        """The extent of an axis at the entry of the output tile where it is greatest."""
        extent = counter.extent
        if not extent.ranges:
            return extent
        extent = _longest(extent, self.starts, self.placement)
        if extent.vmax > axis_extent(counter):
            extent = minimum(extent, axis_extent(counter))
        return extent


def _moved_tiles(root: UOp, nest: Sequence[UOp], placement: Placement) -> set[UOp]:
    """The output axes whose last tile would exceed the axis, and starts earlier instead.

        before   r < 10 in tiles of 4:   r = r0*4 + tile,          loaded and stored if r < 10
        after                            r = min(r0*4, 6) + tile
        of a symbolic length n           r = min(r0*4, n - 4) + tile, if n is at least 4

    So the loops of reductions load whole tiles without gates. Other kernels do as well, except
    along a short innermost loop, which LLVM unrolls, so that it knows the length of the last tile.
    Elements that are computed twice are stored twice, unless their operands might be overwritten:
    then the second store has the gate r0*4 <= r. An axis stays as it is if faults or indirect reads
    depend on it, and an axis in lanes if it would need such a gate, which takes longer.
    """
    uneven = {
        counter
        for counter in nest
        if counter.number not in placement.threads
        and _runs_over(counter, placement)
        and counter.extent.vmin >= _step(counter, placement)
    }
    if not uneven:
        return uneven
    may_store_again = _may_store_again(root)
    reduced: set[UOp] = set()
    for node in root.walk():
        if node.op is Op.REDUCE:
            reduced |= node.ranges
        elif node.op is Op.CHECK or (node.op is Op.INDEX and node.offset.has_index):
            uneven -= node.ranges
    if not may_store_again:
        return {c for c in uneven if c in reduced and c.number not in placement.lanes}
    unrolled = [
        counter
        for counter in nest[placement.parallel :][-1:]
        if axis_extent(counter) <= MOST_UNROLLED * _step(counter, placement)
    ]
    return {c for c in uneven if (c in reduced if reduced else c not in unrolled)}


def _may_store_again(root: UOp) -> bool:
    """Whether elements may be computed and stored a second time.

    They may if no store accumulates and no load reads the place that is stored, since then an
    operand may be overwritten.
    """
    results = frozenset([counter for store in root.src for counter in store.closed])
    stored = [_strides(store) for store in root.src]
    return all(store.combine is None for store in root.src) and not any(
        node.ranges == results and _may_meet(_strides(node), stored)
        for node in root.walk()
        if node.op is Op.LOAD
    )


def _may_meet(loaded: dict[UOp, int] | None, stored: list[dict[UOp, int] | None]) -> bool:
    """Whether a load may read the element that is stored: only if all strides are equal."""
    return loaded is None or None in stored or loaded in stored


def _strides(access: UOp) -> dict[UOp, int] | None:
    """The strides of a load or store along its counters; None if it is not linear in all."""
    terms, _ = linear_form(access.place.offset)
    return terms if all(term.op is Op.RANGE for term in terms) else None


def _loop_extent(extent: UOp, counter: UOp, placement: Placement) -> Dim:
    step = _step(counter, placement)
    if extent.op is Op.CONST:
        return -(-extent.arg // step)
    return (extent + (step - 1)) // step


def _step(counter: UOp, placement: Placement) -> int:
    """How many iterations of an axis one iteration of its loop makes."""
    number = counter.number
    beside = placement.threads.get(number, 1) * placement.lanes.get(number, 1)
    return placement.upcast.get(number, 1) * beside


def _runs_over(counter: UOp, placement: Placement) -> bool:
    """Whether the last tile of an axis may have entries past its end.

    An axis whose length depends on other counters has as many as its longest row needs.
    """
    if counter.extent.ranges:
        return True
    remainder = counter.extent % _step(counter, placement)
    return not (remainder.op is Op.CONST and remainder.literal == 0)


def _longest(
    extent: UOp, starts: Mapping[UOp, UOp], placement: Placement, rising: bool = True
) -> UOp:
    """The extent at the entry of the output tile where it is greatest (least if not `rising`)."""
    if not extent.ranges:
        return extent
    if extent.op is Op.RANGE:
        return starts[extent] + (_step(extent, placement) - 1 if rising else 0)
    if extent.op is Op.FLOORDIV and extent.right.vmin > 0 and not extent.right.ranges:
        return _longest(extent.left, starts, placement, rising) // extent.right
    if extent.op is Op.MINIMUM:
        return minimum(*[_longest(part, starts, placement, rising) for part in extent.src])
    terms, constant = linear_form(extent)
    if extent in terms:
        return index_node(int(extent.vmax if rising else extent.vmin))
    total = index_node(constant)
    for term, factor in terms.items():
        total = total + _longest(term, starts, placement, rising is (factor > 0)) * factor
    return total


def _check(
    placement: Placement,
    outputs: tuple[UOp, ...],
    by_number: Mapping[int, UOp],
    scanned: list[UOp],
) -> None:
    numbers = {counter.number for counter in scanned}
    placed = (*placement.upcast, *placement.threads)
    beside = sorted([number for number in placed if number not in numbers])
    for number in (*placement.lanes, *beside, *placement.order):
        if number not in by_number:
            raise OptimizeError(
                f"the placement names axis {number}; the kernel has {sorted(by_number)}"
            )
    if placement.order and sorted(placement.order) != [c.number for c in outputs]:
        raise OptimizeError(
            f"the order {placement.order} must name each output axis once: "
            f"{[c.number for c in outputs]}"
        )
    if not 0 <= placement.parallel <= len(outputs):
        raise OptimizeError(f"{placement.parallel} parallel axes of {len(outputs)} output axes")
    for number, count in placement.lanes.items():
        if count < 1 or count & (count - 1):
            raise OptimizeError(f"axis {number} in {count} lanes: it must be a power of two")
    for number, count in placement.upcast.items():
        if count < 1:
            raise OptimizeError(f"axis {number} in a tile of {count}: it must be at least 1")
    if len(set(placement.threads.values())) > 1:
        raise OptimizeError(f"all axes are over as many threads, not {placement.threads}")


def _check_lanes(root: UOp, placement: Placement) -> None:
    """Raise `OptimizeError` if a value has two axes in lanes, or two over threads.

    A register has one row of lanes, and a thread one number.
    """
    in_lanes = {number for number, count in placement.lanes.items() if count > 1}
    for spread, what in ((in_lanes, "in the lanes"), (set(placement.threads), "over the threads")):
        if len(spread) < 2:
            continue
        for node in root.walk():
            axes = [c.number for c in counters_together(node) if c.number in spread]
            if len(axes) > 1:
                raise OptimizeError(f"axes {sorted(axes)} are both {what} of one value")
