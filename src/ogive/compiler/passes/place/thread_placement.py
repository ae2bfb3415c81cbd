"""The placement of axes on a processor with many threads at once.

If there are enough results to keep all threads busy, each thread has a tile of its own, and
neighbouring threads access neighbouring elements:

    out[r0*64 + r1] = sum over r2 of a[r0*128 + r2] * b[r2*64 + r1]
    after    r0 and r1 parallel, a thread for each of their 4096 pairs; r2 a loop of every thread

Otherwise each block has a tile, and its threads share the axis along which memory is read in order:

    out[r0] = sum over r1 < 4096 of a[r0*4096 + r1]
    after    r0 parallel, a block each; r1 over 256 threads, four lanes each, four such in a tile
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.accesses import MemoryAccess
from ogive.compiler.passes.loops.kernel_axes import axis_extent, ordered_axes, scanned_axes
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.targets.target import Target


def place_on_threads(kernel: KernelFacts, target: Target) -> Placement:
    """The placement of a kernel on a target with a grid of blocks."""
    if (product := _place_staged_product(kernel, target)) is not None:
        return product
    if (scan := _place_scan(kernel, target)) is not None:
        return scan
    spread = _choose_spread(kernel, target)
    if not spread:
        return _tiles_of_threads(kernel, target)
    lanes = {counter: _lanes_along(counter, kernel, target) for counter in spread}
    order = _nest(kernel)
    vectors = [-(-axis_extent(counter) // lanes[counter]) for counter in spread]
    threads = _thread_count(max(vectors, default=0), kernel, target)
    return Placement(
        lanes={c.number: count for c, count in lanes.items() if count > 1},
        upcast={c.number: _tile(c, lanes[c] * threads, target) for c in spread},
        order=tuple([counter.number for counter in order]),
        parallel=len(kernel.common),
        threads={counter.number: threads for counter in spread},
    )


def _place_staged_product(kernel: KernelFacts, target: Target) -> Placement | None:
    """The placement of a product whose operands are staged for each block of its terms.

    The counter that enters offsets of staged rows by divisions is the number of the thread. The
    output counters that enter them linearly are the tile of a thread.
    """
    stages = [node for node in kernel.root.walk() if node.op is Op.STAGE]
    sums = [node for node in kernel.root.walk() if node.op is Op.REDUCE]
    if len(sums) != 1 or not any(stage.ranges & {*sums[0].closed} for stage in stages):
        return None
    reads = [a for a in kernel.accesses if a.index.base.op is Op.STAGE]
    (thread,) = {c for read in reads for c in read.irregular if c in kernel.outputs}
    tile = {c for read in reads for c in read.strides if c in kernel.outputs}
    inside = [thread, *sorted(tile, key=lambda counter: counter.number)]
    order = [counter for counter in _nest(kernel) if counter not in inside]
    threads = axis_extent(thread)
    filling = [counter for stage in stages for counter in stage.closed]
    most = target.costs.threads.terms_at_once
    return Placement(
        upcast={c.number: axis_extent(c) for c in tile}
        | {c.number: _fitting(c, most * threads) // threads for c in filling},
        order=tuple([counter.number for counter in (*order, *inside)]),
        parallel=len(order),
        threads={counter.number: threads for counter in (thread, *filling)},
    )


def _place_scan(kernel: KernelFacts, target: Target) -> Placement | None:
    """The placement of a scan along memory: each warp has a row, which its threads share.

        out[r0*4096 + r1] = running sum over r1 of a[r0*4096 + r1]
        after    r0 parallel, a warp each; r1 over 32 threads, eight such in a tile, in order
    """
    along = scanned_axes(kernel.root)
    if not kernel.scans or len(along) != 1 or kernel.reductions or _stores_in_order(kernel):
        return None
    (counter,) = along
    if ordered_axes(kernel.root) != (counter,) or axis_extent(counter) < target.grid.warp:
        return None
    touched = [access for access in kernel.accesses if access.depends_on(counter)]
    if any(
        abs(access.strides.get(counter, 0)) != 1 or counter in access.irregular
        for access in touched
    ):
        return None
    tile = target.costs.threads.scanned_at_once
    while tile > 1 and tile * target.grid.warp > axis_extent(counter):
        tile //= 2
    return Placement(
        upcast={counter.number: tile} if tile > 1 else {},
        order=tuple([each.number for each in _nest(kernel)]),
        parallel=len(kernel.common),
        threads={counter.number: target.grid.warp},
    )


def _nest(kernel: KernelFacts) -> list[UOp]:
    """The output axes in the order of memory, but first those on which all reductions depend."""
    return sorted(
        kernel.outputs, key=lambda c: (c not in kernel.common, -_result_stride(kernel, c))
    )


def _tiles_of_threads(kernel: KernelFacts, target: Target) -> Placement:
    """A tile for each thread: one result, or a few that share loads of operands."""
    costs = target.costs.threads
    order = _nest(kernel)
    lanes: dict[UOp, int] = {}
    upcast: dict[UOp, int] = {}
    results = math.prod([axis_extent(counter) for counter in kernel.common])
    room = results // (target.grid.warp * target.grid.multiprocessors * costs.full_warps)
    if order and order[-1] in kernel.common and not _has_order(kernel):
        closest = order[-1]
        lanes[closest] = _fitting(closest, min(_lanes_along(closest, kernel, target), room))
        room //= lanes[closest]
        rows = kernel.row_axes(closest) if kernel.is_product else []
        for row in rows[:1]:
            upcast[row] = _fitting(row, min(costs.most_rows, room))
        for counter in kernel.reductions[-1:]:
            if not kernel.is_product:
                upcast[counter] = _fitting(counter, costs.terms_at_once)
    return Placement(
        lanes={c.number: count for c, count in lanes.items() if count > 1},
        upcast={c.number: count for c, count in upcast.items() if count > 1},
        order=tuple([counter.number for counter in order]),
        parallel=len(kernel.common),
    )


def _fitting(counter: UOp, most: int) -> int:
    """The greatest power of two up to `most` that divides the length of an axis."""
    if counter.extent.op is not Op.CONST:
        return 1
    count = 1
    while 2 * count <= most and axis_extent(counter) % (2 * count) == 0:
        count *= 2
    return count


def _choose_spread(kernel: KernelFacts, target: Target) -> list[UOp]:
    """The axes that the threads of a block share. No value may depend on two of them."""
    if _has_order(kernel):
        return []
    inner = [counter for counter in kernel.outputs if counter not in kernel.common]
    if inner or _reads_along_reductions(kernel, target):
        wanted = [*inner, *kernel.reductions]
    elif not kernel.reductions and kernel.outputs:
        closest = min(kernel.outputs, key=lambda counter: _result_stride(kernel, counter))
        if axis_extent(closest) < target.grid.warp * _lanes_along(closest, kernel, target):
            return []  # most threads of a block would have nothing to do
        wanted = [closest]
    else:
        return []
    least = target.grid.warp
    spread: list[UOp] = []
    for counter in sorted(wanted, key=lambda c: (-_contiguity(c, kernel), -axis_extent(c))):
        beside = kernel.together.get(counter, set())
        if axis_extent(counter) >= least and not any(other in beside for other in spread):
            spread.append(counter)
    return spread if _staged_bytes(kernel, target) <= target.grid.shared_bytes else []


def _staged_bytes(kernel: KernelFacts, target: Target) -> int:
    """The estimated memory of a block for staged values and exchanges between threads, in bytes."""
    stages = [node for node in kernel.root.walk() if node.op is Op.STAGE]
    rows = [math.prod(map(axis_extent, stage.closed)) * stage.dtype.itemsize for stage in stages]
    return sum(rows) * 9 // 8 + target.costs.threads.exchange_bytes


def _has_order(kernel: KernelFacts) -> bool:
    """Whether iterations run in order, or rows are sorted: a single thread does that."""
    return bool(kernel.scans or ordered_axes(kernel.root)) or _stores_in_order(kernel)


def _stores_in_order(kernel: KernelFacts) -> bool:
    """Whether a kernel sorts, counts, or accumulates into memory."""
    for node in kernel.root.walk():
        if node.op is Op.TALLY or (node.op is Op.STORE and node.combine is not None):
            return True
        if node.op is Op.STAGE:
            in_order = any(counter.placement is not None for counter in node.closed)
            if in_order or node.sorted_count is not None:
                return True
    return False


def _reads_along_reductions(kernel: KernelFacts, target: Target) -> bool:
    """Whether neighbouring threads should read along a reduction rather than along the results."""
    results = math.prod([axis_extent(counter) for counter in kernel.outputs])
    terms = math.prod([axis_extent(counter) for counter in kernel.reductions])
    if terms < target.grid.warp:
        return False
    is_few = results < target.grid.warp * target.grid.multiprocessors
    if kernel.is_product and not is_few and not _is_read_once(kernel):
        return False
    if is_few and terms >= target.grid.block_threads:
        return True
    if not kernel.outputs:
        return True
    closest = min(kernel.outputs, key=lambda counter: _result_stride(kernel, counter))
    along_results = _contiguity(closest, kernel)
    return any(_contiguity(c, kernel) > along_results for c in kernel.reductions)


def _is_read_once(kernel: KernelFacts) -> bool:
    """Whether an operand has an element for each term, as the matrix of a matrix-vector product."""
    axes = [c for c in (*kernel.outputs, *kernel.reductions) if axis_extent(c) > 1]
    reads = [access for access in kernel.accesses if access not in kernel.stores]
    return any(all(access.depends_on(c) for c in axes) for access in reads)


def _contiguity(counter: UOp, kernel: KernelFacts) -> int:
    """The bytes of contiguous accesses along an axis, each times the reductions that repeat it."""
    return sum(
        [
            access.index.dtype.itemsize * math.prod(_repeated(access, kernel))
            for access in kernel.accesses
            if access.strides.get(counter) == 1
        ]
    )


def _repeated(access: MemoryAccess, kernel: KernelFacts) -> list[int]:
    """The lengths of the reduction axes on which an access depends."""
    return [axis_extent(c) for c in kernel.reductions if access.depends_on(c)]


def _result_stride(kernel: KernelFacts, counter: UOp) -> int:
    """The least stride of the results along an axis."""
    return min([abs(store.strides.get(counter, 0)) for store in kernel.stores])


def _lanes_along(counter: UOp, kernel: KernelFacts, target: Target) -> int:
    """The elements that a thread loads or stores at once along an axis.

    A vector of the widest dtype, if all accesses that depend on the axis are contiguous along it.
    """
    along = [access for access in kernel.accesses if access.depends_on(counter)]
    if not along or not all(_is_contiguous(access, counter) for access in along):
        return 1
    lanes = target.vector_bytes // max([access.index.dtype.itemsize for access in along])
    extent = axis_extent(counter)
    while lanes > 1 and counter.extent.op is Op.CONST and extent % lanes:
        lanes //= 2
    return lanes


def _is_contiguous(access: MemoryAccess, counter: UOp) -> bool:
    """Whether an access is contiguous along an axis."""
    return access.strides.get(counter) == 1 and counter not in access.irregular


def _thread_count(vectors: int, kernel: KernelFacts, target: Target) -> int:
    """The number of threads of a block, given the number of vectors along the axis they share."""
    grid = target.grid
    most = grid.block_threads if not kernel.reductions else 2 * grid.block_threads
    threads = grid.warp
    while threads < most and threads * target.costs.threads.vectors_each <= vectors:
        threads *= 2
    return threads


def _tile(counter: UOp, beside: int, target: Target) -> int:
    """The number of vectors of an axis that a thread holds at once."""
    return max(_fitting(counter, beside * target.costs.threads.terms_at_once) // beside, 1)
