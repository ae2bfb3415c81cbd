"""Values that wait for a run: they read what it computes, and it was not asked for them.

    h = (x + h @ w).tanh(); total = total + h; h.sum().item()      total waits for h

As a rule few tensors are neither memory nor a view of it, and a walk down from those finds the
nodes. Where such tensors are many, a walk up from the values finds them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter

from ogive.compiler.ir.node import UOp
from ogive.compiler.live import registry


def waiting_for(values: Collection[UOp], order: Sequence[UOp]) -> list[UOp]:
    """The nodes that live tensors hold or read and that are built on `values` of a run, sources
    first.

    `order` is the walk of the roots of the run; what is part of that waits for nothing.
    """
    inside = set(order)
    with registry.graph_lock:
        waiting = _below_tensors(values, inside)
        return _above(values, inside) if waiting is None else waiting


def _below_tensors(values: Collection[UOp], inside: set[UOp]) -> list[UOp] | None:
    """The same, found from the tensors that are no memory; None where there is much to look at."""
    stack = registry.nodes_of_readers()
    if stack is None:
        return None
    most = max(registry.MOST_LOOKED_AT, len(inside))
    stack = [node for node in stack if node not in inside]
    seen = set(stack)
    while stack:
        for source in stack.pop().src:
            if source not in seen and source not in inside:
                seen.add(source)
                stack.append(source)
        if len(seen) > most:
            return None
    waiting: dict[UOp, None] = {}
    for node in sorted(seen, key=attrgetter("id")):
        if any(source in values or source in waiting for source in node.src):
            waiting[node] = None
    return list(waiting)


def _above(values: Collection[UOp], inside: set[UOp]) -> list[UOp]:
    """The same, found by a walk up from the values, and down again from what is held: what a
    history alone refers to is read by nobody."""
    above: set[UOp] = set()
    stack = list(values)
    while stack:
        for user in registry.users_of(stack.pop()):
            if user not in above and user not in inside:
                above.add(user)
                stack.append(user)
    read = {node for node in above if registry.has_holder(node)}
    stack = list(read)
    while stack:
        for source in stack.pop().src:
            if source in above and source not in read:
                read.add(source)
                stack.append(source)
    return sorted(read, key=attrgetter("id"))
