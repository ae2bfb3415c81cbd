"""The rows that a kernel stages, and the limit that they set for its register tile.

A row is staged for each entry of the register tile along the axes on which it depends. So scratch
memory limits the tile along these axes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.staging.scratch_layout import shared_areas
from ogive.compiler.targets.target import Target
from ogive.named import record


@record(frozen=True)
class StagedRows:
    """The rows that a kernel stages: `row_bytes` for each iteration of the counters in `scope`.

    `columns` are the counters of rows whose elements are reductions, `terms` the counters of these
    reductions, `added` those of rows that are added up at a time. The rows of a tile must fit in
    `room` bytes.
    """

    scope: frozenset[UOp]
    row_bytes: int
    columns: tuple[UOp, ...]
    terms: tuple[UOp, ...]
    added: tuple[UOp, ...]
    room: int

    @functools.cached_property
    def most_rows(self) -> int:
        """The greatest number of rows that a tile may have."""
        return max(self.room // self.row_bytes, 1)

    def fit(self, lanes: Mapping[UOp, int], upcast: Mapping[UOp, int]) -> dict[UOp, int]:
        """The tile, reduced until the rows of all its entries fit."""
        fitting = dict(upcast)
        for counter in sorted(self.scope, key=lambda counter: counter.number):
            while fitting.get(counter, 1) > 1 and self._rows(lanes, fitting) > self.most_rows:
                fitting[counter] -= 1
        return fitting

    def allows(self, counter: UOp, lanes: int) -> bool:
        """Whether the rows of this number of lanes fit."""
        return counter not in self.scope or lanes <= self.most_rows

    def _rows(self, lanes: Mapping[UOp, int], upcast: Mapping[UOp, int]) -> int:
        rows = 1
        for counter in self.scope:
            rows *= lanes.get(counter, 1) * upcast.get(counter, 1)
        return rows


def find_rows(root: UOp, target: Target) -> StagedRows | None:
    """The rows that the loop graph of a kernel stages, if any."""
    nodes = root.walk()
    stages = [node for node in nodes if node.op is Op.STAGE]
    if not stages:
        return None
    areas = shared_areas(root)
    scope = frozenset().union(*[stage.ranges for stage in stages])
    size = sum(
        [
            (int(stage.offset.vmax) + 1) * stage.dtype.itemsize
            for stage in stages
            if stage not in areas
        ]
    )
    closed = dict.fromkeys([counter for stage in stages for counter in stage.closed])
    reductions = [node for node in nodes if node.op is Op.REDUCE]
    inside = frozenset().union(*[node.ranges for node in reductions])
    columns = tuple([counter for counter in closed if counter in inside])
    terms = [c for node in reductions if not node.ranges.isdisjoint(columns) for c in node.closed]
    added = [c for stage in stages if stage.combine is not None for c in stage.operand.closed]
    room = int(target.costs.staging.tile_share * target.l2_bytes)
    return StagedRows(scope, size, columns, tuple(terms), tuple(added), room)
