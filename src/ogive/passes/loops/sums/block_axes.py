"""Cut sums, the columns of products, and transposes into blocks: for the rounding and the caches.

    before   k < 1024:               sum of a[i, k] * b[k, j]
    after    k0 < 4: sum of (k1 < 256: sum of a[i, k0*256 + k1] * b[k0*256 + k1, j])

A sum of a thousand products rounds a thousand times; in blocks, each of which starts from zero, it
rounds as often but its parts are small, so that the error grows with the length of a block
(`rounding` does the same for sums of anything else). One more addition a block is all it costs:
where multiplying takes all the time, the blocks are as long as the error allows. Sums of integers
are exact, and not cut.

Columns of which one operand is laid out in panels are cut as well: as many panels as half of the
second-level cache holds stay there while the rows pass by (`heuristic` nests the loops so).

Where what is read side by side is written far apart, the axis that is written side by side is cut:
of each row some lines that follow each other are written, before the next rows are.

    before   j < 4096, i < 4096:              b[i, j] = a[j, i]
    after    j0 < 64, i < 4096, j1 < 64:      b[i, j0*64 + j1] = a[j0*64 + j1, i]
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.traversal import substitute
from ogive.passes.loops.accesses import MemoryAccess, memory_accesses
from ogive.passes.loops.kernel_axes import axis_extent, output_axes
from ogive.passes.loops.sums.block_sums import block_sums
from ogive.passes.loops.sums.cut_counters import block_length, cut_counters, nest_sum
from ogive.passes.loops.tighten_loops import ends_early
from ogive.targets.target import CACHE_LINE, Target


def block_axes(root: UOp, target: Target) -> UOp:
    """The kernel with its long sums, the panels of its product's columns, or the axis that it
    turns, in blocks."""
    reduced = [node for node in root.walk() if node.op in (Op.REDUCE, Op.SCAN, Op.STAGE)]
    if not reduced:
        transposed = _transposed_block(root, target)
        return cut_counters(root, [], transposed) if transposed else root
    products = _outer_products(reduced)
    if len(products) != 1 or _shares_loops(products[0], reduced):
        return block_sums(root, target)
    (product,) = products
    if ends_early(root, product, target):
        # Rows that are staged for it end with it, if its loop is whole.
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
    """The sums of products, but for those that are staged, as the scores of an attention are."""
    stages = [node for node in reduced if node.op is Op.STAGE]
    staged = frozenset().union(*[stage.backward_slice() for stage in stages])
    return [node for node in reduced if node not in staged and _is_sum_of_products(node)]


def _terms(product: UOp, accesses: list[MemoryAccess]) -> list[MemoryAccess]:
    """The loads of a sum of products along its counters."""
    inside = product.operand.backward_slice()
    return [
        access
        for access in accesses
        if access.node in inside and any(access.depends_on(c) for c in product.closed)
    ]


def _transposed_block(root: UOp, target: Target) -> dict[UOp, int]:
    """The axis along which a kernel writes, and reads what is far apart, with the length of its
    blocks; none if they do not fill it, if what lies side by side is less than a line, or if it
    writes so little that caches put its lines together."""
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
        term = term.if_true  # the rest of a last chunk, or of a panel, is filled up
    return (
        node.op is Op.REDUCE
        and node.combine is Op.ADD
        and (term.op is Op.DOT or (term.op is Op.MUL and node.dtype.is_float))
        and not any(counter.ranges_below for counter in node.closed)
    )


def _shares_loops(product: UOp, reduced: list[UOp]) -> bool:
    """Whether something else is reduced or staged along with a product: all are cut, or none."""
    return any(
        node is not product and not set(node.closed).isdisjoint(product.closed) for node in reduced
    )


def _runs_along_columns(product: UOp, loads: list[MemoryAccess]) -> bool:
    """Whether something is contiguous along an axis of the result, and not everything for longer
    along a sum: windows of an image are contiguous along both."""
    columns = [_contiguous(access, product.ranges) for access in loads]
    summed = [_contiguous(access, product.closed) for access in loads]
    return max(columns, default=0) > (all(summed) and max(summed, default=0))


def _contiguous(access: MemoryAccess, counters: Iterable[UOp]) -> int:
    """How long the longest of some axes is along which an access is contiguous; 0 for none."""
    return max([axis_extent(c) for c in counters if access.strides.get(c) == 1], default=0)


def _products_in_block(product: UOp, loads: list[MemoryAccess], target: Target) -> int:
    """About how many products are added up before their sum goes into another one."""
    depth = math.prod(axis_extent(counter) for counter in product.closed)
    reads = [
        math.prod(axis_extent(c) for c in product.ranges if not access.depends_on(c))
        for access in loads
    ]
    costs = target.costs.loops
    varies = any(counter.extent.op is not Op.CONST for counter in product.closed)
    if min(reads, default=1) < costs.much_reused:
        # Of a length that varies, blocks are such as short sums have: they cost nothing here.
        usual = 0 if varies else math.isqrt(depth)
        return max(usual, costs.shortest_read_block)
    return max(min(depth // costs.fewest_blocks, costs.longest_block), costs.shortest_block)


def _nest(product: UOp, block: int) -> list[UOp]:
    """The sum as one of sums of a block or less each, from the outside in."""
    nested = nest_sum(product, block)
    if nested is product:
        return [product]
    inner = _nest(nested.operand, block)
    return [UOp(Op.REDUCE, product.dtype, (inner[0], *nested.closed), Op.ADD), *inner]


def _summed_block(product: UOp, block: int, target: Target) -> dict[UOp, int]:
    """The outermost counter of a long sum, with the length of its blocks; none if these are few
    rows of a window and some are left over, which would be loops of their own."""
    counter, *inner = product.closed
    length = axis_extent(counter)
    rest = math.prod(axis_extent(other) for other in inner)
    if 2 * rest > block or 2 * length * rest < 3 * block:
        return {}
    size = block_length(length, block // rest)
    fewest = target.costs.loops.fewest_blocks
    is_left_over = rest > 1 and length % size and length < fewest * size
    return {} if is_left_over else {counter: size}


def _column_block(
    root: UOp, product: UOp, accesses: list[MemoryAccess], target: Target
) -> dict[UOp, int]:
    """The axis of a product's column panels, with the number of those that stay in cache
    together; none if all rows stay there anyway."""
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
