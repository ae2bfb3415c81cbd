"""Values over several devices are computed part by part, in one graph.

    before   t ── y = MUL(MULTI(b0, b1), 2)
    asked    MSELECT 0(y) on CPU, MSELECT 1(y) on CPU:1
    after    t ── MULTI(c0, c1)                          memory on each device
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.compiler.ir.device_names import group_name
from ogive.compiler.ir.layouts import Layout, without_mark
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import history, registry
from ogive.compiler.live.substitution import substitute_everywhere
from ogive.errors import Origin

_SAME_PLACE = frozenset({Op.GRADIENT, Op.DETACH, Op.CONTIGUOUS})
"""Ops whose values lie as their sources do."""


class Held:
    """A node that follows what happens to live graphs, as that of a tensor does."""

    __slots__ = ("__weakref__", "device", "id", "node", "origin")

    is_eager = False
    id: int

    def __init__(self, node: UOp, device: str, origin: Origin | None) -> None:
        self.node = node
        self.device = device
        self.origin = origin
        registry.add_holder(self)

    @property
    def is_reader(self) -> bool:
        """Whether somebody may ask for the value: whoever realizes it will."""
        return True

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return self.node.shape


class _Spread:
    """A value that is to be computed: the whole of it, and a part for each device."""

    def __init__(self, node: UOp, layout: Layout, origin: Origin | None) -> None:
        self.whole = Held(node, group_name(layout.devices), origin)
        self.layout = layout
        self.parts = [
            Held(_part(node, layout, number), device, origin)
            for number, device in enumerate(layout.devices)
        ]

    def joined(self) -> UOp:
        """The value as memory on each device."""
        parts = tuple([part.node for part in self.parts])
        return registry.make(Op.MULTI, self.whole.node.dtype, parts, tuple(self.layout))


def join_parts(values: Sequence[_Spread], count_writes: Callable[[UOp], tuple[int, int]]) -> None:
    """Let everybody who has one of the values have it as memory on each device."""
    joined = {value.whole.node: value.joined() for value in values}
    new = {node: memory for node, memory in joined.items() if memory is not node}
    if history.is_tracking():
        # Values over several devices have histories, as buffers do.
        read = [node for node in walk(tuple(new)) if node.op in (Op.BUFFER, Op.MULTI)]
        history.remember(new, {}, read, count_writes)
    substitute_everywhere(new, walk=True)


def _part(node: UOp, layout: Layout, number: int) -> UOp:
    if node.op is Op.MULTI:
        return node.parts[number]
    return registry.make(Op.MSELECT, node.dtype, (node,), (*layout, number))


def spread_values(tensors: Sequence[Any]) -> list[_Spread]:
    """The values of tensors over several devices that are not computed yet, each once."""
    with registry.graph_lock:
        pending = {
            node: tensor.origin
            for tensor in tensors
            if not is_spread_memory(node := without_mark(tensor.node)) and 0 not in node.shape
        }
        values = []
        for node, layout in zip(pending, _layouts_of(list(pending)), strict=True):
            assert layout is not None, "a tensor of several devices"
            values.append(_Spread(node, layout, pending[node]))
    return values


def layout_of(node: UOp) -> Layout | None:
    """How the value of a live node lies over several devices; None if it is on one."""
    return _layouts_of((node,))[0]


def _layouts_of(nodes: Sequence[UOp]) -> list[Layout | None]:
    """How each of some values lies; what they are made of in common is looked at once."""
    stated = [stated_layout(node) for node in nodes]
    unknown = [node for node, layout in zip(nodes, stated, strict=True) if layout is None]
    if not unknown:
        return list(stated)
    from ogive.compiler.passes.shards.placing import infer_layouts

    inferred = iter(infer_layouts(unknown))
    return [next(inferred) if layout is None else layout for layout in stated]


def stated_layout(node: UOp) -> Layout | None:
    """How a value lies, if its node says so by itself."""
    while node.op in _SAME_PLACE:
        node = node.src[0]
    return Layout(*node.arg) if node.op in (Op.MULTI, Op.SHARD) else None


def is_spread_memory(node: UOp) -> bool:
    """Whether a value over several devices is memory on each of them."""
    node = without_mark(node)
    return node.op is Op.MULTI and all(memory_leaf(part).op is Op.BUFFER for part in node.parts)
