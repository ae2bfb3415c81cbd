"""Layers between dequantizations are layers of integers, and give what their definition gives."""

from __future__ import annotations

from typing import Any

import numpy
import onnx.reference
import pytest
from onnx import helper

import ogive
from ogive.onnx.merge_quantization import merge_quantization
from tests.onnx.models import make_model

RANDOM = numpy.random.default_rng(5)


def dequantize(name: str, axis: int | None = None) -> Any:
    more = {} if axis is None else {"axis": axis}
    inputs = [name, f"{name}_scale", f"{name}_zero"]
    return helper.make_node("DequantizeLinear", inputs, [f"{name}_float"], **more)


def quantized(name: str, array: Any, scale: Any, zero: Any) -> dict[str, Any]:
    given = {name: array} if array is not None else {}
    return given | {
        f"{name}_scale": numpy.asarray(scale, numpy.float32),
        f"{name}_zero": numpy.asarray(zero),
    }


def integers(kind: Any, *shape: int) -> Any:
    bounds = numpy.iinfo(kind)
    return RANDOM.integers(bounds.min, bounds.max + 1, shape).astype(kind)


def conv_model(
    channels: int, weight_zero: Any, by_feature: bool, group: int = 1, kind: Any = numpy.uint8
) -> Any:
    features = 24
    scales = RANDOM.uniform(0.01, 0.02, features) if by_feature else 0.02
    zeros = numpy.full(features if by_feature else (), weight_zero)
    weights = quantized("x", None, 0.03, kind(120))
    weight = integers(zeros.dtype, features, channels // group, 3, 3)
    weights |= quantized("w", weight, scales, zeros)
    weights["b"] = RANDOM.normal(size=features).astype(numpy.float32)
    weights |= quantized("y", None, 0.9, numpy.uint8(3))
    nodes = [
        dequantize("x"),
        dequantize("w", 0 if by_feature else None),
        helper.make_node(
            "Conv", ["x_float", "w_float", "b"], ["z"], pads=[1, 1, 1, 1], group=group
        ),
        helper.make_node("Relu", ["z"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "y_scale", "y_zero"], ["y"]),
    ]
    shape, made = [2, channels, 9, 10], [2, features, 9, 10]
    given = helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
    return make_model(nodes, {"x": (given, shape)}, {"r": (1, made), "y": (2, made)}, weights, 21)


def operators(model: ogive.onnx.Model) -> set[str]:
    return {node.op for node in merge_quantization(model.graph).nodes}


def check(proto: Any, x: Any, merged: str | None) -> None:
    model = ogive.onnx.load(proto.SerializeToString())
    assert merged is None or merged in operators(model)
    wanted = onnx.reference.ReferenceEvaluator(proto).run(None, {"x": x})
    for made, each in zip(model.run({"x": x}).values(), wanted, strict=True):
        if each.dtype == numpy.float32:
            numpy.testing.assert_allclose(made.numpy(), each, rtol=1e-4, atol=1e-4)
        else:
            assert abs(made.numpy().astype(int) - each.astype(int)).max() <= 1


@pytest.mark.parametrize("by_feature", [False, True])
@pytest.mark.parametrize("zero", [numpy.int8(0), numpy.int8(-7), numpy.uint8(128)])
def test_a_convolution_of_integers_gives_what_its_definition_gives(
    zero: Any, by_feature: bool
) -> None:
    check(conv_model(16, zero, by_feature), integers(numpy.uint8, 2, 16, 9, 10), "QuantizedConv")


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.int8])
@pytest.mark.parametrize("channels", [3, 6, 64])
def test_bytes_are_multiplied_as_they_are(channels: int, kind: Any) -> None:
    proto = conv_model(channels, numpy.int8(0), by_feature=True, kind=kind)
    check(proto, integers(kind, 2, channels, 9, 10), "QuantizedConv")


@pytest.mark.parametrize(("channels", "group"), [(2, 1), (24, 24), (48, 2)])
def test_few_channels_and_groups_of_them_stay_floats(channels: int, group: int) -> None:
    proto = conv_model(channels, numpy.int8(0), by_feature=False, group=group)
    assert "QuantizedConv" not in operators(ogive.onnx.load(proto.SerializeToString()))
    check(proto, integers(numpy.uint8, 2, channels, 9, 10), None)


@pytest.mark.parametrize("by_column", [False, True])
def test_a_product_of_integers_gives_what_its_definition_gives(by_column: bool) -> None:
    scales = RANDOM.uniform(0.01, 0.02, 40) if by_column else 0.02
    zeros = numpy.zeros(40 if by_column else (), numpy.int8)
    weights = quantized("x", None, 0.03, numpy.int8(-5))
    weights |= quantized("w", integers(numpy.int8, 33, 40), scales, zeros)
    nodes = [
        dequantize("x"),
        dequantize("w", 1 if by_column else None),
        helper.make_node("MatMul", ["x_float", "w_float"], ["y"]),
    ]
    proto = make_model(nodes, {"x": (3, ["rows", 33])}, {"y": (1, ["rows", 40])}, weights, 21)
    for rows in (20, 1, 37):
        check(proto, integers(numpy.int8, rows, 33), "QuantizedProduct")


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.int8])
@pytest.mark.parametrize("weight_zero", [None, 0, 3])
@pytest.mark.parametrize("has_zero", [False, True])
def test_a_product_of_bytes_is_exact(kind: Any, weight_zero: int | None, has_zero: bool) -> None:
    weight = integers(numpy.int8, 70, 40)
    names = ["x", "w", "x_zero" if has_zero else "", "w_zero" if weight_zero is not None else ""]
    weights = {"w": weight, "x_zero": numpy.asarray(kind(9))}
    weights["w_zero"] = numpy.asarray(numpy.int8(weight_zero or 0))
    node = helper.make_node("MatMulInteger", names, ["y"])
    given = helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
    proto = make_model([node], {"x": (given, [50, 70])}, {"y": (6, [50, 40])}, weights)
    model = ogive.onnx.load(proto.SerializeToString())
    assert ("ProductOfBytes" in operators(model)) == (not weight_zero)
    x = integers(kind, 50, 70)
    wanted = (x.astype(int) - 9 * has_zero) @ (weight.astype(int) - (weight_zero or 0))
    numpy.testing.assert_array_equal(model(x).numpy(), wanted)
