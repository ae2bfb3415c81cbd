"""Hooks around `state_dict` and `load_state_dict`, by PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule
    from ogive.nn.module_parts.state import IncompatibleKeys


class StateHook:
    """A hook in a module's list of hooks. `remove()` removes it."""

    def __init__(self, hooks: list[StateHook], function: Callable[..., Any], gets: bool) -> None:
        self._hooks = hooks
        self.function = function
        self.gets_module = gets
        hooks.append(self)

    def remove(self) -> None:
        """Remove the hook: it is not called any more."""
        self._hooks.remove(self)


def hooks_of(module: AnyModule, kind: str) -> list[StateHook]:
    """The module's own list of hooks of one kind."""
    by_kind: dict[str, list[StateHook]] = module.__dict__.setdefault("_state_hooks", {})
    return by_kind.setdefault(kind, [])


def call_hooks(module: AnyModule, kind: str, *given: Any) -> None:
    """Call the hooks of one kind, if there are any."""
    for hook in module.__dict__.get("_state_hooks", {}).get(kind, ()):
        hook.function(*((module, *given) if hook.gets_module else given))


def prepare_to_load(
    root: AnyModule, state: dict[str, Any], metadata: Mapping[str, Any], strict: bool
) -> None:
    """Let every module change the state before it is loaded, by hooks and overridden methods.

    `metadata` has the version with which each module was saved, if the state contains it.
    """
    from ogive.nn.module import AnyModule

    base = AnyModule._load_from_state_dict
    for path, module in root._all_modules(""):
        prefix = f"{path}." if path else ""
        # The lists of missing and unexpected keys and errors stay empty: `check_state` finds them.
        given: tuple[Any, ...] = (state, prefix, metadata.get(path, {}), strict, [], [], [])
        call_hooks(module, "before loading", *given)
        if type(module)._load_from_state_dict is not base:
            module._load_from_state_dict(*given)


def report_loaded(root: AnyModule, keys: IncompatibleKeys) -> None:
    """Call the hooks of all modules with the keys that did not fit."""
    for module in root.modules():
        call_hooks(module, "after loading", keys)


def begin_state(
    module: AnyModule, state: dict[str, Any], prefix: str, keep_vars: bool
) -> dict[str, Any]:
    """Note a module's version in a state, which is given back, after calling those who asked."""
    version = {"version": module._version}
    metadata = getattr(state, "_metadata", None)
    if metadata is not None:
        metadata[prefix[:-1]] = version
    call_hooks(module, "before saving", prefix, keep_vars)
    return version


def extra_states(root: AnyModule) -> dict[str, AnyModule]:
    """The modules that keep more than tensors in a state, by the keys of it."""
    from ogive.nn.module import AnyModule

    base = AnyModule.get_extra_state
    return {
        f"{path}.{EXTRA}" if path else EXTRA: module
        for path, module in root._all_modules("")
        if type(module).get_extra_state is not base
    }


EXTRA = "_extra_state"
"""The last part of such a key."""
