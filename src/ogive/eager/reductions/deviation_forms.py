"""Forms of variances and norms."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.eager.forms import Refused, form, gradient
from ogive.eager.reductions.reduction_forms import (
    add_up,
    axes_of,
    count_of,
    divided,
    extreme,
    greatest,
    least,
    named_axes,
    spread,
    total_of,
)
from ogive.tensor.reduction import basic_reductions, statistics

_FLOAT64 = numpy.dtype("float64")


def _deviation(
    x: Any, dim: Any = None, correction: Any = 1, keepdim: Any = False, *, unbiased: Any = None,
    **names: Any,
) -> tuple[Any, Any, Any, float]:  # fmt: skip
    """The deviations from the mean in float64, the axes, `keepdim`, and the divisor."""
    if dim.__class__ is bool:
        dim, unbiased = None, dim
    dim, keepdim = named_axes(dim, keepdim, **names)
    if x.dtype.kind != "f":
        raise Refused
    if unbiased is not None or correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    axes = axes_of(dim, x.ndim)
    count = count_of(x, axes)
    wide = x.astype(_FLOAT64)
    away = wide - divided(add_up(wide, axes, None, None, True), count)
    freedom = count - correction
    return away, axes, keepdim, freedom if freedom > 0 else 0


@form(basic_reductions.var)
def var(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The variance."""
    away, axes, keepdim, freedom = _deviation(x, *args, **kwargs)
    return divided(add_up(away * away, axes, None, None, keepdim), freedom).astype(x.dtype)


@form(basic_reductions.std)
def std(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The standard deviation."""
    away, axes, keepdim, freedom = _deviation(x, *args, **kwargs)
    total = divided(add_up(away * away, axes, None, None, keepdim), freedom)
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


def power_of(p: Any) -> float:
    if p.__class__ is str:
        if p != "fro":
            raise Refused
        return 2.0
    return float(p)


@form(statistics.norm)
def norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """The norm of vectors."""
    power = power_of(p)
    if x.dtype.kind != "f" or dtype is not None:
        raise Refused
    axes = axes_of(dim, x.ndim)
    if power == 2:
        return numpy.sqrt(total_of(x * x, axes, keepdim))
    if power == 0:
        return add_up(x != 0, axes, x.dtype, None, keepdim)
    size = numpy.abs(x)
    if power == 1:
        return total_of(size, axes, keepdim)
    if math.isinf(power):
        return extreme(greatest if power > 0 else least, size, dim, keepdim)
    with numpy.errstate(divide="ignore"):  # powers of 0, for a negative norm
        total = total_of(size ** x.dtype.type(power), axes, keepdim)
        return numpy.power(total, x.dtype.type(1 / power))


@gradient(norm)
def _norm(
    given: Any, out: Any, x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False,
    dtype: Any = None,
) -> Any:  # fmt: skip
    power = power_of(p)
    wide = spread(given, x, dim, keepdim)
    if power == 0:
        return (numpy.zeros(x.shape, x.dtype),)
    if power == 1:
        return (numpy.sign(x) * wide,)
    length = spread(numpy.asarray(out), x, dim, keepdim)
    if math.isinf(power):
        equal = (numpy.abs(x) == length) | (x != x)
        number = add_up(equal, axes_of(dim, x.ndim), x.dtype, None, True)
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
