"""Further names of keyword arguments: those of NumPy and the array API standard."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ogive.errors import ArgumentTypeError

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


def also(**names: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let a function take keywords under further names, given as `second="first"`.

        @also(axis="dim")
        def stack(tensors, dim=0): ...        stack(parts, axis=1)   →   stack(parts, dim=1)

    If the first name is that of `*args`, the second one stands for all of these arguments.
    """

    def adapt(function: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def adapted(*args: Any, **kwargs: Any) -> Result:
            if not kwargs:
                return function(*args)
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


def numpy_names(function: Function) -> Function:
    """Let a method take `axis` and `keepdims` for `dim` and `keepdim`, as PyTorch's methods do.

        x.sum(axis=0, keepdims=True)   →   x.sum(dim=0, keepdim=True)

    Type checkers see only the first names.
    """
    return cast(Function, also(axis="dim", keepdims="keepdim")(function))


def _extended(signature: inspect.Signature, names: dict[str, str]) -> inspect.Signature:
    """The signature with the second names as keywords. A parameter with two names becomes optional.
    """
    parameters = dict(signature.parameters)
    for second, first in names.items():
        parameter = parameters[first]
        is_variable = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        default = parameter.default
        if is_variable or default is inspect.Parameter.empty:
            default = None
        if not is_variable:
            parameters[first] = parameter.replace(default=default)
        parameters[second] = inspect.Parameter(
            second, inspect.Parameter.KEYWORD_ONLY, default=default
        )
    return signature.replace(parameters=_in_order(list(parameters.values())))


def _in_order(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Give defaults to positional parameters after an optional one, as Python requires."""
    optional = False
    ordered = []
    for parameter in parameters:
        is_place = parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        if is_place and optional and parameter.default is inspect.Parameter.empty:
            parameter = parameter.replace(default=None)
        optional = optional or (is_place and parameter.default is not inspect.Parameter.empty)
        ordered.append(parameter)
    return ordered
