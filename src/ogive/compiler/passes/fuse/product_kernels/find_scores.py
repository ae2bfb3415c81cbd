"""Scores: the products of all queries with all keys, and what is computed of them one by one.

They are needed row by row, and are far larger than what they are computed from. Kept in memory they
would be most of the traffic, so the kernel that reads them computes them, a few rows at a time.

    softmax(q @ kᵀ) @ v      q @ kᵀ, the exponentials and the quotients are rows of scores
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.passes.fuse.reads.axis_relations import long_sizes
from ogive.compiler.passes.graph.products.attention_scores import are_scores, has_few_columns
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


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
            is_score = source in scores.rows and long_sizes(source) == long_sizes(node)
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
