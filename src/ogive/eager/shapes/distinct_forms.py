"""Forms of distinct elements, counts and searches."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import meet
from ogive.eager.forms import Refused, form
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.eager_sizes import SMALL
from ogive.tensor.indexing import selection
from ogive.tensor.sorting import binary_search

_INT64 = numpy.dtype("int64")
_INT32 = numpy.dtype("int32")
_FLOAT64 = numpy.dtype("float64")


# Distinct elements and counts


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
