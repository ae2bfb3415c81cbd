"""`torch.special`: names of functions that the package has elsewhere."""

from __future__ import annotations

from ogive.tensor.method_functions import as_function
from ogive.tensor.tensor import Tensor

__all__ = [
    "round",
]  # fmt: skip

round = as_function(Tensor.round)
