"""A placement says where each axis of a kernel goes; and the axes it may speak of.

`place_axes.py` carries it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.named import record


@record(frozen=True)
class Placement:
    """The choice for one kernel, by axis number; `order` nests the output loops.

    Axes in `threads` are spread over the threads of a block, all over as many.
    """

    lanes: Mapping[int, int] = field(default_factory=dict)
    upcast: Mapping[int, int] = field(default_factory=dict)
    order: tuple[int, ...] = ()
    parallel: int = 0
    threads: Mapping[int, int] = field(default_factory=dict)


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
