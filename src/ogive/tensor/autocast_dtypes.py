"""Which dtype operations compute in under `ogive.autocast`.

Operations are of four kinds, and which is of which is PyTorch's choice for the CPU:

    @lowered      x @ w     float32 operands are cast to the dtype that was chosen
    @widened      a loss    operands of 16 bits are cast to float32
    @unchanged    x.mv(v)   computes in the dtype of its operands, whatever it is made of
    the others    x + y     likewise, and what they are made of is of its own kind

float64 is left alone. Inside of one of the first three there is no autocast.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.tensor.core import Core

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

chosen: dict[int, list[DType | None]] = {}
"""What was chosen by the contexts that a thread is inside of, the innermost last, by thread."""
outside: set[int] = set()
"""The threads whose first entry there is of no context, but was made by `replace`."""


def current() -> DType | None:
    """The dtype that this thread's products are computed in; None without autocast."""
    entered = chosen.get(threading.get_ident())
    return entered[-1] if entered else None


def enter(dtype: DType | None) -> None:
    """Choose a dtype for this thread, or none, until `leave`."""
    chosen.setdefault(threading.get_ident(), []).append(dtype)


def leave() -> None:
    """Go back to what was chosen before the last `enter`."""
    thread = threading.get_ident()
    chosen[thread].pop()
    if not chosen[thread]:
        del chosen[thread]


def replace(dtype: DType | None) -> None:
    """Choose a dtype, or none, instead of what was chosen last; outside of contexts until the next
    call."""
    thread = threading.get_ident()
    entered = chosen.get(thread)
    if entered is None:
        if dtype is not None:
            enter(dtype)
            outside.add(thread)
    elif dtype is None and len(entered) == 1 and thread in outside:
        leave()
        outside.remove(thread)
    else:
        entered[-1] = dtype


def lower(value: Any) -> Any:
    """A tensor, or several, as an operation that is `lowered` gets them."""
    dtype = current()
    return value if dtype is None else _cast(value, dtype)


def widen(value: Any) -> Any:
    """A tensor, or several, as an operation that is `widened` gets them."""
    return value if current() is None else _cast(value, dtypes.float32)


def lowered(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """An operation that runs in the dtype that was chosen."""
    return _alone(function, lower)


def widened(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """An operation that runs in float32."""
    return _alone(function, widen)


def unchanged(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """An operation that runs in the dtype of its operands."""
    return _alone(function, lambda value: value)


def _alone(
    function: Callable[Arguments, Result], convert: Callable[[Any], Any]
) -> Callable[Arguments, Result]:
    """An operation that gets its arguments converted, and knows of no autocast."""

    @functools.wraps(function)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not chosen or current() is None:
            return function(*args, **kwargs)
        return converted_call(function, convert, args, kwargs)

    run.converts = convert  # type: ignore[attr-defined]
    return run


def converted_call(
    function: Callable[..., Result],
    convert: Callable[[Any], Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Result:
    """Call a function with its arguments converted, and without autocast."""
    given = [convert(value) for value in args]
    named = {name: convert(value) for name, value in kwargs.items()}
    enter(None)
    try:
        return function(*given, **named)
    finally:
        leave()


def _cast(value: Any, dtype: DType) -> Any:
    if isinstance(value, Core):
        own = value.dtype
        is_cast = own.is_float and own is not dtypes.float64 and own is not dtype
        return value.cast(dtype) if is_cast else value  # type: ignore[attr-defined]
    if type(value) in (tuple, list):
        return type(value)([_cast(entry, dtype) for entry in value])
    return value
