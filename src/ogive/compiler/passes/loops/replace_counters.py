"""Replaces loop counters throughout a kernel without changing its results.

All passes on loops and every placement are built on this. A counter may become any index expression
over new counters. If that can exceed the old extent, a gate keeps the excess from being read,
written or summed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.memory import LONGEST, OPEN_ENDED
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.positions import conjoin
from ogive.compiler.ir.symbolic.conditions import implies
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form, symbolic_rules


def replace_ranges(
    root: UOp,
    replacements: Mapping[UOp, UOp],
    gates: Mapping[UOp, UOp] | None = None,
    within: Mapping[UOp, UOp] | None = None,
    nearest: Mapping[UOp, UOp] | None = None,
) -> UOp:
    """`root` with each counter of `replacements` replaced by an expression of new counters.

    `gates[counter]` is the condition that the replaced counter is within its extent.
    `within[counter]` is the condition that memory may be read there, if that is another one.
    `nearest[counter]` is the replacement clamped to the extent: a load that might be outside its
    buffer reads there instead. So it needs no gate, and its result is not used.
    """
    gates = gates or {}
    nearest = nearest or {}
    within = gates if within is None else within
    at_nearest = {**replacements, **nearest}
    done: dict[UOp, UOp] = {}
    # Not for a place that was itself loaded, which is checked under the gate.
    loads = {
        node.place
        for node in root.walk()
        if nearest and node.op is Op.LOAD and not node.place.offset.has_index
    }
    for node in root.walk():
        replacement = replacements.get(node)
        if replacement is not None:
            done[node] = replacement
            continue
        changed = any(done[source] is not source for source in node.src)
        done[node] = _rebuild(node, done, gates, within) if changed else node
        if node in loads and changed and not _is_inside(done[node]):
            done[node] = _at_nearest(node, done, at_nearest, nearest, within)
    return done[root]


def _at_nearest(
    node: UOp,
    done: Mapping[UOp, UOp],
    at_nearest: Mapping[UOp, UOp],
    nearest: Mapping[UOp, UOp],
    within: Mapping[UOp, UOp],
) -> UOp:
    """The place of a load, with the excess of tiles moved to the last place within the extent."""
    others = sorted([counter for counter in node.ranges if counter not in nearest], key=_number)
    moved = [replace_ranges(source, at_nearest) for source in node.src[1:]]
    place = UOp(Op.INDEX, node.dtype, (done[node.base], *moved))
    return _gated(place, _gate_of(others, within))


def _rebuild(
    node: UOp, done: dict[UOp, UOp], gates: Mapping[UOp, UOp], within: Mapping[UOp, UOp]
) -> UOp:
    op = node.op
    if op is Op.REDUCE:
        value = done[node.operand]
        gate = _gate_of(node.closed, gates)
        identity = UOp.const(node.dtype, identity_element(node.combine, node.dtype))
        if gate is not None and not _is_left_out(value, gate, identity):
            value = UOp(Op.WHERE, node.dtype, (gate, value, identity))
        counters = _new_counters(node.closed, done)
        return UOp(op, node.dtype, (value, *counters), node.arg) if counters else value
    if op is Op.STORE:
        counters = _new_counters(node.closed, done)
        # Also for counters that the offset does not use: the excess must not be written.
        place = _gated(done[node.place], _gate_of(node.closed, gates))
        return UOp(op, node.dtype, (place, done[node.value], *counters), node.arg)
    if op is Op.STAGE:
        counters = _new_counters(node.closed, done)
        position = _staged_at(node, done[node.offset], gates)
        return UOp(op, node.dtype, (done[node.operand], position, *counters), node.arg)
    if op is Op.SCAN:
        value, initial = done[node.operand], done[node.start]
        return UOp(op, node.dtype, (value, initial, *_new_counters(node.src[2:], done)), node.arg)
    if op is Op.INDEX:
        place = UOp(op, node.dtype, tuple([done[source] for source in node.src]))
        if _is_inside(place):
            return place
        return _gated(place, _gate_of(sorted(node.ranges, key=_number), within))
    if op is Op.CHECK:
        gate = _gate_of(sorted(node.ranges, key=_number), within)
        if node.gate is not None:
            gate = conjoin(gate, done[node.gate])
        checked = (done[node.operand], done[node.holds])
        return UOp(op, node.dtype, checked if gate is None else (*checked, gate), node.arg)
    sources = tuple([done[source] for source in node.src])
    if node.dtype is dtypes.index or (node.dtype is dtypes.bool_ and not node.has_index):
        return symbolic_rules.build(op, node.dtype, sources)
    return UOp(op, node.dtype, sources, node.arg)


def _staged_at(stage: UOp, position: UOp, gates: Mapping[UOp, UOp]) -> UOp:
    """The place where a staged value is written: the excess of a tile goes behind the row.

    Scratch memory has room there, and nothing reads it. Along the axis of the row the excess is
    behind it by itself. But if several axes share the row, the excess of an inner one would be in
    the place of the next element.

        before   STAGE(x, r0*3 + r1), r1 < 3 in four lanes
        after    STAGE(x, where(lane < 3, r0*3 + lane, 24)), for eight r0
    """
    terms, constant = linear_form(stage.offset)
    behind = int(stage.offset.vmax) + 1
    inside = [
        counter
        for counter in stage.closed
        if counter in gates and terms.get(counter, 0) * counter.extent.vmax + constant < behind
    ]
    gate = _gate_of(inside, gates)
    if gate is None:
        return position
    end = UOp.const(dtypes.index, behind)
    return symbolic_rules.build(Op.WHERE, dtypes.index, (gate, position, end))


def _is_left_out(value: UOp, gate: UOp, identity: UOp) -> bool:
    """Whether a term is the identity already wherever the gate does not hold."""
    return value.op is Op.WHERE and value.if_false is identity and implies(value.condition, gate)


def _is_inside(place: UOp) -> bool:
    """Whether even the excess of a tile is inside the buffer.

    Then it may be read, and what is computed from it is never stored. A buffer whose length is
    known only at launch may end anywhere.
    """
    low, high = place.offset.bounds
    if low < 0 or place.base.op is Op.STAGE:
        return low >= 0
    size = place.base.size
    return bool(high < size and size not in (LONGEST, OPEN_ENDED))


def _number(counter: UOp) -> int:
    return counter.number


def _gate_of(counters: tuple[UOp, ...] | list[UOp], gates: Mapping[UOp, UOp]) -> UOp | None:
    gate: UOp | None = None
    for counter in counters:
        if counter in gates:
            gate = conjoin(gate, gates[counter])
    return gate


def _gated(place: UOp, gate: UOp | None) -> UOp:
    if gate is None:
        return place
    gate = conjoin(place.gate, gate)
    ungated = (place.base, place.offset)
    return UOp(Op.INDEX, place.dtype, ungated if gate is None else (*ungated, gate))


def _new_counters(counters: tuple[UOp, ...], done: dict[UOp, UOp]) -> tuple[UOp, ...]:
    """The counters in the replacements of the old ones, by number."""
    new: set[UOp] = set()
    for counter in counters:
        new |= done[counter].ranges
    return tuple(sorted(new, key=_number))
