"""Methods as functions of their first argument: `ogive.exp(x)` for `x.exp()`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Number
from typing import Any, Concatenate, ParamSpec, TypeVar

from ogive.errors import ArgumentTypeError
from ogive.tensor.core import Core, kind_of

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

eager_calls: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The eager implementation of each function that has one (`eager/table.py`)."""

plain_functions: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For each function that is open to eager tensors, the function that it wraps."""


def open_to_eager(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function that uses its eager implementation if one of its tensors is eager.

    Methods need no such wrapper: `as_function` looks for eager tensors.
    """

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if eager_calls:
            for value in args:
                is_list = value.__class__ in (list, tuple) and value
                first: Any = value[0] if is_list else value  # type: ignore[index]
                if isinstance(first, Core) and first.is_eager:
                    return eager_calls.get(call, function)(*args, **kwargs)  # type: ignore[no-any-return]
        return function(*args, **kwargs)

    plain_functions[call] = function
    return call


chosen_floats: list[Any] = []
"""The default dtype of new parameters that a program has set (`ogive.torch.set_default_dtype`);
empty if none is set."""


def created(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Call a function that makes tensors. The result is eager if small tensors are."""
    if chosen_floats and "dtype" in kwargs and kwargs["dtype"] is None:
        kwargs["dtype"] = chosen_floats[0]
    at_once = eager_calls.get(function)
    eager: Result | None = None if at_once is None else at_once(*args, **kwargs)
    return function(*args, **kwargs) if eager is None else eager


def as_function(
    method: Callable[Concatenate[Any, Arguments], Result],
    first: str = "input",
    from_number: Callable[..., Core] | None = None,
) -> Callable[Concatenate[Any, Arguments], Result]:
    """Return the function `name(x, ...)` for the method `x.name(...)`.

    `x` may also be given by keyword, as `first`, its name in PyTorch. It may be a number if
    `from_number` is given, which makes a tensor of the number and the next operand. An object with
    `__torch_function__` handles the call itself.
    """

    def function(*args: Any, **kwargs: Any) -> Result:
        if not args and first in kwargs:
            args = (kwargs.pop(first),)
        if not args or not isinstance(args[0], Core):
            override = getattr(type(args[0]), "__torch_function__", None) if args else None
            if override is not None and not hasattr(args[0], "__dlpack__"):  # no other library's
                return override(function, (type(args[0]),), args, kwargs)  # type: ignore[no-any-return]
            if from_number is not None and args and isinstance(args[0], Number):
                others = [*args[1:2], *kwargs.values()]
                return function(from_number(args[0], *others[:1]), *args[1:], **kwargs)
            given = kind_of(args[0]) if args else "nothing"
            way = "" if "from_dlpack" in given else "; ogive.asarray makes one"
            raise ArgumentTypeError(f"{method.__name__} takes a tensor first, got {given}{way}")
        if args[0].is_eager:
            at_once: Callable[..., Result] = eager_calls.get(method, method)
            return at_once(*args, **kwargs)
        return method(*args, **kwargs)

    functools.update_wrapper(function, method)
    return function
