"""Forms of sorting and order statistics.

NaN counts as the greatest element, and equal elements keep their order, as in the library itself.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.reductions.reduction_forms import to_positions
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.reduction.basic_reductions import Extremes
from ogive.tensor.sorting import order_statistics

_ndarray = numpy.ndarray
FEW = 8
"""Up to how many elements of a line it makes no difference."""
_extremes_of: Any = Extremes


MANY = 1 << 12
"""From how many elements on it pays to look for equal ones."""


def _order(x: Any, axis: int, descending: Any) -> Any:
    """The positions that sort the elements along an axis."""
    if not descending:
        return _ascending(x, axis)
    back = (*[slice(None)] * axis, slice(None, None, -1))
    return x.shape[axis] - 1 - _ascending(x[back], axis)[back]


def _ascending(x: Any, axis: int) -> Any:
    """The same from the least on. NumPy takes several times as long to keep equal elements as they
    were, so many floats, of which few are equal, are put in order without that first."""
    if x.size < MANY or x.dtype.kind != "f" or not x.ndim or x.shape[axis] < FEW:
        return x.argsort(axis, "stable")
    lines = numpy.moveaxis(x, axis, -1)
    places = lines.argsort(-1)
    ordered = numpy.take_along_axis(lines, places, -1)
    is_again = numpy.zeros(ordered.shape, bool)
    numpy.equal(ordered[..., 1:], ordered[..., :-1], out=is_again[..., 1:])
    count = numpy.count_nonzero(is_again)
    # NaN, which equals nothing, is the last of a line.
    if 8 * count > x.size or numpy.isnan(ordered[..., -1]).any():
        return x.argsort(axis, "stable")
    if count:
        _sort_among_equals(places, is_again)
    return numpy.moveaxis(places, -1, axis)


def _sort_among_equals(places: Any, is_again: Any) -> None:
    """Let positions of elements that are equal rise, where `is_again` says of which it is so that
    they equal the one before."""
    is_equal = is_again.copy()
    is_equal[..., :-1] |= is_again[..., 1:]
    runs = numpy.cumsum(~is_again)[is_equal.reshape(-1)]
    own = places[is_equal]
    places[is_equal] = own[numpy.lexsort((own, runs))]


def _along(x: Any, places: Any, axis: int) -> Any:
    return x[places] if x.ndim == 1 else numpy.take_along_axis(x, places, axis)


@form(order_statistics.argsort, apart=True)
def argsort(x: Any, dim: Any = -1, descending: Any = False, stable: Any = False) -> Any:
    """The positions that sort the elements."""
    return _order(x, place_of(dim, x.ndim), descending)


@form(order_statistics.sort)
def sort(x: Any, dim: Any = -1, descending: Any = False, stable: Any = False) -> Any:
    """The sorted elements, and their positions."""
    axis = place_of(dim, x.ndim)
    places = _order(x, axis, descending)
    return _extremes_of(_along(x, places, axis), places)


@gradient(sort)
def _sort(
    given: Any, out: Any, x: Any, dim: Any = -1, descending: Any = False, stable: Any = False
) -> Any:
    return (to_positions(given, out[1], x, dim),)


def _first_places(x: Any, axis: int, k: int, descending: Any) -> Any:
    """The first `k` positions of the order along an axis. Few of many are not all put in order."""
    lines = numpy.moveaxis(x, axis, -1)
    places = _places_of_first(lines, k, descending)
    order = _order(numpy.take_along_axis(lines, places, -1), places.ndim - 1, descending)
    return numpy.moveaxis(numpy.take_along_axis(places, order, -1), -1, axis)


def _places_of_first(lines: Any, k: int, descending: Any) -> Any:
    """Where the `k` greatest, or least, of each line are, from the front on. All that are no less
    than the k-th, if these are k; else, as of several that equal it, it is left open which."""
    length = lines.shape[-1]
    rank = length - k if descending else k - 1
    bound = numpy.partition(lines, rank, -1)[..., rank : rank + 1]
    is_among = (lines >= bound if descending else lines <= bound).reshape(-1, length)
    if (numpy.add.reduce(is_among, 1) == k).all():
        return (numpy.flatnonzero(is_among) % length).reshape(*lines.shape[:-1], k)
    chosen = slice(rank, None) if descending else slice(0, k)
    return numpy.sort(lines.argpartition(rank, -1)[..., chosen], -1)


@form(order_statistics.topk)
def topk(x: Any, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True) -> Any:
    """The `k` greatest elements, or the least, in order."""
    axis = place_of(dim, x.ndim)
    if k.__class__ is not int or not 0 <= k <= x.shape[axis]:
        raise Refused
    if 0 < 8 * k < x.shape[axis] > 128:
        places = _first_places(x, axis, k, largest)
    else:
        places = _order(x, axis, largest)[(*[slice(None)] * axis, slice(0, k))]
        places = numpy.ascontiguousarray(places)
    return _extremes_of(_along(x, places, axis), places)


@gradient(topk)
def _topk(
    given: Any, out: Any, x: Any, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True
) -> Any:
    return (to_positions(given, out[1], x, dim),)


def _at_rank(x: Any, axis: int, rank: Any, keepdim: Any) -> Any:
    """The elements of a rank along an axis. `rank` is a number, or one for each line."""
    order = _order(x, axis, False)
    if rank.__class__ is int:
        places = order[(*[slice(None)] * axis, slice(rank, rank + 1))]
    else:
        places = numpy.take_along_axis(order, rank, axis)
    values = _along(x, places, axis)
    if keepdim:
        return _extremes_of(values, numpy.ascontiguousarray(places))
    return _extremes_of(values.squeeze(axis).copy(), places.squeeze(axis).copy())


@form(order_statistics.kthvalue)
def kthvalue(x: Any, k: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    """The k-th least element along an axis."""
    axis = place_of(dim, x.ndim)
    if k.__class__ is not int or not 1 <= k <= x.shape[axis]:
        raise Refused
    return _at_rank(x, axis, k - 1, keepdim)


@gradient(kthvalue)
def _kthvalue(given: Any, out: Any, x: Any, k: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    return (to_positions(given, out[1], x, dim, keepdim),)


@form(order_statistics.median)
def median(x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """The middle element, the lower of two."""
    if dim is None:
        if not x.size or keepdim:
            raise Refused
        flat = x.reshape(-1)
        if x.dtype.kind == "f":
            missing = flat[flat != flat]
            if missing.size:
                return missing[0]
        middle = (x.size - 1) // 2
        return numpy.partition(flat, middle)[middle]
    axis = place_of(dim, x.ndim)
    length = x.shape[axis]
    if not length:
        raise Refused
    rank: Any = (length - 1) // 2
    if x.dtype.kind == "f":
        missing = (x != x).any(axis, keepdims=True)
        if missing.any():
            rank = numpy.where(missing, length - 1, rank)
            first = (x != x).argmax(axis, keepdims=True)
            middle = _at_rank(x, axis, rank, True)
            places = numpy.where(missing, first, middle[1])
            values = middle[0]
            if not keepdim:
                values, places = values.squeeze(axis).copy(), places.squeeze(axis).copy()
            return _extremes_of(values, places)
    return _at_rank(x, axis, rank, keepdim)


@gradient(median)
def _median(given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    if dim is not None:
        return (to_positions(given, out[1], x, dim, keepdim),)
    equal = x != x if out != out else x == out
    return ((equal * (given / equal.sum(dtype=x.dtype))).astype(x.dtype, copy=False),)


@form(order_statistics.mode)
def mode(x: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    """The most frequent element along an axis; the least of them, if there are several."""
    axis = place_of(dim, x.ndim)
    if not x.size or (x.dtype.kind == "f" and (x != x).any()):
        raise Refused
    line = numpy.moveaxis(x, axis, -1)
    order = _order(line, line.ndim - 1, False)
    ordered = _along(line, order, line.ndim - 1)
    place = numpy.arange(x.shape[axis])
    is_new = numpy.ones(ordered.shape, bool)
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    start = numpy.maximum.accumulate(numpy.where(is_new, place, 0), -1)
    most = (place - start).argmax(-1, keepdims=True)
    places = numpy.take_along_axis(order, most, -1)
    values = numpy.take_along_axis(line, places, -1)
    if not keepdim:
        return _extremes_of(values[..., 0].copy(), places[..., 0].copy())
    results = [numpy.moveaxis(each, -1, axis).copy() for each in (values, places)]
    return _extremes_of(*results)


@gradient(mode)
def _mode(given: Any, out: Any, x: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    return (to_positions(given, out[1], x, dim, keepdim),)


# Quantiles


_METHODS = ("linear", "lower", "higher", "midpoint")


@form(order_statistics.quantile)
def quantile(
    x: Any, q: Any, dim: Any = None, keepdim: Any = False, *, interpolation: Any = "linear"
) -> Any:
    """The value below which a share of the elements lies."""
    if x.dtype.kind != "f" or not x.size or interpolation not in _METHODS:
        raise Refused
    if q.__class__ is _ndarray:
        if q.dtype != x.dtype or q.ndim > 1 or not q.size or not (q.min() >= 0 and q.max() <= 1):
            raise Refused
        check_size((q.size, x.size))
    elif q.__class__ not in (int, float) or not 0 <= q <= 1:
        raise Refused
    axis = None if dim is None else place_of(dim, x.ndim)
    values = numpy.quantile(x, q, axis, keepdims=bool(keepdim), method=interpolation)
    return numpy.asarray(values, x.dtype)
