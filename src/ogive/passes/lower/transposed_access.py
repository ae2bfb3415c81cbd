"""Tiles whose lanes lie apart in memory, but whose rows are contiguous.

They are read and written row by row, and transposed in registers. Where a few rows fill the gaps
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


def transposed_counter(access: UOp, lanes: int, target: Target) -> UOp | None:
    """The tile counter along which a load or store is contiguous, if its lanes are not and
    whatever is gated is so along rows or along lanes; None if its elements are rather picked."""
    place = access.place
    is_combined = access.op is Op.STORE and access.combine is not None
    if lanes == 1 or access.stride in (None, 0, 1, IRREGULAR) or is_combined or place.dtype.is_bool:
        return None
    terms, _ = linear_form(place.offset)
    for rows, step in terms.items():
        if step == 1 and rows.op is Op.RANGE and rows.placement == UPCAST:
            break
    else:
        return None
    gates = [] if place.gate is None else conjuncts(place.gate)
    if any(rows in gate.ranges and lane_of(gate.ranges) is not None for gate in gates):
        return None
    count = rows.extent.literal
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
    stride = store.stride
    most = target.costs.accesses.interleaved_rows
    gaps = isinstance(stride, int) and 1 < stride <= most
    if lanes == 1 or not gaps or store.combine is not None or store.place.dtype.is_bool:
        return None
    for rows, step in linear_form(store.place.offset)[0].items():
        if step == 1 and rows.op is Op.RANGE and rows.placement == UPCAST:
            return rows if rows.extent.literal == stride else None
    return None


def split_gate(place: UOp) -> tuple[list[UOp], list[UOp]]:
    """The conditions of an access: those that lanes have nothing to do with, and the others."""
    parts = [] if place.gate is None else conjuncts(place.gate)
    by_lane = [part for part in parts if lane_of(part.ranges) is not None]
    return [part for part in parts if part not in by_lane], by_lane
