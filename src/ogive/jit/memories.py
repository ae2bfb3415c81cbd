"""The memory of tensors: that of one, or for one over several devices that of each of its parts.

A captured function fills in addresses, and all that it knows of the tensors that it takes, finds
and changes it knows by memory. A tensor over two devices counts as two there, by these numbers:

    x    RESHAPE(BUFFER)                        one memory, of number None
    w    GRADIENT(MULTI(BUFFER, BUFFER))        two, 0 and 1
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.layouts import Layout, without_mark
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry

Number = int | None
"""Which part of a tensor; None for one that is on one device."""


def numbers_of(node: UOp) -> Sequence[Number]:
    """The numbers of the memories that a tensor on `node` has."""
    whole = without_mark(node)
    return range(len(whole.parts)) if whole.op is Op.MULTI else (None,)


def part_node(node: UOp, number: Number) -> UOp:
    """The part of a tensor on `node` that lies in one of its memories."""
    return node if number is None else without_mark(node).parts[number]


def leaf_at(node: UOp, number: Number) -> UOp:
    """The flat memory with that number of a tensor on `node`."""
    return memory_leaf(part_node(node, number))


def leaves_of(node: UOp) -> list[UOp]:
    """All flat memories of a tensor on `node`."""
    return [leaf_at(node, number) for number in numbers_of(node)]


def are_there(node: UOp) -> bool:
    """Whether all that a tensor on `node` holds is memory."""
    return all(flat.op is Op.BUFFER for flat in leaves_of(node))


def layout_of_memory(node: UOp) -> Layout | None:
    """How memory lies over several devices."""
    whole = without_mark(node)
    return Layout(*whole.arg) if whole.op is Op.MULTI else None


def select_part(node: UOp, layout: Layout, number: int) -> UOp:
    """The part of a value that the number-th device has where it is laid out so."""
    return registry.make(Op.MSELECT, node.dtype, (without_mark(node),), (*layout, number))
