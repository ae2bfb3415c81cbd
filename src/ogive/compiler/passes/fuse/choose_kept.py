"""The greedy choice: everything is computed where it is used, unless that would repeat work.

What a value costs its readers depends on what is kept below it, and how it is read on what is kept
above it. So the choice is made in rounds, each of which assumes that the last one holds:

    assumed choice ── costs, sources first ── reads, results first ── choice
                            ▲                                           │
                            └───────────── until they agree ────────────┘

In a round, all reads of a value are known when its turn comes. The value joins the kernel that
reads it unless

- it is kept for what it is (`keep_by_kind`): results, assignments, scans, operands of tensor cores;
- it holds a reduction (its own or one below it) whose result would be recomputed: read from two
  kernels, or along loops that are not a prefix of the kernel's output loops;
- it is expensive and would be recomputed by a loop it does not depend on, by an index that asks
  for more elements than there are, or by several kernels;
- computing it at each of the places where it is read takes longer than keeping it (`keep_times`);
- it is a large product, and the kernel has one for the same elements already;
- the kernel is full (`Config.kernel_node_limit`);
- several loops of the kernel read the same row of it, which is staged (`row_staging`).

Scores that are too large to be shared through memory are worked out by each kernel that needs them.

So softmax is one kernel (its reductions vary along the rows, a prefix of the output loops), a
product followed by layer norm is two, cut after the product's epilogue.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.fuse.choice import Choice, first_guess
from ogive.compiler.passes.fuse.choice_round import Round
from ogive.compiler.passes.fuse.graph_facts import GraphFacts, find_facts
from ogive.compiler.passes.fuse.keep_by_kind import keep_by_kind
from ogive.compiler.passes.fuse.keep_reasons import must_keep
from ogive.compiler.passes.fuse.loop_order import loop_order
from ogive.compiler.passes.fuse.product_kernels.tensor_products import note_product
from ogive.compiler.passes.fuse.reads.kernel_drafts import Reads, open_kernel, open_row
from ogive.compiler.passes.fuse.reads.pass_on_reads import pass_on
from ogive.compiler.passes.fuse.row_staging import stage_axis
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

MOST_ROUNDS = 4
"""The choices of the rounds may alternate. Most graphs take two rounds, the second to see that the
first one holds."""


def choose_kept(sink: UOp, target: Target, node_limit: int) -> Choice:
    """The values of a parametric graph to keep, to stage, and the loops of the kept ones.

    After any round the choice is right: a value that is not kept is computed by all its readers,
    whatever the round assumed of its cost. So it is a matter of speed alone when the rounds end.
    They do when a choice agrees with the one that it was made from, or after `MOST_ROUNDS`.
    """
    facts = find_facts(sink, target, node_limit)
    choice = first_guess(facts.order)
    for _ in range(MOST_ROUNDS):
        assumed, choice = choice, _choose_once(facts, choice)
        if choice.agrees_with(assumed):
            break
    return choice


def _choose_once(facts: GraphFacts, assumed: Choice) -> Choice:
    """One round: the choice that is made if what lies below each value is `assumed`."""
    this = Round.begin(facts, assumed)
    kept: list[UOp] = []
    staged: dict[UOp, int] = {}
    orders: dict[UOp, tuple[int, ...]] = {}
    for node in reversed(facts.computed):
        reads = this.reads[node]
        is_kept, row_axis = _decide(node, reads, this)
        if row_axis is not None:
            staged[node] = row_axis
            parts = _computed_apart(node, reads, facts)
            reads = Reads.of([open_row(node, part, row_axis) for part in parts])
        elif is_kept:
            kept.append(node)
            axis_order = loop_order(node, facts.target)
            if axis_order is not None:
                orders[node] = axis_order
            reads = Reads.of([open_kernel(node, axis_order)])
        pass_on(node, reads, this.reads, facts)
    return Choice(kept[::-1], staged, orders)


class Decision(NamedTuple):
    """The decision on a value: it is kept, or staged along its `row_axis`, or joins its readers."""

    is_kept: bool
    row_axis: int | None = None


JOINS, KEPT = Decision(False), Decision(True)


def _decide(node: UOp, reads: Reads, this: Round) -> Decision:
    """The decision on a value, all of whose reads are known."""
    is_kept = keep_by_kind(node, reads, this)
    if is_kept is None:
        note_product(node, reads, this.facts.products)
        parts = _computed_apart(node, reads, this.facts)
        is_kept = any(must_keep(node, part, this) for part in parts)
        is_score = is_kept and node in this.facts.scores.rows
        axes = {stage_axis(node, part, is_score, this) for part in parts}
        axis = axes.pop() if len(axes) == 1 else None
        if axis is not None:
            return Decision(False, axis)
    return KEPT if is_kept else JOINS


def _computed_apart(node: UOp, reads: Reads, facts: GraphFacts) -> list[Reads]:
    """The reads of a value, those together that are of one computation of it: as a rule all."""
    return reads.by_kernel() if node in facts.scores.unshared else [reads]
