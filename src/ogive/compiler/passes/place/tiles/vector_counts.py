"""The number of vectors in an iteration of a kernel whose accesses need no register tile.

    before   out[r0] = x[r0] + y[r0], lanes r0: 16       one vector in each iteration
    after    ...                      and tile r0: 4     four vectors

With a single vector and few operations, the processor would wait for memory or for the last
addition to a sum. Many operations on one vector overlap by themselves, unless each needs the one
before. A sum of columns takes as many as registers hold, because each row is far from the last.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.accesses import MemoryAccess, stride_along
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.targets.estimates import best_tile, sums_in_registers
from ogive.compiler.targets.target import Target


def tile_vectors(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> dict[UOp, int]:
    """The number of vectors along each axis in lanes, and of rows if that is too few of them."""
    costs = target.costs.lanes
    if kernel.scans and kernel.outputs and not lanes:
        rows = kernel.outputs[-1]
        return {rows: best_tile(axis_extent(rows), costs.scanned_rows, target)}
    upcast = {
        counter: _vectors_along(kernel, counter, count, target) for counter, count in lanes.items()
    }
    if kernel.reductions and all(counter in kernel.outputs for counter in lanes):
        wanted = _vectors_at_a_time(kernel, max(kernel.costs.values(), default=0), target)
        upcast |= rows_beside(kernel, upcast, wanted, target)
    waiting = _waiting_rows(kernel, lanes, target)
    if waiting:
        most = {True: 1, False: costs.most_vectors // 2}
        upcast = {
            counter: min(count, most[kernel.costs.get(counter, 0) > costs.little_work])
            for counter, count in upcast.items()
        }
    return upcast | waiting


def _waiting_rows(
    kernel: KernelFacts, lanes: dict[UOp, int], target: Target
) -> dict[UOp, int]:
    """Rows for the tile of a kernel in which a sum along a row waits for another one, or for
    functions.

        m = max(x, 1);   s = sum(exp(x - m), 1)     four rows at a time

    While the lanes of one row are added up, other rows are computed. Of rows with little work a
    processor begins the next one by itself. Long rows take so long that this does not matter, and
    would need more of the first-level cache.
    """
    costs = target.costs.lanes
    if not kernel.reductions or not kernel.common.isdisjoint(lanes):
        return {}
    work = max(kernel.costs.values(), default=0)
    if work <= costs.little_work and not kernel.has_waiting_sums:
        return {}
    if any(
        axis_extent(counter) > costs.waiting_vectors * lanes.get(counter, 1)
        for counter in kernel.reductions
    ):
        return {}
    tiles = math.prod(axis_extent(counter) for counter in kernel.common)
    most = min(costs.waiting_rows, tiles // costs.column_tiles)
    if kernel.rows is not None:
        most = min(most, target.l1_bytes // 2 // kernel.rows.row_bytes)
    return rows_beside(kernel, dict.fromkeys(lanes, 1), most, target)


def _vectors_along(kernel: KernelFacts, counter: UOp, lanes: int, target: Target) -> int:
    """The number of vectors in an iteration along an axis in lanes."""
    costs = target.costs.lanes
    extent = axis_extent(counter)
    most = max(extent // lanes // 2, 1)
    cost = kernel.costs.get(counter, 0)
    if not target.gathers:
        cost += lanes * sum(counter in load.irregular for load in kernel.loads)
    vectors = _vectors_at_a_time(kernel, cost, target)
    if vectors == costs.most_vectors and (kernel.scans or kernel.is_summed_beside(counter)):
        others = math.prod(axis_extent(c) for c in kernel.outputs if c is not counter)
        filled = -(-extent // lanes)
        most = max(min(filled, filled * others // costs.column_tiles), 1)
        is_held = not kernel.scans and filled <= sums_in_registers(target)
        if counter.extent.op is not Op.CONST:
            # A symbolic length may be short. Strided loads allow one vector only, since it is not
            # known whether further ones are whole.
            most = min(most, 1 if _is_picked(kernel.loads, counter) else costs.most_vectors)
        vectors = filled if is_held else columns_at_a_time(kernel, target)
        vectors = best_tile(filled, min(vectors, most), target)
    vectors = _count_reread_columns(kernel, counter, target) or vectors
    while vectors > most:
        vectors //= 2
    return vectors


def _vectors_at_a_time(kernel: KernelFacts, cost: float, target: Target) -> int:
    """The number of vectors in an iteration if one takes `cost` cycles."""
    costs = target.costs.lanes
    if cost <= costs.little_work or cost < 2 * kernel.chain:
        return costs.most_vectors
    return 2 if cost <= costs.some_work else 1


def _count_reread_columns(kernel: KernelFacts, counter: UOp, target: Target) -> int:
    """The vectors of columns in an iteration of a kernel that reduces columns and rereads them.

    As many as stay in the first-level cache meanwhile, up to a limit. 0 for other kernels.
    """
    reread = [c for c in kernel.outputs if c not in kernel.common]
    rows = math.prod(axis_extent(c) for c in reread)
    if rows == 1 or counter in reread or not kernel.is_summed_beside(counter):
        return 0
    held = target.l1_bytes // 2 // (rows * target.vector_bytes)
    return min(max(held, 1), target.costs.lanes.most_vectors)


def columns_at_a_time(kernel: KernelFacts, target: Target) -> int:
    """The number of vectors of each row that a sum of columns reads at a time.

    With many rows, as many as registers hold, since each row is far from the last. A few rows are
    prefetched as streams, if all of them advance together.
    """
    rows = math.prod(axis_extent(counter) for counter in kernel.reductions)
    sums = sums_in_registers(target)
    is_fetched = kernel.reductions and rows <= target.costs.memory.fetched_rows
    return sums // 6 if is_fetched else sums // 3 * 2


def vectors_stored(kernel: KernelFacts, counter: UOp, lanes: int, target: Target) -> int:
    """The number of vectors along an axis if their results are stored far apart.

    Their cache lines should stay in the first-level cache until the neighbouring results follow.
    """
    memory = target.costs.memory
    strides = [
        abs(store.strides[counter]) * store.index.dtype.itemsize
        for store in kernel.stores
        if store.strides.get(counter)
    ]
    lines = memory.ways * memory.set_bytes // math.gcd(memory.set_bytes, *strides)
    return max(lines // lanes, 1) if strides else axis_extent(counter)


def rows_beside(
    kernel: KernelFacts, upcast: dict[UOp, int], wanted: int, target: Target
) -> dict[UOp, int]:
    """Rows for the tile if it has fewer sums than `wanted`.

    The additions to different sums do not wait for each other.
    """
    rows = [
        counter
        for counter in kernel.outputs
        if counter not in upcast
        and axis_extent(counter) > 1
        and not any(_are_picked_apart(load, counter, upcast) for load in kernel.loads)
    ]
    room = wanted // max(math.prod(upcast.values()), 1)
    if not rows or room <= 1:
        return {}
    return {rows[-1]: best_tile(axis_extent(rows[-1]), room, target)}


def _are_picked_apart(load: MemoryAccess, row: UOp, lanes: Collection[UOp]) -> bool:
    """Whether a load is strided along lanes and its rows are a symbolic distance apart.

    A strided load is made for the whole tile at once, which needs known distances.
    """
    is_picked = any(_is_picked([load], counter) for counter in lanes)
    return is_picked and stride_along(load.index.offset, row).op is not Op.CONST


def _is_picked(loads: Sequence[MemoryAccess], counter: UOp) -> bool:
    """Whether a load is strided along a counter."""
    return any(load.strides.get(counter, 1) not in (0, 1) for load in loads)
