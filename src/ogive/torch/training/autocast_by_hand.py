"""`torch.amp.autocast_mode`: autocast contexts entered and left by function calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.torch.training.precision import autocast

__all__ = ["_enter_autocast", "_exit_autocast", "autocast_decorator"]


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Any:
    """Let a function run in an autocast context."""
    return autocast_instance(func)


def _enter_autocast(*args: Any) -> autocast:
    """Enter an autocast context, and return it for `_exit_autocast`."""
    return autocast(*args).__enter__()  # type: ignore[return-value]  # it gives itself


def _exit_autocast(mode: autocast) -> None:
    mode.__exit__(None, None, None)
