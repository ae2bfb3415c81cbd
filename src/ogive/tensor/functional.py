"""Methods as functions of their first argument, PyTorch's other way to write them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from ogive.errors import ArgumentTypeError
from ogive.tensor.core import Core

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def as_function(
    method: Callable[Concatenate[Any, Arguments], Result],
) -> Callable[Concatenate[Any, Arguments], Result]:
    """`x.name(...)` as `name(x, ...)`, where x may also be given by name, as `input`."""

    def function(input: Any, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not isinstance(input, Core):
            raise ArgumentTypeError(
                f"{method.__name__} takes a tensor first, got {type(input).__name__}; "
                "ogive.asarray makes one"
            )
        return method(input, *args, **kwargs)

    functools.update_wrapper(function, method)
    return function  # type: ignore[return-value]  # it takes the first argument by name as well
