"""Gradients where the formula of a value has a pole or a tie and its derivative has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from ogive import Tensor

CASES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "sinc": (lambda x: x.sinc(), [0.0, 1.0, 0.5, -2.0]),
    "erfinv": (lambda x: x.erfinv(), [0.0, 0.5, -0.5, 1e-9, 0.99]),
    "lgamma": (lambda x: x.lgamma(), [0.0, 1.0, 2.0, 3.0, 4.0, 0.5, -0.5, 30.0]),
    "digamma": (lambda x: x.digamma(), [1.0, 2.0, 3.0, 0.5, -0.5, 30.0]),
    "polygamma": (lambda x: x.polygamma(1), [1.0, 2.0, 3.0, 0.5, 30.0]),
    "max": (lambda x: x.max(0).values, [1.0, 3.0, 3.0, 2.0]),
    "min": (lambda x: x.min(0, keepdim=True).values, [1.0, 1.0, 3.0, 1.0]),
    "max of rows": (lambda x: x.reshape(2, 2).max(1).values, [3.0, 3.0, 1.0, 2.0]),
    "max of all": (lambda x: x.max(), [1.0, 3.0, 3.0, 2.0]),
    "amax": (lambda x: x.amax(0), [1.0, 3.0, 3.0, 2.0]),
    "fmax": (lambda x: x.fmax(x.flip(0).detach()), [1.0, 3.0, 3.0, 2.0]),
    "fmin of NaN": (lambda x: x.fmin(x.flip(0) * 2), [1.0, 3.0, 3.0, float("nan")]),
    "median of all": (lambda x: x.median(), [1.0, 3.0, 3.0, 3.0, 2.0]),
    "nanmedian": (lambda x: x.nanmedian(), [1.0, 3.0, 3.0, float("nan"), 2.0]),
    "std": (lambda x: x.std(), [2.0, 2.0, 2.0]),
    "nextafter": (lambda x: x.nextafter(x[:1]), [1.0, 2.0]),
    "no elements": (lambda x: x[:0], [1.0, 2.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_at_poles_and_ties_are_torchs(name: str) -> None:
    function, values = CASES[name]
    ours = Tensor(numpy.array(values), requires_grad=True)
    theirs = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    (function(ours).sum() * 3).backward()
    (function(theirs).sum() * 3).backward()
    assert ours.grad is not None and theirs.grad is not None
    assert numpy.allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-8)


def test_a_leaf_without_elements_has_a_gradient_without_elements() -> None:
    leaf = Tensor(numpy.zeros((0, 3)), requires_grad=True)
    (leaf * 2).sum().backward()
    assert leaf.grad is not None and leaf.grad.shape == (0, 3)
