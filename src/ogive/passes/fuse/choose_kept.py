"""The greedy choice: everything is computed where it is used, unless that would repeat work.

Goes once through the graph from the results down. At each value all its readers are known, each
with the kernel it is in and the loops it is read by (`axis_relations.View`). The value
joins its reader's kernel unless

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
from dataclasses import field

from ogive.ir import dtype as dtypes
from ogive.ir.memory import is_memory
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.traversal import walk
from ogive.named import NamedTuple, record
from ogive.passes.fuse.bit_sets import Axes
from ogive.passes.fuse.choose_staged import Scores, find_scores
from ogive.passes.fuse.keep_reasons import Known, must_keep
from ogive.passes.fuse.kernel_readers import Readers, open_kernel, open_row, pass_on
from ogive.passes.fuse.loop_order import loop_order
from ogive.passes.fuse.recompute_costs import find_varying, summarize
from ogive.passes.fuse.row_staging import is_sorted_inside, stage_axis
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


@record
class Choice:
    """The `kept` nodes, in memory, producers first, and the `staged` ones, in scratch memory of the
    kernel that reads them, each along one of its axes. `orders` has the order of the axes for the
    loops of some kept nodes."""

    kept: list[UOp]
    staged: dict[UOp, int]
    orders: dict[UOp, tuple[int, ...]] = field(default_factory=dict)

    @functools.cached_property
    def kept_set(self) -> frozenset[UOp]:
        """The kept nodes, in no order."""
        return frozenset(self.kept)


class _Facts(NamedTuple):
    """The facts about a graph that hold whatever is kept: its nodes, sources first, and the
    `computed` ones among them; the `roots` that are computed into memory; the axes along which
    indices vary; its products and scores."""

    order: list[UOp]
    computed: list[UOp]
    roots: set[UOp]
    varying: dict[UOp, Axes]
    scores: Scores
    attention: TensorAttention
    products: TensorProducts


def choose_kept(sink: UOp, target: Target, node_limit: int) -> Choice:
    """The nodes of the parametric graph to keep.

    Whether a value may be recomputed depends on what is kept below it, and that on its readers:
    so the choice is repeated, each time from the last one, until it stands.
    """
    order = walk(sink.src)
    facts = _Facts(
        order,
        [node for node in order if _is_computed(node)],
        {root for root in sink.src if _is_computed(root) and not is_memory(root)},
        find_varying(order),
        find_scores(order, target),
        find_attention(order, target),
        find_tensor_products(order, target),
    )
    chosen = Choice(_estimate(order), {})
    for _ in range(ROUNDS):
        before = chosen
        chosen = _Round(facts, before, target, node_limit).choose()
        if chosen.kept_set == before.kept_set and chosen.staged == before.staged:
            break
    return chosen


class _Round:
    """One walk through the graph, from the results down, on the assumption that the values below
    are kept as they were `before`."""

    def __init__(self, facts: _Facts, before: Choice, target: Target, node_limit: int) -> None:
        self.facts = facts
        self.target = target
        self.readers: dict[UOp, Readers] = {node: Readers() for node in facts.order}
        kept, staged = before.kept_set, before.staged
        summaries = summarize(facts.order, kept, staged, facts.varying, target)
        self.known = Known(self.readers, summaries, kept, staged, target, node_limit)
        self.kept: list[UOp] = []
        self.staged: dict[UOp, int] = {}
        self.orders: dict[UOp, tuple[int, ...]] = {}

    def choose(self) -> Choice:
        for node in reversed(self.facts.computed):
            reads = self._settle(node, self.readers[node])
            pass_on(node, reads, self.readers, self.facts.varying, self.target)
        return Choice(self.kept[::-1], self.staged, self.orders)

    def _settle(self, node: UOp, reads: Readers) -> Readers:
        """Decide on a value, all of whose reads are known. Gives those by which it is computed: the
        same ones, or that of a new kernel, or those of rows."""
        is_kept = self._is_kept_by_kind(node, reads)
        if is_kept is None:
            parts = reads.by_kernel() if node in self.facts.scores.unshared else [reads]
            is_kept = any(must_keep(node, part, self.known) for part in parts)
            axis = self._stage_axis(node, parts, is_kept)
            if axis is not None:
                self.staged[node] = axis
                return Readers.of([open_row(node, part, axis) for part in parts])
        return self._keep(node) if is_kept else reads

    def _is_kept_by_kind(self, node: UOp, reads: Readers) -> bool | None:
        """Whether a value is kept for what it is; None if its readers and its cost decide."""
        op, attention = node.op, self.facts.attention
        if op in _KEPT or node in self.facts.roots or node in attention.results:
            return True
        if node in attention.inside:
            return False  # every kernel that needs it computes it
        if op is Op.SORT:
            return not is_sorted_inside(node, reads, self.known)
        is_movement = op in MOVEMENT
        if not is_movement and widens_narrow(node, self.target):
            return False  # what is kept is the narrow value
        if _is_kept_for_products(node, reads, self.facts.products):
            return True
        if is_movement:
            return False
        return bool(reads.views) if node in attention.operands else None

    def _stage_axis(self, node: UOp, parts: list[Readers], is_kept: bool) -> int | None:
        """The one axis along which all kernels that read a value stage it, if there is one."""
        is_score = is_kept and node in self.facts.scores.rows
        axes = {stage_axis(node, part, is_score, self.known) for part in parts}
        return axes.pop() if len(axes) == 1 else None

    def _keep(self, node: UOp) -> Readers:
        """Keep a value: a new kernel computes it."""
        self.kept.append(node)
        nest = loop_order(node, self.target)
        if nest is not None:
            self.orders[node] = nest
        return Readers.of([open_kernel(node, nest)])


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
