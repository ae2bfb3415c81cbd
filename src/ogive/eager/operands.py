"""Operands of forms: tensors as arrays, and what of them is known before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import get_ident
from typing import Any, Protocol

import numpy

from ogive.compiler.live.history import paused
from ogive.eager.from_plain import read_constant, read_memory, show_memory, take_up
from ogive.eager.half_precision import is_half
from ogive.eager.tensors import (
    Eager,
    EagerComplex,
    EagerHalf,
    EagerHalfParameter,
    EagerParameter,
)
from ogive.tensor.core import Core
from ogive.tensor.eager_sizes import LARGE, SMALL, allowance

_ndarray = numpy.ndarray


class Taking(Protocol):
    """The demands of a form on its operands (`forms.py`)."""

    counts: bool
    takes_complex: bool
    takes_half: bool


def is_recording() -> bool:
    """Whether gradients flow through what this thread computes."""
    return not paused or get_ident() not in paused


NUMBERS = frozenset({int, float, bool})

NO_TENSORS = NUMBERS | {type(None), str}

NOT_EAGER = object()
"""Stands among the sources for an operand that is not eager, and cannot be."""

IN_HALF = object()
"""Stands among the sources for an operand in half precision."""


def is_too_large(count: int) -> bool:
    """Whether an operand of so many elements is left to the compiler though few of them are read:
    those of a view, say, which reads none."""
    return count > LARGE


def are_beyond(operands: Sequence[Any], is_view: bool) -> bool:
    """The same where gradients flow: the way back computes with all of each operand."""
    for operand in operands:
        if operand.__class__ is _ndarray and operand.size > SMALL:
            count = operand.size
            if not allowance.may_show(count, True) if is_view else allowance.is_beyond(count):
                return True
        elif operand.__class__ in (list, tuple) and are_beyond(operand, is_view):
            return True
    return False


def arrays_of(
    values: Iterable[Any],
    sources: list[Any],
    own: Taking,
    is_beyond: Callable[[int], bool],
    readings: list[Any],
) -> list[Any]:
    """Arguments as a form takes them; the records of tensors are added to `sources`, and what is
    read where it lies to `readings`."""
    given = []
    for value in values:
        kind = value.__class__
        if kind is Eager or kind is EagerParameter:
            value, record = value.value, value.record
            sources.append(NOT_EAGER if value.size > SMALL and is_beyond(value.size) else record)
        elif kind not in NO_TENSORS:
            if kind is complex:
                if not own.takes_complex:
                    sources.append(NOT_EAGER)
            elif kind is EagerComplex:
                if own.takes_complex and not is_beyond(value.value.size):
                    sources.append(value.record)
                    value = value.value
                else:
                    sources.append(NOT_EAGER)
            elif kind is EagerHalf or kind is EagerHalfParameter:
                if not own.takes_half:
                    sources.append(IN_HALF)
                elif is_beyond(value.value.size):
                    sources.append(NOT_EAGER)
                else:
                    sources.append(value.record)
                    value = value.value
            elif isinstance(value, Core):
                shown = record = None
                if paused and not is_recording():
                    shown = read_memory(value)
                    if shown is None and own.counts:
                        shown = show_memory(value, readings)
                if shown is None and take_up(value):
                    shown, record = value.value, value.record
                if shown is None:
                    shown = read_constant(value)
                if shown is None:
                    sources.append(NOT_EAGER)
                elif own.takes_half or not is_half(shown):
                    value = shown
                    sources.append(record)
                else:
                    sources.append(IN_HALF)
            elif kind is list or kind is tuple:
                if value and isinstance(value[0], Core):
                    value = kind(arrays_of(value, sources, own, is_beyond, readings))
            elif isinstance(value, numpy.generic) and value.dtype.kind in "fiub":
                value = value.item()  # as PyTorch takes NumPy's numbers
            elif isinstance(value, (numpy.ndarray, numpy.generic)):
                sources.append(NOT_EAGER)
        given.append(value)
    return given


def save(values: Iterable[Any], arrays: list[Any]) -> None:
    """Let the memory of operands be left as it is from now on: a record has their `arrays`.

    What the program can write to as well is copied.
    """
    for at, value in enumerate(values):
        if value.__class__ is Eager or isinstance(value, Eager):
            if value.family is None:
                value.value.setflags(write=False)
            elif value.family.lent:
                arrays[at] = arrays[at].copy()
            else:
                value.family.saved = True
        elif value.__class__ in (list, tuple):
            arrays[at] = list(arrays[at])
            save(value, arrays[at])
