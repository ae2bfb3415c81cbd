"""Which names the parts of a module can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule


def mark_buffer(tensor: Any, persistent: bool) -> None:
    """Let a tensor be a buffer of the module that it becomes an attribute of."""
    tensor.persistent = persistent


class RegistrationError(ArgumentError, KeyError):
    """A part of a module has a name that it cannot have."""

    __str__ = ArgumentError.__str__


def check_name(module: AnyModule, name: Any, kind: type | None) -> None:
    """Refuse a name for a part of a module that leads nowhere, or to something that is not `kind`.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"a name is a string, not {type(name).__name__}")
    if not name or "." in name:
        raise RegistrationError(f"{name!r} is no name: it is empty or has a dot in it")
    there = getattr(module, name, None)
    if there is not None and (kind is None or not isinstance(there, kind)):
        raise RegistrationError(f"{type(module).__name__} has an attribute {name!r} already")
