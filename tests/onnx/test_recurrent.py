"""Recurrent layers give what ONNX Runtime gives: directions, lengths, first states, activations."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from onnx import helper

import ogive
from tests.onnx.models import make_model

onnxruntime = pytest.importorskip("onnxruntime")

STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6
KINDS = {"RNN": (1, 1, ["Tanh"]), "GRU": (3, 1, ["Sigmoid", "Tanh"]),
         "LSTM": (4, 2, ["Sigmoid", "Tanh", "Tanh"])}  # fmt: skip
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}

Array = numpy.ndarray[Any, Any]


def draw(generator: numpy.random.Generator, *shape: int) -> Array:
    return generator.normal(scale=0.5, size=shape).astype(numpy.float32)


def layer(kind: str, direction: str, given: int, **attributes: Any) -> tuple[Any, dict[str, Array]]:
    """A model of one layer with the first so many optional inputs, and what it is called with."""
    gates, states, _ = KINDS[kind]
    count, generator = DIRECTIONS[direction], numpy.random.default_rng(given)
    weights = {
        "W": draw(generator, count, gates * HIDDEN, INPUTS),
        "R": draw(generator, count, gates * HIDDEN, HIDDEN),
        "B": draw(generator, count, 2 * gates * HIDDEN),
        "lengths": numpy.array([STEPS, 2, 3], numpy.int32),
        "state": draw(generator, count, BATCH, HIDDEN),
    }
    if kind == "LSTM":
        weights["cell"] = draw(generator, count, BATCH, HIDDEN)
        weights["peep"] = draw(generator, count, 3 * HIDDEN)
    chosen = dict(list(weights.items())[: 2 + given])
    made = ["y", "last", "last_cell"][: 1 + states]
    node = helper.make_node(
        kind, ["x", *chosen], made, hidden_size=HIDDEN, direction=direction, **attributes
    )
    model = make_model(
        [node], {"x": (1, [STEPS, BATCH, INPUTS])}, {name: (1, []) for name in made}, chosen,
        opset=14,
    )  # fmt: skip
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model, {"x": draw(generator, STEPS, BATCH, INPUTS)}


def check(model: Any, inputs: dict[str, Array]) -> None:
    data = model.SerializeToString()
    wanted = onnxruntime.InferenceSession(data).run(None, inputs)
    made = ogive.onnx.load(data).run(inputs)
    for one, other in zip(made.values(), wanted, strict=True):
        numpy.testing.assert_allclose(one.numpy(), other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("given", [0, 1, 2, 3])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_optional_inputs_in_each_direction(kind: str, direction: str, given: int) -> None:
    check(*layer(kind, direction, given))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_lstm_with_peepholes(direction: str) -> None:
    check(*layer("LSTM", direction, 5))


@pytest.mark.parametrize("kind", KINDS)
def test_each_direction_has_its_own_activations(kind: str) -> None:
    names = KINDS[kind][2]
    others = [*names[:-1], "Relu"]
    check(*layer(kind, "bidirectional", 1, activations=[*names, *others]))


def test_a_gru_whose_reset_gate_comes_after_the_product() -> None:
    check(*layer("GRU", "bidirectional", 1, linear_before_reset=1))


def test_each_step_of_both_directions_is_one_product() -> None:
    steps, size = 6, 128
    generator = numpy.random.default_rng(0)
    weights = {name: draw(generator, 2, 4 * size, size) for name in "WR"}
    node = helper.make_node(
        "LSTM", ["x", "W", "R"], ["y"], hidden_size=size, direction="bidirectional"
    )
    shapes = {"x": (1, [steps, 1, size])}, {"y": (1, [steps, 2, 1, size])}
    model = make_model([node], *shapes, weights)
    inputs = {"x": draw(generator, steps, 1, size)}
    check(model, inputs)
    times = ogive.onnx.load(model.SerializeToString()).profile(inputs)
    sums = [each for each in times if each.name.startswith(("product", "reduce"))]
    assert len(sums) == steps + 1, "that of the inputs of all steps is one"
