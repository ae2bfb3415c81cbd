"""Hooks: functions that a module calls around `forward`, to observe or change values.

Hooks of the backward pass are in `backward_hooks`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
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

    @property
    def function(self) -> Callable[..., Any]:
        """The function that is called."""
        return self._hook.function

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


class HookView(MutableMapping[int, Callable[..., Any]]):
    """A module's hooks of one kind, as the dictionary that PyTorch's modules keep them in."""

    def __init__(self, module: AnyModule, before: bool, is_backward: bool) -> None:
        self._module = module
        self._kind = (before, is_backward)

    def _places(self) -> list[int]:
        hooks = self._module._hooks
        return [n for n, each in enumerate(hooks) if (each.before, each.is_backward) == self._kind]

    def _place(self, key: int) -> int:
        if key not in self._places():
            raise KeyError(key)
        return key

    def __getitem__(self, key: int) -> Callable[..., Any]:
        return self._module._hooks[self._place(key)].function

    def __setitem__(self, key: int, function: Callable[..., Any]) -> None:
        hooks = list(self._module._hooks)
        if key in self:
            hooks[key] = Hook(function, *self._options(hooks[key]))
        else:
            hooks.append(Hook(function, self._kind[0], is_backward=self._kind[1]))
        set_hooks(self._module, tuple(hooks))

    def _options(self, hook: Hook) -> tuple[bool, bool, bool]:
        return hook.before, hook.with_kwargs, hook.is_backward

    def __delitem__(self, key: int) -> None:
        hooks = list(self._module._hooks)
        del hooks[self._place(key)]
        set_hooks(self._module, tuple(hooks))

    def __iter__(self) -> Iterator[int]:
        return iter(self._places())

    def __len__(self) -> int:
        return len(self._places())

    def replace(self, given: Mapping[int, Callable[..., Any]]) -> None:
        """Have these hooks of this kind, and no others."""
        functions = list(given.values())
        others = [n for n in range(len(self._module._hooks)) if n not in self]
        kept = [self._module._hooks[n] for n in others]
        before, is_backward = self._kind
        added = [Hook(each, before, is_backward=is_backward) for each in functions]
        set_hooks(self._module, (*kept, *added))


every_module: list[Hook] = []
"""The hooks of every module, besides its own."""


class EveryHandle:
    """The handle of a hook of every module."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        every_module.append(hook)

    def remove(self) -> None:
        """Call the hook no more."""
        every_module.remove(self._hook)

    def __enter__(self) -> EveryHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def call_with_hooks(module: AnyModule, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`module.forward(*args, **kwargs)` with the hooks around it, in the order of registration."""
    hooks = (*every_module, *module._hooks)
    forward = [hook for hook in hooks if not hook.is_backward]
    for hook in forward:
        if hook.before and hook.with_kwargs:
            changed = hook.function(module, args, kwargs)
            if changed is not None:
                args, kwargs = _pair(changed)
        elif hook.before:
            changed = hook.function(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    call = _backward_call(module, hooks)
    result = module.forward(*(args if call is None else call.enter(args)), **kwargs)
    for hook in forward:
        if not hook.before:
            given = (args, kwargs, result) if hook.with_kwargs else (args, result)
            changed = hook.function(module, *given)
            result = result if changed is None else changed
    return result if call is None else call.leave(result)


def _backward_call(module: AnyModule, hooks: Sequence[Hook]) -> BackwardCall | None:
    """The backward hooks of a module, for one call of it."""
    chosen = [hook for hook in hooks if hook.is_backward]
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
