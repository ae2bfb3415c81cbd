"""Hooks: functions that a module calls around `forward`, to observe or change values.

Hooks of the backward pass are in `backward_hooks`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentTypeError
from ogive.named import record
from ogive.nn.module_parts.backward_hooks import BackwardCall

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule


_numbers = itertools.count(1)


@record(frozen=True)
class Hook:
    """A function that is called before or after `forward`, with or without keyword arguments.

    With `is_backward` it belongs to the backward pass; `before` then means that it is called before
    the gradients of the arguments are known.
    """

    function: Callable[..., Any]
    before: bool
    with_kwargs: bool = False
    is_backward: bool = False


class Handle:
    """The handle of a hook. `remove()` removes the hook."""

    def __init__(self, module: AnyModule, hook: Hook) -> None:
        self._module = module
        self._hook = hook

    def remove(self) -> None:
        """Remove the hook: it is not called any more."""
        kept = [hook for hook in self._module._hooks if hook is not self._hook]
        set_hooks(self._module, tuple(kept))

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def set_hooks(module: AnyModule, hooks: tuple[Hook, ...]) -> None:
    """Set the hooks of a module. A counter tells captured functions that they have changed."""
    module._hooks = hooks
    module._hooked = next(_numbers) if hooks else 0


def call_with_hooks(module: AnyModule, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`module.forward(*args, **kwargs)` with the hooks around it, in the order of registration."""
    forward = [hook for hook in module._hooks if not hook.is_backward]
    for hook in forward:
        if hook.before and hook.with_kwargs:
            changed = hook.function(module, args, kwargs)
            if changed is not None:
                args, kwargs = _pair(changed)
        elif hook.before:
            changed = hook.function(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    call = _backward_call(module)
    result = module.forward(*(args if call is None else call.enter(args)), **kwargs)
    for hook in forward:
        if not hook.before:
            given = (args, kwargs, result) if hook.with_kwargs else (args, result)
            changed = hook.function(module, *given)
            result = result if changed is None else changed
    return result if call is None else call.leave(result)


def _backward_call(module: AnyModule) -> BackwardCall | None:
    """The backward hooks of a module, for one call of it."""
    chosen = [hook for hook in module._hooks if hook.is_backward]
    before = [hook.function for hook in chosen if hook.before]
    after = [hook.function for hook in chosen if not hook.before]
    return BackwardCall(module, before, after) if chosen else None


def _pair(changed: Any) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise ArgumentTypeError(
            "a forward pre-hook with_kwargs must return None or (args, kwargs), not "
            f"{type(changed).__name__}"
        )
    return changed
