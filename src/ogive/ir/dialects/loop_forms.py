"""How the nodes of loop graphs must look: unplaced, placed and lowered ones.

As in `tensor_forms.py`, a function says what was expected of a node, or None if it is so.
"""

from __future__ import annotations

from typing import Any

from ogive.ir.dialects.tensor_forms import Problem, are_integers, expect_same_dtype, is_integer
from ogive.ir.dtype import bool_, index
from ogive.ir.node import UOp
from ogive.ir.ops import IRREGULAR, LANE, LOOP, REDUCING, SCRATCH, UPCAST, Op


def _expect_range(node: UOp) -> Problem:
    if node.dtype is not index or node.src[0].dtype is not index:
        return "index as dtype and as dtype of the extent"
    fits = isinstance(node.arg, tuple) and len(node.arg) == 2 and is_integer(node.arg[0])
    return None if fits else "(number, placement) as argument"


def expect_unplaced_range(node: UOp) -> Problem:
    # A loop whose iterations have an order is one from the beginning.
    return _expect_range(node) or (None if node.arg[1] in (None, LOOP) else "no placement yet")


def expect_placed_range(node: UOp) -> Problem:
    return _expect_range(node) or (None if isinstance(node.arg[1], str) else "a placement")


def _expect_ranges(node: UOp, start: int) -> Problem:
    strangers = [source.op.name for source in node.src[start:] if source.op is not Op.RANGE]
    return f"ranges to close, not {', '.join(strangers)}" if strangers else None


def expect_scan(node: UOp) -> Problem:
    if node.arg not in REDUCING:
        return "a combining op as argument"
    loop, *tile = node.src[2:]
    if loop.op is not Op.RANGE or loop.arg[1] != LOOP:
        return "a loop in order as third source"
    if any(counter.op is not Op.RANGE or counter.arg[1] != UPCAST for counter in tile):
        return "a tile of iterations as last source"
    fits = node.src[1].dtype is node.dtype
    return expect_same_dtype(node) if fits else f"{node.dtype.name} to start from"


def expect_reduce(node: UOp) -> Problem:
    if node.arg not in REDUCING:
        return "a combining op as argument"
    return expect_same_dtype(node) or _expect_ranges(node, 1)


def expect_index(node: UOp) -> Problem:
    if node.src[0].op not in (Op.PARAM, Op.STAGE):
        return "PARAM or STAGE as first source"
    if node.src[1].dtype is not index:
        return "an index as second source"
    gated = len(node.src) == 3
    return "bool as gate" if gated and node.src[2].dtype is not bool_ else expect_same_dtype(node)


def expect_load(node: UOp) -> Problem:
    return expect_same_dtype(node) if node.src[0].op is Op.INDEX else "INDEX as source"


def expect_tally(node: UOp) -> Problem:
    if node.src[0].op is not Op.INDEX or node.src[0].src[0].op is not Op.STAGE:
        return "INDEX of a STAGE as first source"
    counter = node.src[1]
    fits = counter.op is Op.RANGE and counter.arg[1] == LOOP
    return expect_same_dtype(node) if fits else "a loop in order as second source"


def expect_lowered_load(node: UOp) -> Problem:
    if len(node.src) == 1:
        return expect_load(node) or (None if node.arg is None else "no stride without lanes")
    lanes = node.src[1]
    if node.arg == IRREGULAR:
        return expect_load(node) or (None if lanes.dtype is index else "an index of lanes")
    if lanes.op is not Op.RANGE or lanes.arg[1] != LANE:
        return "a lane counter as second source"
    return expect_load(node) or (None if _is_stride(node.arg) else "a stride as argument")


def expect_lowered_store(node: UOp) -> Problem:
    if not isinstance(node.arg, tuple) or len(node.arg) != 2:
        return "(stride, combining op) as argument"
    stride, op = node.arg
    fits = (stride is None or _is_stride(stride)) and (op is None or op in REDUCING)
    return _expect_stored(node) if fits else "a stride and a combining op, or None, as argument"


def _is_stride(value: Any) -> bool:
    return is_integer(value) or value == IRREGULAR


def expect_store(node: UOp) -> Problem:
    fits = node.arg is None or node.arg in REDUCING
    return _expect_stored(node) if fits else "a combining op or None as argument"


def _expect_stored(node: UOp) -> Problem:
    if node.src[0].op is not Op.INDEX:
        return "INDEX as first source"
    wanted, given = node.src[0].dtype, node.src[1].dtype
    if wanted is not given:
        return f"a value of {wanted.name}, not {given.name}"
    return _expect_ranges(node, 2)


def expect_check(node: UOp) -> Problem:
    if any(source.dtype is not bool_ for source in node.src[1:]):
        return "bool as condition and as gate"
    fits = are_integers(node.arg) and len(node.arg) == 2
    return expect_same_dtype(node) if fits else "(site, what stands in) as argument"


def expect_stage(node: UOp) -> Problem:
    if node.src[1].dtype is not index:
        return "an index as second source"
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 3 and _is_space_and_op(arg[::2])
    fits = fits and is_integer(arg[1])
    problem = "(space, length, combining op, (SORT, count) or None) as argument"
    return expect_same_dtype(node) or _expect_ranges(node, 2) if fits else problem


def expect_lowered_stage(node: UOp) -> Problem:
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 5 and _is_space_and_op(arg[::4])
    problem = "(space, length, count, stride, combining op, (SORT, count) or None) as argument"
    fits = fits and are_integers(arg[1:3]) and (arg[3] is None or _is_stride(arg[3]))
    return expect_same_dtype(node) or _expect_ranges(node, 2) if fits else problem


def _is_space_and_op(value: tuple[Any, Any]) -> bool:
    space, op = value
    if isinstance(op, tuple):
        return space == SCRATCH and len(op) == 2 and op[0] is Op.SORT and is_integer(op[1])
    return space == SCRATCH and (op is None or op in REDUCING)
