"""Second names of keywords: those of the array API standard beside PyTorch's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ogive.errors import ArgumentTypeError

Result = TypeVar("Result")


def also(**names: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let a function take keywords under further names, given as `second="first"`.

        @also(axis="dim")
        def stack(tensors, dim=0): ...        stack(parts, axis=1)   →   stack(parts, dim=1)

    A variable number of positional arguments, `*shape`, has `shape` as second name for them all.
    """

    def adapt(function: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def adapted(*args: Any, **kwargs: Any) -> Result:
            for second, first in names.items():
                if second not in kwargs:
                    continue
                value = kwargs.pop(second)
                if first in kwargs:
                    raise ArgumentTypeError(
                        f"{function.__name__}: {second} and {first} mean the same; give one of them"
                    )
                if signature.parameters[first].kind is inspect.Parameter.VAR_POSITIONAL:
                    args = (*args, value)
                else:
                    kwargs[first] = value
            return function(*args, **kwargs)

        adapted.__signature__ = _extended(signature, names)  # type: ignore[attr-defined]
        return adapted

    return adapt


def _extended(signature: inspect.Signature, names: dict[str, str]) -> inspect.Signature:
    """The signature with the second names among its keywords."""
    parameters = list(signature.parameters.values())
    added = [
        signature.parameters[first].replace(name=second, kind=inspect.Parameter.KEYWORD_ONLY)
        for second, first in names.items()
        if second != first
    ]
    return signature.replace(parameters=[*parameters, *added])
