"""The messages of ONNX, with the fields that are used here (onnx.proto has the numbers)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ogive.onnx.wire import Message, Span


class StringStringEntry(Message):
    """A text by name."""

    @property
    def pair(self) -> tuple[str, str]:
        return self.text(1), self.text(2)


class OperatorSetId(Message):
    """A domain and the version of its operators that a model uses."""

    @property
    def domain(self) -> str:
        return self.text(1)

    @property
    def version(self) -> int:
        return self.integer(2)


class TensorProto(Message):
    """A tensor: its elements as raw bytes, as numbers of one kind, or in a file beside."""

    FLOATS, INT32S, STRINGS, INT64S, RAW, DOUBLES, UINT64S = 4, 5, 6, 7, 9, 10, 11
    EXTERNAL = 1

    @property
    def dims(self) -> list[int]:
        return self.integers(1)

    @property
    def data_type(self) -> int:
        return self.integer(2)

    @property
    def name(self) -> str:
        return self.text(8)

    @property
    def raw(self) -> Span | None:
        return self.place(self.RAW)

    @property
    def is_external(self) -> bool:
        return self.integer(14) == self.EXTERNAL

    @property
    def external(self) -> dict[str, str]:
        return dict(entry.pair for entry in self.messages(13, StringStringEntry))


class SparseTensorProto(Message):
    """The elements of a tensor that are not 0, and where they are."""

    @property
    def values(self) -> TensorProto | None:
        return self.message(1, TensorProto)

    @property
    def indices(self) -> TensorProto | None:
        return self.message(2, TensorProto)

    @property
    def dims(self) -> list[int]:
        return self.integers(3)


class Dimension(Message):
    """A length, a name for one, or neither: some write -1 for a length that may change."""

    @property
    def value(self) -> int | str | None:
        if self.has(1):
            length = self.integer(1)
            return length if length >= 0 else None
        return self.text(2) or None


class TensorShape(Message):
    @property
    def dims(self) -> list[int | str | None]:
        return [dimension.value for dimension in self.messages(1, Dimension)]


class TensorType(Message):
    @property
    def element(self) -> int:
        return self.integer(1)

    @property
    def shape(self) -> list[int | str | None] | None:
        shape = self.message(2, TensorShape)
        return None if shape is None else shape.dims


class InnerType(Message):
    """The type inside a sequence or optional."""

    @property
    def inner(self) -> TypeProto | None:
        return self.message(1, TypeProto)


class TypeProto(Message):
    """The type of a value: a tensor, a sequence or an optional."""

    @property
    def tensor(self) -> TensorType | None:
        return self.message(1, TensorType)

    @property
    def sequence(self) -> InnerType | None:
        return self.message(4, InnerType)

    @property
    def optional(self) -> InnerType | None:
        return self.message(9, InnerType)


class ValueInfoProto(Message):
    @property
    def name(self) -> str:
        return self.text(1)

    @property
    def type(self) -> TypeProto | None:
        return self.message(2, TypeProto)


class AttributeProto(Message):
    """A named value of a node."""

    FLOAT, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS = 1, 2, 3, 4, 5, 6, 7, 8
    SPARSE, TYPE = 11, 13
    _FIELDS = {2: FLOAT, 3: INT, 4: STRING, 5: TENSOR, 6: GRAPH, 7: FLOATS, 8: INTS, 9: STRINGS}

    @property
    def name(self) -> str:
        return self.text(1)

    @property
    def refers_to(self) -> str:
        """The attribute of the function around it whose value this has."""
        return self.text(21)

    @property
    def kind(self) -> int:
        """The kind of its value. Old files do not say it, and have only that field."""
        given = self.integer(20)
        if given:
            return given
        return next((kind for field, kind in self._FIELDS.items() if self.has(field)), 0)

    @property
    def plain(self) -> Any:
        """The value, where it is a number, a text (as bytes), or a list of these."""
        kind = self.kind
        if kind == self.FLOAT:
            return self.number(2)
        if kind == self.INT:
            return self.integer(3)
        if kind == self.STRING:
            return self.content(4)
        if kind == self.FLOATS:
            self.document.origin.charge(24 * (self.span.end - self.span.begin))
            return [float(value) for value in self.number_array(7, "<f4")]
        if kind == self.INTS:
            return self.integers(8)
        if kind == self.STRINGS:
            return self.all_bytes(9)
        return None


class NodeProto(Message):
    @property
    def inputs(self) -> list[str]:
        return self.texts(1)

    @property
    def outputs(self) -> list[str]:
        return self.texts(2)

    @property
    def name(self) -> str:
        return self.text(3)

    @property
    def op_type(self) -> str:
        return self.text(4)

    @property
    def attributes(self) -> list[AttributeProto]:
        return self.messages(5, AttributeProto)

    @property
    def domain(self) -> str:
        return self.text(7)


class GraphProto(Message):
    @property
    def nodes(self) -> list[NodeProto]:
        return self.messages(1, NodeProto)

    @property
    def node_count(self) -> int:
        return len(self.fields.get(1, ()))

    @property
    def name(self) -> str:
        return self.text(2)

    @cached_property
    def initializers(self) -> list[TensorProto]:
        return self.messages(5, TensorProto)

    @property
    def inputs(self) -> list[ValueInfoProto]:
        return self.messages(11, ValueInfoProto)

    @property
    def outputs(self) -> list[ValueInfoProto]:
        return self.messages(12, ValueInfoProto)

    @property
    def sparse_initializers(self) -> list[SparseTensorProto]:
        return self.messages(15, SparseTensorProto)


class FunctionProto(Message):
    @property
    def name(self) -> str:
        return self.text(1)

    @property
    def inputs(self) -> list[str]:
        return self.texts(4)

    @property
    def outputs(self) -> list[str]:
        return self.texts(5)

    @property
    def nodes(self) -> list[NodeProto]:
        return self.messages(7, NodeProto)

    @property
    def opsets(self) -> list[OperatorSetId]:
        return self.messages(9, OperatorSetId)

    @property
    def domain(self) -> str:
        return self.text(10)

    @property
    def defaults(self) -> list[AttributeProto]:
        """Attributes with the values they have where a call gives none."""
        return self.messages(11, AttributeProto)


class ModelProto(Message):
    @property
    def ir_version(self) -> int:
        return self.integer(1)

    @cached_property
    def graph(self) -> GraphProto | None:
        return self.message(7, GraphProto)

    @property
    def opsets(self) -> list[OperatorSetId]:
        return self.messages(8, OperatorSetId)

    @property
    def metadata(self) -> dict[str, str]:
        return dict(entry.pair for entry in self.messages(14, StringStringEntry))

    @property
    def functions(self) -> list[FunctionProto]:
        return self.messages(25, FunctionProto)

    @property
    def producer(self) -> str:
        return self.text(2)
