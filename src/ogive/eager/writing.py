"""Writing to eager tensors: `x += y`, `x[i] = v`, `x.copy_(y)`.

A tensor that is alone in its memory takes another array where all of it changes, and so records
keep what they have. Otherwise the array is written to, which all who share it see; one that a
record has is copied first, for the whole family.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.at_once import at_once
from ogive.eager.forms import Refused, instead
from ogive.eager.operands import is_recording
from ogive.eager.tensors import is_alone
from ogive.tensor.tensor import Tensor

CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
"""Kinds of dtypes: a tensor takes on values of no higher one."""


def is_repeated(array: Any) -> bool:
    """Whether several elements lie at one place in memory, as after `expand`: none is written."""
    return 0 in array.strides and array.size > 1


def may_write(tensor: Tensor, sources: list[Any]) -> bool:
    """Whether a tensor can be written to, and that concerns no gradient."""
    record = tensor.record
    if is_repeated(tensor.value):
        return False
    if record is None:
        return not any(sources) or not is_recording()
    return bool(record.is_leaf) and not is_recording()


def replace(tensor: Tensor, array: Any) -> None:
    """Let a tensor have the values of `array`, of its shape, which nobody else has. Raises
    `Refused` where they do not fit."""
    own = tensor.value
    kind = own.dtype
    is_same = array.dtype is kind or array.dtype == kind
    if array.shape != own.shape:
        raise Refused
    if not is_same and CATEGORY[array.dtype.kind] > CATEGORY[kind.kind]:
        raise Refused
    if is_alone(tensor):
        fitting = array if is_same else array.astype(kind)
        if own.ndim > 1 and fitting.strides != own.strides:
            fitting = _as_it_lies(own, fitting)
        if tensor.family is not None:
            _leave_family(tensor)
        tensor.value = fitting if fitting.__class__ is numpy.ndarray else numpy.asarray(fitting)
    else:
        write(tensor, ..., array)


def _as_it_lies(own: Any, array: Any) -> Any:
    """The values of an array in the order in which those of another lie in memory: what is a view
    of a tensor, and what a copy, is not changed by writing to it."""
    made = numpy.empty_like(own)
    made[...] = array
    return made


def replace_recorded(tensor: Tensor, made: Tensor) -> None:
    """Let a tensor be what was computed from it, with gradients. Others may show its memory if none
    flow through them: what `detach()` gave before `relu_()`. Raises `Refused`."""
    own, array = tensor.value, made.value
    if array.shape != own.shape or array.dtype != own.dtype or made.record is None:
        raise Refused
    if is_alone(tensor) and tensor.family is None:
        if own.ndim > 1 and array.strides != own.strides:
            raise Refused
        at_once([(tensor, "value", array), (tensor, "record", made.record)])
        return
    if tensor.family is None or getattr(tensor, "shown", None) is not None:
        raise Refused
    if any(each.record is not None for each in tensor.family.living() if each is not tensor):
        raise Refused
    write(tensor, ..., array)
    at_once([(tensor, "record", made.record)])


def write(tensor: Tensor, index: Any, array: Any) -> None:
    """Write to a part of a tensor, in its memory. Of no elements there is nothing to write: NumPy
    may have made them read-only."""
    if not tensor.value.size:
        return
    family = tensor.family
    if family is not None and not is_alone(tensor):
        if not family.lent and (family.saved or not tensor.value.flags.writeable):
            family.move_to_copy()
    elif not tensor.value.flags.writeable or (family is not None and family.saved):
        copy = tensor.value.copy()
        if family is not None:
            _leave_family(tensor)
        tensor.value = copy
    tensor.value[index] = array


def _leave_family(tensor: Tensor) -> None:
    """Let a tensor that is alone be so: an exception may come before it gets other memory."""
    if getattr(tensor, "shown", None) is not None:
        del tensor.shown
    tensor.family = None


def in_place(dispatch: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes what an operation gives, at once, to the tensor itself; `method` is
    that of plain tensors."""

    def perform(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        record = self.record
        if is_repeated(self.value) or (record is not None and record.is_leaf and is_recording()):
            return method(self, *args, **kwargs)  # type: ignore[no-any-return]  # which raises
        made = dispatch(self, *args, **kwargs)
        if not made.is_eager or not self.is_eager:
            return method(self, *args, **kwargs)  # type: ignore[no-any-return]
        try:
            if made.record is None and (record is None or record.is_leaf):
                replace(self, made.value)
            else:
                replace_recorded(self, made)
        except Refused as refusal:
            return instead(refusal, method, self, *args, **kwargs)  # type: ignore[no-any-return]
        return self

    return _named(perform, method)


def turn_in_place(dispatch: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """The method by which a tensor shows its memory in another way: `x.unsqueeze_(0)`. Views of it
    are left to the method of plain tensors, `method`."""

    def perform(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        record = self.record
        is_leaf = record is not None and record.is_leaf
        if not is_alone(self) or self.family is not None or is_leaf:
            return method(self, *args, **kwargs)  # type: ignore[no-any-return]
        made = dispatch(self, *args, **kwargs)
        if made is not self and made.is_eager and self.is_eager:
            at_once([(self, "value", made.value), (self, "record", made.record)])
            self.family = made.family = None
        elif made is not self:
            return method(self, *args, **kwargs)  # type: ignore[no-any-return]
        return self

    return _named(perform, method)


def _named(perform: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    perform.__name__ = method.__name__
    perform.__qualname__ = method.__qualname__
    perform.__doc__ = method.__doc__
    return perform
