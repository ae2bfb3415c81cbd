"""`torch.vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ogive

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that does for every example at once what `func` does for one.

    All examples have the same draws, whatever `randomness` says, and are one piece.
    """
    return ogive.vmap(func, in_dims, out_dims)
