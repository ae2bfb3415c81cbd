"""Products and losses take tensors of one dtype, small and large, where PyTorch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch as pytorch

import ogive.torch as torch

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "@": lambda t, x, y: x @ y,
    "mm": lambda t, x, y: x.mm(y),
    "bmm": lambda t, x, y: x[None].bmm(y[None]),
    "mv": lambda t, x, y: x.mv(y[0]),
    "dot": lambda t, x, y: x[0].dot(y[0]),
    "addmm": lambda t, x, y: t.addmm(y, x, x),
    "linear": lambda t, x, y: t.nn.functional.linear(x, y),
    "a layer": lambda t, x, y: t.nn.Linear(len(x), 2)(x.double()),
    "lerp": lambda t, x, y: x.lerp(y, 0.5),
    "binary_cross_entropy": lambda t, x, y: t.nn.functional.binary_cross_entropy(x, y),
    "einsum": lambda t, x, y: t.einsum("ij,jk->ik", x, y),
    "cdist": lambda t, x, y: t.cdist(x, y),
    "solve": lambda t, x, y: t.linalg.solve(x + t.eye(len(x)), y),
}


LARGE = ("@", "mm", "bmm", "addmm", "linear", "a layer", "lerp")
"""What refuses large tensors, too: the others meet in the wider dtype, as in `ogive`."""


@pytest.mark.parametrize(
    ("name", "size"), [*[(name, 3) for name in CALLS], *[(name, 300) for name in LARGE]]
)
def test_other_dtypes_are_refused(name: str, size: int) -> None:
    for library in (pytorch, torch):
        x = library.full((size, size), 0.5)
        y = library.full((size, size), 0.5, dtype=library.float64)
        with pytest.raises(RuntimeError):
            CALLS[name](library, x, y)
        if name != "a layer":
            CALLS[name](library, x, y.float())
