"""Readers of a node: whether a live tensor still needs the values in its memory.

Most tensors that a program holds have been computed, so that they are memory or views of it. The
others, lazy tensors, are few. So one walk goes down from the lazy tensors, and one up from a buffer
to its views. If lazy tensors are many, a single walk goes up from all nodes in question:

    asked: a, b      a ── exp ── t        above: a, exp, b, neg; held by a tensor: exp
                     b ── neg             below exp: a, which t reads; nothing reads b
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

from ogive.compiler.ir.calls import is_gradient
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import registry


def is_read(node: UOp, besides: Collection[int] = ()) -> bool:
    """Whether a live tensor reads `node`. Tensors whose ids are in `besides` do not count."""
    return bool(read_outside((node,), besides=besides))


def tensors_reading(nodes: Iterable[UOp]) -> list[Any]:
    """The lazy tensors that are computed from one of `nodes`; none if lazy tensors are many."""
    with registry.graph_lock:
        tensors = [each for each in registry.lazy_holders() if registry.tensor(each.id) is each]
        if len(tensors) > registry.MOST_LOOKED_AT:
            return []
        held = [registry.held_node(tensor) for tensor in tensors]
        reading = set(nodes)
        for node in walk(tuple(held)):
            if not reading.isdisjoint(node.src):
                reading.add(node)
        return [tensor for tensor, node in zip(tensors, held, strict=True) if node in reading]


def holders_showing(node: UOp) -> list[Any]:
    """The holders of a node or of a view of it: tensors, and storages shared by several tensors."""
    holders: list[Any] = []
    stack = [node]
    with registry.graph_lock:
        while stack:
            node = stack.pop()
            holders += [each for each in registry.holders_of(node) if each.node is node]
            stack += [user for user in registry.users_of(node) if user.op in registry.VIEWS]
    return holders


def read_outside(
    nodes: Iterable[UOp],
    inside: Collection[UOp] = (),
    besides: Collection[int] = (),
    most: int = registry.MOST_LOOKED_AT,
) -> set[UOp]:
    """The `nodes` that a live tensor reads by a path that avoids the nodes `inside`.

    Tensors whose ids are in `besides` do not count. If lazy tensors are built on more than `most`
    nodes, the walk goes up from `nodes` instead of down from the tensors.
    """
    asked = set(nodes)
    with registry.graph_lock:
        below = _below_tensors(asked, inside, besides, most)
        return _from_above(asked, inside, besides) if below is None else below


def _below_tensors(
    asked: set[UOp], inside: Collection[UOp], besides: Collection[int], most: int
) -> set[UOp] | None:
    """The nodes that are read, found by a walk down from the tensors; None if it would be long."""
    stack = registry.nodes_of_readers(besides, most)
    if stack is None:
        return None
    seen = _reached(stack, inside, most)
    if len(seen) > most:
        return None
    read = asked & seen
    for node in asked:
        if node not in read and _is_shown(node, inside, besides):
            read.add(node)
    return read


def _is_shown(node: UOp, inside: Collection[UOp], besides: Collection[int]) -> bool:
    """Whether a tensor holds a node or a view of it."""
    stack = [node]
    while stack:
        node = stack.pop()
        live = node.live
        if live is None:
            continue
        if live.holders and registry.has_holder(node, besides):
            return True
        for reference in live:
            user = reference()
            if user is not None and user.op in registry.VIEWS and user not in inside:
                stack.append(user)
    return False


def _from_above(
    asked: set[UOp], inside: Collection[UOp], besides: Collection[int]
) -> set[UOp]:
    """The nodes that are read, found by a walk up from `asked`, then down from held nodes."""
    above = set(asked)
    stack = list(asked)
    read: list[UOp] = []
    while stack:
        node = stack.pop()
        live = node.live
        if live is None:
            continue
        if live.holders and registry.has_holder(node, besides):
            read.append(node)
        for reference in live:
            user = reference()
            if user is not None and user not in above and not _ends_expression(user, inside):
                above.add(user)
                stack.append(user)
    return asked & _reached(read, inside, within=above)


def _reached(
    start: list[UOp],
    inside: Collection[UOp],
    most: float = math.inf,
    within: Collection[UOp] | None = None,
) -> set[UOp]:
    """The nodes that the nodes in `start` read by paths that avoid the nodes `inside`.

    The walk stays `within` some nodes, if these are given, and stops at `most` nodes, so that the
    result may be incomplete.

    The first operand of a gradient is not a value but an expression. Substitution replaces only
    versions of memory in it (`substitution.py`), so computed nodes `inside` do not end these paths.
    """
    seen, stack = set(start), list(start)
    expressions: list[UOp] = []
    while stack and len(seen) <= most:
        node = stack.pop()
        if node in inside:
            continue  # it may itself be in question, but the path ends here
        sources = node.src
        if inside and is_gradient(node):
            expressions.append(sources[0])
            sources = sources[1:]
        for source in sources:
            if source not in seen and (within is None or source in within):
                seen.add(source)
                stack.append(source)
    below, stack = set(expressions), expressions
    while stack and len(below) <= most:
        node = stack.pop()
        for source in () if _ends_expression(node, inside) else node.src:
            if source not in below and (within is None or source in within):
                below.add(source)
                stack.append(source)
    return seen | below


def _ends_expression(node: UOp, inside: Collection[UOp]) -> bool:
    """Whether a node is a version that memory will replace even in an expression."""
    return node.op is Op.AFTER and node in inside
