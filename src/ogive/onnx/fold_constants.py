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
from ogive.ir.device_names import DEFAULT_DEVICE
from ogive.named import NamedTuple
from ogive.onnx.call import to_tensor
from ogive.onnx.graph import Graph, Node
from ogive.onnx.merge_quantization import OWN, merge_quantization
from ogive.onnx.narrow import Narrow
from ogive.onnx.table import Value
from ogive.onnx.walk import Walk
from ogive.tensor.tensor import Tensor

DRAWING = {
    "Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
}  # fmt: skip
"""Operators whose results are new each time."""


class Folded(NamedTuple):
    """A graph of whose nodes none depends on weights alone, with its weights in memory.

    `names` has the weights that are as they lie `apart` in the file, by the ids of their tensors,
    and None for tensors that follow from the rest of the file. It `is_closed` if there are no
    others: none that was computed from a weight that is apart.
    """

    graph: Graph
    names: dict[int, str | None]
    is_closed: bool


def fold_constants(
    graph: Graph, apart: Container[str] = (), held: Mapping[str, Tensor] | None = None
) -> Folded:
    """A graph that gives the same results, and runs faster.

    Weights that are `held` already are not read again.
    """
    merged = merge_quantization(_merge_normalizations(graph))
    walk = Walk(merged.constants)
    kept = [node for node in merged.nodes if not _fold(node, walk)]
    needed = {name for node in kept for name in _names_used(node)}
    needed |= {info.name for info in graph.outputs}
    constants = {name: value for name, value in walk.values.items() if name in needed}
    sources = {id(value): name for name, value in graph.constants.items() if name in apart}
    known = {id(graph.constants[name]): tensor for name, tensor in (held or {}).items()}
    in_memory = _in_memory(constants, known)
    loose = _loose(graph, merged, walk, set(sources)) - set(sources)
    is_closed = not any(node.domain == OWN for node in merged.nodes)
    is_closed = is_closed and loose.isdisjoint(map(id, constants.values()))
    names = {
        tensor.id: sources.get(id(constants[name]))
        for name, tensor in in_memory.items()
        if isinstance(tensor, Tensor)
    }
    return Folded(replace(merged, nodes=kept, constants=in_memory), names, is_closed)


def _loose(graph: Graph, merged: Graph, walk: Walk, sources: set[int]) -> set[int]:
    """The values, by their ids, that follow from weights that are apart, and these."""
    loose = set(sources)
    loose |= {id(v) for name, v in merged.constants.items() if name not in graph.constants}
    for node in walk.done:
        values = walk.values
        if any(id(values[name]) in loose for name in node.inputs if name):
            loose |= {id(values[name]) for name in node.outputs if name}
    return loose


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
    scale, shift, mean, variance = (
        to_tensor(constants[name]).to(DEFAULT_DEVICE) for name in node.inputs[1:5]
    )
    weight = to_tensor(constants[conv.inputs[1]]).to(DEFAULT_DEVICE)
    factor = scale / (variance + node.attributes.get("epsilon", 1e-5)).sqrt()
    bias = shift - mean * factor
    if len(conv.inputs) > 2:
        bias = bias + to_tensor(constants[conv.inputs[2]]).to(DEFAULT_DEVICE) * factor
    return weight * factor.reshape(-1, *[1] * (weight.ndim - 1)), bias
