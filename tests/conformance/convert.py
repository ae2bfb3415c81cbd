"""What a sample holds, as ours: tensors, dtypes, nested tuples and lists of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogive import Tensor, pairwise_distance

IGNORED = {"layout", "memory_format", "pin_memory"}
"""Options about strides and pages, which our tensors have none of."""


class Converter:
    """Makes our tensors from PyTorch's, the same for the same, and remembers the leaves."""

    def __init__(self, device: str = "CPU") -> None:
        self.device = device
        self.made: dict[int, Tensor] = {}
        self.leaves: list[tuple[Any, Tensor]] = []

    def convert(self, value: Any) -> Any:
        """`value` with everything of PyTorch's replaced."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.dtype):
            return str(value).removeprefix("torch.")
        if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu"):
            return self.device
        if isinstance(value, torch.nn.PairwiseDistance):
            return pairwise_distance
        if isinstance(value, tuple | list):
            parts = [self.convert(part) for part in value]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, dict):
            return {
                key: self.convert(part) for key, part in value.items() if key not in IGNORED
            }
        return value

    def _tensor(self, value: Any) -> Tensor:
        known = self.made.get(id(value))
        if known is None:
            known = Tensor(
                to_numpy(value), device=self.device, requires_grad=bool(value.requires_grad)
            )
            self.made[id(value)] = known
            if value.requires_grad:
                self.leaves.append((value, known))
        return known


def to_numpy(value: Any) -> NDArray[Any]:
    """The values of one of PyTorch's tensors, in memory of their own."""
    if value.dtype is torch.bfloat16:
        value = value.to(torch.float32)
    return np.array(value.numpy(force=True), order="C")


def tensors_in(result: Any) -> list[Any]:
    """The tensors and numbers of a result, in order."""
    if isinstance(result, tuple | list):
        return [part for entry in result for part in tensors_in(entry)]
    return [result]
