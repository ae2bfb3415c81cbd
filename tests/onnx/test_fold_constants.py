"""What depends on weights alone is computed once; results stay what they are."""

from __future__ import annotations

from typing import Any

import numpy
from onnx import helper

import ogive
from ogive.onnx.fold_constants import fold_constants
from tests.onnx.models import make_model


def load(model: Any) -> ogive.onnx.Model:
    return ogive.onnx.load(model.SerializeToString())


def draw(*shape: int) -> Any:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def test_a_transposed_weight_is_a_weight() -> None:
    nodes = [
        helper.make_node("Transpose", ["w"], ["turned"]),
        helper.make_node("MatMul", ["x", "turned"], ["y"]),
    ]
    weight = draw(20, 8)
    model = load(make_model(nodes, {"x": (1, [3, 8])}, {"y": (1, [3, 20])}, {"w": weight}))
    folded = fold_constants(model.graph).graph
    assert [node.op for node in folded.nodes] == ["MatMul"]
    assert list(folded.constants) == ["turned"]
    x = draw(3, 8)
    numpy.testing.assert_allclose(model(x).numpy(), x @ weight.T, rtol=1e-5, atol=1e-5)


def test_a_normalization_becomes_part_of_the_convolution_before_it() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["made"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["made", "s", "b", "m", "v"], ["y"], epsilon=0.25),
    ]
    weights = {"w": draw(4, 3, 3, 3), "s": draw(4), "b": draw(4) + 1, "m": draw(4) * 2}
    weights["v"] = abs(draw(4)) + 0.5
    shape: list[int | str | None] = [2, 3, 6, 6]
    model = load(make_model(nodes, {"x": (1, shape)}, {"y": (1, [2, 4, 6, 6])}, weights))
    assert [node.op for node in fold_constants(model.graph).graph.nodes] == ["Conv"]
    x = draw(2, 3, 6, 6)
    plain = [values["y"] for node, values in model.step_through({"x": x}) if "y" in values]
    numpy.testing.assert_allclose(model(x).numpy(), plain[0], rtol=1e-4, atol=1e-5)


def test_a_normalization_by_numbers_with_two_names_becomes_part_of_its_convolution() -> None:
    nodes = [
        helper.make_node("Identity", ["s"], ["same"]),
        helper.make_node("Conv", ["x", "w"], ["made"]),
        helper.make_node("BatchNormalization", ["made", "same", "s", "same", "s"], ["y"]),
    ]
    weights = {"w": draw(4, 3, 1, 1), "s": abs(draw(4)) + 0.5}
    model = load(make_model(nodes, {"x": (1, [2, 3, 6, 6])}, {"y": (1, [2, 4, 6, 6])}, weights))
    assert [node.op for node in fold_constants(model.graph).graph.nodes] == ["Conv"]
    x = draw(2, 3, 6, 6)
    plain = [values["y"] for node, values in model.step_through({"x": x}) if "y" in values]
    numpy.testing.assert_allclose(model(x).numpy(), plain[0], rtol=1e-4, atol=1e-5)


def test_a_normalization_of_what_others_read_stays() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["made"]),
        helper.make_node("BatchNormalization", ["made", "s", "s", "s", "s"], ["y"]),
    ]
    weights = {"w": draw(4, 3, 1, 1), "s": abs(draw(4))}
    shape: list[int | str | None] = [2, 4, 6, 6]
    outputs = {"y": (1, shape), "made": (1, shape)}
    model = load(make_model(nodes, {"x": (1, [2, 3, 6, 6])}, outputs, weights))
    folded = fold_constants(model.graph).graph
    assert [node.op for node in folded.nodes] == ["Conv", "BatchNormalization"]


def test_draws_are_new_at_each_call() -> None:
    nodes = [
        helper.make_node("RandomNormal", [], ["noise"], shape=[50]),
        helper.make_node("Add", ["x", "noise"], ["y"]),
    ]
    model = load(make_model(nodes, {"x": (1, [50])}, {"y": (1, [50])}))
    x = draw(50)
    assert (model(x).numpy() != model(x).numpy()).any()


def test_weights_that_lie_unevenly_in_a_file_are_laid_out_once() -> None:
    """Memory that is ours, and not borrowed, is what panels of products are kept of."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    weights = {"w": draw(1024, 512)}
    model = load(make_model(nodes, {"x": (1, [256, 1024])}, {"y": (1, [256, 512])}, weights))
    x, counts = draw(256, 1024), []
    for _ in range(4):
        counts.append(ogive.counters()["panels_kept"])
        model(x)
    assert counts[0] < counts[2] == counts[3] == ogive.counters()["panels_kept"]
