"""Which dtype operations compute in under `ogive.autocast`.

There are four kinds of operations. Each is of the kind that it has in PyTorch on the CPU:

    @lowered      x @ w     operands of float32 are cast to the chosen dtype
    @widened      a loss    operands of 16 bits are cast to float32
    @unchanged    x.mv(v)   operands keep their dtype, and so do those of the operations inside
    undecorated   x + y     operands keep their dtype; operations inside follow their own kind

float64 is never cast. Autocast is off inside operations of the first three kinds.
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
"""For each thread, the dtypes of the contexts that it is inside of, the innermost last."""
outside: set[int] = set()
"""The threads whose first entry was made by `replace`, outside of any context."""


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
    """Choose a dtype, or none, instead of the last choice. Outside of contexts, the choice holds
    until the next call."""
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
    """Cast a tensor, or several, to the chosen dtype, as for a `lowered` operation."""
    dtype = current()
    return value if dtype is None else _cast(value, dtype)


def widen(value: Any) -> Any:
    """Cast a tensor, or several, to float32, as for a `widened` operation."""
    return value if current() is None else _cast(value, dtypes.float32)


def lowered(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the operation that runs in the chosen dtype."""
    return _without_autocast(function, lower)


def widened(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the operation that runs in float32."""
    return _without_autocast(function, widen)


def unchanged(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the operation that runs in the dtype of its operands."""
    return _without_autocast(function, lambda value: value)


def _without_autocast(
    function: Callable[Arguments, Result], convert: Callable[[Any], Any]
) -> Callable[Arguments, Result]:
    """Return the operation that converts its arguments and runs without autocast."""

    @functools.wraps(function)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not chosen or current() is None:
            return function(*args, **kwargs)
        positional = [convert(value) for value in args]
        named = {name: convert(value) for name, value in kwargs.items()}
        enter(None)
        try:
            return function(*positional, **named)
        finally:
            leave()

    return run


def _cast(value: Any, dtype: DType) -> Any:
    if isinstance(value, Core):
        own = value.dtype
        is_cast = own.is_float and own is not dtypes.float64 and own is not dtype
        return value.cast(dtype) if is_cast else value  # type: ignore[attr-defined]
    if type(value) in (tuple, list):
        return type(value)([_cast(entry, dtype) for entry in value])
    return value
