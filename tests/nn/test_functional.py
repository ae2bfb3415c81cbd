"""Functions of `nn.functional` that are no methods, where PyTorch's own samples do not reach."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch
from torch.nn import functional as theirs

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ShapeError
from ogive.nn import functional as ours
from tests.raising import raises

RANDOM = numpy.random.default_rng(11)


def same(mine: Tensor, other: Any, error: float = 1e-9) -> None:
    numpy.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=error, atol=error)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_a_grid_far_outside_the_image_is_read(mode: str, padding: str) -> None:
    image, grid = RANDOM.normal(size=(2, 3, 4, 5)), RANDOM.uniform(-4, 4, (2, 3, 6, 2))
    for corners in (False, True):
        mine = ours.grid_sample(Tensor(image), Tensor(grid), mode, padding, corners)
        other = theirs.grid_sample(torch.tensor(image), torch.tensor(grid), mode, padding, corners)
        same(mine, other)


def test_a_place_that_is_no_number_reads_within_the_image() -> None:
    grid = Tensor([[[[float("nan"), float("inf")]]]])
    assert ours.grid_sample(ogive.ones(1, 1, 2, 2), grid, "nearest", "border").shape == (1, 1, 1, 1)


@pytest.mark.parametrize("corners", [False, True])
def test_affine_grids_are_pytorchs(corners: bool) -> None:
    for axes, size in ((2, (2, 3, 4, 5)), (3, (2, 1, 3, 4, 1))):
        maps = RANDOM.normal(size=(2, axes, axes + 1))
        other = theirs.affine_grid(torch.tensor(maps), list(size), corners)
        same(ours.affine_grid(Tensor(maps), size, corners), other)


def test_ctc_takes_labels_in_one_line_and_examples_of_any_length() -> None:
    logits = RANDOM.normal(size=(7, 3, 5))
    labels, times, counts = numpy.array([1, 2, 3, 3, 4, 1]), [7, 5, 3], [2, 3, 1]
    x, y = Tensor(logits, requires_grad=True), torch.tensor(logits, requires_grad=True)
    mine = ours.ctc_loss(x.log_softmax(-1), Tensor(labels), times, counts)
    other = theirs.ctc_loss(y.log_softmax(-1), torch.tensor(labels), times, counts)
    same(mine, other)
    mine.backward()
    other.backward()
    assert x.grad is not None and y.grad is not None
    same(x.grad, y.grad)


def test_ctc_of_too_few_steps_is_infinite_or_nothing() -> None:
    x = Tensor(RANDOM.normal(size=(2, 1, 3)), requires_grad=True)
    labels = Tensor([[1, 1, 2]])
    assert ours.ctc_loss(x.log_softmax(-1), labels, [2], [3]).item() == float("inf")
    zero = ours.ctc_loss(x.log_softmax(-1), labels, [2], [3], zero_infinity=True)
    zero.backward()
    assert zero.item() == 0 and x.grad is not None and not x.grad.numpy().any()


def test_ctc_of_no_labels_is_all_blanks() -> None:
    x = RANDOM.normal(size=(4, 2, 3))
    labels, times, counts = numpy.ones((2, 1), numpy.int64), [4, 3], [0, 1]
    mine = ours.ctc_loss(Tensor(x), Tensor(labels), times, counts, reduction="none")
    other = theirs.ctc_loss(torch.tensor(x), torch.tensor(labels), times, counts, reduction="none")
    same(mine, other)


@pytest.mark.parametrize("axes", [2, 3])
def test_windows_at_random_steps_are_those_of_the_samples(axes: int) -> None:
    x, drawn = RANDOM.normal(size=(2, 3, 9, 8, 7)[: axes + 2]), RANDOM.uniform(size=(2, 3, axes))
    name = f"fractional_max_pool{axes}d"
    size = (4, 3, 3)[:axes]
    mine = getattr(ours, name)(Tensor(x), 2, size, None, True, Tensor(drawn))
    other = getattr(theirs, name)(torch.tensor(x), 2, size, None, True, torch.tensor(drawn))
    for one, two in zip(mine, other, strict=True):
        same(one, two)


def test_what_does_not_fit_is_refused() -> None:
    image = ogive.ones(1, 1, 2, 2)
    with raises(ShapeError, match="grid"):
        ours.grid_sample(image, ogive.ones(2, 2, 2, 2))
    with raises(ArgumentError, match="volumes"):
        ours.grid_sample(ogive.ones(1, 1, 2, 2, 2), ogive.ones(1, 1, 1, 1, 3), "bicubic")
    with raises(ShapeError, match="room"):
        ours.fractional_max_pool2d(image, 2, (2, 2))
    with raises(ShapeError, match="indices"):
        ours.max_unpool2d(image, ogive.zeros(1, 1, 1, 1, dtype="int64"), 2)
    with raises(ArgumentError, match="per_sample_weights"):
        rows = Tensor([[0, 1]])
        ours.embedding_bag(rows, ogive.ones(2, 2), per_sample_weights=ogive.ones(1, 2))
    with raises(ShapeError, match="length"):
        ours.ctc_loss(ogive.ones(3, 2, 4), Tensor([[1], [1]]), [3], [1])


@pytest.mark.parametrize("name", [
    "celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "selu_",
])  # fmt: skip
def test_activations_in_place_change_their_argument(name: str) -> None:
    values = numpy.linspace(-2, 2, 5)
    mine, other = Tensor(values), torch.tensor(values)
    assert getattr(ours, name)(mine) is mine
    getattr(theirs, name)(other)
    same(mine, other)
