"""Why a value that could be computed where it is read is kept in memory instead.

In goes a value with all its reads, and what computing it takes; out comes whether it must be kept.
`choose_kept` has the list of reasons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.passes.fuse.choice_round import Round
from ogive.compiler.passes.fuse.keep_times import describe_in_place, is_computed_again, pays_to_keep
from ogive.compiler.passes.fuse.reads.axis_relations import View
from ogive.compiler.passes.fuse.reads.bit_sets import (
    Axes,
    Loops,
    all_below,
    greatest_member,
    has,
    members,
    reaches,
)
from ogive.compiler.passes.fuse.reads.kernel_drafts import (
    KernelDraft,
    Read,
    Reads,
    is_large_product,
)
from ogive.compiler.passes.fuse.reads.reduction_directions import goes_along_rows, terms_of
from ogive.compiler.passes.fuse.recompute_costs import InPlaceCost
from ogive.compiler.targets.target import Target


def must_keep(node: UOp, reads: Reads, this: Round) -> bool:
    """Whether a value that is read by `reads` is kept in memory."""
    pairs, cost, target, limit = reads.pairs, this.costs[node], this.target, this.node_limit
    if not pairs:
        return False
    if any(kernel.node_count >= limit for kernel, _ in pairs):
        return True
    first, _ = pairs[0]
    several_kernels = any(kernel is not first for kernel, _ in pairs)
    if cost.reduces:
        if several_kernels or first.is_ordered:
            return True
        decided = _keep_reduction(node, pairs, cost, target)
        if decided is not None:
            return decided
    elif several_kernels and cost.work >= target.costs.fusion.shared_work:
        return True
    if any(_is_repeated_often(kernel, view, cost, target) for kernel, view in pairs):
        return True
    if cost.work and any(_asks_for_more(node, kernel, view) for kernel, view in pairs):
        return True
    if not cost.work or not is_computed_again(node, pairs):
        return False
    return pays_to_keep(node, pairs, describe_in_place(node, this), target)


def _keep_reduction(
    node: UOp, pairs: Sequence[Read], cost: InPlaceCost, target: Target
) -> bool | None:
    """Whether a value that holds reductions, and that one kernel reads, is kept for their sake;
    None if they may stay in that kernel."""
    prefixes = {reduction_prefix(kernel, view, cost.varying, target) for kernel, view in pairs}
    if None in prefixes:
        # Cheap work on a reduction that was spread out is done where it is read: what is kept is
        # the reduction below it, which is smaller.
        return not _is_cheap_spread(node, cost, target)
    if node.op is not Op.REDUCE_AXES:
        return None
    kernel, view = pairs[0]
    is_beside = not reaches(view.used, kernel.output_count)
    if kernel.has_product and is_beside and is_large_product(node, target):
        return True  # the registers of one kernel hold one tile of sums
    if is_beside and _goes_otherwise(node, kernel, target):
        return True
    return len({(view.loops, view.places) for _, view in pairs}) > 1


def _goes_otherwise(node: UOp, kernel: KernelDraft, target: Target) -> bool:
    """Whether a reduction goes through memory along rows and one that the kernel has across them,
    or the other way round, and one more kernel takes less time than that does."""
    memory = target.costs.memory
    if not kernel.directions:
        return False
    if terms_of(node) * memory.mixed_element < memory.launch:
        return False
    along = goes_along_rows(node)
    return along is not None and (not along) in kernel.directions


def _is_cheap_spread(node: UOp, cost: InPlaceCost, target: Target) -> bool:
    """Whether a value has more elements than the reductions in it, and costs little beside what is
    worked out of these before they are spread out.

        x[c, i, j] * sigmoid(s[c])      costs a multiplication: sigmoid(s) is kept
    """
    results = math.prod([greatest(node.shape[axis]) for axis in members(cost.varying)])
    is_cheap = cost.spread_work < target.costs.fusion.shared_work
    return is_cheap and results < upper_count(node.shape)


def reduction_prefix(kernel: KernelDraft, view: View, axes: Axes, target: Target) -> int | None:
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


def _varying_loops(kernel: KernelDraft, view: View, axes: Axes) -> Loops | None:
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


def _prefix_length(kernel: KernelDraft, loops: Loops) -> int:
    """How many output loops are in `loops`, from the outermost on, until one is not.

    Loops of one iteration are no loops at all.
    """
    for loop in range(kernel.output_count):
        if not has(loops, loop) and kernel.extents[loop] != 1:
            return loop
    return kernel.output_count


def _is_repeated_often(kernel: KernelDraft, view: View, cost: InPlaceCost, target: Target) -> bool:
    """Whether loops outside the read position, that it does not depend on, repeat it too much."""
    costs = target.costs.fusion
    inside_reduction = reaches(view.scope, kernel.output_count)
    # What follows from the position alone costs no more than reading it would.
    limit = 1 if inside_reduction and cost.loads else costs.shared_work
    if cost.work < limit:
        return False
    used = view.used
    outside = all_below(greatest_member(used) + 1)
    return kernel.iterations(view.scope & outside & ~used) >= costs.few_repeats


def _asks_for_more(node: UOp, kernel: KernelDraft, view: View) -> bool:
    """Whether indices read more elements of a value than it has."""
    if not view.by_data:
        return False
    return kernel.iterations(view.scope) > upper_count(node.shape)
