"""Index eager tensors: `x[i]`, `x[1:, mask]`, `x[i] = v`."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy

from ogive.compiler.live.history import traced
from ogive.eager.casts import cast_array as _cast
from ogive.eager.casts import check_size, unbroadcast
from ogive.eager.forms import NOT_DONE, Form, Refused, form_for, instead, is_captured
from ogive.eager.from_plain import take_up
from ogive.eager.gradients.records import Record
from ogive.eager.operands import is_recording, save
from ogive.eager.shapes.adding import add_at
from ogive.eager.tensors import RECORDED, give, show
from ogive.eager.writing import CATEGORY, may_write, replace_recorded, write
from ogive.tensor.autocast_dtypes import chosen as autocast
from ogive.tensor.core import Core
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.tensor import Tensor


class Index:
    """An index in NumPy's form. Records hold it; its arrays are not operands.

    An index that `is_basic` gives a view.

    NumPy treats an integer beside an array of positions as a position. PyTorch removes its axis
    before. So such integers are in an index of their own, `first`:

        x[0, :, [1, 2]]   →   x[0, :, :][:, [1, 2]]
    """

    __slots__ = ("entries", "first", "is_basic")

    def names_each_once(self, array: Any) -> bool:
        """Whether no element of an array is named several times."""
        chosen = [entry for entry in self.entries if entry.__class__ is numpy.ndarray]
        if all(entry.dtype == bool for entry in chosen):
            return True  # a mask names each that it does once
        marks = numpy.zeros(array.shape, bool)
        marks[self.entries] = True
        return bool(numpy.count_nonzero(marks) == array[self.entries].size)

    def __init__(self, index: Any) -> None:
        self.first: tuple[Any, ...] | None = None
        self.is_basic = True
        has_rest = has_integer = False
        found: list[Any] = []
        for entry in index if index.__class__ is tuple else (index,):
            kind = entry.__class__
            if kind is int:
                has_integer = True
            elif kind is slice:
                entry = _slice(entry)
            elif entry is Ellipsis:
                has_rest = True
            elif entry is not None:
                entry = _taken(entry)
                if entry.__class__ is int:
                    has_integer = True
                else:
                    self.is_basic = False
            found.append(entry)
        if self.is_basic:
            if not has_rest:
                found.append(Ellipsis)  # makes a single element a view, not a number
        else:
            if has_rest:
                _refuse_parted(found)
            if has_integer:
                self.first, found = _in_two_steps(found)
        self.entries = tuple(found)

    def keep(self) -> None:
        """Copy the positions, so that later writes to their tensors do not change the index."""
        self.entries = tuple(
            [entry.copy() if entry.__class__ is numpy.ndarray else entry for entry in self.entries]
        )


def _refuse_parted(entries: list[Any]) -> None:
    """Raise `Refused` for positions on both sides of `...`.

    NumPy always separates them; PyTorch does so only if `...` stands for an axis.
    """
    sides = [place for place, entry in enumerate(entries) if entry.__class__ is numpy.ndarray]
    rest = next(place for place, entry in enumerate(entries) if entry is Ellipsis)
    if sides[0] < rest < sides[-1]:
        raise Refused


def _slice(given: slice) -> slice:
    """A slice with integer bounds and a positive step. Raises `Refused` for others."""
    start, stop, step = given.start, given.stop, given.step
    if step is not None and not (step.__class__ is int and step > 0):
        raise Refused
    plain = start is None or start.__class__ is int
    if plain and (stop is None or stop.__class__ is int):
        return given
    return slice(_bound(start), _bound(stop), step)


def _bound(given: Any) -> int | None:
    if given is None or given.__class__ is int:
        return given
    if isinstance(given, numpy.integer) or (isinstance(given, Core) and given.is_eager):
        return operator.index(given)  # type: ignore[arg-type]
    raise Refused


def _taken(entry: Any) -> Any:
    """A tensor or list in an index as an array of positions or a mask; a scalar as an integer."""
    if isinstance(entry, Core):
        if not entry.is_eager and not take_up(entry):
            raise Refused
        entry = entry.value
    elif entry.__class__ in (list, tuple, range):
        entry = numpy.array(entry) if len(entry) else numpy.zeros(0, numpy.int64)
    elif not isinstance(entry, numpy.ndarray | numpy.integer):
        raise Refused
    kind = entry.dtype.kind
    if kind not in "ib":
        raise Refused
    if entry.ndim:
        return entry
    if kind == "b":
        raise Refused
    return int(entry)


def _in_two_steps(entries: list[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """Divide an index with integers and positions into one with the integers and one with the
    positions."""
    first: list[Any] = []
    second: list[Any] = []
    for entry in entries:
        kind = entry.__class__
        if kind is numpy.ndarray:
            first += [slice(None)] * (entry.ndim if entry.dtype.kind == "b" else 1)
            second.append(entry)
        else:
            first.append(entry)
            if kind is not int:
                second.append(Ellipsis if entry is Ellipsis else slice(None))
    return tuple(first), second


def take_part(array: Any, index: Index) -> Any:
    """The part of an array at an index: a view or a copy."""
    return array[index.entries]


def _take_gradient(given: Any, out: Any, array: Any, index: Index) -> Any:
    spread = numpy.zeros(array.shape, array.dtype)
    if index.is_basic:
        spread[index.entries] = given
    else:
        add_at(spread, index.entries, given)
    return (spread,)


def taking(name: str) -> Form:
    """The form of the function `name`, which gives parts of a tensor."""

    def take(tensor: Tensor, index: Index) -> Tensor:
        return advanced_indexing.get_item(tensor, index.entries)

    take.__name__ = name
    made = Form(take, take_part, False, True)
    made.gradient, made.is_affine = _take_gradient, True
    return made


TAKE = taking(advanced_indexing.get_item.__name__)


def get_item(self: Tensor, index: Any) -> Tensor:
    """Implement `x[i]`, `x[1:, [0, 2]]`, `x[mask]`."""
    array = self.value
    if index.__class__ is int and self.record is None and not (autocast or traced):
        return _entry(self, (index, ...))
    if index.__class__ is list:
        index = advanced_indexing.listed_entries(index)
    try:
        is_shown = allowance.may_show(array.size, self.record is not None)
        if not is_shown or ((autocast or traced) and is_captured()):
            raise Refused
        given = Index(index)
        if given.first is not None:
            return get_item(get_item(self, given.first), given.entries)
        out = array[given.entries]
        if not given.is_basic:
            check_size(out.shape)
    except IndexError as refusal:
        return _read_now(refusal, self, index)
    except NOT_DONE as refusal:
        return instead(refusal, advanced_indexing.get_item, self, index)
    record = self.record
    if record is not None:
        record = None
        if is_recording() and array.dtype.kind in RECORDED:
            arrays = [array]
            save((self,), arrays)
            if not given.is_basic:
                given.keep()
            record = Record(form_for(TAKE, array), (*arrays, given), {}, out, (self.record,))
    if given.is_basic:
        return show(self, out, record, (advanced_indexing.get_item, (given.entries,), {}))
    return give(out, record)


def _entry(self: Tensor, place: tuple[Any, ...]) -> Tensor:
    """The entry at a position along the first axis, the most frequent kind of index."""
    try:
        out = self.value[place]
    except IndexError as refusal:
        return _read_now(refusal, self, place[0])
    return show(self, out, None, (advanced_indexing.get_item, (place,), {}))


def _read_now(refusal: Exception, tensor: Tensor, index: Any) -> Tensor:
    """Compute the elements at positions that NumPy found out of range.

    So the error is raised here, as in PyTorch, and not where the result is first read.
    """
    found = instead(refusal, advanced_indexing.get_item, tensor, index)
    instead(refusal, found.realize)
    return found


def set_item(self: Tensor, index: Any, value: Any) -> None:
    """Implement `x[i] = v`."""
    if index.__class__ is list:
        index = advanced_indexing.listed_entries(index)
    try:
        _set_item(self, index, value)
    except IndexError as refusal:
        _read_now(refusal, self, index)  # raises before anything is written
        instead(refusal, advanced_indexing.set_item, self, index, value)
    except NOT_DONE as refusal:
        instead(refusal, advanced_indexing.set_item, self, index, value)


def _set_item(self: Tensor, index: Any, value: Any) -> None:
    if (autocast or traced) and is_captured():
        raise Refused
    sources: list[Any] = []
    own = self.value
    if isinstance(value, Core):
        if not value.is_eager and not take_up(value):
            raise Refused
        sources.append(value.record)
        array = value.value
        if CATEGORY[array.dtype.kind] > CATEGORY[own.dtype.kind]:
            array = _cast(array, own.dtype)
    else:
        if isinstance(value, numpy.generic) and value.dtype.kind in "fiub":
            value = value.item()  # NumPy's numbers count as Python's, as in PyTorch
        kind = value.__class__
        if kind not in (int, float, bool) and not (kind is complex and own.dtype.kind == "c"):
            raise Refused
        if own.dtype.kind in "iu" and kind is float:
            raise Refused
        array = value
    if not allowance.may_show(own.size, self.record is not None):
        raise Refused
    given = Index(index)
    if given.first is not None:
        part = get_item(self, given.first)
        if not part.is_eager:
            raise Refused
        _set_item(part, given.entries, value)
        return
    if sources and array is value.value and _is_part(value, self, given.entries):
        return  # the last step of `x[i] += v`, whose value is already there
    if not may_write(self, sources):
        _put_recorded(self, given, value)
        return
    if sources and numpy.may_share_memory(array, own):
        array = array.copy()
    place = own[given.entries]  # an error is one before anything is written
    if sources and array.ndim > place.ndim:
        array = array.reshape(_without_ones(array.shape, place.ndim))
    write(self, given.entries, array)


def _without_ones(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """The shape of a value with more axes than the place for it: (1, 4), 1 → (4,)."""
    extra = len(shape) - ndim
    if any(length != 1 for length in shape[:extra]):
        raise Refused
    return shape[extra:]


def _put(array: Any, index: Index, value: Any) -> Any:
    made = array.copy()
    made[index.entries] = value
    return made


def _put_gradient(given: Any, out: Any, array: Any, index: Index, value: Any) -> Any:
    rest = given.copy()
    rest[index.entries] = 0
    if value.__class__ is not numpy.ndarray:
        return (rest,)
    return rest, unbroadcast(given[index.entries], value)


def _put_plain(tensor: Tensor, index: Index, value: Any) -> Tensor:
    made = tensor.clone()
    advanced_indexing.set_item(made, index.entries, value)
    return made


_put_plain.__name__ = advanced_indexing.set_item.__name__
_PUT = Form(_put_plain, _put, False, False)
_PUT.gradient, _PUT.is_affine = _put_gradient, True


def _put_recorded(self: Tensor, index: Index, value: Any) -> None:
    """Write to a part of a tensor, with gradients through the tensor or the value.

    No other tensor may share its memory. Raises `Refused`.
    """
    record = self.record
    is_leaf = record is not None and record.is_leaf
    if is_leaf or not is_recording() or self.value.dtype.kind not in RECORDED:
        raise Refused
    if not index.is_basic:
        if not index.names_each_once(self.value):
            raise Refused
        index.keep()
    if not isinstance(value, Core):
        value = give(numpy.array(value, self.value.dtype))
    if value.value.dtype != self.value.dtype:
        raise Refused
    place = self.value[index.entries]
    if value.value.ndim > place.ndim:
        value = value.reshape(_without_ones(value.value.shape, place.ndim))
    arrays = [self.value, value.value]
    save((self, value), arrays)
    made = _put(arrays[0], index, arrays[1])
    given = (arrays[0], index, arrays[1])
    recorded = Record(form_for(_PUT, made), given, {}, made, (record, value.record))
    replace_recorded(self, give(made, recorded))


def _is_part(value: Tensor, self: Tensor, entries: tuple[Any, ...]) -> bool:
    """Whether `value` is the view of `self` at an index."""
    shown = getattr(value, "shown", None)
    if shown is None or shown[0] is not self or shown[1] is not advanced_indexing.get_item:
        return False
    return value.family is self.family and bool(shown[2] == (entries,))


def show_strided(
    tensor: Tensor, shape: tuple[int, ...], steps: tuple[int, ...], begin: int, function: Any
) -> Tensor | None:
    """The elements of a tensor's memory that some steps lead to, as `function` gives them; None for
    a tensor that does not show all of its memory, or that gradients flow through."""
    own = tensor.value
    is_whole = own.flags.c_contiguous and getattr(tensor, "shown", None) is None
    numbers = (*shape, *steps, begin)
    if not is_whole or tensor.record is not None or is_captured() or own.dtype.kind == "V":
        return None
    if any(number.__class__ is not int or number < 0 for number in numbers):
        return None
    last = begin + sum([(length - 1) * step for length, step in zip(shape, steps, strict=True)])
    if 0 in shape or last >= own.size or not allowance.may_show(math.prod(shape), False):
        return None
    size = own.itemsize
    strides = tuple([step * size for step in steps])
    view = numpy.ndarray(shape, own.dtype, own, begin * size, strides)
    return show(tensor, view, None, (function, (shape, steps, begin), {}))


def length(self: Tensor) -> int:
    """Implement `len(x)`: the length of the first axis."""
    value = self.value
    return len(value) if value.ndim else advanced_indexing.length(self)


def iterate(self: Tensor) -> Iterator[Tensor]:
    """The entries along the first axis, each a view."""
    if not self.value.ndim:
        return advanced_indexing.iterate(self)  # type: ignore[no-any-return]
    array = self.value
    if self.record is not None or not allowance.may_show(array.size, False) or is_captured():
        return iter([self[position] for position in range(len(array))])
    return iter([_entry(self, (position, ...)) for position in range(len(array))])


METHODS = {
    "__getitem__": get_item, "__setitem__": set_item, "__len__": length, "__iter__": iterate,
}  # fmt: skip
"""The methods that eager tensors override."""
