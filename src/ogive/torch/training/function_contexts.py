"""`torch.autograd.function`: what programs name for annotations, and a decorator of `backward`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ogive.autograd.function import Context as FunctionCtx
from ogive.autograd.mode import no_grad

__all__ = ["FunctionCtx", "once_differentiable"]


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A `backward` through whose gradients no gradient flows."""

    @functools.wraps(backward)
    def run(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            return backward(ctx, *gradients)

    return run
