"""Where the tensors that a captured function found by itself lie, and of what kind they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.devices.buffer import Buffer
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.live import registry
from ogive.named import NamedTuple


class Whereabouts(NamedTuple):
    """The nodes of tensors as they were when addresses were looked up, all of them memory.

    Replaced as a whole: a thread that has it sees nodes and addresses that belong together.
    """

    nodes: tuple[UOp, ...]
    flats: tuple[UOp, ...]
    buffers: tuple[Buffer | None, ...]
    addresses: tuple[int, ...]


def look_up(nodes: Sequence[UOp]) -> Whereabouts:
    """Where tensors on these nodes lie."""
    flats = tuple([memory_leaf(node) for node in nodes])
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


def facts_of(tensor: Any, node: UOp) -> tuple[Any, ...]:
    """What has to be the same for a trace to serve again."""
    buffer = _memory(node, memory_leaf(node))
    return node.dtype, node.shape, tensor.device, bool(buffer and buffer.borrowed)


def show_facts(facts: tuple[Any, ...]) -> str:
    """Those facts, for the log."""
    dtype, shape, _, borrowed = facts
    return f"{dtype.name} {shape}" + (" (borrowed)" if borrowed else "")
