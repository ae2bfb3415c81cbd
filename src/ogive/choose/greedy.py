"""The greedy choice: everything is computed where it is used, unless that would repeat work.

Goes once through the graph from the results down. At each value all its readers are known, each
with the kernel it is in and the loops it is read by (`axes.View`). The value joins its reader's
kernel unless

- it holds a reduction (its own or one below it) whose result would be recomputed: read from two
  kernels, or along loops that are not a prefix of the kernel's output loops;
- it is expensive and would be recomputed by a loop it does not depend on, by an index that asks
  for more elements than there are, or by several kernels;
- it is a large product, and the kernel has one for the same elements already;
- the kernel is full (`Config.kernel_node_limit`).

Scores that are too large to be shared through memory are worked out by each kernel that needs them.

So softmax is one kernel (its reductions vary along the rows, a prefix of the output loops), a
product followed by layer norm is two, cut after the product's epilogue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from ogive.choose.axes import (
    View,
    gathered_view,
    identity_view,
    permuted_view,
    source_view,
    varying_axes,
)
from ogive.choose.costs import operation_cost
from ogive.choose.orders import loop_order
from ogive.choose.stages import (
    ROW_BYTES,
    ROW_COST,
    ROWS_AT_ONCE,
    SCORE_ROW_BYTES,
    Scores,
    find_scores,
    is_repeated,
    row_axis,
    row_bytes,
)
from ogive.config import Config
from ogive.ir import dtype as dtypes
from ogive.ir.memory import is_memory
from ogive.ir.node import UOp, walk
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.shape import common_shape, greatest

REPEAT_LIMIT = 24
"""Work (in units of an addition) that may be repeated in one kernel rather than kept in memory."""

SHARE_LIMIT = 8
"""Work that two kernels may both do rather than share through memory."""

TINY_WORK = 1 << 14
"""Elements below which a kernel runs on one thread anyway."""

PARALLEL_TILES = 32
"""The least number of outer iterations worth keeping a reduction inside its reader's kernel."""

LARGE_PRODUCT = 1 << 20
"""Multiplications from which on a product has a kernel of its own."""

ROUNDS = 4
"""How often the choice is revised at most."""

_COST_LIMIT = 1 << 20
_KEPT = (Op.CONTIGUOUS, Op.SCAN, Op.STORE, Op.COPY, Op.CUSTOM)


@dataclass
class Kernel:
    """A kernel under construction: its root and the loops opened so far, the output's first."""

    root: UOp
    extents: list[int]
    output_count: int
    node_count: int = 0
    work: int = 0
    has_product: bool = False
    rows: dict[int, int] = field(default_factory=dict)
    """The loops (bits) that stage a row, and with each the output loops around it."""
    scratch: int = 0
    """The bytes of all staged rows."""

    @property
    def is_ordered(self) -> bool:
        """Whether some of its loops are innermost and in order, whichever axes they are of."""
        return self.root.op is Op.SCAN or (self.root.op is Op.STORE and len(self.root.src) > 2)


@dataclass
class Readers:
    """All reads of one value seen so far."""

    views: list[tuple[Kernel, View]] = field(default_factory=list)

    def add(self, kernel: Kernel, view: View) -> None:
        entry = (kernel, view)
        if all(kernel is not k or view != v for k, v in self.views):
            self.views.append(entry)

    def by_kernel(self) -> list[Readers]:
        """The reads of each kernel by themselves."""
        parts: dict[int, Readers] = {}
        for kernel, view in self.views:
            parts.setdefault(id(kernel), Readers()).views.append((kernel, view))
        return list(parts.values())


@dataclass
class Choice:
    """What to keep: `kept` nodes in memory, producers first, and `staged` ones in scratch memory
    of the kernel that reads them, each along one of its axes. `orders` has the order of the axes
    for the loops of some kept nodes."""

    kept: list[UOp]
    staged: dict[UOp, int]
    orders: dict[UOp, tuple[int, ...]] = field(default_factory=dict)


def choose(sink: UOp, config: Config) -> Choice:
    """The nodes of the parametric graph to keep.

    Whether a value may be recomputed depends on what is kept below it, and that on its readers:
    so the choice is repeated, each time from the last one, until it stands.
    """
    order = walk(sink.src)
    scores = find_scores(order)
    chosen = Choice(_estimate(order), {})
    for _ in range(ROUNDS):
        before = chosen
        chosen = _choose_once(sink, order, scores, before, config)
        if set(chosen.kept) == set(before.kept) and chosen.staged == before.staged:
            break
    return chosen


def _choose_once(
    sink: UOp, order: list[UOp], scores: Scores, before: Choice, config: Config
) -> Choice:
    varying = _find_varying(order)
    summary = _summarize(order, before, varying)
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
        must_keep = op in _KEPT or node in forced
        if not must_keep and op not in MOVEMENT:
            parts = reads.by_kernel() if node in scores.unshared else [reads]
            must_keep = any(_must_keep(node, part, summary[node], config) for part in parts)
            is_score = must_keep and node in scores.rows
            axes = {_stage_axis(node, part, summary[node], is_score, config) for part in parts}
            axis = axes.pop() if len(axes) == 1 else None
            if axis is not None:
                staged[node] = axis
                reads = Readers([_open_row(node, part, axis) for part in parts])
                must_keep = False
        if must_keep:
            kept.append(node)
            stored = op is Op.STORE and len(node.src) > 2
            shape = common_shape(node.src[1:]) if stored else node.shape
            kernel = Kernel(node, [greatest(size) for size in shape], len(shape))
            kernel.work = math.prod(kernel.extents)
            view = identity_view(kernel.extents)
            nest = loop_order(node)
            if nest is not None:
                orders[node] = nest
                kernel.extents = [kernel.extents[axis] for axis in nest]
                view = permuted_view(identity_view(kernel.extents), nest)
            reads = Readers([(kernel, view)])
        _pass_on(node, reads, readers, varying)
    kept.reverse()
    return Choice(kept, staged, orders)


def _estimate(order: list[UOp]) -> list[UOp]:
    """A first guess of what is kept: results of reductions that several nodes read."""
    uses: dict[UOp, int] = {}
    holds_reduction: set[UOp] = set()
    for node in order:
        for source in node.src:
            uses[source] = uses.get(source, 0) + 1
        if (
            node.op is Op.REDUCE_AXES
            or (node.op is Op.RESHAPE and node.src[0] in holds_reduction)
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
        or node.op in (Op.REDUCE_AXES, Op.GATHER)
        or node.op in _KEPT
    )


class Summary(NamedTuple):
    """What computing one element of a value in place takes, given what is kept in memory.

    `cost` is the work outside reductions; `reduces` whether there is a reduction in it, and
    `varying` the axes (bits) along which the results of those reductions vary; `loads` whether
    memory is read.
    """

    cost: int
    reduces: bool
    varying: int
    loads: bool = True


_MEMORY = Summary(0, False, 0)
_CONSTANT = Summary(0, False, 0, loads=False)


def _summarize(
    order: list[UOp], chosen: Choice, axes_of: dict[UOp, int]
) -> dict[UOp, Summary]:
    """The summary of each node, of which those below a kept one count as read from memory.

    What is staged is there along its row, and varies along its other axes as a reduction does.
    `axes_of` has the axes along which values vary, where there are indices.
    """
    kept = set(chosen.kept)
    summaries: dict[UOp, Summary] = {}
    below: dict[UOp, Summary] = {}
    for node in order:
        op = node.op
        if op in ELEMENTWISE or op is Op.GATHER:
            cost = operation_cost(node)
            reduces = False
            varying = 0
            loads = False
            for number, source in enumerate(node.src):
                part = below[source]
                cost += part.cost
                reduces |= part.reduces
                if op is Op.GATHER and number == 0:
                    varying |= _selected_axes(node, part.varying, axes_of)
                else:
                    varying |= part.varying
                loads |= part.loads
            summary = Summary(min(cost, _COST_LIMIT), reduces, varying, loads)
        elif op in MOVEMENT:
            part = below[node.src[0]]
            summary = part if not part.varying else Summary(
                part.cost, part.reduces, varying_axes(node, part.varying), part.loads
            )  # fmt: skip
        elif op is Op.REDUCE_AXES:
            summary = Summary(0, True, _long_axes(node))
        else:
            summary = _CONSTANT if op in (Op.CONST, Op.IOTA, Op.VARIABLE) else _MEMORY
        summaries[node] = summary
        if node in chosen.staged:
            below[node] = Summary(0, True, _long_axes(node) & ~(1 << chosen.staged[node]))
        else:
            below[node] = _MEMORY if node in kept else summary
    return summaries


def _long_axes(node: UOp) -> int:
    """The axes (bits) along which there is more than one element."""
    return sum(1 << axis for axis, size in enumerate(node.shape) if size != 1)


def _selected_axes(node: UOp, source_axes: int, axes_of: dict[UOp, int]) -> int:
    """The axes of a `GATHER` along which it selects from those axes of its source."""
    axes = 0
    for axis, index in enumerate(node.src[1:]):
        if (source_axes >> axis) & 1:
            axes |= axes_of[index]
    return axes


def _must_keep(node: UOp, reads: Readers, summary: Summary, config: Config) -> bool:
    views = reads.views
    if not views:
        return False
    several_kernels = any(kernel is not views[0][0] for kernel, _ in views)
    if any(kernel.node_count >= config.kernel_node_limit for kernel, _ in views):
        return True
    if summary.reduces:
        if several_kernels or views[0][0].is_ordered:
            return True
        prefixes = {_reduction_prefix(kernel, view, summary.varying) for kernel, view in views}
        if None in prefixes:
            # Cheap work on a reduction that was spread out is done where it is read: what is kept
            # is the reduction below it, which is smaller.
            return not _is_cheap_spread(node, summary)
        if node.op is Op.REDUCE_AXES:
            kernel, view = views[0]
            is_beside = not view.used >> kernel.output_count
            if kernel.has_product and is_beside and _is_large_product(node):
                return True  # the registers of one kernel hold one tile of sums
            return len({tuple(view.loops) for _, view in views}) > 1
    elif several_kernels and summary.cost >= SHARE_LIMIT:
        return True
    if any(_is_repeated_often(kernel, view, summary) for kernel, view in views):
        return True
    if summary.cost and any(_asks_for_more(node, kernel, view) for kernel, view in views):
        return True
    distinct = len({view.loops for _, view in views})
    return summary.cost * (distinct - 1) > REPEAT_LIMIT


def _stage_axis(
    node: UOp, reads: Readers, summary: Summary, is_score: bool, config: Config
) -> int | None:
    """The axis along which a value is staged in the kernel that reads it, if it should be: a score
    that would be kept otherwise, or what several loops would work out from the same row."""
    if not reads.views:
        return None
    kernel = reads.views[0][0]
    if kernel.is_ordered or any(other is not kernel for other, _ in reads.views):
        return None
    views = [view for _, view in reads.views]
    distinct = len({view.loops for view in views})
    is_row = distinct > 1 and summary.cost >= ROW_COST
    if not (is_score or is_row) or kernel.node_count >= config.kernel_node_limit:
        return None
    longest = SCORE_ROW_BYTES if is_score else ROW_BYTES
    axis = row_axis(node, views, kernel.extents, longest)
    if axis is None or kernel.scratch + row_bytes(node, axis) > ROWS_AT_ONCE * longest:
        return None
    if not is_score and (
        (summary.varying >> axis) & 1 or any(is_repeated(view, kernel.extents) for view in views)
    ):
        return None
    others = _long_axes(node) & ~(1 << axis)
    return None if _reduction_prefix(kernel, views[0], others) is None else axis


def _open_row(node: UOp, reads: Readers, axis: int) -> tuple[Kernel, View]:
    """How a staged value is computed: along a new loop, for the output loops it varies with."""
    kernel, view = reads.views[0]
    bit = 1 << len(kernel.extents)
    kernel.extents.append(greatest(node.shape[axis]))
    around = view.used & ~view.loops[axis]
    kernel.rows[bit] = around
    kernel.scratch += row_bytes(node, axis)
    loops = (*view.loops[:axis], bit, *view.loops[axis + 1 :])
    return kernel, View(loops, view.bare, around | bit)


def _is_cheap_spread(node: UOp, summary: Summary) -> bool:
    """Whether a value has more elements than the reductions in it, and costs little beside them."""
    results = math.prod(
        [greatest(size) for axis, size in enumerate(node.shape) if (summary.varying >> axis) & 1]
    )
    return summary.cost < SHARE_LIMIT and results < math.prod(map(greatest, node.shape))


def _reduction_prefix(kernel: Kernel, view: View, axes: int) -> int | None:
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
    if tiles < PARALLEL_TILES and kernel.work > TINY_WORK:
        everything = math.prod(kernel.extents[: kernel.output_count])
        if tiles != everything:
            return None
    return count


def _is_repeated_often(kernel: Kernel, view: View, summary: Summary) -> bool:
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
    limit = 1 if inside_reduction and summary.loads else SHARE_LIMIT
    return repeats >= 4 and summary.cost >= limit


def _asks_for_more(node: UOp, kernel: Kernel, view: View) -> bool:
    """Whether indices read more elements of a value than it has."""
    if not view.by_data:
        return False
    asked = math.prod(e for loop, e in enumerate(kernel.extents) if (view.scope >> loop) & 1)
    return asked > math.prod(greatest(size) for size in node.shape)


def _find_varying(order: list[UOp]) -> dict[UOp, int]:
    """The axes (bits) along which each value may vary; needed of indices alone."""
    varying: dict[UOp, int] = {}
    if not any(node.op is Op.GATHER for node in order):
        return varying
    for node in order:
        op = node.op
        if op in ELEMENTWISE:
            axes = 0
            for source in node.src:
                axes |= varying[source]
        elif op in MOVEMENT and op is not Op.PAD:
            axes = varying_axes(node, varying[node.src[0]])
        else:
            axes = _long_axes(node)
        varying[node] = axes
    return varying


def _pass_on(
    node: UOp, reads: Readers, readers: dict[UOp, Readers], varying: dict[UOp, int]
) -> None:
    """Tell the sources of `node` how they are read."""
    op = node.op
    if op in (Op.COPY, Op.CUSTOM):
        return  # they read memory as it stands
    if op is Op.STORE:
        for kernel, view in reads.views:
            for source in node.src[1:]:
                readers[source].add(kernel, view)
        return
    if op is Op.SCAN:
        _open_scan(node, reads, readers)
        return
    if op is Op.REDUCE_AXES:
        for part in reads.by_kernel():
            kernel, view = part.views[0]
            readers[node.src[0]].add(kernel, _open_reduction(node, kernel, view))
            kernel.node_count += 1
            kernel.has_product |= _is_large_product(node)
        return
    for kernel, view in reads.views:
        if op in MOVEMENT:
            below = source_view(node, view)
            readers[node.src[0]].add(kernel, below)
        else:
            kernel.node_count += 1
            sources = node.src
            if op is Op.GATHER:
                readers[node.src[0]].add(kernel, gathered_view(node, view, varying))
                sources = node.src[1:]
            for source in sources:
                if source.shape or source.op is not Op.CONST:
                    readers[source].add(kernel, view)


def _is_large_product(node: UOp) -> bool:
    """Whether a reduction is a product of the kind whose sums are made in a register tile."""
    (product,) = node.src
    return (
        node.arg[0] is Op.ADD
        and product.op is Op.MUL
        and all(factor.op is Op.EXPAND for factor in product.src)
        and math.prod(map(greatest, product.shape)) >= LARGE_PRODUCT
    )


def _open_scan(node: UOp, reads: Readers, readers: dict[UOp, Readers]) -> None:
    """A scan reads its source by its own loops; what it starts from, before the loop in order."""
    ((kernel, view),) = reads.views
    readers[node.src[0]].add(kernel, view)
    for initial in node.src[1:]:
        axis = node.arg[1]
        loops = (*view.loops[:axis], 0, *view.loops[axis + 1 :])
        readers[initial].add(kernel, View(loops, view.bare, view.scope & ~view.loops[axis]))


def _open_reduction(node: UOp, kernel: Kernel, view: View) -> View:
    """The view of a reduction's source: its reduced axes are read by new loops."""
    loops = list(view.loops)
    bare = view.bare
    scope = view.used & (((1 << kernel.output_count) - 1) | sum(kernel.rows))
    work = 1
    for axis in node.arg[1]:
        extent = greatest(node.src[0].shape[axis])
        bit = 1 << len(kernel.extents)
        kernel.extents.append(extent)
        loops[axis] = bit
        bare |= 1 << axis
        scope |= bit
        work *= extent
    kernel.work = max(kernel.work, math.prod(kernel.extents[: kernel.output_count]) * work)
    return View(tuple(loops), bare, scope, view.by_data)
