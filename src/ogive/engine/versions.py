"""Assignments that a realization carries out, and old versions that others still read."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir import registry
from ogive.ir.memory import is_memory, memory_leaf
from ogive.ir.node import UOp, substitute, walk
from ogive.ir.ops import Op


def effects_of(roots: Sequence[UOp]) -> tuple[UOp, ...]:
    """The pending assignments under `roots`, in order."""
    return tuple([node for node in walk(tuple(roots)) if node.op is Op.AFTER])


def versions_to_keep(roots: Sequence[UOp], effects: Sequence[UOp]) -> tuple[UOp, ...]:
    """Versions of buffers that this realization overwrites and a live tensor outside it reads.

    They are copied first, and the tensors outside read the copies from then on.
    """
    # A root that is a version as it stands gets no memory of its own: it reads like one outside.
    inside = {*effects, *[root for root in roots if not is_memory(root)]}
    overwritten = dict.fromkeys(version_below(effect) for effect in effects)
    return tuple([version for version in overwritten if registry.is_read_outside(version, inside)])


def version_below(effect: UOp) -> UOp:
    """The version that an assignment overwrites: the buffer itself, or the one before."""
    return memory_leaf(effect.src[0])


def without_effects(version: UOp) -> UOp:
    """A version as a value of its own: its assignments write to copies of the buffers."""
    overwritten = [version_below(effect) for effect in effects_of((version,))]
    copies = {
        node: UOp(Op.CONTIGUOUS, node.dtype, (node,), ())
        for node in (version, *overwritten)
        if node.op is Op.BUFFER
    }
    return substitute((version,), copies, revisit=False)[0]
