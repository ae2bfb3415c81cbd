"""The register tile of kernels whose staged rows are products, as in attention.

    row[r2] = sum over r3 of q[r0, r3] * k[r3, r2]
    out[r0, r1] = sum over r2 of row[r2] * v[r2, r1]

Both products have the rows r0: the one that computes the staged row, with columns r2, and the one
that reads it, with columns r1. They share the number of rows of a tile, and each has the number of
vectors of columns that is best for that (`tile_estimates.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.kernel_axes import axis_extent, tiled_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.passes.place.staged_rows import StagedRows
from ogive.compiler.passes.place.tiles.tile_estimates import Tiled, estimate
from ogive.compiler.targets.estimates import best_tile, sums_in_registers
from ogive.compiler.targets.target import Target
from ogive.named import record


def tile_scores(
    kernel: KernelFacts, rows: StagedRows, lanes: Mapping[UOp, int], target: Target
) -> dict[UOp, int]:
    """The register tile of both products: shared rows, and vectors of the columns of each."""
    costs = target.costs.tiles
    columns = [counter for counter in (*rows.columns, *kernel.outputs) if counter in lanes]
    row = _shared_row(kernel, rows, lanes)
    if row is None or rows.added:
        narrow = {c: _vectors(rows, axis_extent(c) // lanes[c], target) for c in columns}
        return narrow | {counter: axis_extent(counter) for counter in rows.added}
    share = costs.score_row_registers if _reduces_rows(kernel, rows) else 0
    by_column = [
        _Columns.of(kernel, row, column, lanes[column], share, target) for column in columns
    ]
    # Other columns, such as those of weights that are stored, need no tile besides the rows.
    products = [each for each in by_column if each.products]
    sums = sums_in_registers(target)
    room = sums - (sums // share if share else 0)
    most = min(-(-room // costs.score_vectors), rows.most_rows, axis_extent(row))
    high = min(range(most, 0, -1), key=lambda n: sum([each.best(n)[0] for each in products]))
    return {row: high} | {each.column: each.best(high)[1] for each in products}


def _reduces_rows(kernel: KernelFacts, rows: StagedRows) -> bool:
    """Whether a reduction runs along the columns of staged rows, as the maximum of scores does."""
    columns = set(rows.columns)
    reduced = [node for node in kernel.root.walk() if node.op is Op.REDUCE]
    return any(not columns.isdisjoint(node.closed) for node in reduced)


def _vectors(rows: StagedRows, count: int, target: Target) -> int:
    """The vectors of columns in a tile, of `count`, if no rows share their loads.

    If rows are only read and added up, as many as a few cache lines have.
    """
    costs = target.costs.tiles
    if len(rows.added) == 1:
        return best_tile(count, costs.added_score_vectors, target)
    return max(min(count, costs.score_vectors), 1)


def _shared_row(
    kernel: KernelFacts, rows: StagedRows, lanes: Mapping[UOp, int]
) -> UOp | None:
    """The longest axis along which the column operand of a staged product is read again."""
    multiplied = [
        load
        for load in kernel.loads
        if any(load.depends_on(column) for column in rows.columns)
        and any(load.depends_on(term) for term in rows.terms)
    ]
    read_again = [
        counter
        for counter in kernel.outputs
        if counter in rows.scope
        and counter not in lanes
        and not any(load.depends_on(counter) for load in multiplied)
    ]
    return max(read_again, key=axis_extent, default=None)


@record(frozen=True)
class _Columns:
    """A column axis in lanes, the products with these columns, and the registers for their sums."""

    column: UOp
    products: list[Tiled]
    room: int
    target: Target

    @classmethod
    def of(
        cls, kernel: KernelFacts, row: UOp, column: UOp, lanes: int, share: int, target: Target
    ) -> _Columns:
        """The axis with the products that have it and `row` as axes.

        If `share` is not 0, one of `share` registers is left to a reduction beside them.
        """
        costs = target.costs.tiles
        products = []
        beside = Counter[tuple[UOp, ...]]()  # the number of products in the same loops
        for node, loads in kernel.repeated_loads:
            if not {row, column} <= node.ranges or node.operand.op is Op.REDUCE:
                continue
            beside[node.closed] += 1
            others = node.ranges - {row, column}
            read = [load for load in loads if load.depends_on(column)]
            passing = others.difference(kernel.common).union(node.closed, [column])
            is_near = sum([load.bytes_along(passing) for load in read]) <= target.l1_bytes
            product = Tiled(
                rows=tiled_extent(row),
                columns=tiled_extent(column),
                lanes=lanes,
                terms=math.prod(map(axis_extent, node.closed)),
                times=math.prod(map(axis_extent, others)),
                load=costs.near_load if is_near else costs.far_load,
            )
            products.append(product)
        room = sums_in_registers(target) // max(beside.values(), default=1)
        if column not in kernel.outputs and share:
            room -= room // share
        return cls(column, products, room, target)

    def best(self, height: int) -> tuple[float, int]:
        """The least cost of tiles of `height` rows, and the number of vectors that has it."""
        filled = -(-axis_extent(self.column) // self.products[0].lanes)
        most = self.target.costs.tiles.most_score_vectors
        widest = min(filled, max(self.room // height, 1), most)
        return min([(self._estimate(height, wide), wide) for wide in range(1, widest + 1)])

    def _estimate(self, height: int, wide: int) -> float:
        return sum(
            [
                product.times * estimate(product, height, wide, self.target)
                for product in self.products
            ]
        )
