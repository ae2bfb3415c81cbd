"""How functions of the library are done at once: for each, a *form* over arrays of NumPy's.

    @form(arithmetic.mul)
    def mul(x, other): return numpy.multiply(x, other)

    @gradient(mul)
    def _(given, out, x, other): return unbroadcast(given * other, x), unbroadcast(given * x, other)

A form takes the arguments of the function, with arrays in place of tensors, and gives an array that
nobody else has, or several as a tuple, of which gradients flow through the first. It raises
`Refused`, or any of NumPy's errors, for what it does not do: then the function itself is called, on
tensors that settle, and computes it or says what is wrong.

A form without a gradient is not used where gradients flow, unless it is `apart` from them, as
comparisons are. One that is a `view` gives an array in the memory of the first operand; where it
gives that array itself, the result is that tensor.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy

from ogive.eager.tape import Record
from ogive.eager.tensors import MOST_ELEMENTS, Eager, EagerParameter, give, show, take_up
from ogive.live.history import paused, traced
from ogive.tensor.autocast_dtypes import chosen as autocast
from ogive.tensor.core import Core

# What overflows or is divided by zero is inf or NaN here, as it is in kernels; no warning is due.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"ogive\.eager")


class Refused(Exception):
    """A form does not do what it is asked for; the function itself will."""


NOT_DONE = (
    Refused, TypeError, ValueError, IndexError, ArithmeticError, RuntimeWarning, AttributeError,
    KeyError,
)  # fmt: skip
"""What forms raise where the function itself is to be called."""


class Form:
    """How a function is done at once."""

    __slots__ = ("compute", "function", "gradient", "is_apart", "is_view")

    def __init__(
        self, function: Callable[..., Any], compute: Callable[..., Any], apart: bool, view: bool
    ) -> None:
        self.function = function
        self.compute = compute
        self.gradient: Any = None
        self.is_apart = apart
        self.is_view = view


forms: dict[Callable[..., Any], Form] = {}
"""The forms, by the functions that they are of."""


def form(
    *functions: Callable[..., Any], apart: bool = False, view: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare how functions are done at once."""

    def declare(compute: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            plain = getattr(function, "without_eager", function)
            forms[function] = Form(plain, compute, apart, view)
        return compute

    return declare


def gradient(compute: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the gradients of a form: from that of the result, the result, and the arguments.

    It gives an array or None for each tensor among the arguments, in order.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in forms.values():
            if each.compute is compute:
                each.gradient = function
        return function

    return declare


calls: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What does functions at once that have no form: they are made of other operations of tensors."""


def done_by(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare what does a function at once, given an eager tensor first."""

    def declare(call: Callable[..., Any]) -> Callable[..., Any]:
        calls[function] = functools.update_wrapper(call, function)
        return call

    return declare


_EAGER = frozenset({Eager, EagerParameter})


def is_recording() -> bool:
    """Whether gradients flow through what this thread computes."""
    return not paused or get_ident() not in paused


def is_captured() -> bool:
    """Whether this thread is capturing a function, or casts what it computes."""
    thread = get_ident()
    return thread in autocast or thread in traced


def dispatching(own: Form) -> Callable[..., Any]:
    """A function that does at once what its form can do, and leaves the rest to the function."""
    function, compute = own.function, own.compute
    is_view, is_apart = own.is_view, own.is_apart

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if (autocast or traced) and is_captured():
            return function(*args, **kwargs)
        sources: list[Any] = []
        given = [_array(value, sources) for value in args]
        named = kwargs
        if kwargs:
            named = {name: _array(value, sources) for name, value in kwargs.items()}
        if _NONE in sources:
            return function(*args, **kwargs)
        is_tracked = any(sources) and not is_apart
        if is_tracked and paused and not is_recording():
            is_tracked = False
        if is_tracked and own.gradient is None:
            return function(*args, **kwargs)
        try:
            out = compute(*given, **named)
        except NOT_DONE:
            return function(*args, **kwargs)
        if is_view and out is given[0]:
            return args[0]
        record = None
        first = out[0] if isinstance(out, tuple) else out
        if is_tracked and first.dtype.kind == "f":
            save(args)
            save(kwargs.values())
            record = Record(own, tuple(given), named, out, tuple(sources))
        if is_view:
            return show(args[0], out, record, (function, args[1:], kwargs))
        if first is not out:
            made = [give(first, record), *[give(array) for array in out[1:]]]
            return tuple(made) if out.__class__ is tuple else out.__class__(*made)
        return give(out, record)

    return call


_NONE = object()
"""Stands among the sources for an operand that is not eager, and cannot be."""


def _array(value: Any, sources: list[Any]) -> Any:
    """An argument as a form takes it; a tensor's record is added to `sources`."""
    kind = value.__class__
    if kind in _EAGER or (isinstance(value, Core) and take_up(value)):
        array = value.value
        sources.append(value.record if array.size <= MOST_ELEMENTS else _NONE)
        return array
    if (kind is list or kind is tuple) and value and isinstance(value[0], Core):
        return kind([_array(entry, sources) for entry in value])
    if isinstance(value, (Core, numpy.ndarray, numpy.generic)):
        sources.append(_NONE)
    return value


def save(values: Any) -> None:
    """Let the memory of operands be left as it is from now on: a record has it."""
    for value in values:
        if value.__class__ in _EAGER:
            if value.family is None:
                value.value.setflags(write=False)
            else:
                value.family.saved = True
        elif value.__class__ in (list, tuple):
            save(value)
