"""`torch.amp.autocast_mode`: contexts that are entered and left by calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.torch.training.precision import autocast

__all__ = ["_enter_autocast", "_exit_autocast", "autocast_decorator"]


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Any:
    """A function that runs inside of a context."""
    return autocast_instance(func)


def _enter_autocast(*args: Any) -> autocast:
    """A context that was entered, for `_exit_autocast`."""
    return autocast(*args).__enter__()  # type: ignore[return-value]  # it gives itself


def _exit_autocast(mode: autocast) -> None:
    mode.__exit__(None, None, None)
