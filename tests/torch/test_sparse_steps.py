"""SparseAdam moves the rows that an embedding looked up, and the adaptive softmax is PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch
from ogive.errors import ArgumentError, ShapeError
from tests.raising import raises

BOTH = (ogive.torch, pytorch)


@pytest.mark.parametrize("settings", [{}, {"betas": (0.5, 0.9), "lr": 0.1, "maximize": True}])
def test_rows_that_were_not_looked_up_stay_with_their_averages(settings: dict[str, Any]) -> None:
    weights = numpy.random.default_rng(5).normal(size=(6, 3)).astype("float32")
    found = []
    for torch in BOTH:
        table = torch.nn.Embedding(6, 3, sparse=True)
        with torch.no_grad():
            table.weight.copy_(torch.tensor(weights))
        optimizer = torch.optim.SparseAdam(list(table.parameters()), **settings)
        for rows in ([0, 2, 2], [2, 5], [0, 1]):
            optimizer.zero_grad()
            table(torch.tensor(rows)).square().sum().backward()
            optimizer.step()
        found.append(table.weight.detach().numpy())
    numpy.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)
    assert (found[0][3:5] == weights[3:5]).all()


def adaptive(torch: Any, **settings: Any) -> Any:
    layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 30, cutoffs=[5, 12], **settings).double()
    random = numpy.random.default_rng(7)
    state = {
        name: torch.tensor(random.normal(size=tuple(value.shape)))
        for name, value in layer.state_dict().items()
    }
    layer.load_state_dict(state)
    return layer


@pytest.mark.parametrize("settings", [{}, {"div_value": 2.0, "head_bias": True}])
def test_the_adaptive_softmax_is_pytorchs(settings: dict[str, Any]) -> None:
    values = numpy.random.default_rng(8).normal(size=(9, 16))
    found = []
    for torch in BOTH:
        layer = adaptive(torch, **settings)
        x = torch.tensor(values, requires_grad=True)
        result = layer(x, torch.tensor([0, 4, 5, 11, 12, 29, 3, 7, 20]))
        result.loss.backward()
        alone = layer(x.detach()[0], torch.tensor(7)).output
        parts = [
            result.output, result.loss, x.grad, layer.head.weight.grad,
            layer.tail[1][0].weight.grad, layer.log_prob(x), layer.predict(x), alone,
        ]  # fmt: skip
        found.append([part.detach().numpy() for part in parts])
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_the_adaptive_softmax_is_captured() -> None:
    layer = adaptive(ogive.torch)
    x, target = ogive.torch.ones(3, 16).double(), ogive.torch.tensor([1, 6, 20])
    captured = ogive.torch.compile(lambda x, target: layer(x, target).loss, fullgraph=True)
    expected = layer(x, target).loss.item()
    assert [captured(x, target).item() for _ in range(3)] == pytest.approx([expected] * 3)


@pytest.mark.parametrize("cutoffs", [[], [5, 5], [7, 3], [0, 4], [4, 30]])
def test_cutoffs_increase_within_the_classes(cutoffs: list[int]) -> None:
    with raises(ArgumentError, match="cutoffs"):
        ogive.nn.AdaptiveLogSoftmaxWithLoss(8, 30, cutoffs)


def test_targets_of_another_length_are_refused() -> None:
    layer = adaptive(ogive.torch)
    with raises(ShapeError, match="target"):
        layer(ogive.torch.ones(3, 16).double(), ogive.torch.tensor([1, 2]))
