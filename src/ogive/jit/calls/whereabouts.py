"""Where captured tensors lie, and of what kind they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir.node import UOp
from ogive.compiler.live import registry
from ogive.jit.memories import Number, layout_of_memory, leaf_at
from ogive.named import NamedTuple


class Whereabouts(NamedTuple):
    """The nodes of tensors as they were when addresses were looked up, all of them memory; that
    of a tensor over several devices once for each of its parts.

    Replaced as a whole: a thread that has it sees nodes and addresses that belong together.
    """

    nodes: tuple[UOp, ...]
    flats: tuple[UOp, ...]
    buffers: tuple[Buffer | None, ...]
    addresses: tuple[int, ...]


def look_up(nodes: Sequence[UOp], numbers: Sequence[Number]) -> Whereabouts:
    """Where the memories with these numbers of tensors on these nodes are."""
    flats = tuple(map(leaf_at, nodes, numbers))
    buffers = tuple([_memory(node, flat) for node, flat in zip(nodes, flats, strict=True)])
    addresses = tuple([buffer.address if buffer else 0 for buffer in buffers])
    return Whereabouts(tuple(nodes), flats, buffers, addresses)


def _memory(node: UOp, flat: UOp) -> Buffer | None:
    """The memory of a tensor that has elements."""
    buffer: Buffer | None = registry.buffer_of(flat)
    return None if 0 in node.shape else buffer


def pattern(buffers: Sequence[Any]) -> list[int]:
    """For each buffer, where the same one stood first: who shares memory with whom."""
    first: dict[int, int] = {}
    return [first.setdefault(id(buffer), at) for at, buffer in enumerate(buffers)]


def facts_of(tensor: Any, node: UOp, number: Number) -> tuple[Any, ...]:
    """The facts about a tensor that must be the same for a trace to serve again."""
    buffer = _memory(node, leaf_at(node, number))
    is_borrowed = bool(buffer and buffer.borrowed)
    return node.dtype, node.shape, tensor.device, is_borrowed, layout_of_memory(node)


def show_facts(facts: tuple[Any, ...]) -> str:
    """Those facts, for the log."""
    dtype, shape, device, borrowed, layout = facts
    place = "" if layout is None else f" over {device}, mesh {layout.mesh} for {layout.split}"
    return f"{dtype.name} {shape}{place}" + (" (borrowed)" if borrowed else "")
