"""Helpers around models against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

from ogive import Tensor, nn
from ogive.errors import ShapeError
from tests.raising import raises

PARTS = [numpy.random.default_rng(4).normal(size=(length, 2)) for length in (3, 5, 0, 1)]


@pytest.mark.parametrize("settings", [
    {}, {"batch_first": True, "padding_value": -1.5}, {"padding_side": "left"},
])  # fmt: skip
def test_sequences_are_padded_as_pytorch_does(settings: dict[str, Any]) -> None:
    ours = nn.utils.rnn.pad_sequence([Tensor(part) for part in PARTS], **settings)
    theirs = torch.nn.utils.rnn.pad_sequence([torch.tensor(part) for part in PARTS], **settings)
    numpy.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_padding_is_taken_off_again() -> None:
    padded = nn.utils.rnn.pad_sequence([Tensor(part) for part in PARTS])
    found = nn.utils.rnn.unpad_sequence(padded, Tensor([len(part) for part in PARTS]))
    for mine, part in zip(found, PARTS, strict=True):
        numpy.testing.assert_array_equal(mine.numpy(), part)


def test_sequences_of_other_shapes_are_refused() -> None:
    words = r"sequence 1 has the shape \(2, 3\), and the first \(2,\)"
    with raises(ShapeError, match=words):
        nn.utils.rnn.pad_sequence([Tensor([1.0, 2.0]), Tensor([[1.0] * 3] * 2)])


def test_gradients_are_clipped_for_whoever_has_them() -> None:
    parameter = Tensor([3.0, 4.0], requires_grad=True)
    (parameter * parameter / 2).sum().backward()
    gradient = parameter.grad
    assert gradient is not None
    nn.utils.clip_grad_norm_([parameter], 1.0)
    assert parameter.grad is gradient
    assert gradient.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)
    nn.utils.clip_grad_value_([parameter], 0.7)
    assert gradient.tolist() == pytest.approx([0.6, 0.7], rel=1e-5)
