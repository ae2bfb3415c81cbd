"""Which values a kernel keeps for itself, in scratch memory, while it works on one row.

A row program needs a value of the row in several of its loops: the exponentials of a softmax are
summed and then divided by the sum. Scores, the products of all queries with all keys, are needed
row by row too, and are far larger than what they are computed from: kept in memory they would be
most of the traffic, so the kernel that reads them computes them, a few rows at a time.

    before   sum over k of exp(x[q, k] - m[q]);   store exp(x[q, k] - m[q]) / sum
    after    e[k] = exp(x[q, k] - m[q]), summed;  store e[k] / sum
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir.memory import upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op
from ogive.ir.shape import greatest
from ogive.named import NamedTuple
from ogive.passes.fuse.axis_relations import View
from ogive.passes.fuse.bit_sets import greatest_member, has, is_single, members
from ogive.passes.graph.products.attention_scores import are_scores, has_few_columns
from ogive.targets.target import Target


class Scores(NamedTuple):
    """Nodes that hold `rows` of scores; and the `unshared`, which every kernel that needs them
    works out for itself: rows too large to be kept, and what each is reduced to."""

    rows: set[UOp]
    unshared: set[UOp]


def find_scores(order: Sequence[UOp], target: Target) -> Scores:
    """Large products of rows with rows, and what is computed from them element by element."""
    scores = Scores(set(), set())
    shared = target.costs.staging.shared_score_bytes
    for node in order:
        if node.op in ELEMENTWISE:
            is_score = any(s in scores.rows and s.shape == node.shape for s in node.src)
        elif node.op is Op.RESHAPE:
            source = node.operand
            is_score = source in scores.rows and _long_axes(source) == _long_axes(node)
        else:
            is_score = node.op is Op.REDUCE_AXES and are_scores(node, target)
        if is_score:
            scores.rows.add(node)
            if upper_count(node.shape) * node.dtype.itemsize >= shared:
                scores.unshared.add(node)
        elif node.op is Op.REDUCE_AXES and node.operand in scores.unshared & scores.rows:
            scores.unshared.add(node)
    for node in order:
        if has_few_columns(node, target):
            for factor in node.operand.src:
                scores.rows.difference_update(_scores_read(factor, scores))
    return scores


def _scores_read(factor: UOp, scores: Scores) -> set[UOp]:
    """The scores that a factor of a product is, and those that it is computed from."""
    while factor.op in (Op.EXPAND, Op.RESHAPE, Op.PERMUTE) and factor not in scores.rows:
        factor = factor.operand
    read, pending = set[UOp](), [factor]
    while pending:
        node = pending.pop()
        if node in scores.rows and node not in read:
            read.add(node)
            pending.extend(node.src)
    return read


def _long_axes(node: UOp) -> list[object]:
    return [size for size in node.shape if size != 1]


def row_axis(
    node: UOp, views: Sequence[View], extents: Sequence[int], longest: int
) -> int | None:
    """The axis along which a value is a row that each of its readers goes through as a whole, and
    that they all read at the same place otherwise; None if there is none or it takes more bytes
    than `longest`."""
    long = [axis for axis, size in enumerate(node.shape) if size != 1]
    first = views[0].loops
    rows = [axis for axis in long if any(view.loops[axis] != first[axis] for view in views)]
    if not long or len(rows) > 1 or not node.dtype.is_float:
        return None
    axis = rows[0] if rows else long[-1]
    if row_bytes(node, axis) > longest:
        return None
    for view in views:
        loop = view.loops[axis]
        if view.by_data or not has(view.bare, axis) or not is_single(loop):
            return None
        length = extents[greatest_member(loop)]
        others = [loops for other, loops in enumerate(view.loops) if other != axis]
        if view.places != views[0].places:
            return None
        if length != greatest(node.shape[axis]) or any(loops & loop for loops in others):
            return None
    return axis


def row_bytes(node: UOp, axis: int) -> int:
    """How much a value takes along one of its axes."""
    return greatest(node.shape[axis]) * node.dtype.itemsize


def is_repeated(view: View, extents: Sequence[int]) -> bool:
    """Whether a read stands in a loop that it does not depend on."""
    idle = view.scope & ~view.used
    return any(extents[loop] > 1 for loop in members(idle))
