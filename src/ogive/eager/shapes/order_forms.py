"""Forms of sorting, order statistics, distinct values and searching.

NaN counts as the greatest element, and equal elements keep their order, as in the library itself.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import check_size, meet
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.reductions.reduction_forms import to_positions
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.eager_sizes import SMALL
from ogive.tensor.indexing import selection
from ogive.tensor.reduction.basic_reductions import Extremes
from ogive.tensor.sorting import binary_search, order_statistics

_ndarray = numpy.ndarray
FEW = 8
"""Up to how many elements of a line it makes no difference."""
_INT64 = numpy.dtype("int64")
_INT32 = numpy.dtype("int32")
_FLOAT64 = numpy.dtype("float64")
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


# Quantiles, distinct elements and counts


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


@form(selection.unique)
def unique(
    x: Any,
    sorted: Any = True,
    return_inverse: Any = False,
    return_counts: Any = False,
    dim: Any = None,
) -> Any:
    """The distinct elements, sorted."""
    if dim is not None:
        return _lines_once(x, dim, True, return_inverse, return_counts)
    flat = x.reshape(-1)
    if not (return_inverse or return_counts):
        ordered = numpy.sort(flat)
        return ordered[_is_new(ordered)]
    order = flat.argsort(kind="stable")
    ordered = flat[order]
    starts = _is_new(ordered)
    results = [ordered[starts]]
    if return_inverse:
        inverse = numpy.empty(flat.shape, _INT64)
        inverse[order] = starts.cumsum() - 1
        results.append(inverse.reshape(x.shape))
    if return_counts:
        results.append(numpy.diff(numpy.append(starts.nonzero()[0], flat.size)))
    return tuple(results)


def _is_new(ordered: Any) -> Any:
    """Whether each element of a line differs from the one before.

    `numpy.unique` is not used, because it imports NumPy's masked arrays, which takes 8 ms.
    """
    is_new = numpy.ones(ordered.shape, bool)
    numpy.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return is_new


@form(selection.unique_consecutive)
def unique_consecutive(
    x: Any, return_inverse: Any = False, return_counts: Any = False, dim: Any = None
) -> Any:
    """The first element of each run of equal elements."""
    return _lines_once(x, dim, False, return_inverse, return_counts)


def _lines_once(x: Any, dim: Any, sorts: bool, with_inverse: Any, with_counts: Any) -> Any:
    """The distinct elements, or the distinct slices along an axis."""
    axis = None if dim is None else place_of(dim, x.ndim)
    source = x.reshape(-1) if axis is None else numpy.moveaxis(x, axis, 0)
    if not source.size:
        raise Refused
    lines = source.reshape(len(source), -1)
    order = numpy.lexsort(lines.T[::-1]) if sorts else numpy.arange(len(lines))
    first, group = selection.group_lines(lines, order)
    kept = source[first]
    results = [kept if axis is None else numpy.ascontiguousarray(numpy.moveaxis(kept, 0, axis))]
    if with_inverse:
        results.append(group.reshape(x.shape) if axis is None else group)
    if with_counts:
        results.append(numpy.bincount(group, minlength=len(first)))
    return tuple(results) if len(results) > 1 else results[0]


@form(selection.bincount)
def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """The number of times that each integer occurs, or the sum of its weights."""
    if x.dtype.kind not in "iu" or x.ndim != 1 or minlength < 0:
        raise Refused
    if x.size and int(x.max()) > SMALL:
        raise Refused
    if weights is None:
        return numpy.bincount(x, minlength=minlength)
    if weights.shape != x.shape:
        raise Refused
    counts = numpy.bincount(x, weights, minlength).astype(_FLOAT64)
    return counts.astype(weights.dtype) if weights.dtype.kind == "f" else counts


@form(selection.histc, apart=True)
def histc(x: Any, bins: Any = 100, min: Any = 0, max: Any = 0) -> Any:
    """The number of elements in each of `bins` equal parts of a range."""
    if x.dtype.kind != "f" or not x.size:
        raise Refused
    if bins.__class__ is not int or not 0 < bins <= SMALL:
        raise Refused
    if min.__class__ not in (int, float) or max.__class__ not in (int, float) or min > max:
        raise Refused
    flat, kind = x.reshape(-1), x.dtype.type
    low, high = (kind(min), kind(max)) if min != max else (flat.min(), flat.max())
    if low == high:
        low, high = low - kind(1), high + kind(1)
    inside = flat[(flat >= low) & (flat <= high)]
    share = (inside - low) * kind(bins) / (high - low)
    places = numpy.minimum(share.astype(_INT64), bins - 1)
    return numpy.bincount(places, minlength=bins).astype(x.dtype)


_histogram_of: Any = selection.Histogram


@form(selection.histogram, apart=True)
def histogram(
    x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: Any = False
) -> Any:
    """The number of elements in each of equal bins, and the edges of the bins."""
    if x.dtype.kind != "f" or not x.size or weight is not None or density:
        raise Refused
    if bins.__class__ is not int or not 0 < bins <= SMALL:
        raise Refused
    flat, kind = x.reshape(-1), x.dtype.type
    low, high = (kind(0), kind(0)) if range is None else (kind(range[0]), kind(range[1]))
    if low == high:
        low, high = flat.min(), flat.max()
    if not low < high:
        raise Refused
    edges = low + (high - low) * (numpy.arange(bins + 1).astype(x.dtype) / kind(bins))
    edges[bins] = high
    inside = flat[(flat >= low) & (flat <= high)]
    places = numpy.clip(edges.searchsorted(inside, "right") - 1, 0, bins - 1)
    return _histogram_of(numpy.bincount(places, minlength=bins).astype(x.dtype), edges)


# Searches


@form(binary_search.searchsorted, apart=True)
def searchsorted(
    sorted_sequence: Any,
    values: Any = None,
    *,
    out_int32: Any = False,
    right: Any = False,
    side: Any = None,
    sorter: Any = None,
    input: Any = None,
) -> Any:
    """The positions at which values belong in an ascending sequence."""
    sought = input if values is None else values
    if side not in (None, "left", "right") or (side == "left" and right) or sorter is not None:
        raise Refused
    if sorted_sequence.ndim != 1:
        raise Refused
    sequence, sought = meet(sorted_sequence, sought)
    positions = sequence.searchsorted(sought, "right" if right or side == "right" else "left")
    return positions.astype(_INT32) if out_int32 else positions


@form(binary_search.bucketize, apart=True)
def bucketize(input: Any, boundaries: Any, *, out_int32: Any = False, right: Any = False) -> Any:
    """The bucket of each element."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@form(binary_search.isin, apart=True)
def isin(
    elements: Any, test_elements: Any, *, assume_unique: Any = False, invert: Any = False
) -> Any:
    """Whether each element is among `test_elements`."""
    these, those = meet(elements, test_elements)
    ordered = numpy.sort(those.reshape(-1))
    if not ordered.size:
        return numpy.full(these.shape, bool(invert))
    places = numpy.minimum(ordered.searchsorted(these), ordered.size - 1)
    return ordered[places] != these if invert else ordered[places] == these
