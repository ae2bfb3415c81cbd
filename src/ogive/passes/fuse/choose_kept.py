"""The greedy choice: everything is computed where it is used, unless that would repeat work.

Goes once through the graph from the results down. At each value all its readers are known, each
with the kernel it is in and the loops it is read by (`axes.View`). The value joins its reader's
kernel unless

- it holds a reduction (its own or one below it) whose result would be recomputed: read from two
  kernels, or along loops that are not a prefix of the kernel's output loops;
- it is expensive and would be recomputed by a loop it does not depend on, by an index that asks
  for more elements than there are, or by several kernels;
- computing it at each of the places where it is read takes longer than keeping it (`keep_times`);
- it is sorted lines, which are not read line by line;
- it is a large product, and the kernel has one for the same elements already;
- tensor cores multiply it, or have computed it and the kernel does more with it than goes with a
  product (`tensor_products`);
- the kernel is full (`Config.kernel_node_limit`).

Scores that are too large to be shared through memory are worked out by each kernel that needs them.

So softmax is one kernel (its reductions vary along the rows, a prefix of the output loops), a
product followed by layer norm is two, cut after the product's epilogue.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ogive.ir import dtype as dtypes
from ogive.ir.memory import is_memory
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.shape import greatest
from ogive.ir.traversal import walk
from ogive.passes.fuse.axis_relations import View
from ogive.passes.fuse.choose_staged import (
    Scores,
    find_scores,
    is_repeated,
    row_axis,
    row_bytes,
)
from ogive.passes.fuse.keep_times import describe_in_place, is_computed_again, pays_to_keep
from ogive.passes.fuse.kernel_readers import (
    Kernel,
    Readers,
    is_large_product,
    open_kernel,
    open_row,
    pass_on,
)
from ogive.passes.fuse.loop_order import loop_order
from ogive.passes.fuse.recompute_costs import Summary, find_varying, long_axes, summarize
from ogive.passes.fuse.tensor_attention import TensorAttention, find_attention
from ogive.passes.fuse.tensor_products import (
    TensorProducts,
    find_tensor_products,
    is_read_apart,
    widens_narrow,
)
from ogive.targets.target import Target

ROUNDS = 4
"""How often the choice is revised at most."""

_KEPT = (Op.CONTIGUOUS, Op.SCAN_AXIS, Op.ARRANGE, Op.ASSIGN, Op.COPY, Op.CUSTOM)


@dataclass
class Choice:
    """What to keep: `kept` nodes in memory, producers first, and `staged` ones in scratch memory
    of the kernel that reads them, each along one of its axes. `orders` has the order of the axes
    for the loops of some kept nodes."""

    kept: list[UOp]
    staged: dict[UOp, int]
    orders: dict[UOp, tuple[int, ...]] = field(default_factory=dict)

    @functools.cached_property
    def kept_set(self) -> frozenset[UOp]:
        """The kept nodes, in no order."""
        return frozenset(self.kept)


def choose_kept(sink: UOp, target: Target, node_limit: int) -> Choice:
    """The nodes of the parametric graph to keep.

    Whether a value may be recomputed depends on what is kept below it, and that on its readers:
    so the choice is repeated, each time from the last one, until it stands.
    """
    order = walk(sink.src)
    scores = find_scores(order, target)
    attention = find_attention(order, target)
    products = find_tensor_products(order, target)
    chosen = Choice(_estimate(order), {})
    for _ in range(ROUNDS):
        before = chosen
        chosen = _choose_once(
            sink, order, scores, attention, products, before, target, node_limit
        )
        if chosen.kept_set == before.kept_set and chosen.staged == before.staged:
            break
    return chosen


def _choose_once(
    sink: UOp,
    order: list[UOp],
    scores: Scores,
    attention: TensorAttention,
    products: TensorProducts,
    before: Choice,
    target: Target,
    node_limit: int,
) -> Choice:
    varying = find_varying(order)
    summary = summarize(order, before.kept_set, before.staged, varying, target)
    readers: dict[UOp, Readers] = {node: Readers() for node in order}
    forced = {root for root in sink.src if _is_computed(root) and not is_memory(root)}
    kept: list[UOp] = []
    staged: dict[UOp, int] = {}
    orders: dict[UOp, tuple[int, ...]] = {}
    for node in reversed(order):
        op = node.op
        if not _is_computed(node):
            continue
        reads = readers[node]
        must_keep = op in _KEPT or node in forced or node in attention.results
        if not must_keep and node in attention.inside:
            pass  # every kernel that needs it works it out
        elif not must_keep and op is Op.SORT:
            must_keep = not _stays_inside(node, reads, target, node_limit)
        elif not must_keep and op not in MOVEMENT and widens_narrow(node, target):
            pass  # what is kept is the narrow value
        elif not must_keep and _is_kept_for_products(node, reads, products):
            must_keep = True
        elif not must_keep and node in attention.operands and op not in MOVEMENT:
            must_keep = bool(reads.views)
        elif not must_keep and op not in MOVEMENT:
            parts = reads.by_kernel() if node in scores.unshared else [reads]
            must_keep = any(
                _must_keep(node, part, readers, summary[node], before, target, node_limit)
                for part in parts
            )
            is_score = must_keep and node in scores.rows
            axes = {
                _stage_axis(node, part, summary[node], is_score, target, node_limit)
                for part in parts
            }
            axis = axes.pop() if len(axes) == 1 else None
            if axis is not None:
                staged[node] = axis
                reads = Readers.of([open_row(node, part, axis) for part in parts])
                must_keep = False
        if must_keep:
            kept.append(node)
            nest = loop_order(node, target)
            if nest is not None:
                orders[node] = nest
            reads = Readers.of([open_kernel(node, nest)])
        pass_on(node, reads, readers, varying, target)
    kept.reverse()
    return Choice(kept, staged, orders)


def _is_kept_for_products(node: UOp, reads: Readers, products: TensorProducts) -> bool:
    """Whether a value is kept because tensor cores multiply it, or have computed it for somebody
    who does more with it than goes with a product."""
    if node in products.copies and reads.views:
        return True
    if node.op in MOVEMENT or not reads.views:
        return False
    if node in products.operands or (node in products.results and is_read_apart(reads)):
        return True
    kernel = reads.views[0][0]
    if node.op is Op.REDUCE_AXES and kernel.by_tensor_cores:
        return True
    kernel.by_tensor_cores |= node.op is Op.REDUCE_AXES and node in products.results
    return False


def _estimate(order: list[UOp]) -> list[UOp]:
    """A first guess of what is kept: results of reductions that several nodes read."""
    uses: dict[UOp, int] = {}
    holds_reduction: set[UOp] = set()
    for node in order:
        for source in node.src:
            uses[source] = uses.get(source, 0) + 1
        if (
            node.op is Op.REDUCE_AXES
            or (node.op is Op.RESHAPE and node.operand in holds_reduction)
            or (
                node.op in ELEMENTWISE
                and any(s in holds_reduction and uses[s] == 1 for s in node.src)
            )
        ):
            holds_reduction.add(node)
    return [node for node in order if node in holds_reduction and uses.get(node, 0) > 1]


def _is_computed(node: UOp) -> bool:
    if node.dtype is dtypes.index:
        return False  # lengths and positions: every kernel works them out for itself
    return (
        node.op in ELEMENTWISE
        or node.op in MOVEMENT
        or node.op in (Op.REDUCE_AXES, Op.GATHER, Op.SORT)
        or node.op in _KEPT
    )


def _must_keep(
    node: UOp,
    reads: Readers,
    readers: Mapping[UOp, Readers],
    summary: Summary,
    before: Choice,
    target: Target,
    node_limit: int,
) -> bool:
    costs = target.costs.fusion
    views = reads.views
    if not views:
        return False
    several_kernels = any(kernel is not views[0][0] for kernel, _ in views)
    if any(kernel.node_count >= node_limit for kernel, _ in views):
        return True
    if summary.reduces:
        if several_kernels or views[0][0].is_ordered:
            return True
        prefixes = {
            _reduction_prefix(kernel, view, summary.varying, target) for kernel, view in views
        }
        if None in prefixes:
            # Cheap work on a reduction that was spread out is done where it is read: what is kept
            # is the reduction below it, which is smaller.
            return not _is_cheap_spread(node, summary, target)
        if node.op is Op.REDUCE_AXES:
            kernel, view = views[0]
            is_beside = not view.used >> kernel.output_count
            if kernel.has_product and is_beside and is_large_product(node, target):
                return True  # the registers of one kernel hold one tile of sums
            return len({(view.loops, view.places) for _, view in views}) > 1
    elif several_kernels and summary.cost >= costs.shared_work:
        return True
    if any(_is_repeated_often(kernel, view, summary, target) for kernel, view in views):
        return True
    if summary.cost and any(_asks_for_more(node, kernel, view) for kernel, view in views):
        return True
    if not summary.cost or not is_computed_again(node, views):
        return False
    made = describe_in_place(node, readers, before.kept_set, before.staged, target)
    return pays_to_keep(node, views, made, target)


def _stage_axis(
    node: UOp,
    reads: Readers,
    summary: Summary,
    is_score: bool,
    target: Target,
    node_limit: int,
) -> int | None:
    """The axis along which a value is staged in the kernel that reads it, if it should be: a score
    that would be kept otherwise, or what several loops would work out from the same row."""
    if not reads.views:
        return None
    costs = target.costs.staging
    kernel = reads.views[0][0]
    if kernel.is_ordered or any(other is not kernel for other, _ in reads.views):
        return None
    views = [view for _, view in reads.views]
    distinct = len({view.loops for view in views})
    is_row = distinct > 1 and summary.cost >= costs.row_work
    if not (is_score or is_row) or kernel.node_count >= node_limit:
        return None
    share = costs.score_row_share if is_score else costs.row_share
    longest = int(share * target.l2_bytes)
    axis = row_axis(node, views, kernel.extents, longest)
    if axis is None or kernel.scratch + row_bytes(node, axis) > costs.rows_at_once * longest:
        return None
    if not is_score and (
        (summary.varying >> axis) & 1 or any(is_repeated(view, kernel.extents) for view in views)
    ):
        return None
    others = long_axes(node) & ~(1 << axis)
    return None if _reduction_prefix(kernel, views[0], others, target) is None else axis


def _stays_inside(node: UOp, reads: Readers, target: Target, node_limit: int) -> bool:
    """Whether lines are sorted by the kernel that reads them, each as a row of its own: it reads
    every line once, and by loops that stand around those along it."""
    if not reads.views:
        return False
    kernel, first = reads.views[0]
    if kernel.is_ordered or kernel.rows or kernel.node_count >= node_limit:
        return False
    last = len(node.shape) - 1
    for other, view in reads.views:
        *lines, along = view.loops
        is_plain = not along or ((view.bare >> last) & 1 and along.bit_count() == 1)
        if other is not kernel or view.by_data or not is_plain or any(b & along for b in lines):
            return False
        if (tuple(lines), view.places[:last]) != (first.loops[:last], first.places[:last]):
            return False
    others = long_axes(node) & ~(1 << last)
    return _reduction_prefix(kernel, first, others, target) is not None


def _is_cheap_spread(node: UOp, summary: Summary, target: Target) -> bool:
    """Whether a value has more elements than the reductions in it, and costs little beside them."""
    results = math.prod(
        [greatest(size) for axis, size in enumerate(node.shape) if (summary.varying >> axis) & 1]
    )
    is_cheap = summary.cost < target.costs.fusion.shared_work
    return is_cheap and results < math.prod(map(greatest, node.shape))


def _reduction_prefix(kernel: Kernel, view: View, axes: int, target: Target) -> int | None:
    """How many output loops a reduction read by `view` varies along, if they are a prefix that
    leaves enough to do in parallel; None if it cannot stay in this kernel."""
    loops = 0
    for axis, bits in enumerate(view.loops):
        if (axes >> axis) & 1 and bits:
            if not (view.bare >> axis) & 1:
                return None
            loops |= bits
    for row, around in kernel.rows.items():
        if loops & row:
            if loops & ~row != around:
                return None  # it would be computed again for every row
            loops &= ~row
    # Output loops of length 1 are no loops at all.
    count = 0
    tiles = 1
    for loop in range(kernel.output_count):
        if (loops >> loop) & 1:
            tiles *= kernel.extents[loop]
        elif kernel.extents[loop] != 1:
            break
        count = loop + 1
    if loops >> count:
        return None
    costs = target.costs.fusion
    if tiles < costs.least_outer and kernel.work > costs.tiny_elements:
        everything = math.prod(kernel.extents[: kernel.output_count])
        if tiles != everything:
            return None
    return count


def _is_repeated_often(
    kernel: Kernel, view: View, summary: Summary, target: Target
) -> bool:
    """Whether loops outside the read position, that it does not depend on, repeat it too much."""
    used = view.used
    repeats = 1
    for loop, extent in enumerate(kernel.extents):
        bit = 1 << loop
        if bit > used:
            break
        if view.scope & bit and not used & bit:
            repeats *= extent
    inside_reduction = bool(view.scope >> kernel.output_count)
    # What follows from the position alone costs no more than reading it would.
    costs = target.costs.fusion
    limit = 1 if inside_reduction and summary.loads else costs.shared_work
    return repeats >= costs.few_repeats and summary.cost >= limit


def _asks_for_more(node: UOp, kernel: Kernel, view: View) -> bool:
    """Whether indices read more elements of a value than it has."""
    if not view.by_data:
        return False
    asked = math.prod(e for loop, e in enumerate(kernel.extents) if (view.scope >> loop) & 1)
    return asked > math.prod(greatest(size) for size in node.shape)
