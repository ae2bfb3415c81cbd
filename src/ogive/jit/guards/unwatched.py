"""Things that a captured function may use and nobody can watch: clocks, files, iterators, draws.

What such a thing gives is as it was when the function was captured, at every call. That is named
once, by a `CaptureWarning`.
"""

from __future__ import annotations

import array
import contextvars
import io
import threading
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from ogive.errors import CaptureWarning, origin_line, user_origin

WATCHED_BYTES = 1 << 26
"""The largest NumPy array that is watched: a copy of it is kept, and compared at each call."""

_MODULES = ("time", "random", "secrets", "uuid")
"""Modules whose functions give something else each time."""

_DRAWS = ("random.Random", "numpy.random.Generator", "numpy.random.RandomState")
"""By name, so that nobody has to load them. NumPy defines some of them in modules of their own."""

_NAMES = {
    "datetime": ("now", "today", "utcnow"),  # the class, which is called as its module is
    "datetime.date": ("today",),
    "os": ("urandom", "getenv", "getcwd", "listdir"),
    "builtins": ("open", "input", "globals", "locals", "eval", "exec"),
}


def why_unwatched(value: Any) -> str | None:
    """Why what a function finds cannot be watched, or None."""
    if _draws(value):
        return "it draws numbers of its own; use ogive's, or pass what it draws"
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        return why_uncalled(value.__module__ or "", value.__name__, value)
    if isinstance(value, io.IOBase):
        return "it is a file; read it outside, and pass what you read"
    if isinstance(value, contextvars.ContextVar | threading.local):
        return "what it holds depends on who calls; pass the value"
    if isinstance(value, numpy.ndarray) and (
        value.nbytes > WATCHED_BYTES or value.dtype.hasobject
    ):
        return "it is too large an array to be compared at each call, or one of objects; pass it"
    if isinstance(value, types.MappingProxyType | array.array | memoryview):
        return "what it shows cannot be compared at each call; pass what you read of it"
    if isinstance(value, Iterator) and not isinstance(type(value).__next__, types.FunctionType):
        return "it is an iterator, of which each call would take the next; pass what it gives"
    return None


def _draws(value: Any) -> bool:
    kinds = type(value).__mro__
    names = [f"{kind.__module__.partition('._')[0]}.{kind.__name__}" for kind in kinds]
    return any(name in _DRAWS or name.startswith("numpy.random.mtrand.") for name in names)


def why_uncalled(owner: str, name: str, value: Any) -> str | None:
    """Why the function `name` of a module or class cannot be watched, or None."""
    is_bound = isinstance(value, types.MethodType | types.BuiltinMethodType)
    draws = is_bound and _draws(value.__self__)
    of_module = owner in _MODULES and callable(value) and not isinstance(value, type)
    if draws or of_module or name in _NAMES.get(owner, ()):
        return "what it gives is another each time; call it outside, and pass what it gives"
    return None


def warn_of(function: str, unwatched: Mapping[str, str]) -> None:
    """Name what a captured function uses and cannot watch."""
    for path, reason in unwatched.items():
        _warn(
            f"{function} uses {path}, which ogive.jit cannot watch: calls see it as it was when "
            f"the function was captured. {reason[0].upper()}{reason[1:]}"
        )


def warn_of_changes(function: str, times: int, reason: str) -> None:
    """Say that a function is not captured any more."""
    _warn(
        f"{function} was captured {times} times in a row without being used again, and runs "
        f"uncaptured from now on. The last time it was because of {reason}; give what changes as a "
        "tensor"
    )


def _warn(message: str) -> None:
    filename, line = origin_line(user_origin(3)) or ("ogive.jit", 1)
    warnings.warn_explicit(message, CaptureWarning, filename, line)
