"""A block of threads multiplies square tiles of two matrices from shared memory.

Each element is then read from global memory once for each tile, not once for each result.

    before   for i < 512, j < 512:  out[i*512 + j] = sum over k < 512 of a[i*512 + k] * b[k*512 + j]
    after    for r0 < 4, r1 < 4, t < 256, u < 8, v < 8:  i = r0*128 + t//16*8 + u
                                                        j = r1*128 + v*16 + t%16
                 sum over k0 < 32:  for f < 2048:  s[f//16*17 + f%16] = a[(r0*128 + f//16)*512 + …]
                                    for f < 2048:  w[f//128*129 + f%128] = b[…]
                                    sum over k1 < 16 of s[(t//16*8 + u)*17 + k1] * w[k1*129 + …]

Rows are padded by one place, so that the elements of a column are in different banks.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op, staged_row
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.accesses import offset_strides
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes, within_axes
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


class _Product(NamedTuple):
    """A product: its sum, the factor with the rows, the factor with the columns, and the axes."""

    total: UOp
    left: UOp
    right: UOp
    row: UOp
    column: UOp
    terms: UOp


def stage_products(root: UOp, target: Target) -> UOp:
    """The kernel with tiles staged, if it is one product of large matrices and operations on it.

    Only for a target with blocks of threads.
    """
    product = _find_product(root) if target.has_grid else None
    if product is None:
        return root
    costs, grid = target.costs.threads, target.grid
    others = [c for c in output_axes(root) if c not in (product.row, product.column)]
    for each in costs.square_results:
        side = each * costs.square_threads
        squares = -(-axis_extent(product.row) // side) * -(-axis_extent(product.column) // side)
        is_enough = squares * math.prod(map(axis_extent, others)) >= grid.multiprocessors
        last = each == costs.square_results[-1]
        is_large = min(axis_extent(product.row), axis_extent(product.column)) >= side
        if is_large and (is_enough or last):
            return _staged(root, product, each, costs.square_threads)
    return root


def _find_product(root: UOp) -> _Product | None:
    nodes = root.walk()
    sums = [node for node in nodes if node.op is Op.REDUCE]
    if any(node.op in (Op.STAGE, Op.SCAN, Op.TALLY, Op.CHECK) for node in nodes) or len(sums) != 1:
        return None
    (total,) = sums
    value = total.operand
    is_sum = total.combine is Op.ADD and len(total.closed) == 1 and value.op is Op.MUL
    if not is_sum or not total.dtype.is_float or len(root.src) != 1 or root.src[0].combine:
        return None
    closed = [*root.src[0].closed, *total.closed]
    if any(c.extent.op is not Op.CONST or c.placement is not None for c in closed):
        return None
    factors = [_strides(factor) for factor in (value.left, value.right)]
    if None in factors:
        return None
    return _arranged(root.src[0], total, [f for f in factors if f is not None])


def _strides(factor: UOp) -> dict[UOp, int] | None:
    """The strides of a plain load along all its counters; None for other factors."""
    if factor.op is not Op.LOAD or factor.place.base.op is not Op.PARAM or factor.place.gate:
        return None
    strides, irregular = offset_strides(factor.place.offset)
    return None if irregular or factor.place.offset.has_index else strides


def _arranged(store: UOp, total: UOp, factors: list[dict[UOp, int]]) -> _Product | None:
    """The product, with the factor on the right along whose own axis results are contiguous."""
    (terms,) = total.closed
    strides, _ = offset_strides(store.place.offset)
    for left, right in ((0, 1), (1, 0)):
        columns = [c for c in factors[right] if c not in factors[left] and strides.get(c) == 1]
        rows = [c for c in factors[left] if c not in factors[right] and c in strides]
        if columns and rows and all(terms in factor for factor in factors):
            operands = (total.operand.left, total.operand.right)
            row = max(rows, key=axis_extent)
            return _Product(total, operands[left], operands[right], row, columns[0], terms)
    return None


def _staged(root: UOp, form: _Product, each: int, threads: int) -> UOp:
    """The kernel with tiles of `threads` times `each` rows and columns."""
    total, left, right, row, column, terms = form
    side, depth = each * threads, threads
    number = 1 + max([node.number for node in root.walk() if node.op is Op.RANGE])
    squares = [-(-axis_extent(counter) // side) for counter in (row, column)]
    blocks = -(-axis_extent(terms) // depth)
    lengths = (*squares, threads * threads, each, each, blocks, depth, side * depth, side * depth)
    down, across, thread, u, v, outer, inner, left_fill, right_fill = [
        make_range(extent, number + place) for place, extent in enumerate(lengths)
    ]
    its_row, its_column = thread // threads * each + u, v * threads + thread % threads
    by_terms = offset_strides(left.place.offset)[0][terms] == 1
    i, k = _spread(left_fill, side, depth, by_terms)
    rows = _stage(left, {row: down * side + i, terms: outer * depth + k}, i * (depth + 1) + k,
                  left_fill, side * (depth + 1))  # fmt: skip
    by_terms = offset_strides(right.place.offset)[0][terms] == 1
    j, k = _spread(right_fill, side, depth, by_terms)
    columns = _stage(right, {column: across * side + j, terms: outer * depth + k},
                     k * (side + 1) + j, right_fill, depth * (side + 1))  # fmt: skip
    product = UOp(Op.MUL, total.dtype, (
        _read(rows, its_row * (depth + 1) + inner), _read(columns, inner * (side + 1) + its_column),
    ))  # fmt: skip
    summed = UOp(Op.REDUCE, total.dtype, (product, outer, inner), total.arg)
    (moved,) = substitute((root,), {total: summed}, revisit=False)
    at = {row: down * side + its_row, column: across * side + its_column}
    return replace_ranges(moved, at, within_axes(at))


def _spread(counter: UOp, side: int, depth: int, by_terms: bool) -> tuple[UOp, UOp]:
    """The place along the side of a tile, and along the terms, in the order of memory."""
    if by_terms:
        return counter // depth, counter % depth
    return counter % side, counter // side


def _stage(load: UOp, at: dict[UOp, UOp], offset: UOp, counter: UOp, length: int) -> UOp:
    value = replace_ranges(load, at, {}, within_axes(at))
    return UOp(Op.STAGE, load.dtype, (value, offset, counter), staged_row(length))


def _read(stage: UOp, offset: UOp) -> UOp:
    return UOp(Op.LOAD, stage.dtype, (UOp(Op.INDEX, stage.dtype, (stage, offset)),))
