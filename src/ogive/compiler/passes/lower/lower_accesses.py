"""Gives every access the stride of its lanes, and every gate a condition on the lane number.

    before   LOAD(INDEX(PARAM 1, r0*16 + lane))
    after    LOAD(INDEX(PARAM 1, r0*16), lane) stride 1

    before   STAGE(x, r0*16 + lane, r0, lane) a row of 100, x in a register tile of u0
    after    STAGE(x, r0*16 + u0*112, r0, lane) of 448 for all entries, stride 1

    before   LOAD(INDEX(PARAM 1, r0*512 + index(LOAD ...[lane])))
    after    LOAD(INDEX(PARAM 1, r0*512), index(LOAD ...)) irregular

A LOAD or STORE with lanes accesses `offset + lane*stride`; one without lanes is scalar. If the
lanes have no common stride, it is `IRREGULAR`: a LOAD then has, in place of the lane counter, the
part of the offset that depends on it, and a STORE keeps that in its offset. The other field of a
STORE's argument is the op that combines its value with the element in memory, if there is one. A
STAGE has a stride, too, because an axis merged of two may have either of them in lanes.
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, LANE, UPCAST, Op, staged_row
from ogive.compiler.ir.symbolic.conditions import difference
from ogive.compiler.ir.symbolic.index_arithmetic import from_linear, linear_form
from ogive.compiler.passes.loops.staging.scratch_layout import Rows, check_size, lay_out


def lower_accesses(root: UOp) -> UOp:
    """The kernel with the strides of all its accesses made explicit.

    Raises `OptimizeError` if it stages too much.
    """
    done: dict[UOp, UOp] = {}
    rows = lay_out(root)
    for node in root.walk():
        if not node.src:
            done[node] = node
            continue
        sources = tuple([done[source] for source in node.src])
        if node.op is Op.INDEX and node.base in rows:
            sources = (sources[0], rows[node.base].offset(sources[1]), *sources[2:])
        if node.op in (Op.LOAD, Op.STORE):
            done[node] = _lower_access(node, sources)
        elif node.op is Op.STAGE:
            done[node] = _lower_stage(node, sources, rows[node])
        elif node.op is Op.CMPLT and node.left.dtype is dtypes.index:
            done[node] = _lower_condition(node, sources)
        elif sources != node.src:
            done[node] = UOp(node.op, node.dtype, sources, node.arg)
        else:
            done[node] = node
    if rows:
        check_size(done[root])
    return done[root]


def _lower_access(node: UOp, sources: tuple[UOp, ...]) -> UOp:
    place = sources[0]
    offset = place.offset
    lane = lane_of(offset.ranges)
    if node.op is Op.STORE and lane is None:
        lane = lane_of(sources[1].ranges)
    if lane is None:
        return UOp(node.op, node.dtype, sources, node.arg)
    first, lanes = _apart(offset, lane)
    stride = _stride(lanes, lane)
    if stride != IRREGULAR or node.op is Op.LOAD:
        place = place.with_sources((place.base, first, *place.src[2:]))
    if node.op is Op.LOAD:
        by_lane = from_linear(lanes) if stride == IRREGULAR else lane
        return UOp(Op.LOAD, node.dtype, (place, by_lane), stride)
    return UOp(Op.STORE, node.dtype, (place, *sources[1:]), (stride, node.combine))


def _lower_stage(node: UOp, sources: tuple[UOp, ...], rows: Rows) -> UOp:
    """A staged value with the offset of its first lane, or of all lanes if that is irregular."""
    offset = rows.offset(sources[1])
    lane = lane_of((*node.closed, *node.ranges))
    stride: int | str | None = None
    if lane is not None:
        first, lanes = _apart(offset, lane)
        stride = _stride(lanes, lane)
        offset = offset if stride == IRREGULAR else first
    row = staged_row(node.length, node.combine, node.sorted_count, rows.count, stride)
    return UOp(Op.STAGE, node.dtype, (sources[0], offset, *sources[2:]), row)


def _apart(offset: UOp, lane: UOp) -> tuple[UOp, dict[UOp, int]]:
    """The part of an offset that all lanes share, and the terms that depend on the lane."""
    terms, constant = linear_form(offset)
    by_lane = {term: factor for term, factor in terms.items() if lane in term.ranges}
    common = {term: factor for term, factor in terms.items() if term not in by_lane}
    return from_linear(common, constant), by_lane


def _stride(by_lane: dict[UOp, int], lane: UOp) -> int | str:
    """The stride of lanes, from the terms of an offset that depend on the lane."""
    return by_lane.get(lane, 0) if by_lane.keys() <= {lane} else IRREGULAR


def _lower_condition(node: UOp, sources: tuple[UOp, ...]) -> UOp:
    """A condition with the lane alone on one side, so that the other side is scalar.

    `r0*16 + lane < n` becomes `lane < n - r0*16`, `n < r0*16 + lane` becomes `n - r0*16 < lane`.
    """
    lane = lane_of(node.ranges)
    if lane is None:
        return node.with_sources(sources)
    terms, bound = difference(*sources)
    slope = terms.pop(lane, 0)
    if slope not in (1, -1) or any(lane in term.ranges for term in terms):
        return node.with_sources(sources)
    if slope == -1:
        return UOp(Op.CMPLT, node.dtype, (from_linear(terms, -bound), lane))
    negated = {term: -coefficient for term, coefficient in terms.items()}
    return UOp(Op.CMPLT, node.dtype, (lane, from_linear(negated, bound)))


def lane_of(counters: frozenset[UOp] | tuple[UOp, ...]) -> UOp | None:
    """The lane counter among `counters`; a value has at most one."""
    for counter in counters:
        if counter.op is Op.RANGE and counter.placement == LANE:
            return counter
    return None


def upcast_counters(node: UOp) -> tuple[UOp, ...]:
    """The register-tile counters on which a value depends, by number."""
    counters = [counter for counter in node.ranges if counter.placement == UPCAST]
    return tuple(sorted(counters, key=lambda counter: counter.number))


def lane_count(node: UOp) -> int:
    """The number of lanes of a value."""
    lane = node if node.op is Op.RANGE and node.placement == LANE else lane_of(node.ranges)
    return 1 if lane is None else int(lane.extent.literal)
