"""Cuts sums, columns of products, and transposes into blocks, for less rounding and for the caches.

    before   k < 1024:               sum of a[i, k] * b[k, j]
    after    k0 < 4: sum of (k1 < 256: sum of a[i, k0*256 + k1] * b[k0*256 + k1, j])

A sum of a thousand products rounds a thousand times. In blocks, each starting from zero, it rounds
as often, but the partial sums are small, so that the error grows with the length of a block
(`block_sums.py` does the same for other sums). The cost is one more addition per block. Where the
multiplications take all the time, the blocks are as long as the error allows. Sums of integers are
exact and are not cut.

Columns of an operand in panels are cut, too: as many panels as half of the second-level cache holds
stay there while all rows are read (`place/loop_nest.py` orders the loops for that).

If reads are contiguous and the writes far apart, the axis of contiguous writes is cut: a few
consecutive cache lines of each row are written before those of the next row.

    before   j < 4096, i < 4096:              b[i, j] = a[j, i]
    after    j0 < 64, i < 4096, j1 < 64:      b[i, j0*64 + j1] = a[j0*64 + j1, i]
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.accesses import MemoryAccess, memory_accesses
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes
from ogive.compiler.passes.loops.sums.block_sums import block_sums
from ogive.compiler.passes.loops.sums.cut_counters import block_length, cut_counters, nest_sum
from ogive.compiler.passes.loops.tighten_loops import ends_early
from ogive.compiler.targets.target import CACHE_LINE, Target


def block_axes(root: UOp, target: Target) -> UOp:
    """The kernel with its long sums, its panels of columns, or its transposed axis in blocks."""
    reduced = [node for node in root.walk() if node.op in (Op.REDUCE, Op.SCAN, Op.STAGE)]
    if not reduced:
        transposed = _transposed_block(root, target)
        return cut_counters(root, [], transposed) if transposed else root
    products = _outer_products(reduced)
    if len(products) != 1 or _shares_loops(products[0], reduced):
        return block_sums(root, target)
    (product,) = products
    if ends_early(root, product, target):
        # Its loop must stay whole, so that the rows staged for it can end where it does.
        return block_sums(root, target)
    accesses = memory_accesses(root)
    loads = _terms(product, accesses)
    if not _runs_along_columns(product, loads):
        return block_sums(root, target)
    cuts = _column_block(root, product, accesses, target)
    sums: list[UOp] = []
    if product.dtype.is_float:
        block = _products_in_block(product, loads, target)
        sums = _nest(product, block)
        (root,) = substitute((root,), {product: sums[0]}, revisit=False)
        for each in sums:
            cuts |= _summed_block(each, block, target)
    return cut_counters(root, sums, cuts) if cuts else root


def _outer_products(reduced: list[UOp]) -> list[UOp]:
    """The sums of products that are not staged, as the scores of attention are."""
    stages = [node for node in reduced if node.op is Op.STAGE]
    staged = frozenset().union(*[stage.backward_slice() for stage in stages])
    return [node for node in reduced if node not in staged and _is_sum_of_products(node)]


def _terms(product: UOp, accesses: list[MemoryAccess]) -> list[MemoryAccess]:
    """The loads in a sum of products that depend on its counters."""
    inside = product.operand.backward_slice()
    return [
        access
        for access in accesses
        if access.node in inside and any(access.depends_on(c) for c in product.closed)
    ]


def _transposed_block(root: UOp, target: Target) -> dict[UOp, int]:
    """The axis along which a kernel writes contiguously and reads far apart, with a block length.

    Empty if blocks do not divide it, if fewer elements than a cache line are contiguous, or if so
    little is written that the caches combine the writes to a line.
    """
    least = target.streamed_transposed_bytes
    if least is None:
        return {}
    accesses = memory_accesses(root)
    rows = [access for access in accesses if not access.is_store and _has_lines(access)]
    for store in accesses:
        size = store.index.dtype.itemsize
        count = math.prod(map(axis_extent, store.node.closed)) if store.is_store else 0
        if count * size < least:
            continue
        block = target.costs.loops.written_lines * CACHE_LINE // size
        for column, step in store.strides.items():
            is_cut = axis_extent(column) > block and axis_extent(column) % block == 0
            is_fixed = column.extent.op is Op.CONST and column.placement is None
            if step != 1 or not is_cut or not is_fixed:
                continue
            if any(access.strides.get(column, 1) != 1 for access in rows):
                return {column: block}
    return {}


def _has_lines(access: MemoryAccess) -> bool:
    line = CACHE_LINE // access.index.dtype.itemsize
    return any(step == 1 and axis_extent(c) >= line for c, step in access.strides.items())


def _is_sum_of_products(node: UOp) -> bool:
    term = node.operand
    if term.op is Op.WHERE and term.if_false.op is Op.CONST:
        term = term.if_true  # the padding of a last chunk or of a panel
    return (
        node.op is Op.REDUCE
        and node.combine is Op.ADD
        and (term.op is Op.DOT or (term.op is Op.MUL and node.dtype.is_float))
        and not any(counter.ranges_below for counter in node.closed)
    )


def _shares_loops(product: UOp, reduced: list[UOp]) -> bool:
    """Whether another node closes a loop of the product: then all would have to be cut alike."""
    return any(
        node is not product and not set(node.closed).isdisjoint(product.closed) for node in reduced
    )


def _runs_along_columns(product: UOp, loads: list[MemoryAccess]) -> bool:
    """Whether a load is contiguous along an axis of the result, and not all are longer along a sum.

    Windows of an image are contiguous along both.
    """
    columns = [_contiguous(access, product.ranges) for access in loads]
    summed = [_contiguous(access, product.closed) for access in loads]
    return max(columns, default=0) > (all(summed) and max(summed, default=0))


def _contiguous(access: MemoryAccess, counters: Iterable[UOp]) -> int:
    """The length of the longest axis along which an access is contiguous; 0 if there is none."""
    return max([axis_extent(c) for c in counters if access.strides.get(c) == 1], default=0)


def _products_in_block(product: UOp, loads: list[MemoryAccess], target: Target) -> int:
    """The number of products, about, that are added up in a block."""
    depth = math.prod(axis_extent(counter) for counter in product.closed)
    reads = [
        math.prod(axis_extent(c) for c in product.ranges if not access.depends_on(c))
        for access in loads
    ]
    costs = target.costs.loops
    varies = any(counter.extent.op is not Op.CONST for counter in product.closed)
    if min(reads, default=1) < costs.much_reused:
        # A symbolic length gets the blocks of a short sum, which cost nothing here.
        usual = 0 if varies else math.isqrt(depth)
        return max(usual, costs.shortest_read_block)
    return max(min(depth // costs.fewest_blocks, costs.longest_block), costs.shortest_block)


def _nest(product: UOp, block: int) -> list[UOp]:
    """The sum as nested sums, of at most a block each, from the outside in."""
    nested = nest_sum(product, block)
    if nested is product:
        return [product]
    inner = _nest(nested.operand, block)
    return [UOp(Op.REDUCE, product.dtype, (inner[0], *nested.closed), Op.ADD), *inner]


def _summed_block(product: UOp, block: int, target: Target) -> dict[UOp, int]:
    """The outermost counter of a long sum, with the length of its blocks.

    Empty if these are few rows of a window, and some are left over that would need their own loops.
    """
    counter, *inner = product.closed
    length = axis_extent(counter)
    within = math.prod(axis_extent(each) for each in inner)
    if 2 * within > block or 2 * length * within < 3 * block:
        return {}
    size = block_length(length, block // within)
    fewest = target.costs.loops.fewest_blocks
    is_left_over = within > 1 and length % size and length < fewest * size
    return {} if is_left_over else {counter: size}


def _column_block(
    root: UOp, product: UOp, accesses: list[MemoryAccess], target: Target
) -> dict[UOp, int]:
    """The axis of a product's column panels, with the number that stay in the cache together.

    Empty if all rows stay there anyway.
    """
    outputs = output_axes(root)
    loads = _terms(product, accesses)
    stores = [access for access in accesses if access.is_store]
    for panels in loads:
        columns = [c for c in outputs if panels.depends_on(c)]
        if len(columns) != 2 or len(loads) != 2:
            continue
        panel, column = sorted(columns, key=lambda c: -panels.strides.get(c, 0))
        (rows,) = [access for access in loads if access is not panels]
        if rows.depends_on(panel) or rows.depends_on(column):
            continue
        if any(access.strides.get(column) != 1 for access in (panels, *stores)):
            continue
        summed = panels.index.dtype.itemsize * math.prod(axis_extent(c) for c in product.closed)
        most = target.l2_bytes // 2 // summed
        if math.prod(axis_extent(c) for c in outputs if rows.depends_on(c)) <= most:
            continue
        if panel.extent.op is not Op.CONST:
            continue
        count = axis_extent(panel)
        wanted = max(most // axis_extent(column), 1)
        block = max(n for n in range(1, wanted + 1) if count % n == 0)
        if 1 < block < count:
            return {panel: block}
    return {}
