"""The register tile of kernels whose staged rows hold products, as the scores of queries are.

    row[r2] = sum over r3 of q[r0, r3] * k[r3, r2]
    out[r0, r1] = sum over r2 of row[r2] * v[r2, r1]

Rows r0 are those of two products at once: of the one that fills what is staged, whose columns r2
are its elements, and of the one that goes through it, whose columns are r1. They share the number
of rows of a tile, and each has as many vectors of columns as go with that best (`tiles`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.named import record
from ogive.passes.loops.kernel_axes import axis_extent, tiled_extent
from ogive.passes.place.kernel_facts import KernelFacts
from ogive.passes.place.staged_rows import StagedRows
from ogive.passes.place.tiles.tile_estimates import Tiled, estimate
from ogive.targets.estimates import best_tile, sums_in_registers
from ogive.targets.target import Target


def tile_scores(
    kernel: KernelFacts, rows: StagedRows, lanes: Mapping[UOp, int], target: Target
) -> dict[UOp, int]:
    """The register tile that both products share: rows along which the columns are read again."""
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
    # Along other columns, as those of weights that are stored, the rows are enough side by side.
    products = [each for each in by_column if each.products]
    sums = sums_in_registers(target)
    room = sums - (sums // share if share else 0)
    most = min(-(-room // costs.score_vectors), rows.most_rows, axis_extent(row))
    high = min(range(most, 0, -1), key=lambda n: sum([each.best(n)[0] for each in products]))
    return {row: high} | {each.column: each.best(high)[1] for each in products}


def _reduces_rows(kernel: KernelFacts, rows: StagedRows) -> bool:
    """Whether something is reduced while rows are staged, as the maximum of scores is."""
    columns = set(rows.columns)
    reduced = [node for node in kernel.root.walk() if node.op is Op.REDUCE]
    return any(not columns.isdisjoint(node.closed) for node in reduced)


def _vectors(rows: StagedRows, count: int, target: Target) -> int:
    """How many of so many vectors of columns a tile has whose rows nothing is read again for: where
    rows are only read and added up, as many as lie in a few lines."""
    costs = target.costs.tiles
    if len(rows.added) == 1:
        return best_tile(count, costs.added_score_vectors, target)
    return max(min(count, costs.score_vectors), 1)


def _shared_row(
    kernel: KernelFacts, rows: StagedRows, lanes: Mapping[UOp, int]
) -> UOp | None:
    """The longest axis along which what a staged product reads along its columns is read again."""
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
    """A column axis in lanes, what is summed up along its columns for all rows, and how many of the
    sums of a tile registers hold."""

    column: UOp
    products: list[Tiled]
    room: int
    target: Target

    @classmethod
    def of(
        cls, kernel: KernelFacts, row: UOp, column: UOp, lanes: int, share: int, target: Target
    ) -> _Columns:
        """The axis, with the products of a kernel that have it and the row for axes. One register
        of `share`, if it is not 0, is for what is reduced beside them."""
        costs = target.costs.tiles
        products = []
        beside = Counter[tuple[UOp, ...]]()  # products that run along with each other
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
        """The cost of tiles of so many rows at the best number of vectors, and this number."""
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
