"""Forms of running sums, products and extremes."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import in_rows
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.reductions.reduction_forms import add_up, extremes_of, summand
from ogive.eager.shapes.adding import add_at
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.eager_sizes import SMALL
from ogive.tensor.reduction import scanning

_FLOAT32 = numpy.dtype("float32")
_FLOAT64 = numpy.dtype("float64")
_INT64 = numpy.dtype("int64")
_run_sum: Any = numpy.add.accumulate
_run_product: Any = numpy.multiply.accumulate
_run_most: Any = numpy.maximum.accumulate
_run_least: Any = numpy.minimum.accumulate


def _running(ufunc: Any, x: Any, dim: Any, dtype: Any) -> Any:
    x = summand(x, dtype)
    if not x.ndim:
        place_of(dim, 1)
        return x.copy()
    axis, x = place_of(dim, x.ndim), in_rows(x)
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


@form(scanning.logcumsumexp)
def logcumsumexp(x: Any, dim: Any) -> Any:
    """log(e^x₀ + … + e^xᵢ)."""
    if x.dtype.kind != "f" or not x.ndim or x.size * x.shape[place_of(dim, x.ndim)] > SMALL:
        raise Refused  # the way back has a matrix for each line
    rows = in_rows(x)
    return numpy.logaddexp.accumulate(rows, place_of(dim, x.ndim), _FLOAT64).astype(x.dtype)


@gradient(logcumsumexp)
def _logcumsumexp(given: Any, out: Any, x: Any, dim: Any) -> Any:
    own, total, above = [numpy.moveaxis(each, dim, -1) for each in (x, out, given)]
    shares = numpy.exp(own[..., :, None] - total[..., None, :])
    shares = numpy.where(numpy.tri(own.shape[-1], dtype=bool).T, shares, 0)
    gradient = numpy.matmul(shares, above[..., None])[..., 0]
    return (numpy.moveaxis(gradient, -1, dim).astype(x.dtype, copy=False),)


@form(scanning.cumprod)
def cumprod(x: Any, dim: Any, dtype: Any = None) -> Any:
    """The products of the elements up to each one."""
    return _running(_run_product, x, dim, dtype)


@gradient(cumprod)
def _cumprod(given: Any, out: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    if not x.ndim:
        return (given.astype(x.dtype, copy=False),)
    line, share = numpy.moveaxis(x, dim, -1), numpy.moveaxis(given, dim, -1)
    gradient = numpy.zeros(line.shape, _FLOAT64)
    length = line.shape[-1]
    if x.all():
        parts = numpy.moveaxis(out, dim, -1).astype(_FLOAT64) * share
        gradient = _run_sum(parts[..., ::-1], -1)[..., ::-1] / line
    else:
        running = numpy.ones(line.shape[:-1], _FLOAT64)
        for place in range(length):
            rest = _run_product(line[..., place + 1 :], -1, _FLOAT64)
            own = share[..., place] + add_up(rest * share[..., place + 1 :], -1)
            gradient[..., place] = running * own
            running = running * line[..., place]
    return (numpy.moveaxis(gradient, -1, dim).astype(x.dtype),)


def _running_extreme(ufunc: Any, x: Any, dim: Any) -> Any:
    if not x.ndim:
        place_of(dim, 1)
        return extremes_of(x.copy(), numpy.zeros((), _INT64))
    axis, x = place_of(dim, x.ndim), in_rows(x)
    values = ufunc(x, axis)
    is_extreme = (x == values) | (x != x)
    line = numpy.arange(x.shape[axis]).reshape((-1, *[1] * (x.ndim - axis - 1)))
    return extremes_of(values, _run_most(numpy.where(is_extreme, line, 0), axis))


@form(scanning.cummax)
def cummax(x: Any, dim: Any) -> Any:
    """The maximum of the elements up to each one, and its position."""
    return _running_extreme(_run_most, x, dim)


@form(scanning.cummin)
def cummin(x: Any, dim: Any) -> Any:
    """The minimum of the elements up to each one, and its position."""
    return _running_extreme(_run_least, x, dim)


@gradient(cummax)
@gradient(cummin)
def _cummax(given: Any, out: Any, x: Any, dim: Any) -> Any:
    if not x.ndim:
        return (given,)
    axis = place_of(dim, x.ndim)
    gradient = numpy.zeros(x.shape, x.dtype)
    places = list(numpy.ix_(*[range(size) for size in x.shape]))
    places[axis] = out[1]
    add_at(gradient, tuple(places), given)
    return (gradient,)
