"""PyTorch's old arguments for `reduction`: `size_average` and `reduce`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def with_reduction(arguments: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments with `reduction` in place of the two old arguments.

        size_average=False                →   reduction="sum"
        reduce=False, with either         →   reduction="none"
        size_average=True, or reduce=True →   reduction="mean"
    """
    if "size_average" not in arguments and "reduce" not in arguments:
        return arguments
    arguments_now = dict(arguments)
    average, reduce = arguments_now.pop("size_average", None), arguments_now.pop("reduce", None)
    if average is not None or reduce is not None:
        is_whole = reduce is None or reduce
        total = "mean" if average is None or average else "sum"
        arguments_now["reduction"] = total if is_whole else "none"
    return arguments_now


def taking_averages(function: Callable[..., Any], order: str) -> Callable[..., Any]:
    """A loss that takes `size_average` and `reduce` as well, where they stand in PyTorch's `order`
    of arguments: `nll_loss(x, target, weight, size_average, ...)`."""
    names = order.split()
    first_old = names.index("size_average")

    @functools.wraps(function)
    def taking(*args: Any, **kwargs: Any) -> Any:
        if len(args) > first_old:
            kwargs = {**dict(zip(names[first_old:], args[first_old:], strict=False)), **kwargs}
            args = args[:first_old]
        return function(*args, **with_reduction(kwargs)) if kwargs else function(*args)

    return taking
