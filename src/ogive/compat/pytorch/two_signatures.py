"""Functions that the standard and PyTorch have under one name, with different arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ogive.tensor.method_functions import as_function
from ogive.tensor.tensor import Tensor


def with_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of the standard also take the arguments of the method of the same name.

        sum(x, axis=1)              →   the standard's
        sum(x, dim=1), sum(x, 1)    →   x.sum(1), since the standard has no such call

    A function without such a method is returned unchanged.
    """
    method = getattr(Tensor, function.__name__, None)
    if method is None or function.__name__ == "repeat":  # which is `repeat_interleave` there
        return function
    parameters = inspect.signature(function).parameters.values()
    places = [each for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    needed = sum(each.default is inspect.Parameter.empty for each in places)
    names = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    as_pytorch = as_function(method)

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        if not args and "input" in kwargs:
            args = (kwargs.pop("input"),)
        is_standard = needed <= len(args) + len(kwargs) and len(args) <= len(places)
        if is_standard and kwargs.keys() <= names:
            return function(*args, **kwargs)
        return as_pytorch(*args, **kwargs)

    return either
