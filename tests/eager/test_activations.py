"""Activations, done at once, beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
import ogive.torch as ours
from ogive.errors import OgiveError
from tests.eager.beside_torch import check, floats, numbers

PLAIN = (
    "relu", "sigmoid", "silu", "gelu", "relu6", "hardtanh", "hardsigmoid", "hardswish",
    "leaky_relu", "elu", "selu", "celu", "softplus", "logsigmoid", "mish", "softsign",
    "tanhshrink", "softshrink", "hardshrink",
)  # fmt: skip
WITH_ARGUMENTS: list[tuple[str, dict[str, Any]]] = [
    ("gelu", {"approximate": "tanh"}), ("hardtanh", {"min_val": -0.5, "max_val": 2.0}),
    ("leaky_relu", {"negative_slope": 0.3}), ("elu", {"alpha": 0.5}), ("celu", {"alpha": 2.0}),
    ("softplus", {"beta": 2.0, "threshold": 3.0}), ("softshrink", {"lambd": 1.0}),
    ("hardshrink", {"lambd": 1.0}), ("threshold", {"threshold": 0.5, "value": -2.0}),
    ("glu", {"dim": 0}), ("glu", {"dim": -1}),
]  # fmt: skip


def _function(module: Any, name: str) -> Any:
    return getattr(module.nn.functional, name)


@pytest.mark.parametrize("shape", [(4, 6), (), (0, 2)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PLAIN)
def test_activations_are_those_of_pytorch(name: str, dtype: str, shape: Any) -> None:
    array = numbers(dtype, *shape, least=-8, greatest=8)
    tolerance = 1e-5 if dtype == "float32" else 1e-11
    if name == "hardsigmoid":
        tolerance = 1e-7  # PyTorch's slope is a sixth in float32
    check(lambda module, x: _function(module, name)(x), [array], tolerance=tolerance)


@pytest.mark.parametrize(("name", "arguments"), WITH_ARGUMENTS, ids=str)
def test_arguments_of_activations_are_those_of_pytorch(name: str, arguments: Any) -> None:
    array = numbers("float32", 4, 6)
    check(lambda module, x: _function(module, name)(x, **arguments), [array], tolerance=1e-5)


@pytest.mark.parametrize("name", PLAIN)
def test_at_the_bends_values_and_gradients_are_those_of_pytorch(name: str) -> None:
    array = floats([-6, -3, -1, -0.5, 0, 0.5, 1, 3, 6, 25, 100, -100])
    check(lambda module, x: _function(module, name)(x), [array], tolerance=1e-5)


@pytest.mark.parametrize(("shape", "channels"), [((2, 3, 4), 3), ((2, 3), 1), ((5,), 1), ((), 1)])
def test_slopes_of_channels_are_as_in_pytorch(shape: Any, channels: int) -> None:
    arrays = [numbers("float32", *shape), numbers("float32", channels)]
    check(lambda module, x, w: _function(module, "prelu")(x, w), arrays, tolerance=1e-5)


def test_relu_keeps_what_is_no_number() -> None:
    check(lambda module, x: x.relu(), [floats([numpy.nan, -numpy.inf, numpy.inf])])


def test_relu_and_sigmoid_of_integers_are_those_of_pytorch() -> None:
    check(lambda module, x: x.relu(), [numbers("int64", 6)])
    check(lambda module, x: x.sigmoid(), [numbers("int64", 6)])


def test_gelu_of_many_numbers_is_that_of_pytorch() -> None:
    array = numbers("float32", 50, 40, least=-6, greatest=6)
    check(lambda module, x: _function(module, "gelu")(x), [array], tolerance=1e-6)


def test_activations_write_in_place() -> None:
    x = ours.tensor([-1.0, 2.0])
    assert x.relu_() is x
    assert x.is_eager
    assert x.tolist() == [0.0, 2.0]


REFUSED: dict[str, Any] = {
    "relu of a mask": lambda make: make([True]).relu(),
    "elu of integers": lambda make: make([1]).elu(),
    "an unknown approximation": lambda make: make([1.0]).gelu("cubic"),
    "halves of an odd length": lambda make: make([1.0, 2.0, 3.0]).glu(),
    "an axis that is not there": lambda make: make([1.0, 2.0]).glu(3),
    "a negative threshold": lambda make: make([1.0]).softshrink(-1.0),
    "slopes of other channels": lambda make: make([[1.0, 2.0]]).prelu(make([1.0, 2.0, 3.0])),
    "a division by zero": lambda make: make([1.0]).celu(0.0),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_are_those_of_plain_tensors(case: str) -> None:
    with pytest.raises(OgiveError) as found:
        REFUSED[case](ours.tensor)
    with pytest.raises(OgiveError) as expected:
        REFUSED[case](ogive.Tensor)
    assert type(found.value) is type(expected.value)


def test_the_layers_compute_at_once() -> None:
    array = numbers("float32", 2, 3)
    for name in ("ReLU", "GELU", "Sigmoid", "Tanh", "SiLU", "LeakyReLU", "ELU", "Softplus"):
        found = getattr(ours.nn, name)()(ours.tensor(array))
        expected = getattr(torch.nn, name)()(torch.tensor(array))
        assert found.is_eager, name
        numpy.testing.assert_allclose(numpy.asarray(found), expected.numpy(), rtol=1e-5, atol=1e-6)
