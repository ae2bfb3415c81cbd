"""Models with damage: bytes changed, cut out, doubled, numbers made huge."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from onnx import helper
from onnx.external_data_helper import convert_model_to_external_data

from tests.onnx.models import make_layer, make_model

HUGE = [b"\xff" * 9 + b"\x01", b"\x80" * 9 + b"\x01", b"\xff\xff\xff\xff\x0f", b"\x00"]
"""Numbers on the wire: -1, the least, a large one, none."""


def seeds() -> dict[str, bytes]:
    """Small models of many kinds of nodes."""
    layer = make_layer()
    external = make_layer()
    convert_model_to_external_data(external, location="weights.bin", size_threshold=0)
    for tensor in external.graph.initializer:
        tensor.ClearField("raw_data")
        tensor.data_location = 1
    made = {"layer": layer, "external": external, "shapes": _shapes(), "control": _control()}
    made |= {"images": _images(), "trees": _trees(), "quantized": _quantized()}
    return {name: model.SerializeToString() for name, model in made.items()}


def _shapes() -> Any:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["rows"]),
        helper.make_node("Range", ["zero", "rows", "one"], ["places"]),
        helper.make_node("ConstantOfShape", ["shape"], ["empty"]),
        helper.make_node("Reshape", ["x", "whole"], ["flat"]),
        helper.make_node("Tile", ["flat", "twice"], ["tiled"]),
        helper.make_node("OneHot", ["places", "depth", "marks"], ["hot"]),
        helper.make_node("Slice", ["tiled", "begin", "end"], ["cut"]),
        helper.make_node("Pad", ["cut", "amounts"], ["y"]),
    ]
    numbers = {
        "zero": [0], "one": [1], "whole": [-1], "twice": [2], "depth": [5], "marks": [0, 1],
        "begin": [1], "end": [9], "amounts": [1, 2],
    }  # fmt: skip
    weights: dict[str, Any] = {name: numpy.array(value) for name, value in numbers.items()}
    weights |= {name: weights[name].reshape(()) for name in ("zero", "one", "depth")}
    outputs: Any = {"y": (1, [None]), "hot": (7, [None, None]), "empty": (1, [None, None])}
    return make_model(nodes, {"x": (1, [3, 4])}, outputs, weights)


def _control() -> Any:
    body = helper.make_graph(
        [
            helper.make_node("Add", ["state", "x"], ["next"]),
            helper.make_node("Identity", ["goes"], ["goes_on"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("step", 7, []),
            helper.make_tensor_value_info("goes", 9, []),
            helper.make_tensor_value_info("state", 1, [4]),
        ],
        [
            helper.make_tensor_value_info("goes_on", 9, []),
            helper.make_tensor_value_info("next", 1, [4]),
        ],
    )
    nodes = [helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)]
    return make_model(nodes, {"x": (1, [4])}, {"y": (1, [4])}, {"count": numpy.array(3)})


def _images() -> Any:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["made"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("MaxPool", ["made"], ["pooled"], kernel_shape=[2, 2]),
        helper.make_node("Resize", ["pooled", "", "scales"], ["larger"], mode="linear"),
        helper.make_node("GlobalAveragePool", ["larger"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["y"]),
    ]
    weights = {"w": numpy.ones((4, 3, 3, 3), numpy.float32)}
    weights["scales"] = numpy.array([1, 1, 2, 2], numpy.float32)
    return make_model(nodes, {"x": (1, [1, 3, 8, 8])}, {"y": (1, [1, 4])}, weights)


def _trees() -> Any:
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
        nodes_values=[0.5, 0.0, 0.0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0],
        target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, 2.0],
    )  # fmt: skip
    model = make_model([node], {"x": (1, [2, 3])}, {"y": (1, [2, 1])})
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return model


def _quantized() -> Any:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "scale", "small"], ["weight"]),
        helper.make_node("MatMul", ["d", "weight"], ["y"]),
    ]
    weights: dict[str, Any] = {
        "scale": numpy.array(0.1, numpy.float32), "zero": numpy.array(3, numpy.uint8),
    }  # fmt: skip
    model = make_model(nodes, {"x": (1, [2, 4])}, {"y": (1, [2, 4])}, weights, opset=21)
    model.graph.initializer.append(helper.make_tensor("w", 22, [4, 4], [*range(-8, 8)]))
    model.graph.initializer.append(helper.make_tensor("small", 22, [], [0]))
    return model


def mutations(raw: bytes, count: int, seed: int) -> Iterator[bytes]:
    """So many damaged copies of a model."""
    generator = random.Random(seed)
    for _ in range(count):
        made = bytearray(raw)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(made))
            kind = generator.randrange(6)
            if kind <= 1:
                made[at] = generator.randrange(256)
            elif kind == 2:
                made[at] ^= 1 << generator.randrange(8)
            elif kind == 3:
                del made[at : at + generator.randint(1, 12)]
            elif kind == 4:
                made[at : at + 1] = generator.choice(HUGE)
            else:
                end = at + generator.randint(1, 40)
                made[at:at] = made[at:end]
            if not made:
                break
        yield bytes(made)


def write_into(folder: Path, raw: bytes) -> Path:
    """A model in a folder that has its weights beside."""
    weights = folder / "weights.bin"
    if not weights.exists():
        weights.write_bytes(bytes(8192))
    path = folder / "model.onnx"
    path.write_bytes(raw)
    return path
