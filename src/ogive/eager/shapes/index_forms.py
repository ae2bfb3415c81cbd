"""Forms of reading at the positions in a tensor, and under masks.

They refuse positions out of range, so that the function itself raises the error.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import check_size, unbroadcast
from ogive.eager.forms import OutOfRange, Refused, form, gradient
from ogive.eager.shapes.adding import add_at
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.indexing import scattering, selection
from ogive.tensor.neural import table_lookup

_INT64 = numpy.dtype("int64")
_WHOLE = slice(None)


def checked(index: Any, length: int, negative: bool = False) -> Any:
    """Positions along an axis of `length`, counted from the front. Raises `OutOfRange`."""
    if index.dtype.kind not in "iu":
        raise Refused
    if index.size:
        least = index.min()
        if least < (-length if negative else 0) or index.max() >= length:
            raise OutOfRange
        if least < 0:
            return numpy.where(index < 0, index + length, index)
    return index


def places_along(x: Any, dim: Any, index: Any) -> tuple[Any, ...]:
    """Positions for each axis of x: `index` along the axis `dim`, and the element's own for others.
    """
    axis = place_of(dim, x.ndim)
    index = checked(index, x.shape[axis])
    if index.ndim != x.ndim:
        raise Refused
    places = []
    for other, (size, most) in enumerate(zip(index.shape, x.shape, strict=True)):
        if other == axis:
            places.append(index)
        elif size > most:
            raise Refused
        else:
            places.append(numpy.arange(size).reshape((-1, *[1] * (x.ndim - other - 1))))
    return tuple(places)


def line_index(x: Any, dim: Any, index: Any, negative: bool = False) -> tuple[Any, ...]:
    """The index of the parts of x at positions along one axis."""
    axis = place_of(dim, x.ndim)
    if index.ndim > 1:
        raise Refused
    return (*[_WHOLE] * axis, checked(index, x.shape[axis], negative).reshape(-1))


def _added(x: Any, places: Any, given: Any) -> Any:
    """Zeros like x, with `given` added at `places`."""
    sums = numpy.zeros(x.shape, x.dtype)
    add_at(sums, places, given)
    return sums


# Reading


@form(scattering.gather, counts=True)
def gather(x: Any, dim: Any, index: Any, *, sparse_grad: Any = False) -> Any:
    """The elements at positions along an axis."""
    check_size(index.shape)
    return x[places_along(x, dim, index)]


@gradient(gather)
def _gather(given: Any, out: Any, x: Any, dim: Any, index: Any, *, sparse_grad: Any = False) -> Any:
    return _added(x, places_along(x, dim, index), given), None


@form(scattering.take_along_dim, counts=True)
def take_along_dim(x: Any, indices: Any, dim: Any = None) -> Any:
    """`gather` of tensors that broadcast along the other axes."""
    return x[_broadcast_places(x, indices, dim)]


def _broadcast_places(x: Any, indices: Any, dim: Any) -> tuple[Any, ...]:
    if dim is None or x.ndim != indices.ndim:
        raise Refused
    axis = place_of(dim, x.ndim)
    own = checked(indices, x.shape[axis], negative=True)
    places: list[Any] = []
    shape = []
    for other in range(x.ndim):
        size, given = x.shape[other], own.shape[other]
        if other == axis:
            places.append(own)
            shape.append(given)
            continue
        if size != given and 1 not in (size, given):
            raise Refused
        line = numpy.arange(size) if size != 1 else numpy.zeros(1, _INT64)
        places.append(line.reshape((-1, *[1] * (x.ndim - other - 1))))
        shape.append(given if size == 1 else size)
    check_size(shape)
    return tuple(places)


@gradient(take_along_dim)
def _take_along_dim(given: Any, out: Any, x: Any, indices: Any, dim: Any = None) -> Any:
    return _added(x, _broadcast_places(x, indices, dim), given), None


@form(scattering.take, counts=True)
def take(x: Any, index: Any) -> Any:
    """The elements at positions of the flat tensor."""
    check_size(index.shape)
    return x.reshape(-1)[checked(index, x.size, negative=True)]


@gradient(take)
def _take(given: Any, out: Any, x: Any, index: Any) -> Any:
    flat = x.reshape(-1)
    return _added(flat, checked(index, x.size, negative=True), given).reshape(x.shape), None


@form(scattering.index_select, counts=True)
def index_select(x: Any, dim: Any, index: Any) -> Any:
    """The slices at positions along an axis."""
    places = line_index(x, dim, index)
    axis = len(places) - 1
    check_size((*x.shape[:axis], index.size, *x.shape[axis + 1 :]))
    return x.take(places[-1], axis)


@gradient(index_select)
def _index_select(given: Any, out: Any, x: Any, dim: Any, index: Any) -> Any:
    return _added(x, line_index(x, dim, index), given), None


@form(table_lookup.embedding, counts=True)
def embedding(x: Any, weight: Any, padding_idx: Any = None) -> Any:
    """Rows of a table."""
    if x.dtype.kind != "i" or weight.ndim != 2 or x.dtype.itemsize < 4:
        raise Refused
    if padding_idx is not None and not -len(weight) <= padding_idx < len(weight):
        raise Refused
    check_size((*x.shape, weight.shape[1]))
    return weight.take(checked(x, len(weight)), 0)


@gradient(embedding)
def _embedding(given: Any, out: Any, x: Any, weight: Any, padding_idx: Any = None) -> Any:
    gradient = _added(weight, x, given)
    if padding_idx is not None:
        gradient[padding_idx] = 0
    return None, gradient


@form(table_lookup.one_hot, apart=True)
def one_hot(x: Any, num_classes: Any = -1) -> Any:
    """One-hot vectors: 1 at the position given by each element."""
    if x.dtype.kind != "i" or x.dtype.itemsize < 4 or not x.size:
        raise Refused
    classes = int(x.max()) + 1 if num_classes == -1 else num_classes
    check_size((*x.shape, classes))
    return (checked(x, classes)[..., None] == numpy.arange(classes)).astype(_INT64)


# Masks


@form(selection.nonzero, apart=True)
def nonzero(x: Any, *, as_tuple: Any = False) -> Any:
    """The positions of all nonzero elements."""
    if as_tuple:
        return (x if x.ndim else x.reshape(1)).nonzero()
    if not x.ndim:
        return numpy.zeros((int(x != 0), 0), _INT64)
    by_axis = x.nonzero()
    return by_axis[0].reshape(-1, 1) if len(by_axis) == 1 else numpy.stack(by_axis, 1)


@form(selection.masked_select)
def masked_select(x: Any, mask: Any) -> Any:
    """The elements where a mask is True."""
    wide, chosen = _both(x, mask)
    return wide[chosen]


def _both(x: Any, mask: Any) -> tuple[Any, Any]:
    if mask.dtype.kind != "b":
        raise Refused
    if x.shape == mask.shape:
        return x, mask
    shape = numpy.broadcast_shapes(x.shape, mask.shape)
    check_size(shape)
    return numpy.broadcast_to(x, shape), numpy.broadcast_to(mask, shape)


@gradient(masked_select)
def _masked_select(given: Any, out: Any, x: Any, mask: Any) -> Any:
    wide, chosen = _both(x, mask)
    gradient = numpy.zeros(wide.shape, x.dtype)
    gradient[chosen] = given
    return unbroadcast(gradient, x), None


@form(selection.masked_scatter)
def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    """x with the elements of `source`, in order, where a mask is True."""
    wide, chosen = _both(x, mask)
    count = int(numpy.count_nonzero(chosen))
    if source.dtype != x.dtype or source.size < count or not x.ndim:
        raise Refused
    changed = numpy.array(wide)
    changed[chosen] = source.reshape(-1)[:count]
    return changed


@gradient(masked_scatter)
def _masked_scatter(given: Any, out: Any, x: Any, mask: Any, source: Any) -> Any:
    _, chosen = _both(x, mask)
    part = numpy.zeros(source.size, source.dtype)
    part[: int(numpy.count_nonzero(chosen))] = given[chosen]
    kept = numpy.where(chosen, x.dtype.type(0), given)
    return unbroadcast(kept, x), None, part.reshape(source.shape)
