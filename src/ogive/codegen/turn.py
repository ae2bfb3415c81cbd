"""Tiles whose lanes lie far apart in memory, but whose rows are contiguous.

They are read and written row by row, and turned in registers.
"""

from __future__ import annotations

from ogive.codegen.lower import GATHER, lane_of
from ogive.codegen.optimize.placement import UPCAST
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic import linear_form

LEAST_ROWS = 4
"""Rows from which on turning a tile costs less than storing its lanes one by one."""


def transposed_counter(load: UOp, lanes: int) -> UOp | None:
    """The tile counter along which a load's rows are contiguous, if its lanes are not and the
    tile is square."""
    rows = _contiguous_tile(load, load.arg, lanes)
    return rows if rows is not None and rows.src[0].arg == lanes else None


def turned_counter(store: UOp, lanes: int) -> UOp | None:
    """The tile counter along which a store is contiguous, if its lanes are not and whatever is
    gated is so along rows or along lanes."""
    stride, op = store.arg
    place, value = store.src[:2]
    rows = _contiguous_tile(store, stride, lanes)
    if op is not None or rows is None or value.dtype.is_bool or rows.src[0].arg < LEAST_ROWS:
        return None
    gates = _conjuncts(place.src[2]) if len(place.src) > 2 else []
    lane = lane_of(store.src[2:])
    if any(rows in gate.ranges and lane in gate.ranges for gate in gates):
        return None
    return rows


def split_gate(gate: UOp, rows: UOp) -> tuple[list[UOp], list[UOp]]:
    """The conditions that make up a gate: those of `rows` and of no lanes, and those of lanes."""
    parts = _conjuncts(gate)
    by_lane = [part for part in parts if lane_of(part.ranges) is not None]
    return [part for part in parts if part not in by_lane], by_lane


def _contiguous_tile(access: UOp, stride: int | str | None, lanes: int) -> UOp | None:
    if lanes == 1 or stride in (None, 0, 1, GATHER):
        return None
    terms, _ = linear_form(access.src[0].src[1])
    for term, coefficient in terms.items():
        if coefficient == 1 and term.op is Op.RANGE and term.arg[1] == UPCAST:
            return term
    return None


def _conjuncts(gate: UOp) -> list[UOp]:
    """The conditions that all have to hold for `gate` to hold."""
    parts = [gate]
    while any(part.op is Op.AND for part in parts):
        parts = [
            inner
            for part in parts
            for inner in (part.src if part.op is Op.AND else (part,))
        ]
    return parts
