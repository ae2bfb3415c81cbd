"""`torch.autograd`: further functions around gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ogive.tensor.tensor import Tensor

__all__ = [
    "Variable", "backward", "detect_anomaly", "set_detect_anomaly",
]  # fmt: skip


def Variable(data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """Return the tensor itself: PyTorch's class from before version 0.4."""
    return data.requires_grad_() if requires_grad else data


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the sum of tensors to those of the leaves."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    seeds = [grad_tensors] if isinstance(grad_tensors, Tensor) else grad_tensors
    for number, each in enumerate(given):
        each.backward(None if seeds is None else seeds[number])


@contextlib.contextmanager
def detect_anomaly(check_nan: bool = True) -> Iterator[None]:
    """A context without effect: errors always name the line of the forward pass."""
    yield


@contextlib.contextmanager
def set_detect_anomaly(mode: bool, check_nan: bool = True) -> Iterator[None]:
    """A context without effect: errors always name the line of the forward pass."""
    yield
