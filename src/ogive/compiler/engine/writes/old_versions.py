"""Assignments that a realization carries out, and old versions that others still read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.protocol import Fault
from ogive.compiler.ir.memory import is_memory, memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute, walk
from ogive.compiler.live import registry
from ogive.compiler.live.readers import read_outside
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.compiled_graph import CompiledGraph


def effects_of(roots: Sequence[UOp]) -> tuple[UOp, ...]:
    """The pending assignments under `roots`, in order."""
    return effects_among(walk(tuple(roots)))


def effects_among(nodes: Sequence[UOp]) -> tuple[UOp, ...]:
    """The pending assignments among all nodes under some roots, in the order of those."""
    return tuple([node for node in nodes if node.op is Op.AFTER])


def versions_to_keep(
    roots: Sequence[UOp], effects: Sequence[UOp], rebound: Sequence[registry.Holder] | None = None
) -> tuple[UOp, ...]:
    """Versions of buffers that this realization overwrites and a live tensor outside it reads.

    They are copied first, and the tensors outside read the copies from then on. Where only some
    tensors are `rebound` to the roots' memory, whoever reads through a root is outside as well.
    """
    # A root that is a version as it stands gets no memory of its own: it reads like one outside.
    if rebound is None:
        inside = {*effects, *[root for root in roots if not is_memory(root)]}
        besides: list[int] = []
    else:
        inside = set(effects)
        besides = [tensor.id for tensor in rebound if not is_memory(tensor.node)]
    overwritten = dict.fromkeys([version_below(effect) for effect in effects])
    read = read_outside(overwritten, inside, besides)
    return tuple([version for version in overwritten if version in read])


def version_below(effect: UOp) -> UOp:
    """The version that an assignment overwrites: the buffer itself, or the one before."""
    return memory_leaf(effect.operand)


class Outcome(NamedTuple):
    """The state of assignments when a run ends early.

    `done` are those carried out; `lost` those that follow from what faulted. The others are still
    to be carried out.
    """

    done: set[UOp]
    lost: set[UOp]


def split_effects(
    graph: CompiledGraph, effects: Sequence[UOp], slots: Sequence[int], fault: Fault
) -> Outcome:
    """The assignments to `slots`, in order, sorted by how a fault leaves them."""
    missing: set[int] = set()
    step = fault.step
    stores: dict[int, list[tuple[bool, bool]]] = {}
    for number, each in enumerate(graph.steps):
        written = each.written
        faulted = number == step and not fault.stopped
        if faulted or not missing.isdisjoint(each.slots):
            missing.update(written)
        for slot in written:
            stores.setdefault(slot, []).append((number < step, slot in missing))
    outcome = Outcome(set(), set())
    for effect, slot in zip(effects, slots, strict=False):
        if graph.slots[slot].parameter is None or not stores.get(slot):
            continue
        is_done, is_lost = stores[slot].pop(0)
        if is_done:
            outcome.done.add(effect)
        elif is_lost:
            outcome.lost.add(effect)
    return outcome


def without_effects(version: UOp) -> UOp:
    """A version as a value of its own: its assignments write to copies of the buffers."""
    overwritten = [version_below(effect) for effect in effects_of((version,))]
    copies = {
        node: UOp(Op.CONTIGUOUS, node.dtype, (node,), ())
        for node in (version, *overwritten)
        if node.op is Op.BUFFER
    }
    return substitute((version,), copies, revisit=False)[0]
