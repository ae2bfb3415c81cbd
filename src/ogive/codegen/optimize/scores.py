"""How kernels that stage rows are tiled.

A row is staged for each entry of the register tile along the axes it varies with, so those tiles
are bounded by the scratch memory they take. Where a row holds products (the scores of a query), the
axes it varies with are the rows of two products at once: of the one that fills it, whose columns
are the row's elements, and of the one that reads it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from ogive.choose.costs import best_tile, sums_in_registers
from ogive.codegen.optimize.accesses import MemoryAccess
from ogive.codegen.optimize.placement import axis_extent
from ogive.codegen.scratch import shared_areas
from ogive.device.target import Target
from ogive.ir.node import UOp
from ogive.ir.ops import Op

TILE_BYTES = 3 << 19
"""The scratch memory that tiles are made to fit. What does not stay in a second-level cache is
gone through in order, which takes less time than the products of a tile with fewer rows."""

WIDE = 2
"""How many vectors of columns a register tile of products has."""

WIDE_ADDED = 4
"""How many vectors of rows that are added up are read at a time."""

ROW_SHARE = 4
"""One register of so many is not for sums of products, but for the maximum and the sum of a row,
which are updated with every vector of products."""


@dataclass(frozen=True)
class StagedRows:
    """What a kernel stages: for each iteration of the counters in `scope`, `row_bytes` in all.

    `columns` are the counters of rows whose elements are reductions, `terms` those of what is
    reduced there, `added` those of the rows that are added up at a time.
    """

    scope: frozenset[UOp]
    row_bytes: int
    columns: tuple[UOp, ...]
    terms: tuple[UOp, ...]
    added: tuple[UOp, ...]

    @functools.cached_property
    def most_rows(self) -> int:
        """How many rows may be held side by side."""
        return max(TILE_BYTES // self.row_bytes, 1)

    def fit(self, lanes: Mapping[UOp, int], upcast: Mapping[UOp, int]) -> dict[UOp, int]:
        """The tile, made smaller until the rows of all its entries fit."""
        fitting = dict(upcast)
        for counter in sorted(self.scope, key=lambda counter: counter.arg[0]):
            while fitting.get(counter, 1) > 1 and self._rows(lanes, fitting) > self.most_rows:
                fitting[counter] -= 1
        return fitting

    def allows(self, counter: UOp, lanes: int) -> bool:
        """Whether so many lanes of a counter fit."""
        return counter not in self.scope or lanes <= self.most_rows

    def _rows(self, lanes: Mapping[UOp, int], upcast: Mapping[UOp, int]) -> int:
        rows = 1
        for counter in self.scope:
            rows *= lanes.get(counter, 1) * upcast.get(counter, 1)
        return rows


def find_rows(root: UOp) -> StagedRows | None:
    """What the loop graph of a kernel stages, if anything."""
    nodes = root.walk()
    stages = [node for node in nodes if node.op is Op.STAGE]
    if not stages:
        return None
    areas = shared_areas(root)
    scope = frozenset().union(*[stage.ranges for stage in stages])
    size = sum(
        [
            (int(stage.src[1].vmax) + 1) * stage.dtype.itemsize
            for stage in stages
            if stage not in areas
        ]
    )
    closed = dict.fromkeys([counter for stage in stages for counter in stage.closed])
    reductions = [node for node in nodes if node.op is Op.REDUCE]
    inside = frozenset().union(*[node.ranges for node in reductions])
    columns = tuple([counter for counter in closed if counter in inside])
    terms = [c for node in reductions if not node.ranges.isdisjoint(columns) for c in node.closed]
    added = [c for stage in stages if stage.arg[1] is not None for c in stage.src[0].closed]
    return StagedRows(scope, size, columns, tuple(terms), tuple(added))


def _vectors(rows: StagedRows, count: int) -> int:
    """How many of so many vectors of columns a register tile has."""
    return best_tile(count, WIDE_ADDED) if rows.added else max(min(count, WIDE), 1)


def tile_scores(
    rows: StagedRows,
    outputs: tuple[UOp, ...],
    loads: list[MemoryAccess],
    lanes: Mapping[UOp, int],
    target: Target,
) -> dict[UOp, int]:
    """The register tile that both products share: rows along which the columns are read again."""
    columns = [counter for counter in (*rows.columns, *outputs) if counter in lanes]
    upcast = {counter: _vectors(rows, axis_extent(counter) // lanes[counter]) for counter in columns}
    upcast.update({counter: axis_extent(counter) for counter in rows.added})
    sums = sums_in_registers(target)
    most = min(-(-(sums - sums // ROW_SHARE) // WIDE), rows.most_rows)
    multiplied = [
        load
        for load in loads
        if any(load.depends_on(column) for column in rows.columns)
        and any(load.depends_on(term) for term in rows.terms)
    ]
    read_again = [
        counter
        for counter in outputs
        if counter in rows.scope
        and counter not in lanes
        and not any(load.depends_on(counter) for load in multiplied)
    ]
    if read_again:
        row = max(read_again, key=axis_extent)
        upcast[row] = best_tile(axis_extent(row), most)
    return upcast
