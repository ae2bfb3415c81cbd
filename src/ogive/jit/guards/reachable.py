"""Values within reach of an object: its parts, its attributes, whether it may hold the user's."""

from __future__ import annotations

import functools
import types
from typing import Any

_OPEN = (
    "ogive.nn.", "ogive.optim.", "ogive.amp.", "ogive.distributions.", "ogive.torch.networks.",
    "ogive.torch.training.", "ogive.torch.processes.",
)  # fmt: skip
_CLOSED = ("threading", "_thread", "logging", "typing", "abc", "weakref", "multiprocessing")

_PARTS: dict[type, tuple[str, ...]] = {
    types.MethodType: ("__func__", "__self__"),
    functools.partial: ("func", "args", "keywords"),
    functools.partialmethod: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    property: ("fget",),
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
}
"""Objects that are called or read through an object that Python itself has made."""


def parts_of(value: Any) -> tuple[str, ...]:
    """The attributes through which an object is called or read; those of what is wrapped, too."""
    known = _PARTS.get(type(value), ())
    return known or (("__wrapped__",) if "__wrapped__" in (attributes_of(value) or ()) else ())


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The dictionary of an object's own attributes, if it has one."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return attributes if isinstance(attributes, dict) else None


def is_open(kind: type) -> bool:
    """Whether objects of a class may hold what is the user's."""
    module = kind.__module__ or ""
    if module.startswith(_OPEN):
        return True
    root = module.partition(".")[0]
    return root not in ("ogive", "numpy", "torch", "builtins", "functools", *_CLOSED)
