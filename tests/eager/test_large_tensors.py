"""Large tensors are computed with at once at first, and compiled where a program goes on."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.torch
from ogive.eager.shapes.adding import combine_at
from ogive.tensor.eager_sizes import LARGE, SMALL, Allowance, allowance


def test_small_tensors_take_nothing_from_the_allowance() -> None:
    own = Allowance(10)
    assert not own.is_beyond(SMALL)
    assert own.left == 10


@pytest.mark.usefixtures("no_allowance")
def test_operations_on_large_tensors_use_up_the_allowance() -> None:
    own = Allowance(SMALL + 1)
    assert not own.is_beyond(SMALL + 1)
    assert own.is_beyond(SMALL + 1)
    assert not own.may_hold(SMALL + 1)


def test_what_is_larger_than_any_is_compiled() -> None:
    own = Allowance(1 << 40)
    assert own.is_beyond(LARGE + 1)
    assert not own.may_hold(LARGE + 1)


def test_more_products_than_a_large_tensor_has_elements_are_added_up_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(allowance, "left", 1 << 24)
    x, weight = ogive.torch.ones(8, 64, 16, 16), ogive.torch.ones(192, 64, 3, 3)
    assert ogive.torch.conv2d(x, weight, padding=1).is_eager
    assert allowance.left <= (1 << 24) - 8 * 256 * 192 * 64 * 9 // 32
    monkeypatch.setattr(allowance, "left", 0)
    assert not ogive.torch.conv2d(x, weight, padding=1).is_eager


def train(library: Any, steps: int) -> list[float]:
    random = numpy.random.default_rng(5)
    x = library.tensor(random.normal(size=(800, 100)).astype("float32"))
    y = library.tensor(random.integers(0, 4, 800))
    weights = [
        library.tensor((random.normal(size=shape) * 0.1).astype("float32"), requires_grad=True)
        for shape in ((100, 96), (96, 4))
    ]
    optimizer = library.optim.Adam(weights, lr=0.01)
    losses = []
    for _ in range(steps):
        hidden = (x @ weights[0]).relu()
        loss = library.nn.functional.cross_entropy(hidden @ weights[1], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_training_goes_on_when_the_allowance_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "left", 1 << 21)
    numpy.testing.assert_allclose(train(ogive.torch, 6), train(torch, 6), rtol=1e-4)
    assert allowance.left <= 0


@pytest.mark.parametrize("operation", [numpy.add, numpy.maximum])
@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((5, 4), numpy.array([1, 1, -2])),
        ((5, 4), (numpy.array([0, 0, 4]), numpy.array([3, -1, 2]))),
        ((3, 5, 2), (slice(None), numpy.array([[0, 1], [1, 1]]))),
        ((5, 4), (numpy.array([2]), slice(1, 3))),
        ((6,), numpy.array([5, 5, 0])),
        ((5, 4), numpy.array([True, False, True, False, False])),
    ],
)
def test_combining_at_positions_is_that_of_numpy(operation: Any, shape: Any, index: Any) -> None:
    random = numpy.random.default_rng(1)
    expected = random.normal(size=shape)
    found = expected.copy()
    given = random.normal(size=expected[index].shape)
    operation.at(expected, index, given)
    combine_at(operation, found, index, given)
    numpy.testing.assert_array_equal(found, expected)
