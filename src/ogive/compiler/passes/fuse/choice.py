"""The choice of what is kept: what one round of `choose_kept` assumes, and what it gives."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import field

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.named import record


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

    def agrees_with(self, other: Choice) -> bool:
        """Whether the same nodes are kept, and staged along the same axes."""
        return self.kept_set == other.kept_set and self.staged == other.staged

    def is_at_hand(self, node: UOp) -> bool:
        """Whether a value is read, from memory or from a row, and not computed by its reader."""
        return node in self.kept_set or node in self.staged


def first_guess(order: Sequence[UOp]) -> Choice:
    """The choice to begin with: results of reductions that several nodes read are kept."""
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
    return Choice([node for node in order if node in holds_reduction and uses.get(node, 0) > 1], {})
