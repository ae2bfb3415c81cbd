"""Forms of movement operations. They give views where PyTorch does."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from ogive.eager.casts import check_size, in_rows, unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.movement import basic_movements, derived_movements, diagonals

_WHOLE = slice(None)


def place_of(dim: Any, rank: int) -> int:
    """An axis, counted from the front."""
    if dim.__class__ is not int or not -rank <= dim < rank:
        raise Refused
    return dim + rank if dim < 0 else dim


def numbers_of(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers given as separate arguments or as one list."""
    if len(given) == 1 and given[0].__class__ is not int:
        return tuple(given[0])
    return given


# Shapes


@form(basic_movements.reshape, view=True)
def reshape(x: Any, *shape: Any) -> Any:
    """The same elements under another shape."""
    wanted = numbers_of(shape)
    if wanted and min(wanted) < -1:
        raise Refused
    return x.reshape(wanted)


@form(derived_movements.view, view=True)
def view(x: Any, *shape: Any) -> Any:
    """`reshape` as a view. Raises `Refused` if the memory order does not allow one."""
    wanted = numbers_of(shape)
    if wanted and min(wanted) < -1:
        raise Refused
    return x.reshape(wanted, copy=False)


@form(basic_movements.flatten, view=True)
def flatten(x: Any, start_dim: Any = 0, end_dim: Any = -1) -> Any:
    """Axes joined into one."""
    shape = x.shape or (1,)
    first, last = place_of(start_dim, len(shape)), place_of(end_dim, len(shape))
    if first > last:
        raise Refused
    if first == last and x.ndim:
        return x
    return x.reshape((*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@form(derived_movements.ravel, view=True)
def ravel(x: Any) -> Any:
    """All axes joined into one. An array that is not contiguous is copied, even a vector."""
    return numpy.ascontiguousarray(x).reshape((x.size,))


@form(basic_movements.unflatten, view=True)
def unflatten(x: Any, dim: Any, sizes: Any) -> Any:
    """One axis split into several."""
    shape = x.shape
    axis = place_of(dim, len(shape))
    parts = tuple(sizes)
    known = math.prod([size for size in parts if size != -1])
    if min(parts) < -1 or parts.count(-1) > 1 or not known or shape[axis] % known:
        raise Refused
    parts = tuple([shape[axis] // known if size == -1 else size for size in parts])
    return x.reshape((*shape[:axis], *parts, *shape[axis + 1 :]))


@form(basic_movements.squeeze, view=True)
def squeeze(x: Any, dim: Any = None) -> Any:
    """Axes of length 1 dropped."""
    shape = x.shape
    if dim is None:
        return x.reshape([size for size in shape if size != 1])
    rank = len(shape) or 1
    axes = [place_of(each, rank) for each in (dim if dim.__class__ in (tuple, list) else (dim,))]
    if len(set(axes)) < len(axes):
        raise Refused
    return x.reshape([size for axis, size in enumerate(shape) if axis not in axes or size != 1])


@form(basic_movements.unsqueeze, view=True)
def unsqueeze(x: Any, dim: Any) -> Any:
    """A new axis of length 1."""
    shape = x.shape
    axis = place_of(dim, len(shape) + 1)
    return x.reshape((*shape[:axis], 1, *shape[axis:]))


def _reshape_back(given: Any, out: Any, x: Any, *_: Any, **__: Any) -> Any:
    return (given.reshape(x.shape),)


for _form in (reshape, view, flatten, ravel, unflatten, squeeze, unsqueeze):
    gradient(_form)(_reshape_back)


# Axes in another order


@form(basic_movements.permute, view=True)
def permute(x: Any, *dims: Any) -> Any:
    """Axes reordered."""
    return x.transpose(_order(x, dims))


def _order(x: Any, dims: tuple[Any, ...]) -> list[int]:
    order = [place_of(dim, x.ndim) for dim in numbers_of(dims)]
    if len(order) != x.ndim:
        raise Refused
    return order


@gradient(permute)
def _permute(given: Any, out: Any, x: Any, *dims: Any) -> Any:
    back = [0] * x.ndim
    for place, axis in enumerate(_order(x, dims)):
        back[axis] = place
    return (given.transpose(back),)


@form(basic_movements.transpose, view=True)
def transpose(x: Any, dim0: Any = -2, dim1: Any = -1) -> Any:
    """Two axes exchanged."""
    return x.swapaxes(place_of(dim0, x.ndim), place_of(dim1, x.ndim))


@gradient(transpose)
def _transpose(given: Any, out: Any, x: Any, dim0: Any = -2, dim1: Any = -1) -> Any:
    return (given.swapaxes(dim0, dim1),)


@form(basic_movements.T, view=True)
def reverse_axes(x: Any) -> Any:
    """The axes in reverse order."""
    return x.transpose()


@form(derived_movements.t, view=True)
def t(x: Any) -> Any:
    """The transpose of a matrix."""
    if x.ndim > 2:
        raise Refused
    return x.transpose()


@form(derived_movements.mT, view=True)
def mT(x: Any) -> Any:
    """Matrices transposed."""
    return x.swapaxes(-2, -1)


@gradient(reverse_axes)
@gradient(t)
def _reverse_axes(given: Any, out: Any, x: Any) -> Any:
    return (given.transpose(),)


@gradient(mT)
def _mT(given: Any, out: Any, x: Any) -> Any:
    return (given.swapaxes(-2, -1),)


# Parts, and elements repeated


@form(basic_movements.expand, view=True)
def expand(x: Any, *shape: Any) -> Any:
    """Axes of length 1 repeated, and axes added in front."""
    wanted = numbers_of(shape)
    missing = len(wanted) - x.ndim
    if missing < 0:
        raise Refused
    lengths, strides = list(wanted), [0] * missing
    for axis, (own, stride) in enumerate(zip(x.shape, x.strides, strict=True), missing):
        size = wanted[axis]
        if size in (own, -1):
            lengths[axis] = own
            strides.append(stride)
        elif own == 1:
            strides.append(0)
        else:
            raise Refused
    check_size(lengths)
    if x.size and x.flags.c_contiguous:
        return numpy.ndarray(lengths, x.dtype, x, 0, strides)
    return numpy.broadcast_to(x, lengths)


@gradient(expand)
def _expand(given: Any, out: Any, x: Any, *shape: Any) -> Any:
    return (unbroadcast(given, x),)


@form(derived_movements.narrow, view=True)
def narrow(x: Any, dim: Any, start: Any, length: Any) -> Any:
    """`length` elements along an axis, from `start` on."""
    return x[_narrowed(x, dim, start, length)]


def _narrowed(x: Any, dim: Any, start: Any, length: Any) -> tuple[Any, ...]:
    axis = place_of(dim, x.ndim)
    if start.__class__ is not int or length.__class__ is not int:
        raise Refused
    if start < 0:
        start += x.shape[axis]
    if not 0 <= start <= start + length <= x.shape[axis]:
        raise Refused
    return (*[_WHOLE] * axis, slice(start, start + length), ...)


@form(derived_movements.select, view=True)
def select(x: Any, dim: Any, index: Any) -> Any:
    """The slice at a position along an axis."""
    if index.__class__ is not int:
        raise Refused
    return x[(*[_WHOLE] * place_of(dim, x.ndim), index, ...)]


@gradient(narrow)
def _narrow(given: Any, out: Any, x: Any, dim: Any, start: Any, length: Any) -> Any:
    spread = numpy.zeros(x.shape, x.dtype)
    spread[_narrowed(x, dim, start, length)] = given
    return (spread,)


@gradient(select)
def _select(given: Any, out: Any, x: Any, dim: Any, index: Any) -> Any:
    spread = numpy.zeros(x.shape, x.dtype)
    spread[(*[_WHOLE] * place_of(dim, x.ndim), index, ...)] = given
    return (spread,)


@form(derived_movements.unfold, view=True)
def unfold(x: Any, dimension: Any, size: Any, step: Any) -> Any:
    """Windows of `size` along an axis, which begin at multiples of `step`."""
    axis = place_of(dimension, x.ndim)
    length, stride = x.shape[axis], x.strides[axis]
    owner = x if x.base is None else x.base
    if not 0 < size <= length or step < 1 or owner.__class__ is not numpy.ndarray:
        raise Refused
    if not owner.flags.c_contiguous:
        raise Refused
    count = (length - size) // step + 1
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :], size)
    strides = (*x.strides[:axis], stride * step, *x.strides[axis + 1 :], stride)
    check_size(shape)
    offset = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return numpy.ndarray(shape, x.dtype, owner, offset, strides)


@gradient(unfold)
def _unfold(given: Any, out: Any, x: Any, dimension: Any, size: Any, step: Any) -> Any:
    spread = numpy.zeros(x.shape, x.dtype)
    axis = place_of(dimension, x.ndim)
    reach = given.shape[axis] * step
    for tap in range(size):
        spread[(*[_WHOLE] * axis, slice(tap, tap + reach - step + 1, step))] += given[..., tap]
    return (spread,)


@form(basic_movements.flip)
def flip(x: Any, *axes: Any, dims: Any = ()) -> Any:
    """The elements along axes in reverse order."""
    return x[_flipped(x, axes, dims)].copy()


def _flipped(x: Any, axes: Any, dims: Any) -> tuple[Any, ...]:
    named = numbers_of(axes or (dims,))
    places = [place_of(each, x.ndim) for each in named]
    if len(set(places)) < len(places):
        raise Refused
    back = slice(None, None, -1)
    return tuple([back if axis in places else _WHOLE for axis in range(x.ndim)])


@gradient(flip)
def _flip(given: Any, out: Any, x: Any, *axes: Any, dims: Any = ()) -> Any:
    return (given[_flipped(x, axes, dims)],)


# Diagonals and triangles


@form(diagonals.diagonal, view=True)
def diagonal(x: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Any:
    """The diagonals of the planes of two axes."""
    lines = x.diagonal(offset, place_of(dim1, x.ndim), place_of(dim2, x.ndim))
    if x.flags.writeable:
        lines.setflags(write=True)
    return lines


@gradient(diagonal)
def _diagonal(given: Any, out: Any, x: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Any:
    spread = numpy.zeros(x.shape, x.dtype)
    diagonal(spread, offset, dim1, dim2)[...] = given
    return (spread,)


@form(diagonals.diag_embed)
def diag_embed(x: Any, offset: Any = 0, dim1: Any = -2, dim2: Any = -1) -> Any:
    """Matrices whose diagonals are the vectors along the last axis."""
    rank = x.ndim + 1
    first, second = place_of(dim1, rank), place_of(dim2, rank)
    if first == second:
        raise Refused
    size = x.shape[-1] + abs(offset)
    shape = (*x.shape[:-1], size, size)
    check_size(shape)
    matrices = numpy.zeros(shape, x.dtype)
    diagonal(matrices, offset, -2, -1)[...] = x
    if (first, second) == (rank - 2, rank - 1):
        return matrices
    return numpy.ascontiguousarray(numpy.moveaxis(matrices, (-2, -1), (first, second)))


@gradient(diag_embed)
def _diag_embed(
    given: Any, out: Any, x: Any, offset: Any = 0, dim1: Any = -2, dim2: Any = -1
) -> Any:
    return (given.diagonal(offset, dim1, dim2),)


@form(diagonals.diag)
def diag(x: Any, diagonal: Any = 0) -> Any:
    """The diagonal of a matrix; or for a vector, the matrix with this diagonal."""
    if x.ndim == 2:
        return x.diagonal(diagonal).copy()
    if x.ndim != 1:
        raise Refused
    return diag_embed(x, diagonal)


@gradient(diag)
def _diag(given: Any, out: Any, x: Any, diagonal: Any = 0) -> Any:
    return _diagonal(given, out, x, diagonal) if x.ndim == 2 else (given.diagonal(diagonal),)


@form(diagonals.trace)
def trace(x: Any) -> Any:
    """The sum of the diagonal of a matrix."""
    if x.ndim != 2:
        raise Refused
    return x.diagonal().sum(dtype=x.dtype if x.dtype.kind in "fc" else numpy.int64)


@gradient(trace)
def _trace(given: Any, out: Any, x: Any) -> Any:
    return _diagonal(given, out, x)


@functools.lru_cache(maxsize=64)
def _lower(rows: int, columns: int, number: int) -> Any:
    """Whether an element of a matrix is on a diagonal or below it."""
    return numpy.tri(rows, columns, number, dtype=bool)


@form(diagonals.tril)
def tril(x: Any, diagonal: Any = 0) -> Any:
    """The lower triangle of matrices."""
    return in_rows(numpy.where(_lower(*x.shape[-2:], diagonal), x, x.dtype.type(0)))


@form(diagonals.triu)
def triu(x: Any, diagonal: Any = 0) -> Any:
    """The upper triangle of matrices."""
    return in_rows(numpy.where(_lower(*x.shape[-2:], diagonal - 1), x.dtype.type(0), x))


@gradient(tril)
def _tril(given: Any, out: Any, x: Any, diagonal: Any = 0) -> Any:
    return (tril(given, diagonal),)


@gradient(triu)
def _triu(given: Any, out: Any, x: Any, diagonal: Any = 0) -> Any:
    return (triu(given, diagonal),)
