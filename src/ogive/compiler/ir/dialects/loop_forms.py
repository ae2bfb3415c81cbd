"""Checks of loop graphs, unplaced, placed and lowered, beyond those of the op table.

As in `tensor_forms.py`, a check gives what was expected of a node, or None if the node is right.
"""

from __future__ import annotations

from ogive.compiler.ir.dialects.tensor_forms import Problem, expect_same_dtype
from ogive.compiler.ir.dtype import bool_, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, LANE, LOOP, SCRATCH, THREAD, UPCAST, Op


def _expect_range(node: UOp) -> Problem:
    fits = node.dtype is index and node.extent.dtype is index
    return None if fits else "index as dtype and as dtype of the extent"


def expect_unplaced_range(node: UOp) -> Problem:
    # A loop whose iterations must run in order has its placement from the beginning.
    return _expect_range(node) or (None if node.placement in (None, LOOP) else "no placement yet")


def expect_placed_range(node: UOp) -> Problem:
    return _expect_range(node) or (None if node.placement is not None else "a placement")


def _expect_closed(node: UOp) -> Problem:
    misplaced = [source.op.name for source in node.closed if source.op is not Op.RANGE]
    return f"ranges to close, not {', '.join(misplaced)}" if misplaced else None


def expect_scan(node: UOp) -> Problem:
    if not _is_placed(node.loop, LOOP):
        return "a loop in order as third source"
    kinds = [counter.placement for counter in node.further if counter.op is Op.RANGE]
    if kinds not in ([], [UPCAST], [THREAD], [UPCAST, THREAD]) or len(kinds) < len(node.further):
        return "a tile of iterations and threads as last sources"
    fits = node.start.dtype is node.dtype
    return expect_same_dtype(node) if fits else f"{node.dtype.name} to start from"


def expect_unplaced_scan(node: UOp) -> Problem:
    return expect_scan(node) if not node.further else "neither a tile nor threads yet"


def _is_placed(counter: UOp, placement: str) -> bool:
    return counter.op is Op.RANGE and counter.placement == placement


def expect_reduce(node: UOp) -> Problem:
    return expect_same_dtype(node) or _expect_closed(node)


def expect_index(node: UOp) -> Problem:
    if node.base.op not in (Op.PARAM, Op.STAGE):
        return "PARAM or STAGE as first source"
    if node.offset.dtype is not index:
        return "an index as second source"
    if node.gate is not None and node.gate.dtype is not bool_:
        return "bool as gate"
    return expect_same_dtype(node)


def expect_load(node: UOp) -> Problem:
    if node.lanes is not None or node.stride is not None:
        return "neither lanes nor a stride yet"
    return _expect_loaded(node)


def _expect_loaded(node: UOp) -> Problem:
    return expect_same_dtype(node) if node.place.op is Op.INDEX else "INDEX as source"


def expect_lowered_load(node: UOp) -> Problem:
    lanes, stride = node.lanes, node.stride
    if lanes is None:
        return _expect_loaded(node) or (None if stride is None else "no stride without lanes")
    if stride == IRREGULAR:
        return _expect_loaded(node) or (None if lanes.dtype is index else "an index of lanes")
    if not _is_placed(lanes, LANE):
        return "a lane counter as second source"
    return _expect_loaded(node) or ("a stride as argument" if stride is None else None)


def expect_tally(node: UOp) -> Problem:
    if node.place.op is not Op.INDEX or node.place.base.op is not Op.STAGE:
        return "INDEX of a STAGE as first source"
    fits = _is_placed(node.counter, LOOP)
    return expect_same_dtype(node) if fits else "a loop in order as second source"


def expect_store(node: UOp) -> Problem:
    return expect_lowered_store(node) if node.stride is None else "no stride yet"


def expect_lowered_store(node: UOp) -> Problem:
    if node.place.op is not Op.INDEX:
        return "INDEX as first source"
    wanted, given = node.place.dtype, node.value.dtype
    if wanted is not given:
        return f"a value of {wanted.name}, not {given.name}"
    return _expect_closed(node)


def expect_check(node: UOp) -> Problem:
    conditions = (node.holds,) if node.gate is None else (node.holds, node.gate)
    if any(condition.dtype is not bool_ for condition in conditions):
        return "bool as condition and as gate"
    return expect_same_dtype(node)


def expect_stage(node: UOp) -> Problem:
    fits = node.count is None and node.stride is None
    return _expect_row(node) if fits else "neither a count nor a stride yet"


def expect_lowered_stage(node: UOp) -> Problem:
    return _expect_row(node) if node.count is not None else "the count of all its elements"


def _expect_row(node: UOp) -> Problem:
    if node.space != SCRATCH:
        return f"{SCRATCH!r} as space"
    if node.combine is not None and node.sorted_count is not None:
        return "a combining op or elements to be sorted, not both"
    if node.offset.dtype is not index:
        return "an index as second source"
    return expect_same_dtype(node) or _expect_closed(node)
