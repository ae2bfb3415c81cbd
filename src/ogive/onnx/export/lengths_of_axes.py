"""Expressions of dynamic axes, as nodes over the shapes of inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.errors import ArgumentError
from ogive.onnx.export.model_emitter import Emitter

_OPERATORS = {
    Op.ADD: "Add", Op.SUB: "Sub", Op.MUL: "Mul", Op.FLOORDIV: "Div", Op.MOD: "Mod",
    Op.MAXIMUM: "Max", Op.MINIMUM: "Min",
}  # fmt: skip


class Axes:
    """The input and axis that each variable is the length of."""

    def __init__(self, emitter: Emitter, places: Mapping[str, tuple[str, int]]) -> None:
        self._emitter = emitter
        self._places = places
        self._made: dict[UOp, str] = {}

    def shape(self, lengths: Sequence[Any]) -> str:
        """Lengths as a value of one axis."""
        if all(isinstance(length, int) for length in lengths):
            return self._emitter.integers(lengths)
        parts = [self.length(length) for length in lengths]
        return parts[0] if len(parts) == 1 else self._emitter.node("Concat", *parts, axis=0)

    def length(self, length: Any) -> str:
        """One length, as a value of one element."""
        if isinstance(length, int):
            return self._emitter.integers([length])
        for node in _in_order(length):
            if node not in self._made:
                self._made[node] = self._emit(node)
        return self._made[length]

    def _emit(self, node: UOp) -> str:
        if node.op is Op.CONST:
            return self._emitter.integers([int(node.literal)])
        if node.op is Op.BIND:
            name, axis = self._places[node.variable.name]
            return self._emitter.node("Shape", name, start=axis, end=axis + 1)
        if node.op is Op.NEG:
            return self._emitter.node("Neg", self._made[node.src[0]])
        if node.op not in _OPERATORS:
            raise ArgumentError(f"onnx.save: lengths computed by {node.op.name} are not written")
        return self._emitter.node(_OPERATORS[node.op], *[self._made[each] for each in node.src])


def _in_order(root: UOp) -> list[UOp]:
    """An expression, sources first; a variable with its value is one thing."""
    order: list[UOp] = []
    seen: set[UOp] = set()
    stack = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            if node.op is not Op.BIND:
                stack.extend((each, False) for each in node.src)
    return order
