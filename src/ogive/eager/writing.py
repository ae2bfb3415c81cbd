"""Writing to eager tensors: `x += y`, `x[i] = v`, `x.copy_(y)`.

If all of a tensor changes and no other tensor shares its memory, the tensor takes a new array, and
records keep the old one. Otherwise the array is written to, and all tensors that share it see the
change. If a record holds the array, the whole family first moves to a copy.
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
from ogive.tensor.values import conversion

CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
"""Kinds of dtypes: a tensor takes on values of no higher one."""


def is_repeated(array: Any) -> bool:
    """Whether elements share a place in memory, as after `expand`. Such arrays are not written."""
    return 0 in array.strides and array.size > 1


def may_write(tensor: Tensor, sources: list[Any]) -> bool:
    """Whether a tensor can be written to without an effect on gradients."""
    record = tensor.record
    if is_repeated(tensor.value):
        return False
    if record is None:
        return not any(sources) or not is_recording()
    return bool(record.is_leaf) and not is_recording()


def replace(tensor: Tensor, array: Any) -> None:
    """Replace a tensor's values by `array`, which has its shape and no other owner.

    Raises `Refused` if they do not fit.
    """
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
    """The values of `array` in the memory order of `own`.

    So a write does not change which operations on the tensor give views and which give copies.
    """
    made = numpy.empty_like(own)
    made[...] = array
    return made


def replace_recorded(tensor: Tensor, made: Tensor) -> None:
    """Replace a tensor by a value computed from it, with gradients.

    Other tensors may share its memory if no gradients will flow through them, such as the result of
    `detach()` before a `relu_()`. Raises `Refused` otherwise: a view shows the history, too.
    """
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
    if any(not _is_apart(each, tensor) for each in tensor.family.living() if each is not tensor):
        raise Refused
    write(tensor, ..., array)
    at_once([(tensor, "record", made.record)])


def _is_apart(member: Tensor, first: Tensor) -> bool:
    """Whether a member of the family of `first` has no part in gradients through that."""
    if member.record is not None:
        return False
    shown = getattr(member, "shown", None)
    while shown is not None and shown[0] is not first and shown[1] is not conversion.detach:
        shown = getattr(shown[0], "shown", None)
    return shown is not None and shown[1] is conversion.detach


def write(tensor: Tensor, index: Any, array: Any) -> None:
    """Write to a part of a tensor, in its memory.

    An empty part is skipped, because NumPy may have made it read-only.
    """
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
    """Remove a tensor from a family that has no other living member.

    The caller does it before the tensor gets other memory, in case an exception comes between.
    """
    if getattr(tensor, "shown", None) is not None:
        del tensor.shown
    tensor.family = None


def in_place(dispatch: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """An eager method that writes the result of an operation to the tensor itself.

    `method` is that of plain tensors.
    """

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
    """An eager method that changes how a tensor shows its memory, such as `x.unsqueeze_(0)`.

    If the tensor is a leaf or shares its memory, `method`, that of plain tensors, is called.
    """

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
