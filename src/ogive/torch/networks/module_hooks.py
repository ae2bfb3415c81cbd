"""`torch.nn.modules.module`: hooks of every module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.nn.module_parts.hooks import EveryHandle, Hook

__all__ = [
    "register_module_backward_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]  # fmt: skip


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> EveryHandle:
    """Call `hook(module, args)` before every module."""
    return EveryHandle(Hook(hook, True))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> EveryHandle:
    """Call `hook(module, args, result)` after every module.

    >>> from ogive.torch.nn.modules.module import register_module_forward_hook
    >>> names = []
    >>> with register_module_forward_hook(lambda module, *_: names.append(type(module).__name__)):
    ...     _ = nn.Sequential(nn.Linear(2, 3), nn.ReLU())(ogive.ones(2))
    >>> names
    ['Linear', 'ReLU', 'Sequential']
    """
    return EveryHandle(Hook(hook, False, with_kwargs))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> EveryHandle:
    """Call `hook(module, grad_output)` when a backward pass reaches what a module gave."""
    return EveryHandle(Hook(hook, True, is_backward=True))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> EveryHandle:
    """Call `hook(module, grad_input, grad_output)` when a backward pass has gone through one."""
    return EveryHandle(Hook(hook, False, is_backward=True))


register_module_backward_hook = register_module_full_backward_hook
