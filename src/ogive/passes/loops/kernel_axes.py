"""The axes of a kernel: which counters there are, how long they are, what closes them."""

from __future__ import annotations

from collections.abc import Mapping

from ogive.ir.node import UOp
from ogive.ir.ops import Op


def output_axes(root: UOp) -> tuple[UOp, ...]:
    """The counters that the stores of a kernel close and that may be placed, in axis order."""
    return tuple([counter for counter in _stored_axes(root) if counter.placement is None])


def ordered_axes(root: UOp) -> tuple[UOp, ...]:
    """The counters of a loop graph that are loops in order, in that order."""
    return tuple([counter for counter in _stored_axes(root) if counter.placement is not None])


def scanned_axes(root: UOp) -> list[UOp]:
    """The counters that scans go along."""
    return list(dict.fromkeys([node.loop for node in root.walk() if node.op is Op.SCAN]))


def _stored_axes(root: UOp) -> list[UOp]:
    axes: dict[UOp, None] = {}
    for store in root.src:
        axes.update(dict.fromkeys(store.closed))
    return sorted(axes, key=lambda counter: counter.number)


def reduction_axes(root: UOp) -> tuple[UOp, ...]:
    """The counters that reductions and staged values close and that may be placed, in axis
    order."""
    axes: dict[UOp, None] = {}
    for node in root.walk():
        if node.op in (Op.REDUCE, Op.STAGE):
            axes.update(dict.fromkeys([c for c in node.closed if c.placement is None]))
    return tuple(sorted(axes, key=lambda counter: counter.number))


def axis_extent(counter: UOp) -> int:
    """The length of an axis; its upper bound where it is symbolic."""
    return int(counter.extent.vmax)


def tiled_extent(counter: UOp) -> int:
    """The length that tiles of an axis are chosen for. One that varies is seldom a multiple of a
    tile, whatever its upper bound is: one less than that stands for all of them."""
    extent = axis_extent(counter)
    return extent if counter.extent.op is Op.CONST or extent < 3 else extent - 1


def counters_together(node: UOp) -> frozenset[UOp]:
    """The counters of which at most one may be in lanes for a value to be computed.

    A reduction combines lanes even of what does not depend on the counters that it closes.
    """
    return node.place.ranges if node.op is Op.STORE else node.ranges.union(node.closed)


def within_axes(positions: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """For counters that take these positions: where those lie within the axis, if they may not."""
    return {
        counter: position.lt(axis_extent(counter))
        for counter, position in positions.items()
        if position.vmax >= axis_extent(counter)
    }
