"""Hooks: functions called before or after each step of an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class HookedSteps:
    """The hooks of an optimizer, under "before" and "after"."""

    _step_hooks: Mapping[str, tuple[StepHook, ...]] = {}

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> StepHook:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return StepHook(self, "before", hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> StepHook:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return StepHook(self, "after", hook)

    def _call_hooks(self, when: str) -> None:
        for hook in self._step_hooks.get(when, ()):
            hook.function(self, (), {})


class StepHook:
    """A function called around steps. `remove()` removes it."""

    def __init__(self, optimizer: HookedSteps, when: str, function: Callable[..., Any]) -> None:
        self._optimizer, self._when, self.function = optimizer, when, function
        self._set((*optimizer._step_hooks.get(when, ()), self))

    def remove(self) -> None:
        """Remove the hook: it is not called any more."""
        hooks = self._optimizer._step_hooks[self._when]
        self._set(tuple([hook for hook in hooks if hook is not self]))

    def _set(self, hooks: tuple[StepHook, ...]) -> None:
        self._optimizer._step_hooks = {**self._optimizer._step_hooks, self._when: hooks}
