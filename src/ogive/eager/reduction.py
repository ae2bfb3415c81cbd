"""Forms of reductions, and of what is computed from running over an axis.

float32 adds up along the last axis as NumPy does it, in pairs. Along other axes NumPy adds one
after the other, and there float64 is taken.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.eager.casts import cast_array, to_float
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.movement import place_of
from ogive.ir.dtype import to_dtype
from ogive.tensor.reduction import basic_reductions, log_sum_exp, scanning, statistics
from ogive.tensor.reduction.basic_reductions import Extremes

_FLOAT32 = numpy.dtype("float32")
_FLOAT64 = numpy.dtype("float64")
_INT64 = numpy.dtype("int64")
_add: Any = numpy.add.reduce
_multiply: Any = numpy.multiply.reduce
_most: Any = numpy.maximum.reduce
_least: Any = numpy.minimum.reduce
_either: Any = numpy.logical_or.reduce
_both: Any = numpy.logical_and.reduce
_run_sum: Any = numpy.add.accumulate
_run_product: Any = numpy.multiply.accumulate
_run_most: Any = numpy.maximum.accumulate
_run_least: Any = numpy.minimum.accumulate
_extremes_of: Any = Extremes

FEW = 16
"""How many float32 may be added one after the other: the error grows with their number."""


def axes_of(dim: Any, rank: int) -> Any:
    """Axes as NumPy takes them: None for all, a number or a tuple."""
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
    """What was reduced over axes, with these as axes of length 1."""
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
        return _add(x, axes, _FLOAT64, None, keepdim).astype(_FLOAT32)
    return _add(x, axes, None, None, keepdim)


def _is_in_pairs(x: Any, axes: Any) -> bool:
    """Whether NumPy adds in pairs, or few are added."""
    if axes is None:
        return bool(x.flags.c_contiguous or x.size <= FEW)
    if axes.__class__ is not int:
        return False
    is_last = axes in (-1, x.ndim - 1)
    return bool((is_last and x.flags.c_contiguous) or x.shape[axes] <= FEW)


def _count(x: Any, axes: Any) -> int:
    if axes is None:
        size: int = x.size
        return size
    if axes.__class__ is int:
        length: int = x.shape[axes]
        return length
    return math.prod([x.shape[axis] for axis in axes])


def _named(
    dim: Any = None, keepdim: Any = False, axis: Any = None, keepdims: Any = False
) -> tuple[Any, Any]:
    """The axes and whether they stay, under NumPy's names too."""
    if (dim is not None and axis is not None) or (keepdim and keepdims):
        raise Refused
    return (dim if axis is None else axis), bool(keepdim or keepdims)


def _wanted(dtype: Any) -> Any:
    """The dtype of a result that is asked for, as NumPy has it."""
    found = to_dtype(dtype).numpy
    if found not in (_FLOAT32, _FLOAT64, _INT64):
        raise Refused
    return found


def _summand(x: Any, dtype: Any) -> Any:
    """In the dtype in which sums are made."""
    if dtype is not None:
        return cast_array(x, _wanted(dtype))
    return x if x.dtype.kind == "f" else x.astype(_INT64)


# Sums and averages


@form(basic_reductions.sum)
def sum(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, **names: Any) -> Any:
    """The sum."""
    if names:
        dim, keepdim = _named(dim, keepdim, **names)
    axes = axes_of(dim, x.ndim)
    if dtype is not None:
        x = _summand(x, dtype)
    if x.dtype.kind != "f":
        return _add(x, axes, _INT64, None, keepdim)
    return total_of(x, axes, keepdim)


@gradient(sum)
def _sum(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None,
    **names: Any,
) -> Any:  # fmt: skip
    dim, keepdim = _named(dim, keepdim, **names)
    made = numpy.empty(x.shape, x.dtype)
    made[...] = spread(given, x, dim, keepdim)
    return (made,)


@form(basic_reductions.mean)
def mean(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, **names: Any) -> Any:
    """The average of floats."""
    if names:
        dim, keepdim = _named(dim, keepdim, **names)
    if dtype is not None:
        x = _summand(x, dtype)
    if x.dtype.kind != "f":
        raise Refused
    axes = axes_of(dim, x.ndim)
    return _divided(total_of(x, axes, keepdim), _count(x, axes))


def _divided(total: Any, count: float) -> Any:
    return numpy.divide(total, total.dtype.type(count))


@gradient(mean)
def _mean(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None,
    **names: Any,
) -> Any:  # fmt: skip
    dim, keepdim = _named(dim, keepdim, **names)
    made = numpy.empty(x.shape, x.dtype)
    made[...] = _divided(spread(given, x, dim, keepdim), _count(x, axes_of(dim, x.ndim)))
    return (made,)


@form(statistics.nansum)
def nansum(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """The sum of what is not NaN."""
    return sum(numpy.where(numpy.isnan(x), x.dtype.type(0), x), dim, keepdim, dtype)


@gradient(nansum)
def _nansum(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    back = spread(given, x, dim, keepdim).astype(x.dtype, copy=False)
    return (numpy.where(numpy.isnan(x), x.dtype.type(0), back),)


@form(statistics.nanmean)
def nanmean(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """The average of what is not NaN."""
    if x.dtype.kind != "f" or dtype is not None:
        raise Refused
    number = _add(~numpy.isnan(x), axes_of(dim, x.ndim), x.dtype, None, keepdim)
    return numpy.divide(nansum(x, dim, keepdim), number)


@gradient(nanmean)
def _nanmean(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    number = _add(~numpy.isnan(x), axes_of(dim, x.ndim), x.dtype, None, keepdim)
    return _nansum(numpy.divide(given, number), out, x, dim, keepdim)


@form(statistics.count_nonzero, apart=True)
def count_nonzero(x: Any, dim: Any = None) -> Any:
    """How many elements are other than 0."""
    return _add(x != 0, axes_of(dim, x.ndim), _INT64)


# Products


@form(basic_reductions.prod)
def prod(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, **names: Any) -> Any:
    """The product."""
    dim, keepdim = _named(dim, keepdim, **names)
    return _multiply(_summand(x, dtype), axes_of(dim, x.ndim), None, None, keepdim)


@gradient(prod)
def _prod(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None,
    **names: Any,
) -> Any:  # fmt: skip
    dim, keepdim = _named(dim, keepdim, **names)
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
    """For each element of a line the product of the others."""
    before, behind = numpy.ones_like(line), numpy.ones_like(line)
    _run_product(line[..., :-1], -1, out=before[..., 1:])
    _run_product(line[..., :0:-1], -1, out=behind[..., -2::-1])
    return before * behind


# Extremes


def _of_elements(x: Any, dim: Any) -> Any:
    axes = axes_of(dim, x.ndim)
    if not x.size and not _count(x, axes):
        raise Refused
    return axes


def _extreme(reduce: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    return reduce(x, _of_elements(x, dim), None, None, keepdim)


@form(basic_reductions.amax)
def amax(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The greatest element over axes."""
    return _extreme(_most, x, *_named(dim, keepdim, **names))


@form(basic_reductions.amin)
def amin(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The least element over axes."""
    return _extreme(_least, x, *_named(dim, keepdim, **names))


@gradient(amax)
@gradient(amin)
def _shared(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, **names: Any
) -> Any:
    dim, keepdim = _named(dim, keepdim, **names)
    wide = spread(numpy.asarray(out), x, dim, keepdim)
    equal = (x == wide) | ((x != x) & (wide != wide))
    number = _add(equal, axes_of(dim, x.ndim), x.dtype, None, True)
    return (equal * (spread(given, x, dim, keepdim) / number).astype(x.dtype, copy=False),)


def _extremes(argument: str, reduce: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    if dim is None:
        if keepdim:
            raise Refused
        return _extreme(reduce, x, None, False)
    if not x.ndim:
        place_of(dim, 1)
        return _extremes_of(x.copy(), numpy.zeros((), _INT64))
    axis = place_of(dim, x.ndim)
    if not x.shape[axis]:
        raise Refused
    places = getattr(x, argument)(axis, keepdims=keepdim)
    return _extremes_of(reduce(x, axis, None, None, keepdim), places)


@form(basic_reductions.max)
def max(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The greatest element; along an axis, with its position."""
    return _extremes("argmax", _most, x, *_named(dim, keepdim, **names))


@form(basic_reductions.min)
def min(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The least element; along an axis, with its position."""
    return _extremes("argmin", _least, x, *_named(dim, keepdim, **names))


@gradient(max)
@gradient(min)
def _at_positions(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, **names: Any
) -> Any:
    dim, keepdim = _named(dim, keepdim, **names)
    if dim is None:
        return _shared(given, out, x)
    return (to_positions(given, out[1], x, dim, keepdim),)


def to_positions(given: Any, indices: Any, x: Any, dim: Any, keepdim: Any = True) -> Any:
    """What is given to elements at positions along an axis, each of which is there once; 0 for
    others."""
    if not x.ndim:
        return given
    made = numpy.zeros(x.shape, x.dtype)
    axis = place_of(dim, x.ndim)
    if not keepdim:
        given, indices = numpy.expand_dims(given, axis), numpy.expand_dims(indices, axis)
    numpy.put_along_axis(made, indices, given, axis)
    return made


def _position(argument: str, x: Any, dim: Any, keepdim: Any) -> Any:
    if dim is None or not x.ndim:
        if dim is not None:
            place_of(dim, 1)
        found = getattr(x, argument)()
        return numpy.full((1,) * x.ndim, found, _INT64) if keepdim else found
    return getattr(x, argument)(place_of(dim, x.ndim), keepdims=keepdim)


@form(basic_reductions.argmax, apart=True)
def argmax(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The position of the first greatest element."""
    return _position("argmax", x, *_named(dim, keepdim, **names))


@form(basic_reductions.argmin, apart=True)
def argmin(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """The position of the first least element."""
    return _position("argmin", x, *_named(dim, keepdim, **names))


@form(basic_reductions.any, apart=True)
def any(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """Whether any element is other than zero."""
    dim, keepdim = _named(dim, keepdim, **names)
    return _either(x, axes_of(dim, x.ndim), None, None, keepdim)


@form(basic_reductions.all, apart=True)
def all(x: Any, dim: Any = None, keepdim: Any = False, **names: Any) -> Any:
    """Whether all elements are other than zero."""
    dim, keepdim = _named(dim, keepdim, **names)
    return _both(x, axes_of(dim, x.ndim), None, None, keepdim)


# Variances and norms


def _deviation(
    x: Any, dim: Any = None, correction: Any = 1, keepdim: Any = False, *, unbiased: Any = None,
    **names: Any,
) -> tuple[Any, Any, Any, float]:  # fmt: skip
    """The distances from the mean in float64, the axes, whether they stay, and the divisor."""
    if dim.__class__ is bool:
        dim, unbiased = None, dim
    dim, keepdim = _named(dim, keepdim, **names)
    if x.dtype.kind != "f":
        raise Refused
    if unbiased is not None or correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    axes = axes_of(dim, x.ndim)
    count = _count(x, axes)
    wide = x.astype(_FLOAT64)
    away = wide - _divided(_add(wide, axes, None, None, True), count)
    freedom = count - correction
    return away, axes, keepdim, freedom if freedom > 0 else 0


@form(basic_reductions.var)
def var(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The variance."""
    away, axes, keepdim, freedom = _deviation(x, *args, **kwargs)
    return _divided(_add(away * away, axes, None, None, keepdim), freedom).astype(x.dtype)


@form(basic_reductions.std)
def std(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The standard deviation."""
    away, axes, keepdim, freedom = _deviation(x, *args, **kwargs)
    total = _divided(_add(away * away, axes, None, None, keepdim), freedom)
    return numpy.sqrt(total).astype(x.dtype)


@gradient(var)
def _var(given: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    away, axes, keepdim, freedom = _deviation(x, *args, **kwargs)
    slope = away * numpy.float64(2) / numpy.float64(freedom)
    return ((slope * spread(given, x, axes, keepdim)).astype(x.dtype),)


@gradient(std)
def _std(given: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    away, axes, keepdim, freedom = _deviation(x, *args, **kwargs)
    size = numpy.asarray(out, _FLOAT64)
    share = numpy.where(size == 0, 0, numpy.divide(given, size * freedom))
    return ((away * spread(share, x, axes, keepdim)).astype(x.dtype),)


def _power(p: Any) -> float:
    if p.__class__ is str:
        if p != "fro":
            raise Refused
        return 2.0
    return float(p)


@form(statistics.norm)
def norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """The length of vectors."""
    power = _power(p)
    if x.dtype.kind != "f" or dtype is not None:
        raise Refused
    axes = axes_of(dim, x.ndim)
    if power == 2:
        return numpy.sqrt(total_of(x * x, axes, keepdim))
    if power == 0:
        return _add(x != 0, axes, x.dtype, None, keepdim)
    size = numpy.abs(x)
    if power == 1:
        return total_of(size, axes, keepdim)
    if math.isinf(power):
        return _extreme(_most if power > 0 else _least, size, dim, keepdim)
    total = total_of(size ** x.dtype.type(power), axes, keepdim)
    return numpy.power(total, x.dtype.type(1 / power))


@gradient(norm)
def _norm(
    given: Any, out: Any, x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False,
    dtype: Any = None,
) -> Any:  # fmt: skip
    power = _power(p)
    wide = spread(given, x, dim, keepdim)
    if power == 0:
        return (numpy.zeros(x.shape, x.dtype),)
    if power == 1:
        return (numpy.sign(x) * wide,)
    length = spread(numpy.asarray(out), x, dim, keepdim)
    if math.isinf(power):
        equal = (numpy.abs(x) == length) | (x != x)
        number = _add(equal, axes_of(dim, x.ndim), x.dtype, None, True)
        return (numpy.sign(x) * equal * (wide / number),)
    nothing = length == 0
    safe = numpy.where(nothing, 1, length).astype(x.dtype, copy=False)
    if power == 2:
        slope = x / safe
    else:
        zero = x == 0
        size = numpy.where(zero, 1, numpy.abs(x)).astype(x.dtype, copy=False) / safe
        slope = numpy.sign(x) * size ** x.dtype.type(power - 1)
    return (numpy.where(nothing, x.dtype.type(0), slope * wide),)


# Exponentials


def _exponentials(x: Any, axis: int) -> tuple[Any, Any]:
    """e to the elements less the greatest along an axis, and their sum."""
    weights = numpy.exp(x - _most(x, axis, None, None, True))
    return weights, total_of(weights, axis, True)


def _floats(x: Any, dim: Any, dtype: Any) -> tuple[Any, int]:
    """In floats, and the axis."""
    x = to_float(x) if dtype is None else cast_array(x, _wanted(dtype))
    if x.dtype.kind != "f" or not x.size or not x.ndim:
        raise Refused
    return x, place_of(dim, x.ndim)


@form(log_sum_exp.softmax)
def softmax(x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    """eˣ over its sum."""
    weights, total = _exponentials(*_floats(x, dim, dtype))
    return numpy.divide(weights, total, out=weights)


@gradient(softmax)
def _softmax(given: Any, out: Any, x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    part = given * out
    part -= out * total_of(part, place_of(dim, x.ndim), True)
    return (part.astype(x.dtype, copy=False),)


@form(log_sum_exp.log_softmax)
def log_softmax(x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    x, axis = _floats(x, dim, dtype)
    centred = x - _most(x, axis, None, None, True)
    centred -= numpy.log(total_of(numpy.exp(centred), axis, True))
    return centred


@gradient(log_softmax)
def _log_softmax(given: Any, out: Any, x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    share = numpy.exp(out) * total_of(given, place_of(dim, x.ndim), True)
    return ((given - share).astype(x.dtype, copy=False),)


@form(log_sum_exp.logsumexp)
def logsumexp(x: Any, dim: Any, keepdim: Any = False) -> Any:
    """log Σ eˣ."""
    x = to_float(x)
    axes = axes_of(dim, x.ndim)
    if not x.size or dim is None:
        raise Refused
    peak = _most(x, axes, None, None, True)
    peak = numpy.where(numpy.isinf(peak), x.dtype.type(0), peak)
    total = numpy.log(total_of(numpy.exp(x - peak), axes, keepdim))
    return total + peak.reshape(total.shape)


@gradient(logsumexp)
def _logsumexp(given: Any, out: Any, x: Any, dim: Any, keepdim: Any = False) -> Any:
    length = spread(numpy.asarray(out), x, dim, keepdim)
    length = numpy.where(numpy.isinf(length), x.dtype.type(0), length)
    return ((numpy.exp(x - length) * spread(given, x, dim, keepdim)).astype(x.dtype, copy=False),)


@form(log_sum_exp.normalize)
def normalize(x: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Any:
    """x over its norm."""
    if x.dtype.kind != "f" or _power(p) != 2:
        raise Refused
    return x / numpy.maximum(norm(x, 2, dim, True), x.dtype.type(eps))


@gradient(normalize)
def _normalize(given: Any, out: Any, x: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Any:
    length = norm(x, 2, dim, True)
    along = out * total_of(given * out, axes_of(dim, x.ndim), True)
    kept = numpy.where(length >= eps, along, x.dtype.type(0))
    return ((given - kept) / numpy.maximum(length, x.dtype.type(eps)),)


# Running


def _running(ufunc: Any, x: Any, dim: Any, dtype: Any) -> Any:
    x = _summand(x, dtype)
    if not x.ndim:
        place_of(dim, 1)
        return x.copy()
    axis = place_of(dim, x.ndim)
    if x.dtype == _FLOAT32:
        return ufunc(x, axis, _FLOAT64).astype(_FLOAT32)
    return ufunc(x, axis)


@form(scanning.cumsum)
def cumsum(x: Any, dim: Any, dtype: Any = None) -> Any:
    """The sums of the elements up to each one."""
    return _running(_run_sum, x, dim, dtype)


@gradient(cumsum)
def _cumsum(given: Any, out: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    if not x.ndim:
        return (given.astype(x.dtype, copy=False),)
    back = (*[slice(None)] * place_of(dim, x.ndim), slice(None, None, -1))
    return (cumsum(given[back], dim)[back].astype(x.dtype, copy=False),)


@form(scanning.cumprod)
def cumprod(x: Any, dim: Any, dtype: Any = None) -> Any:
    """The products of the elements up to each one."""
    return _running(_run_product, x, dim, dtype)


@gradient(cumprod)
def _cumprod(given: Any, out: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    if not x.ndim:
        return (given.astype(x.dtype, copy=False),)
    line, share = numpy.moveaxis(x, dim, -1), numpy.moveaxis(given, dim, -1)
    made = numpy.zeros(line.shape, _FLOAT64)
    length = line.shape[-1]
    if x.all():
        parts = numpy.moveaxis(out, dim, -1).astype(_FLOAT64) * share
        made = _run_sum(parts[..., ::-1], -1)[..., ::-1] / line
    else:
        running = numpy.ones(line.shape[:-1], _FLOAT64)
        for place in range(length):
            rest = _run_product(line[..., place + 1 :], -1, _FLOAT64)
            own = share[..., place] + _add(rest * share[..., place + 1 :], -1)
            made[..., place] = running * own
            running = running * line[..., place]
    return (numpy.moveaxis(made, -1, dim).astype(x.dtype),)


def _running_extreme(ufunc: Any, x: Any, dim: Any) -> Any:
    if not x.ndim:
        place_of(dim, 1)
        return _extremes_of(x.copy(), numpy.zeros((), _INT64))
    axis = place_of(dim, x.ndim)
    values = ufunc(x, axis)
    found = (x == values) | (x != x)
    line = numpy.arange(x.shape[axis]).reshape((-1, *[1] * (x.ndim - axis - 1)))
    return _extremes_of(values, _run_most(numpy.where(found, line, 0), axis))


@form(scanning.cummax)
def cummax(x: Any, dim: Any) -> Any:
    """The greatest element up to each one, and where it is."""
    return _running_extreme(_run_most, x, dim)


@form(scanning.cummin)
def cummin(x: Any, dim: Any) -> Any:
    """The least element up to each one, and where it is."""
    return _running_extreme(_run_least, x, dim)


@gradient(cummax)
@gradient(cummin)
def _cummax(given: Any, out: Any, x: Any, dim: Any) -> Any:
    if not x.ndim:
        return (given,)
    axis = place_of(dim, x.ndim)
    made = numpy.zeros(x.shape, x.dtype)
    places = list(numpy.ix_(*[range(size) for size in x.shape]))
    places[axis] = out[1]
    numpy.add.at(made, tuple(places), given)
    return (made,)
