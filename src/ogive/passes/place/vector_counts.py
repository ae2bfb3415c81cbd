"""How many vectors a kernel computes side by side that needs no register tile for its accesses.

    before   out[r0] = x[r0] + y[r0], lanes r0: 16       a vector in each iteration
    after    ...                      and tile r0: 4     four of them

One vector that takes few operations leaves the processor waiting, for memory or for the last
addition to a sum; of an expensive one, the operations themselves run side by side, unless each
waits for the one before. Where columns are added up, as many are taken as registers hold: each row
is far from the last.
"""

from __future__ import annotations

import math

from ogive.ir.node import UOp
from ogive.passes.place.kernel_facts import KernelFacts
from ogive.passes.place.placement import axis_extent
from ogive.targets.costs import best_tile, sums_in_registers
from ogive.targets.target import Target

COLUMN_TILES = 8
"""Sums of columns are cut into at least this many tiles."""

FETCHED_ROWS = 16
"""Rows that a processor fetches ahead side by side."""

SCANNED_ROWS = 4
"""Rows that are scanned side by side, so that each waits for its own last sum only."""

MOST_VECTORS = 4
"""Vectors that are computed side by side if they take few operations."""

FEW_OPERATIONS, SOME_OPERATIONS = 12, 40
"""Up to so many, a vector has few operations, or some: of those, two are computed side by side."""


def tile_vectors(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> dict[UOp, int]:
    """How many vectors are computed side by side along each axis in lanes, and how many rows if
    that is too few of them."""
    if kernel.scans and kernel.outputs and not lanes:
        rows = kernel.outputs[-1]
        return {rows: best_tile(axis_extent(rows), SCANNED_ROWS)}
    upcast = {
        counter: _vectors_along(kernel, counter, count, target) for counter, count in lanes.items()
    }
    if kernel.reductions and all(counter in kernel.outputs for counter in lanes):
        wanted = _vectors_at_a_time(kernel, max(kernel.costs.values(), default=0))
        upcast |= rows_beside(kernel, upcast, wanted)
    return upcast


def _vectors_along(kernel: KernelFacts, counter: UOp, lanes: int, target: Target) -> int:
    """How many vectors along an axis in lanes are computed side by side."""
    extent = axis_extent(counter)
    most = max(extent // lanes // 2, 1)
    cost = kernel.costs.get(counter, 0)
    if not target.gathers:
        cost += lanes * sum(counter in load.irregular for load in kernel.loads)
    vectors = _vectors_at_a_time(kernel, cost)
    if vectors == MOST_VECTORS and (kernel.scans or kernel.is_summed_beside(counter)):
        others = math.prod(axis_extent(c) for c in kernel.outputs if c is not counter)
        filled = -(-extent // lanes)
        most = max(min(filled, filled * others // COLUMN_TILES), 1)
        is_held = not kernel.scans and filled <= sums_in_registers(target)
        vectors = filled if is_held else columns_at_a_time(kernel, target)
        vectors = best_tile(filled, min(vectors, most))
    vectors = _columns_gone_through(kernel, counter, target) or vectors
    while vectors > most:
        vectors //= 2
    return vectors


def _vectors_at_a_time(kernel: KernelFacts, cost: int) -> int:
    """How many vectors are computed side by side if one takes so many operations."""
    if cost <= FEW_OPERATIONS or cost < 2 * kernel.chain:
        return MOST_VECTORS
    return 2 if cost <= SOME_OPERATIONS else 1


def _columns_gone_through(kernel: KernelFacts, counter: UOp, target: Target) -> int:
    """How many vectors of columns a kernel takes that reduces them and then goes through them
    again: as many as stay in a first-level cache meanwhile, up to four. 0 for other kernels."""
    again = [c for c in kernel.outputs if c not in kernel.common]
    rows = math.prod(axis_extent(c) for c in again)
    if rows == 1 or counter in again or not kernel.is_summed_beside(counter):
        return 0
    return min(max(target.l1_bytes // 2 // (rows * target.vector_bytes), 1), MOST_VECTORS)


def columns_at_a_time(kernel: KernelFacts, target: Target) -> int:
    """How many vectors of each row are read at a time where columns are added up.

    Of many rows, as many as registers hold, since each is far from the last. A few rows are
    fetched ahead side by side, if none of them runs far ahead of the others.
    """
    rows = math.prod(axis_extent(counter) for counter in kernel.reductions)
    sums = sums_in_registers(target)
    return sums // 6 if kernel.reductions and rows <= FETCHED_ROWS else sums // 3 * 2


def rows_beside(kernel: KernelFacts, upcast: dict[UOp, int], wanted: int) -> dict[UOp, int]:
    """Rows that are summed up side by side where registers hold fewer sums than `wanted`: each
    waits for its own last addition only."""
    rows = [c for c in kernel.outputs if c not in upcast and axis_extent(c) > 1]
    room = wanted // max(math.prod(upcast.values()), 1)
    return {rows[-1]: best_tile(axis_extent(rows[-1]), room)} if rows and room > 1 else {}
