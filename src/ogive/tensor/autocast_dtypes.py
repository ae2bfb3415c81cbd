"""The dtypes in which operations compute under `ogive.autocast`.

There are four kinds of operations, chosen as in PyTorch on the CPU:

    @lowered      x @ w     float32 operands are cast to the chosen dtype
    @widened      a loss    operands of 16 bits are cast to float32
    @unchanged    x.mv(v)   computes in the dtype of its operands, and so do operations inside it
    the others    x + y     likewise, but operations inside them have their own kinds

float64 operands are never cast. Inside an operation of the first three kinds, autocast is off.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.tensor.core import Core

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

chosen: dict[int, list[DType | None]] = {}
"""For each thread, the dtypes chosen by the contexts around it, the innermost last."""
outside: set[int] = set()
"""The threads whose first entry in `chosen` was made by `replace` outside of all contexts."""


def current() -> DType | None:
    """The dtype in which this thread's products are computed; None without autocast."""
    entered = chosen.get(threading.get_ident())
    return entered[-1] if entered else None


def enter(dtype: DType | None) -> None:
    """Choose a dtype for this thread, or none, until `leave`."""
    chosen.setdefault(threading.get_ident(), []).append(dtype)


def leave() -> None:
    """Restore the choice before the last `enter`."""
    thread = threading.get_ident()
    chosen[thread].pop()
    if not chosen[thread]:
        del chosen[thread]


def replace(dtype: DType | None) -> None:
    """Choose a dtype, or none, in place of the last choice; outside of contexts until the next
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
    """A tensor, or several, with the casts for a `lowered` operation."""
    dtype = current()
    return value if dtype is None else _cast(value, dtype)


def widen(value: Any) -> Any:
    """A tensor, or several, with the casts for a `widened` operation."""
    return value if current() is None else _cast(value, dtypes.float32)


def lowered(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make an operation compute in the chosen dtype."""
    return _alone(function, lower)


def widened(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make an operation compute in float32."""
    return _alone(function, widen)


def unchanged(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make an operation compute in the dtype of its operands."""
    return _alone(function, lambda value: value)


def _alone(
    function: Callable[Arguments, Result], convert: Callable[[Any], Any]
) -> Callable[Arguments, Result]:
    """An operation on converted arguments, inside which autocast is off."""

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
