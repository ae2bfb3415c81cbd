"""Values that are contiguous along another axis than the result pass through shared memory.

Neighbouring threads should access neighbouring elements. In a transpose either the reads or the
writes are far apart. So a block of threads stages square tiles: they are filled along one axis and
read along the other.

    before   for r0 < 256, r1 < 256:  out[r0*256 + r1] = a[r1*256 + r0]
    after    for r2 < 4, r3 < 4:
                 for k < 4096:  s[k//64*65 + k%64] = a[(r3*64 + k//64)*256 + r2*64 + k%64]
                 for j < 4096:  out[(r2*64 + j//64)*256 + r3*64 + j%64] = s[j%64*65 + j//64]

Rows of a tile are padded by one place, so that the elements of a column are in different banks.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op, staged_row
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.accesses import MemoryAccess, memory_accesses
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes, within_axes
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.targets.target import Target


def stage_transposes(root: UOp, target: Target) -> UOp:
    """The kernel with tiles staged, if it only moves elements and computes with them.

    Only for a target with blocks of threads.
    """
    side = target.costs.threads.square
    if not target.has_grid or not _is_plain(root):
        return root
    accesses = memory_accesses(root)
    column = _axis_of_results(root, accesses)
    if column is None:
        return root
    transposed = {
        access.node: axis
        for access in accesses
        if not access.is_store and (axis := _other_axis(access, column, side)) is not None
    }
    if not transposed or axis_extent(column) < side:
        return root
    rows = list(transposed.values())
    row = max(dict.fromkeys(rows), key=rows.count)
    loads = [load for load, axis in transposed.items() if axis is row]
    return _staged(root, row, column, loads, side)


def _is_plain(root: UOp) -> bool:
    """Whether a kernel computes results element by element and stores them."""
    loops = (Op.REDUCE, Op.STAGE, Op.SCAN, Op.TALLY, Op.CHECK)
    if any(node.op in loops for node in root.walk()):
        return False
    closed = [counter for store in root.src for counter in store.closed]
    plain = all(counter.placement is None and not counter.ranges_below for counter in closed)
    return plain and all(store.combine is None for store in root.src)


def _axis_of_results(root: UOp, accesses: list[MemoryAccess]) -> UOp | None:
    """The axis along which all results are contiguous."""
    stores = [access for access in accesses if access.is_store]
    for counter in output_axes(root):
        if all(store.strides.get(counter) == 1 for store in stores):
            return counter if counter.extent.op is Op.CONST else None
    return None


def _other_axis(load: MemoryAccess, column: UOp, side: int) -> UOp | None:
    """The axis along which a load is contiguous, if along that of results it is far apart."""
    if abs(load.strides.get(column, 0)) < side or load.index.base.op is not Op.PARAM:
        return None
    for counter, stride in load.strides.items():
        if stride == 1 and counter.extent.op is Op.CONST and axis_extent(counter) >= side:
            return counter
    return None


def _staged(root: UOp, row: UOp, column: UOp, loads: list[UOp], side: int) -> UOp:
    number = 1 + max([node.number for node in root.walk() if node.op is Op.RANGE])
    squares = [-(-axis_extent(counter) // side) for counter in (row, column)]
    down, across, filled, read = [
        make_range(extent, number + place)
        for place, extent in enumerate((*squares, side * side, side * side))
    ]
    places: dict[UOp, UOp] = {}
    for load in loads:
        at = {row: down * side + filled % side, column: across * side + filled // side}
        value = replace_ranges(load, at, {}, within_axes(at))
        offset = filled // side * (side + 1) + filled % side
        length = staged_row(side * (side + 1))
        stage = UOp(Op.STAGE, load.dtype, (value, offset, filled), length)
        spot = read % side * (side + 1) + read // side
        place = UOp(Op.INDEX, load.dtype, (stage, spot))
        places[load] = UOp(Op.LOAD, load.dtype, (place,))
    (moved,) = substitute((root,), places, revisit=False)
    at = {row: down * side + read // side, column: across * side + read % side}
    return replace_ranges(moved, at, within_axes(at))
