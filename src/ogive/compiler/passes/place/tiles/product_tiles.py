"""The axes of a product's register tile. `tile_estimates.py` chooses its length along each.

    out[r0*64 + r1] = sum over r2 of a[r0*128 + r2] * b[r2*64 + r1]

With lanes along r1, a tile has rows of r0 and vectors of r1: each vector of `b` is used for each
row, each element of `a` for each vector. With lanes along r2, the tile has elements of r0 and of
r1, and each of its sums is a vector. If both operands run along the lanes, as in a convolution with
a filter per channel,

    out[r0*96 + r1] = sum over r2 of a[(r0 + r2)*96 + r1] * b[r2*96 + r1]

a tile also has rows of r0, and each vector of `b` is used for each of them.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.kernel_axes import axis_extent, tiled_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.passes.place.tiles.tile_estimates import (
    Tiled,
    best_tile_of,
    best_tile_of_sums,
    best_tile_of_two,
)
from ogive.compiler.passes.place.tiles.vector_counts import (
    columns_at_a_time,
    rows_beside,
    vectors_stored,
)
from ogive.compiler.targets.estimates import best_tile, sums_in_registers
from ogive.compiler.targets.target import Dot, Target


def tile_product(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> dict[UOp, int]:
    """The register tile of a kernel that reads operands again; empty for other kernels."""
    columns = [counter for counter in kernel.outputs if counter in lanes]
    if columns and columns[0] in kernel.reused_axes:
        return _tile_columns(kernel, columns[0], lanes[columns[0]], target)
    if kernel.reused_axes and any(counter in lanes for counter in kernel.reductions):
        return _tile_sums(kernel, lanes, target)
    if columns and kernel.is_product and kernel.is_summed_beside(columns[0]):
        return _tile_beside(kernel, columns[0], lanes[columns[0]], target)
    return {}


def _tile_beside(
    kernel: KernelFacts, column: UOp, lanes: int, target: Target
) -> dict[UOp, int]:
    """A register tile of sums whose operands all run along the lanes: rows by vectors.

    Rows are the axis along which one operand is read again and the other has the least stride.
    """

    def distance(counter: UOp) -> int:
        return min([abs(each.strides.get(counter, 0)) for each in kernel.operands_along(counter)])

    row = min(kernel.reused_axes, key=distance)
    tiled = Tiled(
        rows=axis_extent(row),
        columns=axis_extent(column),
        lanes=lanes,
        terms=math.prod(map(axis_extent, kernel.reductions)),
        times=math.prod(axis_extent(c) for c in kernel.outputs if c not in (row, column)),
        load=target.costs.tiles.near_load,
    )
    tile, wide = best_tile_of(tiled, target)
    return {column: wide, row: tile}


def _tile_columns(
    kernel: KernelFacts, column: UOp, lanes: int, target: Target
) -> dict[UOp, int]:
    """A register tile of a product with columns in lanes: rows by vectors."""
    rows = kernel.row_axes(column)
    transposed = _transposed_tile(kernel, column, lanes, rows, target)
    if transposed is not None:
        return transposed
    row = _row_axis(kernel, rows, target) if rows else None
    tiled = Tiled(
        rows=tiled_extent(row) if row is not None else 1,
        columns=tiled_extent(column),
        lanes=lanes,
        terms=_steps(kernel, column),
        times=math.prod(axis_extent(c) for c in kernel.outputs if c not in (row, column)),
        load=_column_load(kernel, column, target),
        blocks=_blocks_of_sums(kernel),
        visit=_column_visit(kernel, column, target),
        spare=max([each.spare for each in _dots(kernel, target)], default=1),
    )
    if row is None:
        most = min(columns_at_a_time(kernel, target), vectors_stored(kernel, column, lanes, target))
        _, wide = best_tile_of(tiled, target, most)
        least = target.costs.tiles.least_sums
        return {column: wide} | rows_beside(kernel, {column: wide}, least, target)
    tile, wide = best_tile_of(tiled, target)
    second = _second_row_axis(kernel, rows, row)
    if second is None:
        return {column: wide, row: tile}
    times = tiled.times // axis_extent(second)
    lengths = tiled_extent(second), tiled_extent(row)
    lines, tile, wide = best_tile_of_two(replace(tiled, times=times), lengths, target)
    return {column: wide, row: tile, second: lines}


def _dots(kernel: KernelFacts, target: Target) -> list[Dot]:
    """The dot-product instructions that a kernel uses."""
    return [target.find_dot(*node.arg) for node in kernel.root.walk() if node.op is Op.DOT]


def _transposed_tile(
    kernel: KernelFacts, column: UOp, lanes: int, rows: list[UOp], target: Target
) -> dict[UOp, int] | None:
    """The tile if results are contiguous along rows, not along the columns in lanes.

    It is transposed on its way to memory, which pays for many rows. None if there are few.
    """
    stored = [
        counter
        for counter in rows
        if any(store.strides.get(counter) == 1 for store in kernel.stores)
    ]
    if not stored:
        return None
    vectors = -(-axis_extent(column) // lanes)
    costs = target.costs.tiles
    wide = 2 if vectors > costs.many_vectors else best_tile(vectors, 3, target)
    row, tile = _longest_tile(stored, sums_in_registers(target) // wide, target)
    return {column: wide, row: tile} if tile >= costs.least_panel else None


def _row_axis(kernel: KernelFacts, rows: list[UOp], target: Target) -> UOp:
    """The axis of a tile's rows: the contiguous rows of a panel, or the longest axis."""
    least, most = target.costs.tiles.least_panel, sums_in_registers(target)
    for counter in rows:
        beside = any(access.strides.get(counter) == 1 for access in kernel.operands)
        if beside and least <= axis_extent(counter) <= most:
            return counter
    return _longest_tile(rows, most, target)[0]


def _second_row_axis(kernel: KernelFacts, rows: list[UOp], row: UOp) -> UOp | None:
    """Another axis of rows, such as the lines of an image; None for a panel of rows."""
    if any(access.strides.get(row) == 1 for access in kernel.operands):
        return None
    others = [c for c in rows if c is not row and axis_extent(c) > 1]
    return max(others, key=axis_extent, default=None)


def _steps(kernel: KernelFacts, column: UOp) -> int:
    """The number of vectors along the columns that a sum reads, in all its loops."""
    return sum(
        [
            math.prod([axis_extent(c) for c in kernel.reductions if access.depends_on(c)])
            for access in kernel.distinct_operands_along(column)
        ]
    )


def _column_visit(kernel: KernelFacts, column: UOp, target: Target) -> float:
    """The cost of reaching the columns of a row, if rows are far apart and in no near cache."""
    summed = {column, *kernel.reductions}
    for access in kernel.operands_along(column):
        steps = [access.strides.get(counter, 0) for counter in kernel.reductions]
        is_apart = max(steps) * access.index.dtype.itemsize >= target.costs.memory.apart_bytes
        if is_apart and access.bytes_along(summed) > target.l2_bytes // 2:
            return target.costs.tiles.far_visit
    return 0.0


def _column_load(kernel: KernelFacts, column: UOp, target: Target) -> float:
    """The cost of loading a vector of the operand that runs along the columns."""
    costs = target.costs.tiles
    loads = kernel.operands_along(column)
    if any(access.strides.get(column) != 1 for access in loads):
        return costs.picked_load
    summed = {column, *kernel.reductions}
    size = sum([access.bytes_along(summed) for access in loads])
    return costs.near_load if size <= target.l1_bytes else costs.far_load


def _blocks_of_sums(kernel: KernelFacts) -> int:
    """The number of blocks into which a sum is cut; 0 if it is not cut."""
    outer = [node for node, _ in kernel.repeated_loads if node.operand.op is Op.REDUCE]
    return sum([math.prod(map(axis_extent, node.closed)) for node in outer])


def _tile_sums(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> dict[UOp, int]:
    """A register tile of a product with the depth in lanes.

    Its two axes are those along which one operand and the other are read again. The product of a
    matrix and a vector has only one of these.
    """
    kinds: dict[frozenset[UOp], list[UOp]] = {}
    for counter in kernel.reused_axes:
        read = frozenset([access.node for access in kernel.operands_along(counter)])
        kinds.setdefault(read, []).append(counter)
    if len(kinds) == 1:
        # As many rows as can be streamed at full speed, each with a sum of its own.
        return dict([_longest_tile(kernel.reused_axes, target.costs.memory.streams, target)])
    row, column = [max(axes, key=axis_extent) for axes in list(kinds.values())[-2:]]
    vectors = math.prod(-(-axis_extent(c) // lanes.get(c, 1)) for c in kernel.reductions)
    size = sum([access.bytes_along(kernel.reductions) for access in kernel.operands_along(column)])
    costs = target.costs.tiles
    is_near = axis_extent(column) * size <= target.l1_bytes
    load = costs.near_load if is_near else costs.far_load
    tile = best_tile_of_sums(tiled_extent(row), tiled_extent(column), vectors, target, load)
    return dict(zip((row, column), tile, strict=True))


def _longest_tile(axes: list[UOp], most: int, target: Target) -> tuple[UOp, int]:
    """The axis that can be cut into the longest tiles (the last of equal ones), and the length."""
    tiles = [(counter, best_tile(tiled_extent(counter), most, target)) for counter in axes[::-1]]
    return max(tiles, key=lambda pair: pair[1])
