"""Messages of a model that grows node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.errors import ArgumentError
from ogive.onnx import writing

OPSET = 18
IR_VERSION = 8


WriteTensor = Callable[[str, numpy.ndarray[Any, Any], DType], bytes]
"""A function that makes the message of a tensor from its name, elements and dtype."""


class Emitter:
    """The nodes and initializers of a graph so far; `write_tensor` makes the messages of these."""

    def __init__(self, write_tensor: WriteTensor = writing.tensor) -> None:
        self._write_tensor = write_tensor
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []
        self._constants: dict[Any, str] = {}
        self._taken: set[str] = set()

    def name(self, wanted: str) -> str:
        """A name that nothing else has."""
        free, number = wanted, 1
        while free in self._taken:
            number += 1
            free = f"{wanted}_{number}"
        self._taken.add(free)
        return free

    def node(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """A node; gives the name of its first output."""
        return self.nodes(op, *inputs, outputs=outputs, **attributes)[0]

    def nodes(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """A node; gives the names of its outputs."""
        names = [self.name(op.lower()) for _ in range(outputs)]
        self._nodes.append(writing.node(op, inputs, names, attributes, names[0]))
        return names

    def rename(self, value: str, name: str) -> None:
        """Give a value out by another name."""
        self._nodes.append(writing.node("Identity", [value], [name], {}, f"{name}_out"))

    def weight(self, name: str, array: Any, dtype: DType) -> str:
        """An initializer."""
        own_name = self.name(name)
        self._weights.append(self._write_tensor(own_name, array, dtype))
        return own_name

    def integers(self, values: Sequence[int]) -> str:
        """A constant of one axis."""
        return self._constant(numpy.array(values, numpy.int64), "int64")

    def scalar(self, value: Any, dtype: DType) -> str:
        """A constant without axes."""
        return self._constant(numpy.array(value, dtype.numpy), dtype.name)

    def _constant(self, array: Any, kind: str) -> str:
        key = kind, array.shape, array.tobytes()
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = self.weight(name, array, to_dtype(kind))
        return self._constants[key]

    def model(self, name: str, inputs: list[bytes], outputs: list[bytes]) -> bytes:
        """All of it."""
        graph = writing.joined(writing.content(1, node) for node in self._nodes)
        graph += writing.content(2, name)
        graph += writing.joined(writing.content(5, weight) for weight in self._weights)
        graph += writing.joined(writing.content(11, info) for info in inputs)
        graph += writing.joined(writing.content(12, info) for info in outputs)
        if len(graph) >= 1 << 31:
            raise ArgumentError(
                "onnx.save: a model of more than 2 GiB does not fit into one ONNX file; with "
                "external=True its weights are written to a file beside"
            )
        return writing.model(graph, OPSET, "ogive", IR_VERSION)
