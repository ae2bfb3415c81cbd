"""Functions of `torch.nn.functional` that give the greatest elements with their positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.nn import functional as F
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors.old_functions import rrelu_ as rrelu_

__all__ = [
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices", "max_pool1d_with_indices", "max_pool2d_with_indices",
    "max_pool3d_with_indices", "rrelu_",
]  # fmt: skip


def _with_indices(pool: Callable[..., Any]) -> Callable[..., Any]:
    def pooled(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        kwargs["return_indices"] = True
        values, indices = pool(*args, **kwargs)
        return values, indices

    pooled.__doc__ = f"`{pool.__name__}` with `return_indices=True`."
    return pooled


adaptive_max_pool1d_with_indices = _with_indices(F.adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(F.adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(F.adaptive_max_pool3d)
fractional_max_pool2d_with_indices = _with_indices(F.fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_indices(F.fractional_max_pool3d)
max_pool1d_with_indices = _with_indices(F.max_pool1d)
max_pool2d_with_indices = _with_indices(F.max_pool2d)
max_pool3d_with_indices = _with_indices(F.max_pool3d)
