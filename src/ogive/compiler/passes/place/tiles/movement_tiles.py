"""Register tiles of kernels that reorder elements.

Lanes run along an axis along which only the reads or only the writes are contiguous. The axis along
which the others are contiguous goes into the register tile. So both sides move whole vectors, and
elements are rearranged in registers:

    transposed    out[r0*64 + r1] = x[r1*64 + r0]     lanes r1, a square tile with r0
    interleaved   out[r0*2 + r1] = ...                lanes r0, all of r1 in the tile
    cut           out[r0*1024 + r1*16 + r2] = x[r1*512 + r0*16 + r2]
                                                      lanes r2, a few rows r1 in the tile
    gathered      out[r0*512 + r1] = x[r0*1024 + index[r1]]
                                                      lanes r1, a few rows r0 in the tile: each
                                                      index is loaded and checked once for them
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.loops.accesses import MemoryAccess
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.targets.estimates import best_tile
from ogive.compiler.targets.target import Target


def tile_moved(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> dict[UOp, int]:
    """The register tile of a kernel that reorders elements; empty for other kernels."""
    between, transposed = _interleaved_rows(kernel, lanes, target), rows_to_transpose(kernel, lanes)
    costs = target.costs.lanes
    if between is not None or transposed is not None:
        tile = {between: axis_extent(between)} if between is not None else {}
        if transposed is not None and transposed is not between:
            room = next(iter(lanes.values())) // math.prod(tile.values())
            tile[transposed] = best_tile(axis_extent(transposed), max(room, 1), target)
        return tile
    rows = cut_rows(kernel, lanes)
    if rows is not None:
        (lane,) = lanes
        vectors = max(min(axis_extent(lane) // lanes[lane], 2), 1)
        return {lane: vectors, rows: best_tile(axis_extent(rows), costs.cut_rows, target)}
    rows = _gathered_rows(kernel, lanes)
    if rows is None:
        return {}
    return {rows: best_tile(axis_extent(rows), costs.gathered_rows, target)}


def _interleaved_rows(
    kernel: KernelFacts, lanes: dict[UOp, int], target: Target
) -> UOp | None:
    """The output axis that fills the gaps between lanes of a store, as in a stack on the last axis.

    With all of it in the tile, whole vectors are written.
    """
    stores = kernel.stores
    if kernel.reductions or kernel.scans or len(lanes) != 1 or len(stores) != 1:
        return None
    (lane,), (store,) = lanes, stores
    return gap_axis(kernel, store, store.strides.get(lane, 1), target)


def gap_axis(
    kernel: KernelFacts, store: MemoryAccess, stride: int, target: Target
) -> UOp | None:
    """The output axis along which a store is contiguous and whose length is `stride`."""
    if stride > target.costs.accesses.picked_stride:
        return None
    for counter in kernel.outputs:
        if store.strides.get(counter) == 1 and axis_extent(counter) == stride:
            return counter
    return None


def rows_to_transpose(kernel: KernelFacts, lanes: dict[UOp, int]) -> UOp | None:
    """The output axis along which a load is contiguous that is not contiguous along the lanes.

    A square tile of it is loaded row by row and transposed in registers.
    """
    if kernel.reductions or len(lanes) != 1:
        return None
    (lane,) = lanes
    for load in kernel.loads:
        if load.strides.get(lane, 1) not in (0, 1):
            for counter in kernel.outputs:
                if load.strides.get(counter) == 1 and axis_extent(counter) > 1:
                    return counter
    return None


def _gathered_rows(kernel: KernelFacts, lanes: dict[UOp, int]) -> UOp | None:
    """The output axis of rows from which lanes gather at the same positions."""
    if kernel.reductions or kernel.scans or len(lanes) != 1:
        return None
    (lane,) = lanes
    for load in kernel.loads:
        if lane in load.irregular:
            rows = [c for c in kernel.outputs if load.strides.get(c) and axis_extent(c) > 1]
            return rows[-1] if rows else None
    return None


def cut_rows(kernel: KernelFacts, lanes: dict[UOp, int]) -> UOp | None:
    """The output axis of rows that a kernel cuts into panels, as it packs an operand.

    Along it, reads are far apart and writes are close. The tile has a few rows at a time, from one
    panel to the next, so that neither reads nor writes jump much.
    """
    if kernel.reductions or kernel.scans or len(lanes) != 1 or len(kernel.outputs) < 3:
        return None
    panels, rows, lane = kernel.outputs[-3:]
    if lane not in lanes:
        return None
    (store, *others) = [access.strides for access in kernel.stores]
    if others or store.get(panels, 0) <= store.get(rows, 0):
        return None
    width = axis_extent(lane)
    loads = [access.strides for access in kernel.loads]
    is_cut = any(s.get(lane) == 1 and s.get(panels) == width < s.get(rows, 0) for s in loads)
    return rows if is_cut else None
