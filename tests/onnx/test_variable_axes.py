"""Inputs of changing sizes: what changes is a variable, and a new size compiles nothing."""

from __future__ import annotations

from typing import Any

import numpy
from onnx import helper

import ogive
from tests.onnx.models import make_layer, make_model

FLOAT, INT64 = 1, 7


def load(model: Any) -> ogive.onnx.Model:
    return ogive.onnx.load(model.SerializeToString())


def draw(*shape: int) -> Any:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def compiled(function: Any) -> int:
    """How many kernels a call compiles."""
    before = ogive.counters()["kernels_compiled"]
    function()
    return ogive.counters()["kernels_compiled"] - before


def make_attention() -> Any:
    """softmax(x xᵀ) x by heads, with the shapes computed by nodes as exporters write them."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"]),
        helper.make_node("Gather", ["shape", "one"], ["length"]),
        helper.make_node("Unsqueeze", ["batch", "zeros"], ["batch_1"]),
        helper.make_node("Unsqueeze", ["length", "zeros"], ["length_1"]),
        helper.make_node("Concat", ["batch_1", "length_1", "heads"], ["split"], axis=0),
        helper.make_node("Reshape", ["x", "split"], ["parts"]),
        helper.make_node("Transpose", ["parts"], ["q"], perm=[0, 2, 1, 3]),
        helper.make_node("Transpose", ["parts"], ["k"], perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["q", "k"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["chances"], axis=-1),
        helper.make_node("MatMul", ["chances", "q"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
        helper.make_node("Concat", ["batch_1", "rest", "width"], ["whole"], axis=0),
        helper.make_node("Reshape", ["back", "whole"], ["joined"]),
        helper.make_node("Range", ["zero", "length", "one"], ["places"]),
        helper.make_node("Gather", ["table", "places"], ["rows"]),
        helper.make_node("Add", ["joined", "rows"], ["y"]),
    ]
    numbers = {
        "zero": numpy.array(0), "one": numpy.array(1), "zeros": numpy.array([0]),
        "heads": numpy.array([2, 4]), "rest": numpy.array([-1]), "width": numpy.array([8]),
        "table": draw(50, 8),
    }  # fmt: skip
    shape: list[int | str | None] = ["batch", "length", 8]
    return make_model(nodes, {"x": (FLOAT, shape)}, {"y": (FLOAT, shape)}, numbers)


def attend(x: Any) -> Any:
    parts = x.reshape(*x.shape[:2], 2, 4).transpose(0, 2, 1, 3).astype(numpy.float64)
    scores = parts @ parts.transpose(0, 1, 3, 2)
    chances = numpy.exp(scores - scores.max(-1, keepdims=True))
    mixed = chances / chances.sum(-1, keepdims=True) @ parts
    return mixed.transpose(0, 2, 1, 3).reshape(x.shape) + draw(50, 8)[: x.shape[1]]


def test_a_third_batch_compiles_nothing() -> None:
    model = load(make_layer())
    for rows in (2, 5):
        model(draw(rows, 8))
    assert compiled(lambda: model(draw(11, 8))) == 0
    assert model._captured.cache_info().traces == 2


def test_batch_and_length_are_variables_where_nodes_compute_with_shapes() -> None:
    model = load(make_attention())
    for batch, length in ((1, 3), (2, 7), (3, 20), (1, 1), (1, 3)):
        x = draw(batch, length, 8)
        numpy.testing.assert_allclose(model(x).numpy(), attend(x), rtol=1e-4, atol=1e-5)
    assert model._captured.cache_info().traces == 2
    assert compiled(lambda: model(draw(5, 31, 8))) == 0


def test_results_have_plain_shapes() -> None:
    model = load(make_layer())
    for rows in (2, 5, 6):
        assert model(draw(rows, 8)).shape == (rows, 200)


def test_more_than_there_is_room_for_is_captured_anew() -> None:
    model = load(make_layer())
    for rows in (1, 2, 300, 299):
        x = draw(rows, 8)
        numpy.testing.assert_array_equal(model(x).numpy().shape, (rows, 200))
    assert model._captured.cache_info().traces == 3


def test_a_length_that_is_the_sum_of_two_others_is_one() -> None:
    """Keys are the cached ones and the new ones; a mask is as long as both."""
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["keys"], axis=1),
        helper.make_node("Add", ["keys", "mask"], ["y"]),
    ]
    inputs = {
        "past": (FLOAT, ["batch", "before"]),
        "x": (FLOAT, ["batch", "new"]),
        "mask": (FLOAT, ["batch", "both"]),
    }
    model = load(make_model(nodes, inputs, {"y": (FLOAT, ["batch", "both"])}))
    for batch, before, new in ((1, 4, 2), (2, 3, 5), (3, 9, 4), (1, 6, 6)):
        past, x, mask = draw(batch, before), draw(batch, new), draw(batch, before + new)
        made = model(past, x, mask).numpy()
        numpy.testing.assert_array_equal(made, numpy.concatenate([past, x], 1) + mask)
    assert model._captured.cache_info().traces == 2


def test_steps_that_cannot_be_variables_are_captured_one_by_one() -> None:
    """A recurrent layer is one body a step, so its number of steps is a number."""
    nodes = [helper.make_node("RNN", ["x", "w", "r"], ["y"], hidden_size=3)]
    weights = {"w": draw(1, 3, 4), "r": draw(1, 3, 3)}
    shape: list[int | str | None] = ["time", 2, 4]
    model = load(make_model(nodes, {"x": (FLOAT, shape)}, {"y": (FLOAT, [None] * 4)}, weights))
    for time in (2, 3, 4, 3):
        x = draw(time, 2, 4)
        state, rows = numpy.zeros((2, 3)), []
        for row in x:
            state = numpy.tanh(row @ weights["w"][0].T + state @ weights["r"][0].T)
            rows.append(state)
        made = model(x).numpy()
        numpy.testing.assert_allclose(made[:, 0], numpy.stack(rows), rtol=1e-5, atol=1e-6)
    assert model._captured.cache_info().traces == 3


def test_lengths_become_elements_where_a_node_asks_for_their_values() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Cast", ["shape"], ["sizes"], to=FLOAT),
        helper.make_node("Div", ["x", "sizes"], ["y"]),
    ]
    shape: list[int | str | None] = ["rows", 2]
    model = load(make_model(nodes, {"x": (FLOAT, shape)}, {"y": (FLOAT, shape)}))
    for rows in (2, 3, 5):
        x = draw(rows, 2)
        wanted = x / numpy.array([rows, 2], numpy.float32)
        numpy.testing.assert_allclose(model(x).numpy(), wanted, rtol=1e-6)
    assert model._captured.cache_info().traces == 2
