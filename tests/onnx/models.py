"""Small models, made with the `onnx` package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx
from onnx import helper


def make_model(
    nodes: Sequence[Any],
    inputs: Mapping[str, tuple[int, Sequence[int | str | None]]],
    outputs: Mapping[str, tuple[int, Sequence[int | str | None]]],
    weights: dict[str, numpy.ndarray[Any, Any]] | None = None,
    opset: int = 18,
) -> Any:
    """A model of these nodes; inputs and outputs are types and shapes by name."""
    graph = helper.make_graph(
        list(nodes),
        "small",
        [helper.make_tensor_value_info(name, *about) for name, about in inputs.items()],
        [helper.make_tensor_value_info(name, *about) for name, about in outputs.items()],
        [onnx.numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)  # as ONNX Runtime takes it


def make_layer() -> Any:
    """relu(x @ weight + bias), with 8 inputs and 200 outputs for each row."""
    generator = numpy.random.default_rng(3)
    weights = {
        "weight": generator.normal(size=(8, 200)).astype(numpy.float32),
        "bias": generator.normal(size=200).astype(numpy.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["y"]),
    ]
    model = make_model(nodes, {"x": (1, ["rows", 8])}, {"y": (1, ["rows", 200])}, weights)
    helper.set_model_props(model, {"author": "me"})
    return model
