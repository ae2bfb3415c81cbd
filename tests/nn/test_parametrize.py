"""Weights that are computed, against PyTorch's."""

from __future__ import annotations

import copy
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentError, ShapeError
from tests.raising import raises

parametrize, parametrizations = nn.utils.parametrize, nn.utils.parametrizations
CASES: list[tuple[str, dict[str, Any], Any, tuple[int, ...]]] = [
    ("weight_norm", {}, lambda m: m.Linear(4, 3), (5, 4)),
    ("weight_norm", {"dim": None}, lambda m: m.Linear(4, 3), (5, 4)),
    ("weight_norm", {"name": "bias"}, lambda m: m.Linear(4, 3), (5, 4)),
    ("weight_norm", {"dim": 1}, lambda m: m.Conv1d(4, 3, 2), (2, 4, 5)),
    ("spectral_norm", {}, lambda m: m.Linear(4, 3), (5, 4)),
    ("spectral_norm", {"n_power_iterations": 3}, lambda m: m.Conv2d(2, 3, 2), (1, 2, 3, 4)),
    ("spectral_norm", {}, lambda m: m.ConvTranspose1d(4, 3, 2), (2, 4, 3)),
    ("spectral_norm", {"name": "bias"}, lambda m: m.Linear(4, 3), (5, 4)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_values_gradients_and_state_are_pytorchs(case: int) -> None:
    name, settings, make, shape = CASES[case]
    x = numpy.random.default_rng(case).normal(size=shape)
    theirs = getattr(torch.nn.utils.parametrizations, name)(make(torch.nn).double(), **settings)
    ours = getattr(parametrizations, name)(make(nn), **settings).double()
    ours.load_state_dict(theirs.state_dict())
    for _ in range(3):  # each reading moves the singular vectors on
        ours.zero_grad()
        theirs.zero_grad()
        mine, other = ours(Tensor(x)), theirs(torch.tensor(x))
        mine.square().sum().backward()
        other.square().sum().backward()
        numpy.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=1e-9)
        expected = {key: p.grad.numpy() for key, p in theirs.named_parameters()}
        for key, parameter in ours.named_parameters():
            assert parameter.grad is not None
            numpy.testing.assert_allclose(parameter.grad.numpy(), expected[key], atol=1e-9)
    for key, value in theirs.state_dict().items():
        numpy.testing.assert_allclose(ours.state_dict()[key].numpy(), value.numpy(), rtol=1e-9)


class Doubled(nn.Module):
    def forward(self, x: ogive.Tensor) -> ogive.Tensor:
        return x * 2

    def right_inverse(self, x: ogive.Tensor) -> ogive.Tensor:
        return x / 2


class Symmetric(nn.Module):
    def forward(self, x: ogive.Tensor) -> ogive.Tensor:
        return x.triu() + x.triu(1).mT


def test_a_value_stays_where_it_can_be_found_back() -> None:
    layer: Any = nn.Linear(2, 2)
    before, parameter = layer.weight.numpy(), layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.parametrizations["weight"].original is parameter
    numpy.testing.assert_array_equal(layer.weight.numpy(), before)
    layer.weight = ogive.ones(2, 2)
    assert parameter.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_functions_are_applied_in_order_and_taken_away() -> None:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    value = layer.weight.numpy()
    parametrize.register_parametrization(layer, "weight", Doubled())
    numpy.testing.assert_allclose(layer.weight.numpy(), value)
    other = copy.deepcopy(layer)
    numpy.testing.assert_allclose(other.weight.numpy(), value)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    numpy.testing.assert_allclose(layer.weight.numpy(), value)
    assert parametrize.is_parametrized(other, "weight")


def losses_of(layer: nn.Module, capture: Any) -> list[float]:
    optimizer = ogive.optim.SGD(layer.parameters(), lr=0.1)

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = (layer(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    made = capture(step)
    return [float(made(ogive.ones(4, 3).double())) for _ in range(5)]


def test_a_captured_step_trains_the_originals() -> None:
    layer = parametrizations.spectral_norm(nn.Linear(3, 2)).double()
    other = copy.deepcopy(layer)
    expected = losses_of(layer, lambda step: step)
    assert len(set(expected)) == 5
    assert losses_of(other, ogive.jit) == pytest.approx(expected, rel=1e-9)


def test_what_does_not_fit_is_refused() -> None:
    layer = nn.Linear(2, 3)
    with raises(ArgumentError, match=r"no parameter .wieght. of its own; it has weight"):
        parametrize.register_parametrization(layer, "wieght", Doubled())
    with raises(ShapeError, match=r"gives the shape \(6,\), and weight has \(3, 2\)"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))
    assert type(layer) is nn.Linear and layer.weight.shape == (3, 2)
    with raises(ArgumentError, match="no parametrization of 'weight'"):
        parametrize.remove_parametrizations(layer, "weight")
    with raises(ArgumentError, match="has 2 originals"):
        parametrize.remove_parametrizations(parametrizations.weight_norm(layer), "weight", False)
