"""Rows: values that a kernel computes a row at a time, in scratch memory of its own.

A row program needs a value of the row in several of its loops: the exponentials of a softmax are
summed and then divided by the sum. In goes a value with all its reads; out comes the axis that is
the row, if the value should be staged.

    before   sum over k of exp(x[q, k] - m[q]);   store exp(x[q, k] - m[q]) / sum
    after    e[k] = exp(x[q, k] - m[q]), summed;  store e[k] / sum
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.shape import greatest
from ogive.compiler.passes.fuse.choice_round import Round
from ogive.compiler.passes.fuse.keep_reasons import reduction_prefix
from ogive.compiler.passes.fuse.reads.axis_relations import View, long_axes
from ogive.compiler.passes.fuse.reads.bit_sets import greatest_member, has, is_single, single
from ogive.compiler.passes.fuse.reads.kernel_drafts import KernelDraft, Reads, row_bytes


def stage_axis(node: UOp, reads: Reads, is_score: bool, this: Round) -> int | None:
    """The axis along which the kernel that reads a value stages it; None if it does not.

    A kernel stages a score that would be kept otherwise, and what several of its loops would
    compute from the same row.
    """
    costs, cost = this.target.costs.staging, this.costs[node]
    views = [view for _, view in reads.pairs]
    is_row = cost.work >= costs.row_work and len({view.loops for view in views}) > 1
    if not is_score and not is_row:
        return None
    kernel = _only_kernel(reads)
    if kernel is None or kernel.is_ordered or kernel.node_count >= this.node_limit:
        return None
    share = costs.score_row_share if is_score else costs.row_share
    longest = int(share * this.target.l2_bytes)
    axis = _row_axis(node, views, kernel.extents, longest)
    if axis is None or kernel.scratch + row_bytes(node, axis) > costs.rows_at_once * longest:
        return None
    if not is_score and (
        has(cost.varying, axis) or any(kernel.repeats(view) for view in views)
    ):
        return None
    return axis if _fits_around(node, axis, kernel, views[0], this) else None


def is_sorted_inside(node: UOp, reads: Reads, this: Round) -> bool:
    """Whether lines are sorted by the kernel that reads them, each as a row of its own.

    It must read every line once, and by loops that stand around those along it.
    """
    kernel = _only_kernel(reads)
    if kernel is None or kernel.is_ordered or kernel.rows or kernel.node_count >= this.node_limit:
        return False
    last = len(node.shape) - 1
    views = [view for _, view in reads.pairs]
    return (
        all(_reads_lines(view, last) for view in views)
        and len({(view.loops[:last], view.places[:last]) for view in views}) == 1
        and _fits_around(node, last, kernel, views[0], this)
    )


def _only_kernel(reads: Reads) -> KernelDraft | None:
    """The kernel of all reads; None if there are several, or no reads."""
    kernels: Sequence[KernelDraft] = [kernel for kernel, _ in reads.pairs]
    is_one = kernels and all(kernel is kernels[0] for kernel in kernels)
    return kernels[0] if is_one else None


def _reads_lines(view: View, last: int) -> bool:
    """Whether a read goes along the last axis by one loop, or by none, that nothing else uses."""
    *lines, along = view.loops
    is_plain = not along or (has(view.bare, last) and is_single(along))
    return is_plain and not view.by_data and not any(loops & along for loops in lines)


def _fits_around(node: UOp, row: int, kernel: KernelDraft, view: View, this: Round) -> bool:
    """Whether the output loops around a row go through the other axes of its value."""
    others = long_axes(node) & ~single(row)
    return reduction_prefix(kernel, view, others, this.target) is not None


def _row_axis(
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
