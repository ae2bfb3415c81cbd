"""Tiles whose lanes lie far apart in memory, but whose rows are contiguous.

They are read and written row by row, and turned in registers.
"""

from __future__ import annotations

from ogive.codegen.lower import GATHER, lane_of
from ogive.codegen.optimize.placement import UPCAST
from ogive.ir.conditions import conjuncts
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic import linear_form

LEAST_ROWS = 4
"""Rows from which on turning a tile costs less than touching its lanes one by one."""


def turned_counter(access: UOp, lanes: int) -> UOp | None:
    """The tile counter along which a load or store is contiguous, if its lanes are not and
    whatever is gated is so along rows or along lanes."""
    stride, op = access.arg if access.op is Op.STORE else (access.arg, None)
    place = access.src[0]
    if lanes == 1 or stride in (None, 0, 1, GATHER) or op is not None or place.dtype.is_bool:
        return None
    terms, _ = linear_form(place.src[1])
    for rows, step in terms.items():
        if step == 1 and rows.op is Op.RANGE and rows.arg[1] == UPCAST:
            break
    else:
        return None
    gates = conjuncts(place.src[2]) if len(place.src) > 2 else []
    if any(rows in gate.ranges and lane_of(gate.ranges) is not None for gate in gates):
        return None
    return rows if rows.src[0].arg >= LEAST_ROWS else None


def split_gate(place: UOp) -> tuple[list[UOp], list[UOp]]:
    """The conditions of an access: those that lanes have nothing to do with, and the others."""
    parts = conjuncts(place.src[2]) if len(place.src) > 2 else []
    by_lane = [part for part in parts if lane_of(part.ranges) is not None]
    return [part for part in parts if part not in by_lane], by_lane
