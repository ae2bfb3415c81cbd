"""Forms of reductions: sums, products, extremes.

Sums of float32 along the last axis are NumPy's, which adds in pairs. Along other axes NumPy adds
one element after the other, so the sum is made in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir.dtype import to_dtype
from ogive.eager.casts import cast_array
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.reduction import basic_reductions, statistics
from ogive.tensor.reduction.basic_reductions import Extremes

_FLOAT32 = numpy.dtype("float32")
_FLOAT64 = numpy.dtype("float64")
_INT64 = numpy.dtype("int64")
add_up: Any = numpy.add.reduce
_multiply: Any = numpy.multiply.reduce
greatest: Any = numpy.maximum.reduce
least: Any = numpy.minimum.reduce
_either: Any = numpy.logical_or.reduce
_both: Any = numpy.logical_and.reduce
_run_product: Any = numpy.multiply.accumulate
extremes_of: Any = Extremes

FEW = 16
"""The number of float32 that may be added one after the other. The error grows with it."""


def axes_of(dim: Any, rank: int) -> Any:
    """Axes in NumPy's form: None for all, a number or a tuple."""
    if dim is None or dim.__class__ is int:
        if not rank and dim is not None:
            place_of(dim, 1)
            return None
        return dim
    if dim.__class__ not in (tuple, list) and not isinstance(dim, tuple):
        raise Refused
    places = tuple([place_of(each, rank or 1) for each in dim])
    if len(set(places)) < len(places):
        raise Refused
    return places if places and rank else None


def spread(given: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """A reduced array with its reduced axes as axes of length 1."""
    if keepdim or not x.ndim:
        return given
    axes = axes_of(dim, x.ndim)
    if axes is None:
        return given.reshape((1,) * x.ndim)
    named = [axes % x.ndim] if axes.__class__ is int else axes
    return given.reshape([1 if axis in named else size for axis, size in enumerate(x.shape)])


def total_of(x: Any, axes: Any, keepdim: Any) -> Any:
    """The sum of floats, in their dtype."""
    if x.dtype == _FLOAT32 and x.ndim > 1 and not _is_in_pairs(x, axes):
        return add_up(x, axes, _FLOAT64, None, keepdim).astype(_FLOAT32)
    return add_up(x, axes, None, None, keepdim)


def _is_in_pairs(x: Any, axes: Any) -> bool:
    """Whether NumPy adds in pairs, or adds only a few elements."""
    if axes is None:
        return bool(x.flags.c_contiguous or x.size <= FEW)
    if axes.__class__ is not int:
        return False
    is_last = axes in (-1, x.ndim - 1)
    return bool((is_last and x.flags.c_contiguous) or x.shape[axes] <= FEW)


def count_of(x: Any, axes: Any) -> int:
    if axes is None:
        size: int = x.size
        return size
    if axes.__class__ is int:
        length: int = x.shape[axes]
        return length
    return math.prod([x.shape[axis] for axis in axes])


def named_axes(
    dim: Any = None, keepdim: Any = False, axis: Any = None, keepdims: Any = False
) -> tuple[Any, Any]:
    """The axes and `keepdim`, which may have NumPy's names."""
    if (dim is not None and axis is not None) or (keepdim and keepdims):
        raise Refused
    return (dim if axis is None else axis), bool(keepdim or keepdims)


def wanted(dtype: Any) -> Any:
    """The requested dtype of a result as NumPy's dtype; None if there is none."""
    kind = to_dtype(dtype).numpy
    if kind not in (_FLOAT32, _FLOAT64, _INT64):
        raise Refused
    return kind


def summand(x: Any, dtype: Any) -> Any:
    """The operand in the dtype in which sums are made."""
    if dtype is not None:
        return cast_array(x, wanted(dtype))
    return x if x.dtype.kind in "fc" else x.astype(_INT64)


# Sums and averages


@form(basic_reductions.sum)
def sum(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, **names: Any) -> Any:
    """The sum."""
    if names:
        dim, keepdim = named_axes(dim, keepdim, **names)
    axes = axes_of(dim, x.ndim)
    if dtype is not None:
        x = summand(x, dtype)
    if x.dtype.kind not in "fc":
        return add_up(x, axes, _INT64, None, keepdim)
    return total_of(x, axes, keepdim)


@gradient(sum)
def _sum(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None,
    **names: Any,
) -> Any:  # fmt: skip
    dim, keepdim = named_axes(dim, keepdim, **names)
    gradient = numpy.empty(x.shape, x.dtype)
    gradient[...] = spread(given, x, dim, keepdim)
    return (gradient,)


@form(basic_reductions.mean)
def mean(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, **names: Any) -> Any:
    """The average of floats."""
    if names:
        dim, keepdim = named_axes(dim, keepdim, **names)
    if dtype is not None:
        x = summand(x, dtype)
    if x.dtype.kind not in "fc":
        raise Refused
    axes = axes_of(dim, x.ndim)
    return divided(total_of(x, axes, keepdim), count_of(x, axes))


def divided(total: Any, count: float) -> Any:
    return numpy.divide(total, total.dtype.type(count))


@gradient(mean)
def _mean(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None,
    **names: Any,
) -> Any:  # fmt: skip
    dim, keepdim = named_axes(dim, keepdim, **names)
    gradient = numpy.empty(x.shape, x.dtype)
    gradient[...] = divided(spread(given, x, dim, keepdim), count_of(x, axes_of(dim, x.ndim)))
    return (gradient,)


@form(statistics.nansum)
def nansum(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """The sum of the elements that are not NaN."""
    return sum(numpy.where(numpy.isnan(x), x.dtype.type(0), x), dim, keepdim, dtype)


@gradient(nansum)
def _nansum(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    back = spread(given, x, dim, keepdim).astype(x.dtype, copy=False)
    return (numpy.where(numpy.isnan(x), x.dtype.type(0), back),)


@form(statistics.nanmean)
def nanmean(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """The average of the elements that are not NaN."""
    if x.dtype.kind != "f" or dtype is not None:
        raise Refused
    number = add_up(~numpy.isnan(x), axes_of(dim, x.ndim), x.dtype, None, keepdim)
    return numpy.divide(nansum(x, dim, keepdim), number)


@gradient(nanmean)
def _nanmean(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    number = add_up(~numpy.isnan(x), axes_of(dim, x.ndim), x.dtype, None, keepdim)
    return _nansum(numpy.divide(given, number), out, x, dim, keepdim)


@form(statistics.count_nonzero, apart=True)
def count_nonzero(x: Any, dim: Any = None) -> Any:
    """The number of nonzero elements."""
    return add_up(x != 0, axes_of(dim, x.ndim), _INT64)


# Products


@form(basic_reductions.prod)
def prod(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, **names: Any) -> Any:
    """The product."""
    dim, keepdim = named_axes(dim, keepdim, **names)
    return _multiply(summand(x, dtype), axes_of(dim, x.ndim), None, None, keepdim)


@gradient(prod)
def _prod(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None,
    **names: Any,
) -> Any:  # fmt: skip
    dim, keepdim = named_axes(dim, keepdim, **names)
    wide = spread(given, x, dim, keepdim)
    if x.all():
        return ((wide * spread(numpy.asarray(out), x, dim, keepdim) / x).astype(x.dtype),)
    axes = axes_of(dim, x.ndim)
    if axes is None:
        line = x.reshape(1, -1)
    elif axes.__class__ is int:
        line = numpy.moveaxis(x, axes, -1)
    else:
        named = [axis % x.ndim for axis in axes]
        kept = [axis for axis in range(x.ndim) if axis not in named]
        line = x.transpose([*kept, *named])
        line = line.reshape((*line.shape[: len(kept)], -1))
        rest = _others(line).reshape([x.shape[axis] for axis in [*kept, *named]])
        return ((rest.transpose(numpy.argsort([*kept, *named])) * wide).astype(x.dtype),)
    rest = _others(line)
    rest = rest.reshape(x.shape) if axes is None else numpy.moveaxis(rest, -1, axes)
    return ((rest * wide).astype(x.dtype),)


def _others(line: Any) -> Any:
    """For each element of a line, the product of the other elements."""
    before, behind = numpy.ones_like(line), numpy.ones_like(line)
    _run_product(line[..., :-1], -1, out=before[..., 1:])
    _run_product(line[..., :0:-1], -1, out=behind[..., -2::-1])
    return before * behind


# Extremes


def _of_elements(x: Any, dim: Any) -> Any:
    axes = axes_of(dim, x.ndim)
    if not x.size and not count_of(x, axes):
        raise Refused
    return axes


def extreme(reduce: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    return reduce(x, _of_elements(x, dim), None, None, keepdim)


@form(basic_reductions.amax)
def amax(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The maximum over axes. Equal maxima share the gradient."""
    return extreme(greatest, x, *named_axes(dim, keepdim, **names))


@form(basic_reductions.amin)
def amin(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The minimum over axes. Equal minima share the gradient."""
    return extreme(least, x, *named_axes(dim, keepdim, **names))


@gradient(amax)
@gradient(amin)
def _shared(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, **names: Any
) -> Any:
    dim, keepdim = named_axes(dim, keepdim, **names)
    wide = spread(numpy.asarray(out), x, dim, keepdim)
    # If the extreme is NaN, nothing equals it, and all gradients are NaN, as in PyTorch.
    return (_split(spread(given, x, dim, keepdim), x == wide, dim, x),)


def _split(given: Any, equal: Any, dim: Any, x: Any) -> Any:
    """The gradient of each line, divided evenly among its elements that are `equal`."""
    number = add_up(equal, axes_of(dim, x.ndim), x.dtype, None, True)
    return equal * (given / number).astype(x.dtype, copy=False)


def _extremes(argument: str, reduce: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    if dim is None:
        if keepdim:
            raise Refused
        return extreme(reduce, x, None, False)
    if not x.ndim:
        place_of(dim, 1)
        return extremes_of(x.copy(), numpy.zeros((), _INT64))
    axis = place_of(dim, x.ndim)
    if not x.shape[axis]:
        raise Refused
    places = getattr(x, argument)(axis, keepdims=keepdim)
    return extremes_of(reduce(x, axis, None, None, keepdim), places)


@form(basic_reductions.max)
def max(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The maximum; along an axis, with its position."""
    return _extremes("argmax", greatest, x, *named_axes(dim, keepdim, **names))


@form(basic_reductions.min)
def min(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The minimum; along an axis, with its position."""
    return _extremes("argmin", least, x, *named_axes(dim, keepdim, **names))


@gradient(max)
@gradient(min)
def _at_positions(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, **names: Any
) -> Any:
    dim, keepdim = named_axes(dim, keepdim, **names)
    if dim is None:
        is_nan = numpy.isnan(out) if x.dtype.kind == "f" else False
        return (_split(given, numpy.isnan(x) if is_nan else x == out, None, x),)
    return (to_positions(given, out[1], x, dim, keepdim),)


def to_positions(given: Any, indices: Any, x: Any, dim: Any, keepdim: Any = True) -> Any:
    """The gradient of elements picked at distinct positions along an axis; 0 elsewhere."""
    if not x.ndim:
        return given
    gradient = numpy.zeros(x.shape, x.dtype)
    axis = place_of(dim, x.ndim)
    if not keepdim:
        given, indices = numpy.expand_dims(given, axis), numpy.expand_dims(indices, axis)
    numpy.put_along_axis(gradient, indices, given, axis)
    return gradient


def _position(argument: str, x: Any, dim: Any, keepdim: Any) -> Any:
    if dim is None or not x.ndim:
        if dim is not None:
            place_of(dim, 1)
        position = getattr(x, argument)()
        return numpy.full((1,) * x.ndim, position, _INT64) if keepdim else position
    return getattr(x, argument)(place_of(dim, x.ndim), keepdims=keepdim)


@form(basic_reductions.argmax, apart=True)
def argmax(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The first position of the maximum."""
    return _position("argmax", x, *named_axes(dim, keepdim, **names))


@form(basic_reductions.argmin, apart=True)
def argmin(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The first position of the minimum."""
    return _position("argmin", x, *named_axes(dim, keepdim, **names))


@form(basic_reductions.any, apart=True)
def any(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """Whether any element is nonzero."""
    dim, keepdim = named_axes(dim, keepdim, **names)
    return _either(x, axes_of(dim, x.ndim), None, None, keepdim)


@form(basic_reductions.all, apart=True)
def all(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """Whether all elements are nonzero."""
    dim, keepdim = named_axes(dim, keepdim, **names)
    return _both(x, axes_of(dim, x.ndim), None, None, keepdim)
