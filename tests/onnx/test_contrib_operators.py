"""Operators of com.microsoft make what ONNX Runtime makes."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import pytest
from onnx import helper

import ogive

onnxruntime = pytest.importorskip("onnxruntime")

Array = numpy.ndarray[Any, Any]


def draw(*shape: int, seed: int = 0) -> Array:
    generator = numpy.random.default_rng(sum(shape) + seed)
    return generator.normal(size=shape).astype(numpy.float32)


def integers(kind: str, *shape: int) -> Array:
    bounds = numpy.iinfo(kind)
    generator = numpy.random.default_rng(sum(shape))
    return generator.integers(bounds.min, bounds.max + 1, shape).astype(kind)


def check(
    op: str, inputs: list[Array | None], outputs: int = 1, tolerance: float = 2e-5,
    **attributes: Any,
) -> None:  # fmt: skip
    """One node on these inputs, here and in ONNX Runtime."""
    raw, given = make_node(op, inputs, outputs, **attributes)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    wanted = onnxruntime.InferenceSession(raw, options).run(None, given)
    found = list(ogive.onnx.load(raw).run(given).values())
    for one, other in zip(found, wanted, strict=True):
        compare(one, other, tolerance)


def make_node(
    op: str, inputs: list[Array | None], outputs: int, **attributes: Any
) -> tuple[bytes, dict[str, Array]]:
    """A model of one node, and its inputs by name."""
    given = {f"x{place}": each for place, each in enumerate(inputs) if each is not None}
    names = ["" if each is None else f"x{place}" for place, each in enumerate(inputs)]
    made = [f"y{place}" for place in range(outputs)]
    node = helper.make_node(op, names, made, domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "one",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape
            )
            for name, each in given.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in made],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    raw = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return raw, given


def compare(made: Any, wanted: Any, tolerance: float) -> None:
    array = made.numpy() if isinstance(made, ogive.Tensor) else made
    if isinstance(wanted, list) or wanted.dtype.kind in "OU":
        assert numpy.asarray(array).tolist() == numpy.asarray(wanted).tolist()
        return
    assert array.dtype == wanted.dtype
    if wanted.dtype.kind in "iu":  # a number in the middle may be rounded either way
        difference = array.astype(numpy.int64) - wanted.astype(numpy.int64)
        assert abs(difference).max(initial=0) <= (1 if wanted.dtype.itemsize == 1 else 0)
        return
    numpy.testing.assert_allclose(array, wanted, rtol=tolerance, atol=tolerance)


def test_gelu_and_its_kinds() -> None:
    x, bias = draw(3, 5, 8), draw(8)
    check("Gelu", [x])
    check("BiasGelu", [x, bias])
    check("FastGelu", [x, bias])
    check("FastGelu", [x])
    check("QuickGelu", [x], alpha=1.5)


def test_normalization_after_a_skip() -> None:
    x, skip = draw(2, 3, 8), draw(2, 3, 8, seed=1)
    check("SkipLayerNormalization", [x, skip, draw(8), draw(8, seed=1), draw(8, seed=2)])
    check("SkipLayerNormalization", [x, skip, draw(8), draw(8, seed=1)], epsilon=1e-5)
    check("SkipSimplifiedLayerNormalization", [x, skip, draw(8)], epsilon=1e-5)


def test_embeddings_with_their_normalization() -> None:
    ids = numpy.random.default_rng(0).integers(0, 11, (2, 5)).astype(numpy.int32)
    parts = (ids % 2).astype(numpy.int32)
    tables = [draw(11, 8), draw(7, 8), draw(2, 8)]
    mask = numpy.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], numpy.int32)
    inputs: list[Array | None] = [ids, parts, *tables, draw(8), draw(8, seed=1), mask]
    check("EmbedLayerNormalization", inputs, 2, epsilon=1e-5)


def test_products_that_are_fused() -> None:
    check("FusedMatMul", [draw(2, 3, 4), draw(2, 5, 4)], transB=1, alpha=0.5)
    x, weight = draw(1, 3, 8, 8), draw(4, 3, 3, 3)
    check("FusedConv", [x, weight, draw(4)], activation="Relu", pads=[1, 1, 1, 1])
    check(
        "FusedConv", [x, weight, draw(4)], activation="LeakyRelu", activation_params=[0.2],
        kernel_shape=[3, 3],
    )  # fmt: skip
    check("FusedGemm", [draw(3, 4), draw(4, 5), draw(5)], activation="Relu")


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_with_its_projections(unidirectional: int) -> None:
    x, weight, bias = draw(2, 5, 8), draw(8, 24), draw(24)
    mask = numpy.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], numpy.int32)
    for given in (None, mask, numpy.array([4, 3], numpy.int32)):
        if given is not None and given.ndim == 1 and unidirectional:
            continue  # ONNX Runtime has no such form
        inputs: list[Array | None] = [x, weight, bias, given]
        check("Attention", inputs, num_heads=2, unidirectional=unidirectional)
    past = draw(2, 2, 2, 3, 4)
    cached: list[Array | None] = [x, weight, bias, None, past]
    check("Attention", cached, 2, num_heads=2, unidirectional=1)


def test_attention_by_heads() -> None:
    query, key, value = draw(2, 5, 8), draw(2, 7, 8), draw(2, 7, 8, seed=1)
    check("MultiHeadAttention", [query, key, value], num_heads=2)
    check("MultiHeadAttention", [query, key, value, draw(24)], num_heads=2)
    bias = draw(2, 2, 5, 7)
    check("MultiHeadAttention", [query, key, value, None, None, bias], num_heads=2, scale=0.3)
    mask = numpy.array([[1] * 7, [1] * 5 + [0] * 2], numpy.int32)
    check("MultiHeadAttention", [query, key, value, None, mask], num_heads=2)


def test_attention_by_heads_with_a_cache() -> None:
    query, key, value = draw(2, 1, 8), draw(2, 1, 8), draw(2, 1, 8, seed=1)
    inputs: list[Array | None] = [query, key, value, None, None, None]
    check("MultiHeadAttention", [*inputs, draw(2, 2, 3, 4), draw(2, 2, 3, 4)], 3, num_heads=2)


def test_queries_keys_and_values_may_be_one_input() -> None:
    """ONNX Runtime has this form on GPUs only, so it is compared with the other form."""
    packed = draw(2, 5, 2, 3, 4)
    parts: list[Array | None] = [packed[:, :, :, part].reshape(2, 5, 8) for part in range(3)]
    whole: list[Array | None] = [packed]
    made = []
    for inputs in (whole, parts):
        raw, given = make_node("MultiHeadAttention", inputs, 1, num_heads=2)
        made.append(ogive.onnx.load(raw).run(given)["y0"].numpy())
    numpy.testing.assert_array_equal(made[0], made[1])


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotated_positions(interleaved: int) -> None:
    cosine, sine = draw(10, 2), draw(10, 2, seed=1)
    places = numpy.array([[0, 1, 2], [4, 5, 6]], numpy.int64)
    for x in (draw(2, 3, 8), draw(2, 2, 3, 4)):
        check("RotaryEmbedding", [x, places, cosine, sine], interleaved=interleaved)
        start = numpy.array([3], numpy.int64)
        check("RotaryEmbedding", [x, start, cosine, sine], interleaved=interleaved)


SCALE, OTHER, ZERO = (numpy.array(value, numpy.float32) for value in (0.05, 0.08, 0.1))


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_quantized_operators_of_elements(kind: str) -> None:
    left, right = integers(kind, 3, 8), integers(kind, 8)
    zero = numpy.array(3, kind)
    both: list[Array | None] = [left, SCALE, zero, right, OTHER, zero, ZERO, zero]
    check("QLinearAdd", both)
    check("QLinearMul", both)
    one: list[Array | None] = [left, SCALE, zero, numpy.array(1 / 255, numpy.float32), zero]
    check("QLinearSigmoid", one)
    check("QLinearLeakyRelu", [left, SCALE, zero, OTHER, zero], alpha=0.2)


def test_quantized_pooling_and_joining() -> None:
    x, zero = integers("uint8", 1, 3, 6, 6), numpy.array(7, numpy.uint8)
    one: list[Array | None] = [x, SCALE, zero, OTHER, zero]
    check("QLinearGlobalAveragePool", one)
    check("QLinearAveragePool", one, kernel_shape=[2, 2], strides=[2, 2])
    parts: list[Array | None] = [OTHER, zero, x, SCALE, zero, x, OTHER, zero]
    check("QLinearConcat", parts, axis=1)


def test_products_of_integers() -> None:
    # ONNX Runtime adds pairs of products in 16 bits, where a processor has nothing better.
    left, right = integers("uint8", 5, 16), integers("int8", 16, 6) // 2
    zero, none = numpy.array(9, numpy.uint8), numpy.array(0, numpy.int8)
    bias = numpy.arange(6, dtype=numpy.int32)
    given: list[Array | None] = [left, SCALE, zero, right, OTHER, none, bias]
    check("QGemm", [*given, numpy.array(2.0, numpy.float32), zero])
    check("QGemm", given)
    floats: list[Array | None] = [left, right, SCALE, OTHER, zero, none]
    check("MatMulIntegerToFloat", [*floats, draw(6)])
    check("DynamicQuantizeMatMul", [draw(5, 16), right, OTHER, none, draw(6)], tolerance=1e-3)


@pytest.mark.parametrize("bits", [4, 8])
def test_products_with_weights_of_a_few_bits(bits: int) -> None:
    rows, width, block = 6, 40, 16
    blocks, blob = 3, block * bits // 8
    packed, scales = integers("uint8", rows, blocks, blob), abs(draw(rows * blocks))
    zeros = integers("uint8", rows * -(-blocks * bits // 8))
    shape = {"K": width, "N": rows, "bits": bits, "block_size": block}
    x = draw(2, 3, width)
    check("MatMulNBits", [x, packed, scales], tolerance=1e-3, **shape)
    check("MatMulNBits", [x, packed, scales, zeros], tolerance=1e-3, **shape)
