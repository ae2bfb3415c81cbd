"""Parameters have PyTorch's names, whatever they are called elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours

MANY = 70_000  # more elements than are made at once

CALLS: dict[str, Callable[[Any], Any]] = {
    "arange of an end": lambda t: t.arange(end=5),
    "arange of many": lambda t: t.arange(end=MANY),
    "arange by steps": lambda t: t.arange(start=1, end=9, step=2),
    "linspace": lambda t: t.linspace(start=-1.0, end=1.0, steps=5, device=t.device("cpu")),
    "linspace of many": lambda t: t.linspace(0, 1, steps=MANY),
    "scalar_tensor": lambda t: t.scalar_tensor(s=3.0),
    "randint_like": lambda t: t.randint_like(input=t.ones(4), low=2, high=3),
    "fftfreq": lambda t: t.fft.fftfreq(n=6, d=0.5),
    "rfftfreq": lambda t: t.fft.rfftfreq(n=6),
    "fftshift": lambda t: t.fft.fftshift(input=t.arange(6.0).reshape(2, 3), dim=1),
    "permute": lambda t: t.permute(t.arange(6.0).reshape(1, 2, 3), dims=(2, 0, 1)),
    "reshape": lambda t: t.reshape(input=t.arange(6.0), shape=(3, 2)),
    "tile": lambda t: t.tile(t.arange(2.0), dims=(2, 2)),
    "view_as_complex": lambda t: t.view_as_complex(input=t.ones(3, 2)),
    "new_tensor": lambda t: t.ones(2).new_tensor([1, 2], device="cpu", requires_grad=True),
    "new_full": lambda t: t.ones(2).new_full((3,), 2, requires_grad=True),
    "new_zeros": lambda t: t.ones(2).new_zeros(size=(3,), requires_grad=True),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_parameters_may_be_given_by_name(call: Callable[[Any], Any]) -> None:
    expected, found = call(torch), call(ours)
    assert found.requires_grad == expected.requires_grad
    assert str(found.dtype) == str(expected.dtype)
    numpy.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
