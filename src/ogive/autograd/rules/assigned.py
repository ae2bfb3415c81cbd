"""Gradients of assigned versions.

    y = AFTER(x, ASSIGN(part of x, value))     value gets upstream at the part,
                                              x gets upstream, with zeros at the part
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.autograd.rules.formulas import Operand, choose, move_again, unmove
from ogive.autograd.rules.indexed import scattered_base, scattered_value
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.tensor import build


def assigned_sources(node: UOp) -> Sequence[UOp]:
    """The sources of a version: the version before, and the values written to it."""
    return (node.operand, *[store.value for store in node.effects])


def assigned_gradients(
    node: UOp, upstream: UOp, needed: Sequence[bool]
) -> Sequence[UOp | None]:
    """The gradients of these sources."""
    old, stores = node.operand, node.effects
    base = memory_leaf(old)
    gradient = _through(old, base, upstream)
    parts: list[UOp | None] = []
    for store, wanted in reversed(list(zip(stores, needed[1:], strict=True))):
        part, value, *indices = store.src
        upstream = _seen_as(part, base, gradient)
        kept: Operand = 0.0
        if indices:
            # A store at computed positions of the part is a scatter into it.
            whole = build.scatter(part, value, indices, store.combine)
            upstream, below = scattered_value(whole, upstream), scattered_base(whole, upstream)
            kept = _through(part, base, below)
        parts.append(upstream if wanted else None)
        written = _through(part, base, build.filled(dtypes.bool_, True, part.shape))
        gradient = choose(build.expand_to(written, gradient.shape), kept, gradient)
    return [_seen_as(old, base, gradient) if needed[0] else None, *reversed(parts)]


def _through(view: UOp, base: UOp, value: UOp) -> UOp:
    """`value`, which has the shape of a view of `base`, at the place of that view in `base`."""
    while view is not base:
        value = unmove(view, value)
        view = view.operand
    return value


def _seen_as(view: UOp, base: UOp, value: UOp) -> UOp:
    """The view, applied to `value`, which has the shape of `base`."""
    chain = []
    while view is not base:
        chain.append(view)
        view = view.operand
    for movement in reversed(chain):
        value = move_again(movement, value)
    return value
