"""The one slot `UOp.live`: all that hangs on a node while it is part of a graph that is alive.

The language knows nothing of it. A node has it from when its edges are registered, see `registry`;
most nodes, those of compiled graphs, never have one.
"""

from __future__ import annotations

import weakref
from typing import Any


class WeakList(list[Any]):
    """Weak references. The dead ones, and those that are there twice, are dropped whenever the list
    has doubled since the last time."""

    limit = 8

    def add(self, reference: weakref.ref[Any]) -> None:
        """Take on one more."""
        self.append(reference)
        if len(self) > self.limit:
            self.prune()

    def prune(self) -> None:
        """Drop what is dead or there twice."""
        self[:] = {id(entry): entry for entry in self if entry() is not None}.values()
        self.limit = max(2 * len(self), WeakList.limit)


class Live(WeakList):
    """All that the process knows of a node. The object is the list of nodes that are built on the
    node, and has these fields.

    The list is not a field because a second object for each node takes 5 % of the time of building
    a graph.
    """

    __slots__ = (
        "beside", "history", "holders", "leaf", "limit", "memory", "ran", "remembered", "role",
    )  # fmt: skip

    limit: int
    holders: WeakList | None  # the tensors that hold the node, or have held it; see `registry`
    beside: Any  # of a gradient: references to all gradients of its backward pass
    memory: Any  # of a BUFFER: the memory that it stands for
    role: Any  # of a BUFFER: what else may stand behind it, see `kept_graphs`
    ran: bool  # whether a run has computed it; for the engine to notice what recurs
    remembered: bool  # whether a history reads it, or has read it
    history: Any  # what it was computed from, see `history`
    leaf: Any  # how to get to the tensor that it is a version of, see `history`
