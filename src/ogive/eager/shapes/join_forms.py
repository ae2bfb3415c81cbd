"""Forms of tensors that are joined, cut, repeated and padded."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy

from ogive.compiler.ir.dtype import result_type
from ogive.eager.casts import cast_gradient, check_copied, check_size, in_rows
from ogive.eager.forms import (
    NOT_DONE,
    Form,
    Refused,
    done_by,
    form,
    form_for,
    gradient,
    instead,
    is_captured,
)
from ogive.eager.shapes.adding import add_at
from ogive.eager.shapes.elements import taking
from ogive.eager.shapes.movement_forms import numbers_of, place_of
from ogive.eager.tensors import DTYPES, show
from ogive.tensor.indexing.advanced_indexing import get_item
from ogive.tensor.movement import joining, padding, repeating, splitting
from ogive.tensor.tensor import Tensor

_WHOLE = slice(None)


# Joins


def _alike(tensors: Any) -> list[Any]:
    """Arrays in their promoted dtype.

    Raises `Refused` for anything but a list of arrays, and if their total size is too large.
    """
    if tensors.__class__ not in (list, tuple):
        raise Refused
    size, are_alike, first = 0, True, tensors[0].dtype
    for array in tensors:
        if array.__class__ is not numpy.ndarray:
            raise Refused
        size += array.size
        are_alike = are_alike and array.dtype == first
    check_copied(size)
    if are_alike:
        return list(tensors)
    dtype = result_type([(DTYPES[array.dtype], array.ndim) for array in tensors]).numpy
    return [array.astype(dtype) for array in tensors]


@form(joining.cat, counts=True)
def cat(tensors: Any, dim: Any = 0) -> Any:
    """Tensors joined along an axis."""
    alike = _alike(tensors)
    parts = [part for part in alike if part.shape != (0,)] or alike[:1]
    return in_rows(numpy.concatenate(parts, place_of(dim, parts[0].ndim)))


@gradient(cat)
def _cat(given: Any, out: Any, tensors: Any, dim: Any = 0) -> Any:
    axis = place_of(dim, given.ndim)
    gradients, start = [], 0
    for part in tensors:
        if part.ndim == given.ndim and part.shape != (0,):
            end = start + part.shape[axis]
            own = given[(*[_WHOLE] * axis, slice(start, end))]
            gradients.append(cast_gradient(own, part))
            start = end
        else:
            gradients.append(numpy.zeros(part.shape, part.dtype))
    return tuple(gradients)


@form(joining.stack, counts=True)
def stack(tensors: Any, dim: Any = 0) -> Any:
    """Tensors of one shape joined along a new axis."""
    parts = _alike(tensors)
    shape = parts[0].shape
    axis = place_of(dim, len(shape) + 1)
    wide = (*shape[:axis], 1, *shape[axis:])
    widened = []
    for part in parts:
        if part.shape != shape:
            raise Refused
        widened.append(part.reshape(wide))
    return in_rows(numpy.concatenate(widened, axis))


@gradient(stack)
def _stack(given: Any, out: Any, tensors: Any, dim: Any = 0) -> Any:
    parts = numpy.moveaxis(given, place_of(dim, given.ndim), 0)
    return tuple([cast_gradient(own, part) for own, part in zip(parts, tensors, strict=True)])


# Splits


SPLIT, UNBIND = taking("split"), taking("unbind")


def _parts(x: Tensor, form: Form, axis: int, entries: Iterable[Any]) -> tuple[Tensor, ...]:
    """The parts of a tensor at some places of an axis, each recorded as a result of `form`."""
    before = (_WHOLE,) * axis
    if x.record is None and not is_captured():
        places = [(*before, entry, ...) for entry in entries]
        return tuple([show(x, x.value[place], None, (get_item, (place,), {})) for place in places])
    parts = tuple([x[(*before, entry)] for entry in entries])
    if x.record is not None:
        for part in parts:
            if part.is_eager and part.record is not None:
                part.record.form = form_for(form, part.value)
    return parts


def _one_after_the_other(sizes: Any) -> list[tuple[int, int]]:
    bounds, start = [], 0
    for size in sizes:
        bounds.append((start, start + size))
        start += size
    return bounds


@done_by(splitting.split)
def split(self: Tensor, split_size: Any = None, dim: Any = 0, **names: Any) -> Any:
    """Parts of one size, or of several sizes."""
    try:
        given = names["split_size_or_sections"] if split_size is None and names else split_size
        axis = place_of(dim, self.value.ndim)
        length = self.value.shape[axis]
        if given.__class__ is int and given > 0:
            count = max(-(-length // given), 1)
            bounds = [(n * given, min(n * given + given, length)) for n in range(count)]
        else:
            bounds = _one_after_the_other(given)
            if not bounds or bounds[-1][1] != length or min(given) < 0:
                raise Refused
        return _parts(self, SPLIT, axis, [slice(start, end) for start, end in bounds])
    except NOT_DONE as refusal:
        sizes = [] if split_size is None else [split_size]
        return instead(refusal, splitting.split, self, *sizes, dim=dim, **names)


@done_by(splitting.chunk)
def chunk(self: Tensor, chunks: Any, dim: Any = 0) -> Any:
    """At most `chunks` parts, all but the last of equal length."""
    try:
        axis = place_of(dim, self.value.ndim)
        length = self.value.shape[axis]
        if chunks.__class__ is not int or chunks < 1 or not length:
            raise Refused
        return split(self, -(-length // chunks), axis)
    except NOT_DONE as refusal:
        return instead(refusal, splitting.chunk, self, chunks, dim)


@done_by(splitting.unbind)
def unbind(self: Tensor, dim: Any = 0) -> Any:
    """The slices along an axis."""
    try:
        axis = place_of(dim, self.value.ndim)
    except NOT_DONE as refusal:
        return instead(refusal, splitting.unbind, self, dim)
    return _parts(self, UNBIND, axis, range(self.value.shape[axis]))


# Repetition


@form(repeating.repeat)
def repeat(x: Any, *repeats: Any) -> Any:
    """The whole tensor repeated along each axis."""
    times = numbers_of(repeats)
    if len(times) < x.ndim or (times and min(times) < 0):
        raise Refused
    check_size((x.size, *times))
    return numpy.tile(x, times)


@gradient(repeat)
def _repeat(given: Any, out: Any, x: Any, *repeats: Any) -> Any:
    times = numbers_of(repeats)
    own = (*(1,) * (len(times) - x.ndim), *x.shape)
    split = [part for pair in zip(times, own, strict=True) for part in pair]
    total = given.reshape(split).sum(tuple(range(0, 2 * len(times), 2)))
    return (total.reshape(x.shape),)


@form(repeating.repeat_interleave)
def repeat_interleave(
    x: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None
) -> Any:
    """Each element repeated several times in a row."""
    source, axis, places = _interleaved(x, repeats, dim)
    return source.take(places, axis)


def _interleaved(x: Any, repeats: Any, dim: Any) -> tuple[Any, int, Any]:
    """The array to repeat, the axis, and the source position of each element of the result."""
    if repeats is None:
        if x.ndim != 1 or x.dtype.kind != "i":
            raise Refused
        x, repeats = numpy.arange(len(x)), x
    source = x.reshape(-1) if dim is None else x
    axis = 0 if dim is None else place_of(dim, x.ndim)
    length = source.shape[axis]
    if repeats.__class__ is int:
        if repeats < 0:
            raise Refused
        total = repeats * length
    else:
        if repeats.dtype.kind != "i" or repeats.ndim > 1 or (repeats.size not in (1, length)):
            raise Refused
        if repeats.size and (repeats.min() < 0 or repeats.max() > 1 << 20):
            raise Refused
        total = int(repeats.sum()) * (length if repeats.size == 1 else 1)
    check_size((total, *source.shape[:axis], *source.shape[axis + 1 :]))
    return source, axis, numpy.arange(length).repeat(repeats)


@gradient(repeat_interleave)
def _repeat_interleave(
    given: Any, out: Any, x: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None
) -> Any:
    source, axis, places = _interleaved(x, repeats, dim)
    spread = numpy.zeros(source.shape, source.dtype)
    add_at(spread, (*[_WHOLE] * axis, places), given)
    own = spread.reshape(x.shape)
    return (own,) if repeats.__class__ is int else (own, None)


@form(repeating.roll)
def roll(x: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements shifted along axes. Those shifted past the end come in at the front."""
    if dims is None:
        return _rolled(x.reshape(-1), shifts, 0).reshape(x.shape)
    moves = shifts if shifts.__class__ in (tuple, list) else (shifts,)
    axes = dims if dims.__class__ in (tuple, list) else (dims,)
    if len(moves) != len(axes) or not moves:
        raise Refused
    for shift, axis in zip(moves, axes, strict=True):
        x = _rolled(x, shift, place_of(axis, x.ndim))
    return in_rows(x)


def _rolled(x: Any, shift: Any, axis: int) -> Any:
    """A copy, shifted along one axis."""
    if shift.__class__ is not int:
        raise Refused
    length = x.shape[axis]
    start = -shift % length if length else 0
    if not start:
        return x.copy()
    before = (_WHOLE,) * axis
    return numpy.concatenate([x[(*before, slice(start, None))], x[(*before, slice(start))]], axis)


@gradient(roll)
def _roll(given: Any, out: Any, x: Any, shifts: Any, dims: Any = None) -> Any:
    back = [-shift for shift in shifts] if shifts.__class__ in (tuple, list) else -shifts
    return (roll(given, back, dims),)


# Padding

_MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@form(padding.pad)
def pad(x: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    """The tensor with padding around it."""
    pairs = _pairs(pad, x.ndim)
    sizes = [size + before + after for size, (before, after) in zip(x.shape, pairs, strict=True)]
    if min(sizes, default=0) < 0:
        raise Refused
    check_size(sizes)
    if mode != "constant":
        lines = _extended(x.shape, pairs, mode, value)
        for axis, line in enumerate(lines):
            if len(line) != x.shape[axis]:
                x = x.take(line, axis)
        return x if any(before or after for before, after in pairs) else x.copy()
    if value is None or (value.__class__ in (int, float) and value == 0):
        padded = numpy.zeros(sizes, x.dtype)
    elif value.__class__ is int or (value.__class__ is float and x.dtype.kind == "f"):
        padded = numpy.full(sizes, value, x.dtype)
    else:
        raise Refused
    inside, own = _windows(x.shape, pairs)
    padded[inside] = x[own]
    return padded


def _pairs(given: Any, rank: int) -> list[tuple[int, int]]:
    """The padding before and after each axis."""
    numbers = list(given)
    if any(number.__class__ is not int for number in numbers):
        raise Refused
    if len(numbers) % 2 or len(numbers) > 2 * rank:
        raise Refused
    pairs = [(numbers[n], numbers[n + 1]) for n in range(0, len(numbers), 2)]
    return [*[(0, 0)] * (rank - len(pairs)), *reversed(pairs)]


def _windows(shape: Any, pairs: Any) -> tuple[Any, Any]:
    """The places of the remaining elements in the result, and in the operand."""
    inside, own = [], []
    for size, (before, after) in zip(shape, pairs, strict=True):
        first, end = max(-before, 0), size + min(after, 0)
        if end < first:
            raise Refused
        own.append(slice(first, end))
        start = max(before, 0)
        inside.append(slice(start, start + end - first))
    return tuple(inside), tuple(own)


def _extended(shape: Any, pairs: Any, mode: Any, value: Any) -> list[Any]:
    """The source of each place along each axis, in the modes that repeat elements."""
    lines = []
    for size, (before, after) in zip(shape, pairs, strict=True):
        most = {"reflect": size - 1, "replicate": before + after, "circular": size}[mode]
        if value or before < 0 or after < 0 or (before + after and not size):
            raise Refused
        if before > most or after > most:
            raise Refused
        lines.append(_line(size, before, after, mode))
    return lines


@functools.lru_cache(maxsize=64)
def _line(size: int, before: int, after: int, mode: str) -> Any:
    """The source of each place along an axis."""
    return numpy.pad(numpy.arange(size), (before, after), _MODES[mode])


@gradient(pad)
def _pad(given: Any, out: Any, x: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    pairs = _pairs(pad, x.ndim)
    spread = numpy.zeros(x.shape, x.dtype)
    if mode == "constant":
        inside, own = _windows(x.shape, pairs)
        spread[own] = given[inside]
    else:
        add_at(spread, numpy.ix_(*_extended(x.shape, pairs, mode, None)), given)
    return (spread,)
