"""Programs that view, write and copy at random, with tensors that settle in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive.torch

VIEWS: list[Callable[..., Any]] = [
    lambda x: x.T if x.ndim == 2 else x[...],
    lambda x: x[0] if x.ndim and len(x) else x.unsqueeze(0),
    lambda x: x[1:] if x.ndim else x[...],
    lambda x: x[..., ::2] if x.ndim else x[None],
    lambda x: x.unsqueeze(-1) if x.ndim < 3 else x.squeeze(),
    lambda x: x.reshape(-1),
    lambda x: x.flatten(),
    lambda x: x.transpose(0, -1) if x.ndim else x.detach(),
    lambda x: x.detach(),
    lambda x: x.split(1)[-1] if x.ndim and len(x) else x.detach(),
    lambda x: x.narrow(0, 0, len(x) - 1) if x.ndim and len(x) else x.view(x.shape),
    lambda x: x.diagonal() if x.ndim == 2 else x.unsqueeze(0),
]

COPIES: list[Callable[..., Any]] = [
    lambda x: x.clone(),
    lambda x: x + 1.0,
    lambda x: x[[0]] if x.ndim and len(x) else x.clone(),
    lambda x: x.flip(0) if x.ndim else x.clone(),
]


def _set(x: Any, index: Any, value: float) -> None:
    x[index] = value


def _add(x: Any, index: Any, value: float) -> None:
    x[index] += value


WRITES: list[Callable[..., Any]] = [
    lambda x, v: x.fill_(v),
    lambda x, v: x.add_(v),
    lambda x, v: _set(x, 0 if x.ndim and len(x) else ..., v),
    lambda x, v: _add(x, 0 if x.ndim and len(x) else ..., v),
    lambda x, v: _set(x, [0] if x.ndim and len(x) else ..., v),
    lambda x, v: _set(x, ..., v),
    lambda x, v: x.copy_(x.clone() + v),
]


@pytest.mark.parametrize("seed", range(40))
def test_program_of_views_and_writes_gives_what_pytorch_gives(seed: int) -> None:
    draw = random.Random(seed)
    start = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    ours: list[Any] = [ogive.torch.tensor(start)]
    theirs: list[Any] = [torch.tensor(start)]
    for _ in range(25):
        place = draw.randrange(len(ours))
        kind = draw.random()
        if kind < 0.4:
            step = draw.choice(VIEWS)
            ours.append(step(ours[place]))
            theirs.append(step(theirs[place]))
        elif kind < 0.5:
            step = draw.choice(COPIES)
            ours.append(step(ours[place]))
            theirs.append(step(theirs[place]))
        elif kind < 0.92:
            step, value = draw.choice(WRITES), float(draw.randrange(100))
            step(ours[place], value)
            step(theirs[place], value)
        elif kind < 0.96 and len(ours) > 1:
            del ours[place], theirs[place]
        else:
            ours[place].node  # noqa: B018  (it settles)
        for one, other in zip(ours, theirs, strict=True):
            assert tuple(one.shape) == tuple(other.shape)
            if one.is_eager:  # what is read of others is computed, which is for the end
                numpy.testing.assert_array_equal(numpy.asarray(one), other.numpy())
    for one, other in zip(ours, theirs, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(one), other.numpy())
