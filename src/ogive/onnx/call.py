"""One node at work: its inputs and attributes, as a function of the table asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.errors import needing_memory
from ogive.onnx.dynamic_lengths import has_variables, to_values
from ogive.onnx.elements import Array, find_dtype
from ogive.onnx.narrow import Narrow
from ogive.onnx.table import OperatorError, Value
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ogive.onnx.graph import Graph, Node
    from ogive.onnx.walk import Walk


MOST_MADE = 1 << 27
"""So many elements may be made while a graph is walked; tensors are computed later, and larger."""


class Call:
    """A node, the values of its inputs (None where absent), and the walk it is part of."""

    def __init__(
        self, node: Node, values: Sequence[Value], attributes: dict[str, Any], walk: Walk
    ) -> None:
        self.node = node
        self.values = values
        self.attributes = attributes
        self.walk = walk
        self.version = node.version

    # Inputs

    def __len__(self) -> int:
        return len(self.values)

    def has(self, index: int) -> bool:
        """Whether an optional input is given."""
        return index < len(self.values) and self.values[index] is not None

    def value(self, index: int) -> Any:
        """An input as an array if all are known, else as a tensor."""
        if all(value is None or isinstance(value, numpy.ndarray) for value in self.values):
            return self.values[index]
        return self.tensor(index)

    def tensor(self, index: int) -> Tensor:
        """An input as a tensor."""
        value = self.values[index] if index < len(self.values) else None
        if value is None:
            raise OperatorError(f"{self.node.describe()} has no input {index}")
        return to_tensor(value, self.node.describe())

    def tensors(self) -> list[Tensor]:
        """All inputs as tensors."""
        return [self.tensor(index) for index in range(len(self.values))]

    def optional(self, index: int) -> Tensor | None:
        """An input as a tensor, or None."""
        return self.tensor(index) if self.has(index) else None

    def array(self, index: int) -> Array:
        """The elements of an input. While a graph is captured, only a known one has them."""
        value = self.values[index]
        return value if isinstance(value, numpy.ndarray) else to_tensor(value).numpy()

    def element(self, index: int) -> int | None:
        """The type of an input, if it is a narrow one."""
        value = self.values[index] if index < len(self.values) else None
        return value.element if isinstance(value, Narrow) else None

    def integers(self, index: int) -> list[Any]:
        """The elements of an input as integers, or as expressions of lengths that may change."""
        return [
            each if isinstance(each, UOp) else int(each) for each in self.array(index).reshape(-1)
        ]

    def number(self, index: int) -> Any:
        """The one element of an input."""
        element = self.array(index).reshape(-1)[0]
        return element if isinstance(element, UOp) else element.item()

    # Attributes

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute; texts are decoded."""
        attribute = self.attributes.get(name, default)
        if isinstance(attribute, bytes):
            return attribute.decode(errors="replace")
        if isinstance(attribute, list) and attribute and isinstance(attribute[0], bytes):
            return [each.decode(errors="replace") for each in attribute]
        return attribute

    def flag(self, name: str, default: int = 0) -> bool:
        """An attribute that is 0 or 1."""
        return bool(self.attributes.get(name, default))

    def graph(self, name: str) -> Graph:
        """A subgraph."""
        subgraph: Graph = self.attributes[name]
        return subgraph

    def dtype(self, name: str, default: int | None = None) -> DType:
        """An attribute that is a type of elements."""
        kind = self.attributes.get(name, default)
        assert kind is not None, "the attribute is required, or has a default"
        return find_dtype(kind)

    def axes(self, index: int, name: str = "axes") -> list[int] | None:
        """Axes, which are an input in new opsets and an attribute in old ones."""
        if self.has(index):
            return self.integers(index)
        axes: list[int] | None = self.attributes.get(name)
        return axes

    def bound(self, count: Any) -> int:
        """A number of elements that are made at once, refused where it is out of all proportion."""
        if not 0 <= count <= MOST_MADE:
            raise self.refuse(f"{count} elements; up to {MOST_MADE} are made at once")
        return int(count)

    def refuse(self, why: str) -> OperatorError:
        """The error for a form of the operator that is not there."""
        return OperatorError(f"{self.node.describe()}: {why}")


def to_tensor(value: Value, name: str = "a value") -> Tensor:
    """A value as a tensor. Raises `OperatorError` for texts and sequences."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Narrow):
        return to_tensor(value.held, name)
    if has_variables(value):
        return to_values(value)
    if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind not in "OUS":
        with needing_memory(name):
            copied = numpy.array(value)
        return Tensor.from_numpy(copied)
    kind = "texts" if isinstance(value, numpy.ndarray) else type(value).__name__
    raise OperatorError(f"{name} computes with {kind}, where a tensor is expected")


def index_tensor(values: Any) -> Tensor:
    """Known integers as an int64 tensor."""
    return Tensor.from_numpy(numpy.array(values, numpy.int64))
