"""The walk over a graph: each node's function on the values before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy

from ogive.compiler.ir.node import UOp
from ogive.errors import OgiveError
from ogive.onnx.call import Call
from ogive.onnx.dynamic_lengths import settle
from ogive.onnx.graph import Graph, Node
from ogive.onnx.narrow import MOVING, Narrow
from ogive.onnx.table import OperatorError, Value

_UNSUITED = (
    ArithmeticError, AssertionError, AttributeError, KeyError, IndexError, MemoryError, TypeError,
    ValueError,
)  # fmt: skip
"""Errors that functions of operators raise where a node is not what its operator says it is."""


class Walk:
    """A walk over a graph with the values by name so far, those of the graphs around it too."""

    def __init__(
        self, values: Mapping[str, Value] | None = None, bound: Mapping[str, Any] | None = None
    ) -> None:
        self.values: dict[str, Value] = dict(values or {})
        self.bound = bound or {}
        self.done: list[Node] = []

    def run(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """The outputs of a graph."""
        for _ in self.steps(graph, inputs):
            pass
        return [self.values[info.name] for info in graph.outputs]

    def run_with(
        self, graph: Graph, inputs: Sequence[Value], weights: Mapping[str, Value]
    ) -> list[Value]:
        """The outputs of a graph that has other weights than its own."""
        return self.run(replace(graph, constants={**graph.constants, **weights}), inputs)

    def steps(self, graph: Graph, inputs: Sequence[Value]) -> Iterator[Node]:
        """Compute the nodes of a graph; gives each when its outputs are there."""
        self.values.update(graph.constants)
        self.values.update(
            (info.name, value) for info, value in zip(graph.inputs, inputs, strict=True)
        )
        for node in graph.nodes:
            self.step(node)
            yield node

    def run_inside(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """The outputs of a subgraph of a node of this walk."""
        return Walk(self.values, self.bound).run(graph, inputs)

    def again(self, changed: Mapping[str, Value]) -> dict[str, Value]:
        """All values as they are if some are others: what depends on these is computed again."""
        other = Walk({**self.values, **changed}, self.bound)
        touched = set(changed)
        for node in self.done:
            if touched.intersection(node.inputs):
                other.step(node)
                touched.update(node.outputs)
        return other.values

    def step(self, node: Node) -> None:
        """Compute one node."""
        values = [self.values[name] if name else None for name in node.inputs]
        result = self._call(node, values)
        results = result if isinstance(result, tuple) else (result,)
        for name, value in zip(node.outputs, results, strict=False):
            self.values[name] = _known(value)
        if len(results) < len([name for name in node.outputs if name]):
            raise OperatorError(f"{node.describe()} makes {len(results)} outputs")
        self.done.append(node)

    def _call(self, node: Node, values: list[Value]) -> Value:
        attributes = node.attributes
        if node.references:
            by_name = {
                name: self.bound[outer]
                for name, outer in node.references.items()
                if self.bound.get(outer) is not None
            }
            attributes = {**attributes, **by_name}
        if node.function is not None:
            return self._call_function(node, values, attributes)
        assert node.entry is not None, "checked when the model was loaded"
        try:
            result = node.entry.function(Call(node, values, attributes, self))
        except _UNSUITED as error:
            if isinstance(error, OgiveError):
                raise
            raise OperatorError(
                f"{node.describe()} cannot be computed from its inputs and attributes: "
                f"{type(error).__name__}: {error}"
            ) from error
        if values and isinstance(values[0], Narrow) and node.op in MOVING:
            return _renarrow(values[0].element, result)
        return result

    def _call_function(
        self, node: Node, values: list[Value], attributes: dict[str, Any]
    ) -> tuple[Value, ...]:
        function = node.function
        assert function is not None, "asked by the caller"
        given = values + [None] * (len(function.inputs) - len(values))
        inside = Walk(
            dict(zip(function.inputs, given, strict=False)), {**function.defaults, **attributes}
        )
        for each in function.nodes:
            inside.step(each)
        return tuple(inside.values[name] for name in function.outputs)


def _known(value: Value) -> Value:
    """A value as others take it: elements of arrays are arrays, and lengths that are numbers."""
    if isinstance(value, numpy.generic | UOp | int):
        value = numpy.asarray(value)
    return settle(value)


def _renarrow(element: int, value: Value) -> Value:
    """Narrow elements again: moving them has changed no type."""
    if isinstance(value, tuple):
        return tuple(_renarrow(element, each) for each in value)
    return value if isinstance(value, Narrow) else Narrow(element, value)
