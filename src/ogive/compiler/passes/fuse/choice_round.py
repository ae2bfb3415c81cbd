"""One round of the choice of what is kept: what it goes by, and what it has found so far."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.fuse.choice import Choice
from ogive.compiler.passes.fuse.graph_facts import GraphFacts
from ogive.compiler.passes.fuse.reads.kernel_drafts import Reads
from ogive.compiler.passes.fuse.recompute_costs import InPlaceCost, find_costs
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


class Round(NamedTuple):
    """A round: the facts about the graph, the choice that is `assumed` to hold, the costs that
    follow from it, and the reads of each value, complete for those whose turn has come."""

    facts: GraphFacts
    assumed: Choice
    costs: dict[UOp, InPlaceCost]
    reads: dict[UOp, Reads]

    @classmethod
    def begin(cls, facts: GraphFacts, assumed: Choice) -> Round:
        """A round in which nothing has been read yet."""
        costs = find_costs(facts.order, assumed, facts.varying, facts.target)
        return cls(facts, assumed, costs, {node: Reads() for node in facts.order})

    @property
    def target(self) -> Target:
        """The target that code is for."""
        return self.facts.target

    @property
    def node_limit(self) -> int:
        """The number of nodes from which on a kernel takes no more."""
        return self.facts.node_limit
