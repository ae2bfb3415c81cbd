"""Tiles whose lanes are far apart in memory, but whose rows are contiguous.

They are read and written row by row, and transposed in registers. If a few rows fill the gaps
between the lanes, they are interleaved to whole vectors instead.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, UPCAST, Op
from ogive.compiler.ir.positions import index_constant
from ogive.compiler.ir.symbolic.conditions import conjuncts
from ogive.compiler.ir.symbolic.divmod import divide_product
from ogive.compiler.ir.symbolic.index_arithmetic import from_linear, linear_form
from ogive.compiler.passes.lower.irregular_lanes import find_picks
from ogive.compiler.passes.lower.lower_accesses import lane_of
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


class LanesApart(NamedTuple):
    """The offset of the first lane of an access, and the stride of lanes: a number or a node."""

    first: UOp
    step: int | UOp


def lie_of_lanes(access: UOp) -> LanesApart | None:
    """The first lane and the stride of an access; None if lanes have no common stride."""
    offset = access.place.offset
    if access.stride != IRREGULAR:
        return LanesApart(offset, access.stride)
    apart = access.lanes if access.op is Op.LOAD else offset
    lane = None if apart is None else lane_of(apart.ranges)
    if apart is None or lane is None or offset.has_index or apart.has_index:
        return None
    terms, constant = linear_form(apart)
    by_lane = [term for term in terms if lane in term.ranges]
    step = index_constant(0)
    for term in by_lane:
        factor = divide_product(term, lane)
        if factor is None or factor.ranges or factor.has_index:
            return None
        step = step + factor * terms[term]
    if access.op is Op.LOAD:
        return LanesApart(offset, step)
    common = {term: terms[term] for term in terms if term not in by_lane}
    return LanesApart(from_linear(common, constant), step)


def transposed_counter(access: UOp, lanes: int, target: Target) -> UOp | None:
    """The tile counter along which a load or store is contiguous, if it is not along its lanes.

    None if a gate depends on both, or if picking the elements out of vectors takes less time.
    """
    place = access.place
    is_combined = access.op is Op.STORE and access.combine is not None
    if lanes == 1 or access.stride in (None, 0, 1) or is_combined or place.dtype.is_bool:
        return None
    lie = lie_of_lanes(access)
    if lie is None:
        return None
    terms, _ = linear_form(lie.first)
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
    is_picked = access.op is Op.LOAD and access.stride != IRREGULAR
    picks = find_picks(access, lanes, target) if is_picked else None
    if picks is not None and picks.cost * count < turning_cost(count, lanes) * len(picks.sources):
        return None
    return rows


def turning_cost(count: int, lanes: int) -> int:
    """The loads and shuffles to transpose a tile of `count` rows, one square at a time."""
    steps = (min(count, lanes) - 1).bit_length()
    return -(-count // lanes) * (lanes * (1 + steps) + (1 << steps))


def interleaved_counter(store: UOp, lanes: int, target: Target) -> UOp | None:
    """The tile counter along which a store fills the gaps between its lanes, or None."""
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
    """The conditions of an access: those that do not depend on the lane, and the others."""
    parts = [] if place.gate is None else conjuncts(place.gate)
    by_lane = [part for part in parts if lane_of(part.ranges) is not None]
    return [part for part in parts if part not in by_lane], by_lane
