"""Layers between dequantizations compute with integers.

    Conv(DequantizeLinear(x), DequantizeLinear(w), b)  →  QuantizedConv(x, scale, zero, w, …, b)
    MatMul(DequantizeLinear(x), DequantizeLinear(w))   →  MatMulIntegerToFloat(x, w, …)

Sums of products of integers are exact, and pairs of them are multiplied at once. What the layers
make are numbers as before; if they are quantized again, that is part of the same kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy

from ogive.onnx import table
from ogive.onnx.call import to_tensor
from ogive.onnx.graph import Graph, Node
from ogive.onnx.narrow import Narrow
from ogive.onnx.table import Value
from ogive.tensor.tensor import Tensor

LEAST_CHANNELS = 8
"""Channels from which on pairs of them pay. A few are summed as floats, and as exactly."""

BYTES = ("int8", "uint8")


def merge_quantization(graph: Graph) -> Graph:
    """A graph that gives the same results, with layers of integers where these are known."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    nodes = [_merged(node, makers, graph.constants) or node for node in graph.nodes]
    return replace(graph, nodes=nodes)


def _merged(
    node: Node, makers: Mapping[str, Node], constants: Mapping[str, Value]
) -> Node | None:
    if node.op not in ("Conv", "MatMul") or node.domain not in ("", "ai.onnx"):
        return None
    inputs = [makers.get(name) for name in node.inputs[:2]]
    is_quantized = all(each is not None and each.op == "DequantizeLinear" for each in inputs)
    if not is_quantized:
        return None
    data, weight = [each for each in inputs if each is not None]
    if not _has_one_scale(data, constants) or not _are_bytes(weight.inputs[0], constants):
        return None
    return (_merge_conv if node.op == "Conv" else _merge_product)(node, data, weight, constants)


def _merge_conv(
    node: Node, data: Node, weight: Node, constants: Mapping[str, Value]
) -> Node | None:
    _, channels, *_ = to_tensor(constants[weight.inputs[0]]).shape
    is_along_features = weight.attributes.get("axis", 1) == 0
    if node.attributes.get("group", 1) != 1 or channels < LEAST_CHANNELS or channels % 4:
        return None
    if not (is_along_features or _has_one_scale(weight, constants)):
        return None
    inputs = [*_quantized(data), *_quantized(weight), *node.inputs[2:]]
    entry = table.find("ogive", "QuantizedConv", 1)
    return replace(node, op="QuantizedConv", domain="ogive", version=1, inputs=inputs, entry=entry)


def _merge_product(
    node: Node, data: Node, weight: Node, constants: Mapping[str, Value]
) -> Node | None:
    rank = to_tensor(constants[weight.inputs[0]]).ndim
    is_along_columns = weight.attributes.get("axis", 1) in (1, -1)
    if rank != 2 or not (is_along_columns or _has_one_scale(weight, constants)):
        return None
    x, x_scale, x_zero = _quantized(data)
    w, w_scale, w_zero = _quantized(weight)
    inputs = [x, w, x_scale, w_scale, x_zero, w_zero]
    domain, op = "com.microsoft", "MatMulIntegerToFloat"
    entry = table.find(domain, op, 1)
    return replace(node, op=op, domain=domain, version=1, inputs=inputs, entry=entry)


def _quantized(node: Node) -> list[str]:
    """The integers, the scale and the zero point that a node makes numbers of."""
    return [*node.inputs, ""][:3]


def _has_one_scale(node: Node, constants: Mapping[str, Value]) -> bool:
    """Whether a dequantization to float32 has one scale, and one zero point, which are known."""
    if node.attributes.get("output_dtype") or node.attributes.get("block_size"):
        return False
    given = [constants.get(name) for name in node.inputs[1:] if name]
    known = [each for each in given if isinstance(each, Tensor | numpy.ndarray)]
    return len(known) == len(given) and all(to_tensor(each).numel() == 1 for each in known) and (
        to_tensor(known[0]).dtype.name == "float32"
    )


def _are_bytes(name: str, constants: Mapping[str, Value]) -> bool:
    found = constants.get(name)
    if isinstance(found, Narrow) or not isinstance(found, Tensor | numpy.ndarray):
        return False
    return to_tensor(found).dtype.name in BYTES
