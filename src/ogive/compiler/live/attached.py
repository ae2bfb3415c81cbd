"""The object in the slot `UOp.live`: all that the process knows about a node of a live graph.

The language does not read it. A node gets it when its edges are registered (`registry.py`). Most
nodes, those of graphs being compiled, never do.
"""

from __future__ import annotations

import weakref
from typing import Any


class WeakList(list[Any]):
    """A list of weak references.

    Dead references and duplicates are dropped whenever the list has doubled since the last time.
    """

    limit = 8

    def add(self, reference: weakref.ref[Any]) -> None:
        """Append a reference."""
        self.append(reference)
        if len(self) > self.limit:
            self.prune()

    def prune(self) -> None:
        """Drop dead references and duplicates."""
        self[:] = {id(entry): entry for entry in self if entry() is not None}.values()
        self.limit = max(2 * len(self), WeakList.limit)


class Live(WeakList):
    """All that the process knows about a node: the list of its users, with further fields.

    The list is not a field, because a second object for each node takes 5 % of the time to build a
    graph.
    """

    __slots__ = (
        "beside", "history", "holders", "leaf", "limit", "memory", "ran", "remembered", "role",
    )  # fmt: skip

    limit: int
    holders: WeakList | None  # the tensors that hold the node or have held it (`registry.py`)
    beside: Any  # of a gradient: references to all gradients of its backward pass
    memory: Any  # of a BUFFER: its memory
    role: Any  # of a BUFFER: which other memory may take its place (`kept_graphs.py`)
    ran: bool  # whether a run has computed it, so that the engine notices what recurs
    remembered: bool  # whether a history reads it or has read it
    history: Any  # of a BUFFER: the expression it was computed from (`history.py`)
    leaf: Any  # a reference to the leaf of which it is a version (`history.py`)
