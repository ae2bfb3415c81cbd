"""Assignments that a realization carries out, and old versions that others still read."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir import registry
from ogive.ir.node import UOp, walk
from ogive.ir.ops import Op


def effects_of(roots: Sequence[UOp]) -> tuple[UOp, ...]:
    """The pending assignments under `roots`, in order."""
    return tuple([node for node in walk(tuple(roots)) if node.op is Op.AFTER])


def versions_to_keep(roots: Sequence[UOp], effects: Sequence[UOp]) -> tuple[UOp, ...]:
    """Versions of buffers that this realization overwrites and a live tensor outside it reads.

    They are copied first, and the tensors outside read the copies from then on.
    """
    inside = {*roots, *effects}
    overwritten = dict.fromkeys(effect.src[0] for effect in effects)
    return tuple(
        [
            version
            for version in map(_version, overwritten)
            if registry.is_read_outside(version, inside)
        ]
    )


def _version(node: UOp) -> UOp:
    """The node that readers of a version share: the buffer itself, or the assignment."""
    while node.op is Op.RESHAPE:
        node = node.src[0]
    return node
