"""The axes of a kernel: its counters, their lengths, the nodes that close them."""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op


def output_axes(root: UOp) -> tuple[UOp, ...]:
    """The counters that the stores of a kernel close and that may get a placement, by number."""
    return tuple([counter for counter in _stored_axes(root) if counter.placement is None])


def ordered_axes(root: UOp) -> tuple[UOp, ...]:
    """The counters that the stores close and whose loops must run in order, by number."""
    return tuple([counter for counter in _stored_axes(root) if counter.placement is not None])


def scanned_axes(root: UOp) -> list[UOp]:
    """The counters of scans."""
    return list(dict.fromkeys([node.loop for node in root.walk() if node.op is Op.SCAN]))


def _stored_axes(root: UOp) -> list[UOp]:
    axes: dict[UOp, None] = {}
    for store in root.src:
        axes.update(dict.fromkeys(store.closed))
    return sorted(axes, key=lambda counter: counter.number)


def reduction_axes(root: UOp) -> tuple[UOp, ...]:
    """The counters that reductions and staged values close and that may get a placement, by
    number."""
    axes: dict[UOp, None] = {}
    for node in root.walk():
        if node.op in (Op.REDUCE, Op.STAGE):
            axes.update(dict.fromkeys([c for c in node.closed if c.placement is None]))
    return tuple(sorted(axes, key=lambda counter: counter.number))


def axis_extent(counter: UOp) -> int:
    """The length of an axis; its upper bound if it is symbolic."""
    return int(counter.extent.vmax)


def tiled_extent(counter: UOp) -> int:
    """The length for which tiles of an axis are chosen.

    A symbolic length is seldom a multiple of a tile, even if its upper bound is one. So one less
    than the bound stands for all its values.
    """
    extent = axis_extent(counter)
    return extent if counter.extent.op is Op.CONST or extent < 3 else extent - 1


def counters_together(node: UOp) -> frozenset[UOp]:
    """The counters of which at most one may be in lanes if a value is to be computed.

    A reduction combines lanes of a counter that it closes even if its operand does not depend on
    that counter.
    """
    return node.place.ranges if node.op is Op.STORE else node.ranges.union(node.closed)


def within_axes(positions: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """For each counter whose position may exceed its axis, the condition that it does not."""
    return {
        counter: position.lt(axis_extent(counter))
        for counter, position in positions.items()
        if position.vmax >= axis_extent(counter)
    }
