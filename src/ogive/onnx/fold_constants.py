"""Values that a graph computes from its weights alone are computed once, before the first call.

    Transpose(weight) → a weight        Conv(x, w) → BatchNormalization → Conv(x, w', b')

Weights are read from their file then, and stay in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy

from ogive.errors import OgiveError
from ogive.io.checked_files import in_memory
from ogive.named import NamedTuple
from ogive.onnx.call import to_tensor
from ogive.onnx.graph import Graph, Node
from ogive.onnx.merge_quantization import merge_quantization
from ogive.onnx.model_file import IN_FILE
from ogive.onnx.narrow import Narrow
from ogive.onnx.table import Value
from ogive.onnx.walk import Walk
from ogive.tensor.tensor import Tensor

DRAWING = {
    "Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
}  # fmt: skip
"""Operators whose results are new each time."""


MADE = "made: "
"""What a weight that is computed is called by begins with this, that of one in the file with
`IN_FILE`."""

_OF_ELEMENTS = frozenset(
    {
        "Add", "Cast", "Concat", "Div", "Identity", "Max", "Min", "Mul", "Neg", "Reciprocal",
        "Sqrt", "Sub", "Transpose",
    }
)  # fmt: skip
"""Operators of whose inputs the elements do not decide what is computed."""

_OF_FIRST = frozenset(
    {"DequantizeLinear", "Flatten", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Unsqueeze"}
)
"""Operators of which that is so of the first input."""


class Folded(NamedTuple):
    """A graph of whose nodes none depends on weights alone, with its weights in memory.

    `names` has the weights that lie `apart` in the file, and those computed from them, by the ids
    of their tensors; None stands for tensors that follow from the rest of the file. It `is_closed`
    if what is computed is the same for other elements of the weights that are apart.
    """

    graph: Graph
    names: dict[int, str | None]
    is_closed: bool

    def tensors(self) -> dict[str, Tensor]:
        """The weights by their names."""
        values = [each for each in self.graph.constants.values() if isinstance(each, Tensor)]
        named = [(self.names[each.id], each) for each in values]
        return {name: each for name, each in named if name is not None}


def fold_constants(
    graph: Graph, apart: Container[str] = (), held: Mapping[str, Tensor] | None = None
) -> Folded:
    """A graph that gives the same results, and runs faster.

    Weights that are `held` already are not read again.
    """
    graph = _without_other_names(graph)
    sources = {id(value): name for name, value in graph.constants.items() if name in apart}
    merged = merge_quantization(_merge_normalizations(graph))
    walk = Walk(merged.constants)
    kept = [node for node in merged.nodes if not _fold(node, walk)]
    needed = {name for node in kept for name in _names_used(node)}
    needed |= {info.name for info in graph.outputs}
    constants = {name: value for name, value in walk.values.items() if name in needed}
    known = {id(graph.constants[name]): tensor for name, tensor in (held or {}).items()}
    in_memory = _in_memory(constants, known)
    loose = _Loose(graph, merged, walk, sources)
    names = {
        tensor.id: loose.name_of(constants[name], name)
        for name, tensor in in_memory.items()
        if isinstance(tensor, Tensor)
    }
    is_closed = loose.is_closed and not any(map(loose.decides, constants.values()))
    return Folded(replace(merged, nodes=kept, constants=in_memory), names, is_closed)


class _Loose:
    """The values that follow from weights that are apart."""

    def __init__(
        self, graph: Graph, merged: Graph, walk: Walk, sources: Mapping[int, str]
    ) -> None:
        self._sources = sources
        self._ids = set(sources)
        self._ids |= {id(v) for name, v in merged.constants.items() if name not in graph.constants}
        values = walk.values
        looked_at = [name for node in graph.nodes for name in _zero_points(node)]
        self.is_closed = not any(id(values.get(name)) in self._ids for name in looked_at if name)
        for node in walk.done:
            given = [id(values.get(name)) for name in node.inputs]
            places = [at for at, value in enumerate(given) if value in self._ids]
            if places and node.op not in ("Shape", "Size"):
                self._ids |= {id(values[name]) for name in node.outputs if name}
                is_plain = node.op in _OF_ELEMENTS or (node.op in _OF_FIRST and places == [0])
                self.is_closed = self.is_closed and is_plain and node.domain in ("", "ai.onnx")

    def name_of(self, value: Value, name: str) -> str | None:
        """What a weight is called; None if it follows from the rest of the file."""
        if id(value) in self._sources:
            return IN_FILE + self._sources[id(value)]
        return MADE + name if id(value) in self._ids else None

    def decides(self, value: Value) -> bool:
        """Whether elements of a weight that is apart can be looked at while a graph is captured."""
        return id(value) in self._ids and not isinstance(value, Tensor)


def _zero_points(node: Node) -> list[str]:
    """The zero points that `merge_quantization` looks at."""
    places = {"DequantizeLinear": slice(2, 3), "MatMulInteger": slice(2, 4)}.get(node.op)
    return [] if places is None else node.inputs[places]


def _fold(node: Node, walk: Walk) -> bool:
    """Compute a node if all it needs is there."""
    if node.op in DRAWING or node.function is not None or any(map(_is_graph, _attributes(node))):
        return False
    if not all(name in walk.values for name in node.inputs if name):
        return False
    try:
        walk.step(node)
    except OgiveError:
        return False  # it is raised again where the graph runs
    return True


def _attributes(node: Node) -> list[Any]:
    return list(node.attributes.values())


def _is_graph(value: Any) -> bool:
    return isinstance(value, Graph)


def _names_used(node: Node) -> list[str]:
    """The names that a node reads, and those that the graphs inside of it read."""
    used = list(node.inputs)
    for value in _attributes(node):
        if isinstance(value, Graph):
            used += [info.name for info in value.outputs]
            used += [name for each in value.nodes for name in _names_used(each)]
    return used


def _in_memory(
    constants: Mapping[str, Value], held: Mapping[int, Tensor]
) -> dict[str, Value]:
    """Constants whose elements are there: read from files, computed. A value of two names is one;
    those that are `held`, by their ids, are there already."""
    values: dict[str, Value] = {}
    tensors = dict(held)
    for name, value in constants.items():
        tensor = value.held if isinstance(value, Narrow) else value
        if isinstance(tensor, Tensor):
            if id(tensor) not in tensors:
                tensors[id(tensor)] = in_memory(tensor)
            tensor = tensors[id(tensor)]
        values[name] = Narrow(value.element, tensor) if isinstance(value, Narrow) else tensor
    Tensor.realize_batch([tensor for key, tensor in tensors.items() if key not in held])
    return values


def _without_other_names(graph: Graph) -> Graph:
    """The graph with each weight under all the names that it gets from `Identity`."""
    constants = dict(graph.constants)
    nodes = []
    for node in graph.nodes:
        if node.op == "Identity" and node.domain in ("", "ai.onnx") and node.inputs[0] in constants:
            constants[node.outputs[0]] = constants[node.inputs[0]]
        else:
            nodes.append(node)
    return replace(graph, nodes=nodes, constants=constants)


def _merge_normalizations(graph: Graph) -> Graph:
    """Normalizations by known numbers become part of the convolutions before them."""
    uses = Counter(name for node in graph.nodes for name in _names_used(node))
    uses.update(info.name for info in graph.outputs)
    makers = {name: node for node in graph.nodes for name in node.outputs}
    constants = dict(graph.constants)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in graph.nodes:
        before = makers.get(node.inputs[0]) if node.op == "BatchNormalization" else None
        if before is None or before.op != "Conv" or uses[node.inputs[0]] != 1:
            continue
        names = [*node.inputs[1:5], *before.inputs[1:]]
        is_known = all(isinstance(constants.get(name), Tensor | numpy.ndarray) for name in names)
        if not is_known or node.attributes.get("training_mode") or len(node.outputs) > 1:
            continue
        weight, bias = _merged(node, before, constants)
        label = f"{before.outputs[0]}/merged"
        constants[f"{label}/weight"], constants[f"{label}/bias"] = weight, bias
        inputs = [before.inputs[0], f"{label}/weight", f"{label}/bias"]
        replaced[id(node)] = replace(before, inputs=inputs, outputs=node.outputs)
        gone.add(id(before))
    nodes = [replaced.get(id(node), node) for node in graph.nodes if id(node) not in gone]
    return replace(graph, nodes=nodes, constants=constants)


def _merged(node: Node, conv: Node, constants: Mapping[str, Value]) -> tuple[Tensor, Tensor]:
    """The weight and bias of a convolution that normalizes as well."""
    scale, shift, mean, variance = (_array(constants[name]) for name in node.inputs[1:5])
    weight = _array(constants[conv.inputs[1]])
    kind = weight.dtype
    epsilon = numpy.asarray(node.attributes.get("epsilon", 1e-5), kind)
    factor = scale / numpy.sqrt(variance + epsilon)
    bias = shift - mean * factor
    if len(conv.inputs) > 2:
        bias = bias + _array(constants[conv.inputs[2]]) * factor
    weight = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    return Tensor(weight.astype(kind)), Tensor(bias.astype(kind))


def _array(value: Value) -> Any:
    return value if isinstance(value, numpy.ndarray) else in_memory(to_tensor(value)).numpy()
