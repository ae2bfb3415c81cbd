"""What PyTorch gives as a copy has memory of its own here too, also where nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.nn import functional as F

X = np.random.default_rng(8).normal(size=(2, 4, 4, 4))

COPIES: dict[str, Callable[[Any], Any]] = {
    "interpolate": lambda x: F.interpolate(x, size=(4, 4)),
    "interpolate by 1": lambda x: F.interpolate(x, scale_factor=1.0, mode="bilinear"),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 1),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 1),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(1, 0),
    "repeat": lambda x: x.repeat(1, 1, 1, 1),
    "pad": lambda x: F.pad(x, (0, 0)),
    "diag": lambda x: x[0, 0].diag(),
    "cat": lambda x: ogive.cat((x,)),
    "flip": lambda x: x.flip(()),
    "roll": lambda x: x.roll(0, 0),
    "rot90": lambda x: x.rot90(4, (2, 3)),
    "tril": lambda x: x.tril(9),
    "where": lambda x: ogive.where(x == x, x, 0),
    "times 1": lambda x: x * 1,
    "index of all": lambda x: x[[0, 1]],
    "a tensor of a tensor": lambda x: Tensor(x),
    "a list of tensors": lambda x: Tensor([x[0, 0, 0, 0]]),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_not_written_through(name: str) -> None:
    x = Tensor(X)
    COPIES[name](x).add_(1)
    np.testing.assert_array_equal(x.numpy(), X)
