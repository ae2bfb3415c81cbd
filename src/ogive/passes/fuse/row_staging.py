"""Which values a kernel computes a row at a time, in scratch memory of its own.

In goes a value with all its reads; out comes the axis that is the row, if it should be staged so.
`choose_staged` says what rows and scores are.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir.node import UOp
from ogive.passes.fuse.axis_relations import View
from ogive.passes.fuse.bit_sets import has, is_single, single
from ogive.passes.fuse.choose_staged import is_repeated, row_axis, row_bytes
from ogive.passes.fuse.keep_reasons import Known, reduction_prefix
from ogive.passes.fuse.kernel_readers import Kernel, Readers
from ogive.passes.fuse.recompute_costs import long_axes


def stage_axis(node: UOp, reads: Readers, is_score: bool, known: Known) -> int | None:
    """The axis along which the kernel that reads a value stages it; None if it does not.

    A kernel stages a score that would be kept otherwise, and what several of its loops would
    compute from the same row.
    """
    costs, summary = known.target.costs.staging, known.summaries[node]
    views = [view for _, view in reads.views]
    is_row = summary.cost >= costs.row_work and len({view.loops for view in views}) > 1
    if not is_score and not is_row:
        return None
    kernel = _only_kernel(reads)
    if kernel is None or kernel.is_ordered or kernel.node_count >= known.node_limit:
        return None
    share = costs.score_row_share if is_score else costs.row_share
    longest = int(share * known.target.l2_bytes)
    axis = row_axis(node, views, kernel.extents, longest)
    if axis is None or kernel.scratch + row_bytes(node, axis) > costs.rows_at_once * longest:
        return None
    if not is_score and (
        has(summary.varying, axis) or any(is_repeated(view, kernel.extents) for view in views)
    ):
        return None
    return axis if _fits_around(node, axis, kernel, views[0], known) else None


def is_sorted_inside(node: UOp, reads: Readers, known: Known) -> bool:
    """Whether lines are sorted by the kernel that reads them, each as a row of its own.

    It must read every line once, and by loops that stand around those along it.
    """
    kernel = _only_kernel(reads)
    if kernel is None or kernel.is_ordered or kernel.rows or kernel.node_count >= known.node_limit:
        return False
    last = len(node.shape) - 1
    views = [view for _, view in reads.views]
    return (
        all(_reads_lines(view, last) for view in views)
        and len({(view.loops[:last], view.places[:last]) for view in views}) == 1
        and _fits_around(node, last, kernel, views[0], known)
    )


def _only_kernel(reads: Readers) -> Kernel | None:
    """The kernel of all reads; None if there are several, or no reads."""
    kernels: Sequence[Kernel] = [kernel for kernel, _ in reads.views]
    is_one = kernels and all(kernel is kernels[0] for kernel in kernels)
    return kernels[0] if is_one else None


def _reads_lines(view: View, last: int) -> bool:
    """Whether a read goes along the last axis by one loop, or by none, that nothing else uses."""
    *lines, along = view.loops
    is_plain = not along or (has(view.bare, last) and is_single(along))
    return is_plain and not view.by_data and not any(loops & along for loops in lines)


def _fits_around(node: UOp, row: int, kernel: Kernel, view: View, known: Known) -> bool:
    """Whether the output loops around a row go through the other axes of its value."""
    others = long_axes(node) & ~single(row)
    return reduction_prefix(kernel, view, others, known.target) is not None
