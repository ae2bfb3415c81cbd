"""`torch.jit` and `torch.compiler`: scripts are Python here, so what marks them changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ogive.nn.module import Module
from ogive.torch.capture import Compiled
from ogive.torch.capture import compile as compile

__all__ = [
    "Final", "ScriptFunction", "ScriptModule", "annotate", "compile", "disable", "export", "freeze",
    "ignore", "interface", "is_compiling", "is_scripting", "is_tracing", "reset", "script", "trace",
    "unused",
]  # fmt: skip

Given = TypeVar("Given")

ScriptModule = Module
ScriptFunction = Compiled


def script(obj: Given, *args: Any, **kwargs: Any) -> Given:
    """The function or module itself: Python is what runs, and `torch.compile` captures it."""
    return obj


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator that gives the function itself, with or without arguments of its own."""
    return drop if callable(drop) else (lambda function: function)


def unused(function: Given) -> Given:
    """The function itself."""
    return function


def export(function: Given) -> Given:
    """The function itself."""
    return function


def interface(given: Given) -> Given:
    """The class itself."""
    return given


def disable(function: Any = None, recursive: bool = True) -> Any:
    """The function itself, with or without arguments of its own."""
    return function if function is not None else (lambda given: given)


def trace(func: Callable[..., Any], example_inputs: Any = None, **kwargs: Any) -> Any:
    """The function or module, captured as by `torch.compile`."""
    return compile(func)


def freeze(mod: Given, *args: Any, **kwargs: Any) -> Given:
    """The module itself."""
    return mod


def is_scripting() -> bool:
    """Whether this runs in TorchScript: never."""
    return False


def is_tracing() -> bool:
    """Whether this runs in TorchScript's tracer: never."""
    return False


def is_compiling() -> bool:
    """Whether PyTorch's compiler runs this: never."""
    return False


def annotate(the_type: Any, the_value: Given) -> Given:
    """The value itself."""
    return the_value


class Final:
    """A mark in annotations: `Final[int]` is `int`."""

    def __class_getitem__(cls, kind: Given) -> Given:
        return kind


def reset() -> None:
    """Nothing to forget: captured functions own their traces."""
