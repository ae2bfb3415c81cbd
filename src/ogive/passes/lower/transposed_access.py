"""Tiles whose lanes lie apart in memory, but whose rows are contiguous.

They are read and written row by row, and turned in registers. Where a few rows fill the gaps
between the lanes, whole vectors are put together from all of them instead.
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import IRREGULAR, UPCAST, Op
from ogive.ir.symbolic.conditions import conjuncts
from ogive.ir.symbolic.index_arithmetic import linear_form
from ogive.passes.lower.irregular_lanes import find_picks
from ogive.passes.lower.lower_accesses import lane_of
from ogive.targets.target import Target


def turned_counter(access: UOp, lanes: int, target: Target) -> UOp | None:
    """The tile counter along which a load or store is contiguous, if its lanes are not and
    whatever is gated is so along rows or along lanes; None if its elements are rather picked."""
    stride, op = access.arg if access.op is Op.STORE else (access.arg, None)
    place = access.src[0]
    if lanes == 1 or stride in (None, 0, 1, IRREGULAR) or op is not None or place.dtype.is_bool:
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
    count = rows.src[0].arg
    if count < target.costs.accesses.transposed_rows:
        return None
    picks = find_picks(access, lanes, target) if access.op is Op.LOAD else None
    if picks is not None and picks.cost * count < turning_cost(count, lanes) * len(picks.sources):
        return None
    return rows


def turning_cost(count: int, lanes: int) -> int:
    """How many loads and shuffles a tile of so many rows takes, a square at a time."""
    steps = (min(count, lanes) - 1).bit_length()
    return -(-count // lanes) * (lanes * (1 + steps) + (1 << steps))


def interleaved_counter(store: UOp, lanes: int, target: Target) -> UOp | None:
    """The tile counter along which a store fills the gaps between its lanes, if there is one."""
    stride, op = store.arg
    most = target.costs.accesses.interleaved_rows
    gaps = isinstance(stride, int) and 1 < stride <= most
    if lanes == 1 or not gaps or op is not None or store.src[0].dtype.is_bool:
        return None
    for rows, step in linear_form(store.src[0].src[1])[0].items():
        if step == 1 and rows.op is Op.RANGE and rows.arg[1] == UPCAST:
            return rows if rows.src[0].arg == stride else None
    return None


def split_gate(place: UOp) -> tuple[list[UOp], list[UOp]]:
    """The conditions of an access: those that lanes have nothing to do with, and the others."""
    parts = conjuncts(place.src[2]) if len(place.src) > 2 else []
    by_lane = [part for part in parts if lane_of(part.ranges) is not None]
    return [part for part in parts if part not in by_lane], by_lane
