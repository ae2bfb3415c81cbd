"""Why a value that could be computed where it is read is kept in memory instead.

In goes a value with all its reads, and what computing it takes; out comes whether it must be kept.
`choose_kept` has the list of reasons, and asks for each value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

from ogive.ir.memory import upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import greatest
from ogive.named import NamedTuple
from ogive.passes.fuse.axis_relations import View
from ogive.passes.fuse.bit_sets import (
    Axes,
    Loops,
    all_below,
    greatest_member,
    has,
    members,
    reaches,
)
from ogive.passes.fuse.keep_times import describe_in_place, is_computed_again, pays_to_keep
from ogive.passes.fuse.kernel_readers import Kernel, Readers, is_large_product
from ogive.passes.fuse.recompute_costs import Summary
from ogive.passes.fuse.reduction_directions import goes_along_rows, terms_of
from ogive.targets.target import Target

Reads = Sequence[tuple[Kernel, View]]


class Known(NamedTuple):
    """The knowledge of one round of the choice: the reads of all values so far, the cost of
    computing each of them if the last round's choice holds (`kept`, `staged`), the target and the
    greatest number of nodes in a kernel."""

    readers: Mapping[UOp, Readers]
    summaries: Mapping[UOp, Summary]
    kept: Set[UOp]
    staged: Mapping[UOp, int]
    target: Target
    node_limit: int


def must_keep(node: UOp, reads: Readers, known: Known) -> bool:
    """Whether a value that is read by `reads` is kept in memory."""
    views, summary, target = reads.views, known.summaries[node], known.target
    if not views:
        return False
    if any(kernel.node_count >= known.node_limit for kernel, _ in views):
        return True
    several_kernels = any(kernel is not views[0][0] for kernel, _ in views)
    if summary.reduces:
        if several_kernels or views[0][0].is_ordered:
            return True
        decided = _keep_reduction(node, views, summary, target)
        if decided is not None:
            return decided
    elif several_kernels and summary.cost >= target.costs.fusion.shared_work:
        return True
    if any(_is_repeated_often(kernel, view, summary, target) for kernel, view in views):
        return True
    if summary.cost and any(_asks_for_more(node, kernel, view) for kernel, view in views):
        return True
    if not summary.cost or not is_computed_again(node, views):
        return False
    in_place = describe_in_place(node, known.readers, known.kept, known.staged, target)
    return pays_to_keep(node, views, in_place, target)


def _keep_reduction(node: UOp, views: Reads, summary: Summary, target: Target) -> bool | None:
    """Whether a value that holds reductions, and that one kernel reads, is kept for their sake;
    None if they may stay in that kernel."""
    prefixes = {reduction_prefix(kernel, view, summary.varying, target) for kernel, view in views}
    if None in prefixes:
        # Cheap work on a reduction that was spread out is done where it is read: what is kept is
        # the reduction below it, which is smaller.
        return not _is_cheap_spread(node, summary, target)
    if node.op is not Op.REDUCE_AXES:
        return None
    kernel, view = views[0]
    is_beside = not reaches(view.used, kernel.output_count)
    if kernel.has_product and is_beside and is_large_product(node, target):
        return True  # the registers of one kernel hold one tile of sums
    if is_beside and _goes_otherwise(node, kernel, target):
        return True
    return len({(view.loops, view.places) for _, view in views}) > 1


def _goes_otherwise(node: UOp, kernel: Kernel, target: Target) -> bool:
    """Whether a reduction goes through memory along rows and one that the kernel has across them,
    or the other way round, and one more kernel takes less time than that does."""
    memory = target.costs.memory
    if not kernel.directions:
        return False
    if terms_of(node) * memory.mixed_element < memory.launch:
        return False
    along = goes_along_rows(node)
    return along is not None and (not along) in kernel.directions


def _is_cheap_spread(node: UOp, summary: Summary, target: Target) -> bool:
    """Whether a value has more elements than the reductions in it, and costs little beside what is
    worked out of these before they are spread out.

        x[c, i, j] * sigmoid(s[c])      costs a multiplication: sigmoid(s) is kept
    """
    results = math.prod([greatest(node.shape[axis]) for axis in members(summary.varying)])
    is_cheap = summary.spread_cost < target.costs.fusion.shared_work
    return is_cheap and results < upper_count(node.shape)


def reduction_prefix(kernel: Kernel, view: View, axes: Axes, target: Target) -> int | None:
    """How many output loops a reduction that varies along `axes` of a read value varies with.

    They must be a prefix of the output loops that leaves enough to do in parallel. None if they are
    not, so that the reduction cannot stay in this kernel.

        y[i, j] = x[i, j] / s[i]      s varies with loop 0, a prefix of 0, 1: 1
        y[i, j] = x[i, j] / s[j]      s varies with loop 1, which is no prefix: None
    """
    loops = _varying_loops(kernel, view, axes)
    if loops is None:
        return None
    count = _prefix_length(kernel, loops)
    if reaches(loops, count):
        return None
    tiles = kernel.iterations(loops)
    costs = target.costs.fusion
    if tiles < costs.least_outer and kernel.work > costs.tiny_elements:
        everything = kernel.iterations(kernel.output_loops)
        if tiles != everything:
            return None
    return count


def _varying_loops(kernel: Kernel, view: View, axes: Axes) -> Loops | None:
    """The loops that go through `axes` of a read value, without those of the rows that the kernel
    stages; None if an index is no bare counter, or rows would repeat the work."""
    loops = 0
    for axis, own in enumerate(view.loops):
        if own and has(axes, axis):
            if not has(view.bare, axis):
                return None
            loops |= own
    for row, around in kernel.rows.items():
        if loops & row:
            if loops & ~row != around:
                return None  # every row would compute it
            loops &= ~row
    return loops


def _prefix_length(kernel: Kernel, loops: Loops) -> int:
    """How many output loops are in `loops`, from the outermost on, until one is not.

    Loops of one iteration are no loops at all.
    """
    for loop in range(kernel.output_count):
        if not has(loops, loop) and kernel.extents[loop] != 1:
            return loop
    return kernel.output_count


def _is_repeated_often(kernel: Kernel, view: View, summary: Summary, target: Target) -> bool:
    """Whether loops outside the read position, that it does not depend on, repeat it too much."""
    costs = target.costs.fusion
    inside_reduction = reaches(view.scope, kernel.output_count)
    # What follows from the position alone costs no more than reading it would.
    limit = 1 if inside_reduction and summary.loads else costs.shared_work
    if summary.cost < limit:
        return False
    used = view.used
    outside = all_below(greatest_member(used) + 1)
    return kernel.iterations(view.scope & outside & ~used) >= costs.few_repeats


def _asks_for_more(node: UOp, kernel: Kernel, view: View) -> bool:
    """Whether indices read more elements of a value than it has."""
    if not view.by_data:
        return False
    return kernel.iterations(view.scope) > upper_count(node.shape)
