"""Forms of writing at the positions in a tensor.

They refuse positions out of range, so that the function itself raises the error.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.shapes.adding import add_at, combine_at
from ogive.eager.shapes.index_forms import checked, line_index, places_along
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.indexing import scattering

_INT64 = numpy.dtype("int64")


def _without(given: Any, places: Any) -> Any:
    """A copy of `given` with 0 at `places`."""
    kept = given.copy()
    kept[places] = 0
    return kept


def _fitting(x: Any, value: Any) -> Any:
    """The value to write to x: an array of its dtype, or a number. Raises `Refused` for others."""
    if value.__class__ is numpy.ndarray:
        if value.dtype != x.dtype:
            raise Refused
        return value
    kind = value.__class__
    if kind is bool or (kind is float and x.dtype.kind != "f") or kind not in (int, float):
        raise Refused
    return x.dtype.type(value)


def _corner(value: Any, index: Any) -> Any:
    """The part of a source that has the shape of the index."""
    if value.shape == index.shape:
        return value
    if value.ndim != index.ndim:
        raise Refused
    if any(own > most for own, most in zip(index.shape, value.shape, strict=True)):
        raise Refused
    return value[tuple([slice(0, size) for size in index.shape])]


@form(scattering.scatter)
def scatter(
    x: Any, dim: Any, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Any:
    """x with elements of `src`, or `value`, at positions along an axis."""
    given = src if value is None else value
    if (src is None) == (value is None) or reduce is not None:
        raise Refused
    source = _fitting(x, given)
    places = places_along(x, dim, index)
    if source.ndim or given.__class__ is numpy.ndarray:
        source = _corner(source, index)
    changed = x.copy()
    changed[places] = source
    return changed


@gradient(scatter)
def _scatter(
    given: Any, out: Any, x: Any, dim: Any, index: Any, src: Any = None, *, value: Any = None,
    reduce: Any = None,
) -> Any:  # fmt: skip
    places = places_along(x, dim, index)
    gradients: list[Any] = [_without(given, places), None]
    for source in (src, value):
        if source.__class__ is numpy.ndarray:
            gradients.append(_uncut(source, index, given[places]))
    return gradients


def _uncut(source: Any, index: Any, given: Any) -> Any:
    """The gradient of a source from that of its `_corner`."""
    if source.shape == index.shape:
        return given
    gradient = numpy.zeros(source.shape, source.dtype)
    gradient[tuple([slice(0, size) for size in index.shape])] = given
    return gradient


@form(scattering.scatter_add)
def scatter_add(x: Any, dim: Any, index: Any, src: Any) -> Any:
    """x with elements of `src` added at positions along an axis."""
    if x.dtype.kind == "b" or src.__class__ is not numpy.ndarray:
        raise Refused
    source = _corner(_fitting(x, src), index)
    changed = x.copy()
    add_at(changed, places_along(x, dim, index), source)
    return changed


@gradient(scatter_add)
def _scatter_add(given: Any, out: Any, x: Any, dim: Any, index: Any, src: Any) -> Any:
    return given, None, _uncut(src, index, given[places_along(x, dim, index)])


_WAYS: dict[str, Any] = {
    "sum": numpy.add, "mean": numpy.add, "prod": numpy.multiply, "amax": numpy.maximum,
    "amin": numpy.minimum,
}  # fmt: skip
_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "amax": -numpy.inf, "amin": numpy.inf}


@form(scattering.scatter_reduce)
def scatter_reduce(
    x: Any, dim: Any, index: Any, src: Any, reduce: Any, *, include_self: Any = True
) -> Any:
    """x combined by `reduce` with elements of `src` at positions along an axis."""
    if x.dtype.kind != "f" and (x.dtype.kind != "i" or reduce == "mean"):
        raise Refused
    source = _corner(_fitting(x, src), index)
    places = places_along(x, dim, index)
    changed = x.copy()
    if not include_self:
        changed[places] = _neutral(reduce, x.dtype)
    combine_at(_WAYS[reduce], changed, places, source)
    return changed / _number(x, places, include_self) if reduce == "mean" else changed


def _neutral(reduce: str, dtype: Any) -> Any:
    """The neutral element of a reduction."""
    value = _NEUTRAL[reduce]
    if dtype.kind == "i" and value not in (0, 1):
        limits = numpy.iinfo(dtype)
        return limits.min if value < 0 else limits.max
    return value


def _number(x: Any, places: Any, include_self: Any) -> Any:
    """The number of elements combined at each place, but at least 1."""
    number = numpy.full(x.shape, int(bool(include_self)), x.dtype)
    add_at(number, places, 1)
    return numpy.maximum(number, 1)


@gradient(scatter_reduce)
def _scatter_reduce(
    given: Any, out: Any, x: Any, dim: Any, index: Any, src: Any, reduce: Any, *,
    include_self: Any = True,
) -> Any:  # fmt: skip
    places = places_along(x, dim, index)
    source = _corner(src, index)
    if reduce in ("sum", "mean"):
        share = given / _number(x, places, include_self) if reduce == "mean" else given
        own = share if include_self else _without(share, places)
        return own, None, _uncut(src, index, share[places])
    if reduce == "prod":
        own = numpy.where(x == 0, _product(x, places, source), out / x)
        theirs = _product_but(x, places, source, out, include_self)
        own = (given * own).astype(x.dtype, copy=False)
        theirs = (given[places] * theirs).astype(x.dtype, copy=False)
        return own if include_self else _without(given, places), None, _uncut(src, index, theirs)
    mine = x == out
    if not include_self:
        mine[places] = False
    theirs = source == out[places]
    number = mine.astype(x.dtype)
    add_at(number, places, theirs.astype(x.dtype))
    share = numpy.divide(given, number)
    untouched = numpy.ones(x.shape, bool)
    untouched[places] = False
    own = numpy.where(untouched, given, numpy.where(mine, share, x.dtype.type(0)))
    return own, None, _uncut(src, index, numpy.where(theirs, share[places], x.dtype.type(0)))


@form(scattering.index_reduce)
def index_reduce(
    x: Any, dim: Any, index: Any, source: Any, reduce: Any, *, include_self: Any = True
) -> Any:
    """x with parts combined in at positions along an axis."""
    places = _spread(x, dim, index, source)
    return scatter_reduce(x, dim, places, source, reduce, include_self=include_self)


@gradient(index_reduce)
def _index_reduce(
    given: Any, out: Any, x: Any, dim: Any, index: Any, source: Any, reduce: Any, *,
    include_self: Any = True,
) -> Any:  # fmt: skip
    places = _spread(x, dim, index, source)
    return _scatter_reduce(
        given, out, x, dim, places, source, reduce, include_self=include_self
    )


def _spread(x: Any, dim: Any, index: Any, source: Any) -> Any:
    """Positions of parts along an axis as positions of their elements."""
    axis = place_of(dim, x.ndim)
    if index.ndim != 1 or source.ndim != x.ndim or source.shape[axis] != index.size:
        raise Refused
    line = index.reshape(-1, *[1] * (x.ndim - axis - 1))
    return numpy.broadcast_to(line, source.shape)


def _product(x: Any, places: Any, source: Any) -> Any:
    """The product of the source's elements at each place, without x's own element."""
    product = numpy.ones(x.shape, x.dtype)
    numpy.multiply.at(product, places, source)
    return product


def _product_but(x: Any, places: Any, source: Any, out: Any, include_self: Any) -> Any:
    """For each element of a source, the product of the other elements at its place."""
    zeros = numpy.zeros(x.shape, _INT64)
    add_at(zeros, places, (source == 0).astype(_INT64))
    rest = x.copy()
    if not include_self:
        rest[places] = 1
    numpy.multiply.at(rest, places, numpy.where(source == 0, x.dtype.type(1), source))
    own = zeros[places]
    alone = numpy.where((source == 0) & (own == 1), rest[places], x.dtype.type(0))
    return numpy.where(own == 0, out[places] / source, alone)


@form(scattering.index_add)
def index_add(x: Any, dim: Any, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """x with slices of `source` added at positions along an axis."""
    places = line_index(x, dim, index)
    if x.dtype.kind == "b" or alpha.__class__ not in (int, float):
        raise Refused
    if alpha.__class__ is float and x.dtype.kind != "f":
        raise Refused
    _of_parts(x, places, source)
    changed = x.copy()
    add_at(changed, places, source if alpha == 1 else source * x.dtype.type(alpha))
    return changed


def _of_parts(x: Any, places: Any, source: Any) -> None:
    """Raise `Refused` unless `source` has the dtype of x and the shape of the parts at `places`."""
    axis = len(places) - 1
    shape = (*x.shape[:axis], places[-1].size, *x.shape[axis + 1 :])
    if source.dtype != x.dtype or source.shape != shape:
        raise Refused


@gradient(index_add)
def _index_add(
    given: Any, out: Any, x: Any, dim: Any, index: Any, source: Any, *, alpha: Any = 1
) -> Any:
    part = given[line_index(x, dim, index)]
    return given, None, part if alpha == 1 else part * x.dtype.type(alpha)


@form(scattering.index_copy)
def index_copy(x: Any, dim: Any, index: Any, source: Any) -> Any:
    """x with the slices at positions along an axis replaced by those of `source`."""
    places = line_index(x, dim, index)
    _of_parts(x, places, source)
    changed = x.copy()
    changed[places] = source
    return changed


@gradient(index_copy)
def _index_copy(given: Any, out: Any, x: Any, dim: Any, index: Any, source: Any) -> Any:
    places = line_index(x, dim, index)
    return _without(given, places), None, given[places]


@form(scattering.index_fill)
def index_fill(x: Any, dim: Any, index: Any, value: Any) -> Any:
    """x with the slices at positions along an axis filled with one value."""
    if value.__class__ is numpy.ndarray:
        raise Refused
    changed = x.copy()
    changed[line_index(x, dim, index, negative=True)] = _fitting(x, value)
    return changed


@gradient(index_fill)
def _index_fill(given: Any, out: Any, x: Any, dim: Any, index: Any, value: Any) -> Any:
    return _without(given, line_index(x, dim, index, negative=True)), None


@form(scattering.index_put)
def index_put(x: Any, indices: Any, values: Any, accumulate: Any = False) -> Any:
    """x after `x[indices] = values`, or after adding them."""
    places = _put_places(x, indices)
    if values.dtype != x.dtype or x.dtype.kind == "b":
        raise Refused
    changed = x.copy()
    if accumulate:
        numpy.add.at(changed, places, values)
    else:
        changed[places] = values
    return changed


def _put_places(x: Any, indices: Any) -> tuple[Any, ...]:
    if len(indices) > x.ndim:
        raise Refused
    if any(each.__class__ is not numpy.ndarray or each.dtype.kind != "i" for each in indices):
        raise Refused
    return tuple([checked(each, x.shape[n], negative=True) for n, each in enumerate(indices)])


@gradient(index_put)
def _index_put(
    given: Any, out: Any, x: Any, indices: Any, values: Any, accumulate: Any = False
) -> Any:
    places = _put_places(x, indices)
    part = unbroadcast(given[places], values)
    own = given if accumulate else _without(given, places)
    return (own, *[None] * len(indices), part)


@form(scattering.put)
def put(x: Any, index: Any, source: Any, accumulate: Any = False) -> Any:
    """x after the same at positions of all its elements."""
    if index.size != source.size:
        raise Refused
    changed = index_put(x.reshape(-1), (index.reshape(-1),), source.reshape(-1), accumulate)
    return changed.reshape(x.shape)


@gradient(put)
def _put(given: Any, out: Any, x: Any, index: Any, source: Any, accumulate: Any = False) -> Any:
    places = checked(index, x.size, negative=True).reshape(-1)
    flat = given.reshape(-1)
    own = flat if accumulate else _without(flat, places)
    return own.reshape(x.shape), None, flat[places].reshape(source.shape)
