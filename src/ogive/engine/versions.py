"""Assignments that a realization carries out, and old versions that others still read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.ir import registry
from ogive.ir.memory import is_memory, memory_leaf
from ogive.ir.node import UOp, substitute, walk
from ogive.ir.ops import Op
from ogive.schedule.slots import CallStep

if TYPE_CHECKING:
    from ogive.engine.graph import CompiledGraph


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


def split_effects(
    graph: CompiledGraph, effects: Sequence[UOp], slots: Sequence[int], step: int
) -> tuple[dict[UOp, int], set[UOp]]:
    """What a fault at `step` makes of the assignments to `slots`, in order.

    Gives those done before it, with their slots, and those that follow from what it was to write.
    """
    missing: set[int] = set()
    stores: dict[int, list[tuple[bool, bool]]] = {}
    for number, each in enumerate(graph.steps):
        written = each.written if isinstance(each, CallStep) else each.slots[:1]
        if number == step or not missing.isdisjoint(each.slots):
            missing.update(written)
        for slot in written:
            stores.setdefault(slot, []).append((number < step, slot in missing))
    done: dict[UOp, int] = {}
    lost: set[UOp] = set()
    for effect, slot in zip(effects, slots, strict=False):
        if graph.slots[slot].parameter is None or not stores.get(slot):
            continue
        is_done, is_lost = stores[slot].pop(0)
        if is_done:
            done[effect] = slot
        elif is_lost:
            lost.add(effect)
    return done, lost


def without_effects(version: UOp) -> UOp:
    """A version as a value of its own: its assignments write to copies of the buffers."""
    overwritten = [version_below(effect) for effect in effects_of((version,))]
    copies = {
        node: UOp(Op.CONTIGUOUS, node.dtype, (node,), ())
        for node in (version, *overwritten)
        if node.op is Op.BUFFER
    }
    return substitute((version,), copies, revisit=False)[0]
