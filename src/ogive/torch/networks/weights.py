"""`torch.nn.utils`: the old functions to parametrize a weight, and small helpers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.nn.module import AnyModule
from ogive.nn.utils.parametrizations import spectral_norm as spectral_norm
from ogive.nn.utils.parametrizations import weight_norm as weight_norm
from ogive.nn.utils.parametrize import remove_parametrizations

__all__ = [
    "remove_spectral_norm", "remove_weight_norm", "skip_init", "spectral_norm", "weight_norm",
]  # fmt: skip


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undo `weight_norm`: the weight becomes a parameter again, with its present value."""
    remove_parametrizations(module, name)
    return module


remove_spectral_norm = remove_weight_norm


def skip_init(module: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Make a module whose values will be set later. Here they are drawn when first read."""
    kwargs.pop("device", None)
    return module(*args, **kwargs)
