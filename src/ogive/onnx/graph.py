"""Graphs of nodes, checked once when a model is loaded."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ogive.named import record
from ogive.onnx import messages, operators
from ogive.onnx.elements import name_of, read_sparse, read_value
from ogive.onnx.table import Entry, OperatorError

Opsets = dict[str, int]

MOST_NODES = 1_000_000
"""So many nodes are carried out at most, those of functions each time that they are called; in
loops, each once."""
DEEPEST_CALLS = 50
"""So many functions call each other: Python recurses over them."""

_NODE = 2048
"""The memory that a node takes, in bytes, rounded up."""


@record(frozen=True)
class Info:
    """An input or output: its name, the type of its elements, and its shape.

    A length that may change is a name; one that is not said is None, as is a shape of unknown rank.
    `kind` is "tensor", or "sequence" or "optional", of which there is no more to say.
    """

    name: str
    dtype: str = ""
    shape: tuple[int | str | None, ...] | None = None
    kind: str = "tensor"

    def __str__(self) -> str:
        return f"{self.name}: {self.describe()}"

    def describe(self) -> str:
        """Its type and shape, without its name: `float32[batch, 3]`."""
        if self.kind != "tensor":
            return self.kind
        sizes = "..." if self.shape is None else ", ".join(str(size or "?") for size in self.shape)
        return f"{self.dtype}[{sizes}]"


@record
class Node:
    """A node: an operator of an opset, or a function of the model, with names of values."""

    name: str
    op: str
    domain: str
    version: int
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    references: dict[str, str]
    entry: Entry | None = None
    function: Function | None = None
    count: int = 1
    """The number of nodes it stands for: itself, and those of its function and of graphs in it."""

    def describe(self) -> str:
        """The name of a node in an error."""
        domain = self.domain or "ai.onnx"
        name = f"node {self.name!r}" if self.name else f"the node that makes {self.outputs[:1]}"
        return f"{name} ({domain}.{self.op}, opset {self.version})"


@record
class Graph:
    """Nodes in an order in which they can be computed."""

    name: str
    inputs: list[Info]
    outputs: list[Info]
    constants: dict[str, Any]
    nodes: list[Node]


@record
class Function:
    """A function of the model: nodes over its inputs and attributes."""

    inputs: list[str]
    outputs: list[str]
    defaults: dict[str, Any]
    nodes: list[Node] = field(default_factory=list)
    count: int = 0


class Builder:
    """Makes the graphs of a model out of its messages. Raises `FileError`, `OperatorError`."""

    def __init__(self, model: messages.ModelProto, folder: str | None) -> None:
        self.model = model
        self.folder = folder
        self.functions: dict[tuple[str, str], tuple[messages.FunctionProto, Function]] = {}
        for proto in model.functions:
            function = Function(proto.inputs, proto.outputs, self._attributes(proto.defaults, {}))
            self.functions[proto.domain, proto.name] = proto, function
        self._being_built: set[tuple[str, str]] = set()
        self._built: set[tuple[str, str]] = set()

    def build(self) -> Graph:
        """The main graph, with all that it needs."""
        if self.model.graph is None:
            self.model.refuse("it has no graph")
        opsets = versions(self.model.opsets)
        if not opsets:
            self.model.refuse("it does not say which opset it uses")
        return self._graph(self.model.graph, opsets, set())

    def _graph(self, proto: messages.GraphProto, opsets: Opsets, outside: set[str]) -> Graph:
        constants = {each.name: read_value(each, self.folder) for each in proto.initializers}
        constants |= dict(read_sparse(each, self.folder) for each in proto.sparse_initializers)
        inputs = [info_of(each) for each in proto.inputs]
        names = outside | set(constants) | {each.name for each in inputs}
        nodes = self._nodes(proto.nodes, opsets, names)
        outputs = [info_of(each) for each in proto.outputs]
        for each in outputs:
            if each.name not in names:
                proto.refuse(f"no node makes the output {each.name!r}")
        own = [each for each in inputs if each.name not in constants]
        return Graph(proto.name, own, outputs, constants, nodes)

    def _nodes(
        self, protos: list[messages.NodeProto], opsets: Opsets, names: set[str]
    ) -> list[Node]:
        nodes, count = [], 0
        for proto in protos:
            proto.document.origin.charge(_NODE)
            node = self._node(proto, opsets, names)
            count += node.count
            if count > MOST_NODES:
                proto.refuse(
                    f"{node.describe()} stands for {node.count} nodes, with those of its functions "
                    f"each time that they are called; up to {MOST_NODES} are taken in all"
                )
            for name in node.inputs:
                if name and name not in names:
                    proto.refuse(f"{node.describe()} uses {name!r}, which nothing before it makes")
            names.update(name for name in node.outputs if name)
            nodes.append(node)
        return nodes

    def _node(self, proto: messages.NodeProto, opsets: Opsets, names: set[str]) -> Node:
        domain = proto.domain
        if domain == "ai.onnx":
            domain = ""
        version = opsets.get(domain, 1)
        given, references = [], {}
        for each in proto.attributes:
            refers_to = each.refers_to
            if refers_to:
                references[each.name] = refers_to
            else:
                given.append(each)
        attributes = self._attributes(given, opsets, names)
        node = Node(
            proto.name, proto.op_type, domain, version, proto.inputs, proto.outputs, attributes,
            references,
        )  # fmt: skip
        inside = [each for each in attributes.values() if isinstance(each, Graph)]
        node.count += sum([each.count for graph in inside for each in graph.nodes])
        if (domain, node.op) in self.functions:
            node.function = self._function(domain, node.op)
            node.count += node.function.count
        else:
            node.entry = operators.find(domain, node.op, version)
        if node.function is None and node.entry is None:
            raise OperatorError(f"{node.describe()}: there is no such operator here")
        return node

    def _function(self, domain: str, name: str) -> Function:
        key = domain, name
        proto, function = self.functions[key]
        if key in self._being_built:
            proto.refuse(f"the function {name!r} calls itself")
        if len(self._being_built) == DEEPEST_CALLS:
            proto.refuse(f"more than {DEEPEST_CALLS} functions call each other")
        if key not in self._built:
            self._being_built.add(key)
            function.nodes = self._nodes(proto.nodes, versions(proto.opsets), set(function.inputs))
            function.count = sum([node.count for node in function.nodes])
            self._being_built.discard(key)
            self._built.add(key)
        return function

    def _attributes(
        self,
        protos: list[messages.AttributeProto],
        opsets: Opsets,
        names: set[str] | None = None,
    ) -> dict[str, Any]:
        return {each.name: self._attribute(each, opsets, names or set()) for each in protos}

    def _attribute(self, proto: messages.AttributeProto, opsets: Opsets, names: set[str]) -> Any:
        kind = proto.kind
        if kind == proto.TENSOR:
            tensor = proto.message(5, messages.TensorProto)
            return None if tensor is None else read_value(tensor, self.folder)
        if kind == proto.SPARSE:
            sparse = proto.message(22, messages.SparseTensorProto)
            return None if sparse is None else read_sparse(sparse, self.folder)[1]
        if kind == proto.GRAPH:
            graph = proto.message(6, messages.GraphProto)
            return None if graph is None else self._graph(graph, opsets, names)
        if kind == proto.TYPE:
            return proto.message(14, messages.TypeProto)
        return proto.plain


def versions(opsets: list[messages.OperatorSetId]) -> Opsets:
    """The version of each domain's operators that is used."""
    return {("" if each.domain == "ai.onnx" else each.domain): each.version for each in opsets}


def info_of(proto: messages.ValueInfoProto) -> Info:
    """An input or output as its message describes it."""
    kind = proto.type
    if kind is None:
        return Info(proto.name)
    if kind.tensor is not None:
        shape = kind.tensor.shape
        element = name_of(kind.tensor.element)
        return Info(proto.name, element, None if shape is None else tuple(shape))
    return Info(proto.name, kind="sequence" if kind.sequence is not None else "optional")
