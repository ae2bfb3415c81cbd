"""Layers between dequantizations compute with integers.

    Conv(DequantizeLinear(x), DequantizeLinear(w), b)  →  QuantizedConv(x, scale, zero, w, …, b)
    MatMul(DequantizeLinear(x), DequantizeLinear(w))   →  QuantizedProduct(x, scale, zero, w, …)
    MatMulInteger(x, w, zero)                          →  ProductOfBytes(x, zero, w, sums)

Sums of products of integers are exact, and several of them are multiplied at once. What the layers
make are numbers as before; if they are quantized again, that is part of the same kernel.

Bytes are multiplied as they are, where weights have no zero point. What that of the data takes away
follows from the sums of the weights, which are added up here, once:

    sum of (x - zero) * w  =  sum of x * w  -  zero * (sum of w)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy

from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.onnx import operators
from ogive.onnx.call import to_tensor
from ogive.onnx.graph import Graph, Node
from ogive.onnx.narrow import Narrow
from ogive.onnx.table import Value
from ogive.tensor.tensor import Tensor

LEAST_CHANNELS = 3
"""Channels from which on words of them pay. Fewer are summed as floats, and as exactly."""

IN_A_WORD = 4
"""Channels that are multiplied at once: filters have a multiple of as many."""

OWN = "ogive"
"""The domain of operators that no file has."""

BYTES = ("int8", "uint8")

WEIGHTS = "int8"
"""The dtype that instructions for bytes multiply unsigned ones by."""


def merge_quantization(graph: Graph) -> Graph:
    """A graph that gives the same results, with layers of integers where these are known."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    constants = dict(graph.constants)
    nodes = [_merged(node, makers, constants) or node for node in graph.nodes]
    return replace(graph, nodes=nodes, constants=constants)


def _merged(
    node: Node, makers: Mapping[str, Node], constants: dict[str, Value]
) -> Node | None:
    if node.domain not in ("", "ai.onnx"):
        return None
    if node.op == "MatMulInteger":
        return _merge_integers(node, constants)
    if node.op not in ("Conv", "MatMul"):
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
    node: Node, data: Node, weight: Node, constants: dict[str, Value]
) -> Node | None:
    _, channels, *_ = to_tensor(constants[weight.inputs[0]]).shape
    is_along_features = weight.attributes.get("axis", 1) == 0
    if node.attributes.get("group", 1) != 1 or channels < LEAST_CHANNELS:
        return None
    if not (is_along_features or _has_one_scale(weight, constants)):
        return None
    bias = [*node.inputs[2:], ""][:1]
    w, w_scale, w_zero = _quantized(weight)
    sums = _sums(w, w_zero, 0, constants)
    if channels % IN_A_WORD:
        if not sums:
            return None
        w = _in_whole_words(w, constants)
    inputs = [*_quantized(data), w, w_scale, w_zero, *bias, sums]
    return _as_own(node, "QuantizedConv", inputs)


def _in_whole_words(weight: str, constants: dict[str, Value]) -> str:
    """The name of filters with more channels, of zeros, that fill the last word."""
    name = f"{weight}/whole"
    if name not in constants:
        values = to_tensor(constants[weight]).to(DEFAULT_DEVICE).numpy()
        pads = [(0, 0)] * values.ndim
        pads[1] = 0, -values.shape[1] % IN_A_WORD
        constants[name] = Tensor.from_numpy(numpy.pad(values, pads))
    return name


def _merge_product(
    node: Node, data: Node, weight: Node, constants: dict[str, Value]
) -> Node | None:
    rank = to_tensor(constants[weight.inputs[0]]).ndim
    is_along_columns = weight.attributes.get("axis", 1) in (1, -1)
    if rank != 2 or not (is_along_columns or _has_one_scale(weight, constants)):
        return None
    w, w_scale, w_zero = _quantized(weight)
    inputs = [*_quantized(data), w, w_scale, w_zero, _sums(w, w_zero, 1, constants)]
    return _as_own(node, "QuantizedProduct", inputs)


def _merge_integers(node: Node, constants: dict[str, Value]) -> Node | None:
    x, w, x_zero, w_zero = [*node.inputs, "", ""][:4]
    if not _are_bytes(w, constants) or to_tensor(constants[w]).ndim != 2:
        return None
    sums = _sums(w, w_zero, 1, constants)
    return _as_own(node, "ProductOfBytes", [x, x_zero, w, sums]) if sums else None


def _as_own(node: Node, op: str, inputs: list[str]) -> Node:
    entry = operators.find(OWN, op, 1)
    return replace(node, op=op, domain=OWN, version=1, inputs=inputs, entry=entry)


def _sums(weight: str, zero: str, axis: int, constants: dict[str, Value]) -> str:
    """The name of the sums of weights at each place of an axis; none if they are of the other sign
    than instructions for bytes take, or have a zero point."""
    weights = constants[weight]
    zeros = constants.get(zero) if zero else None
    has_zeros = zero and (zeros is None or bool(to_tensor(zeros).numpy().any()))
    if has_zeros or to_tensor(weights).dtype.name != WEIGHTS:
        return ""
    name = f"{weight}/sums"
    if name not in constants:
        values = to_tensor(weights).to(DEFAULT_DEVICE).numpy()
        others = tuple(each for each in range(values.ndim) if each != axis)
        constants[name] = Tensor.from_numpy(values.sum(others, numpy.int32))
    return name


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
    constant = constants.get(name)
    if isinstance(constant, Narrow) or not isinstance(constant, Tensor | numpy.ndarray):
        return False
    return to_tensor(constant).dtype.name in BYTES
