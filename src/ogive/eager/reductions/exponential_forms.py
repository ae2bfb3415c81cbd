"""Forms of normalized exponentials over an axis: softmax, its logarithm, and others."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import cast_array, in_rows, to_float
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.reductions.deviation_forms import norm, power_of
from ogive.eager.reductions.reduction_forms import (
    add_up,
    axes_of,
    greatest,
    spread,
    total_of,
    wanted,
)
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.reduction import log_sum_exp

MANY = 96
"""The number of rows from which a maximum per row takes much longer than one maximum of all: 60 ns
a row (AMD EPYC)."""

FEW = 1 << 14
"""Up to how many elements it is as well tried whether one number is near the greatest of all."""

SHORT = 256
"""Elements of a row that are few for a sum."""

LEAST_TOTAL = 1e-5
"""The least sum of a row's exponentials after the maximum of all is subtracted. Below it, the row's
maximum is so far from that of all that more than three bits are lost."""


def exponentials(x: Any, axis: int) -> tuple[Any, Any]:
    """The exponentials of the elements minus their maximum along an axis, and their sums.

    Any number near a row's maximum may be subtracted. So the maximum of all is, if it is near the
    maximum of each row: NumPy finds it in a tenth of the time.
    """
    is_last = axis in (-1, x.ndim - 1) and x.flags.c_contiguous
    if is_last and x.size > MANY * x.shape[axis]:
        greatest_of_all = numpy.maximum.reduce(x, None)
        if x.size <= FEW or _is_near(greatest_of_all, x.reshape(-1, x.shape[-1])):
            weights = x - greatest_of_all
            numpy.exp(weights, out=weights)
            total = _totals(weights)
            if numpy.minimum.reduce(total, None) >= LEAST_TOTAL:
                return weights, total
    weights = numpy.exp(x - greatest(x, axis, None, None, True))
    if is_last:
        return weights, add_up(weights, axis, None, None, True)  # in pairs, as `total_of` would
    return weights, total_of(weights, axis, True)


def _totals(weights: Any) -> Any:
    """The sums of many rows. Those of short ones take `einsum` half the time: it adds up 16 or more
    sums of each row, which for so few elements is as exact as NumPy's pairs."""
    if weights.shape[-1] > SHORT:
        return total_of(weights, -1, True)
    return numpy.einsum("...i->...", weights)[..., None]


def _is_near(value: Any, lines: Any) -> bool:
    """Whether the maxima of a few rows are near a value; then those of all rows may be."""
    few = numpy.maximum.reduce(lines[:: max(1, len(lines) // 6)], -1)
    return bool(numpy.minimum.reduce(few) >= value - 11)


def _floats(x: Any, dim: Any, dtype: Any) -> tuple[Any, int]:
    """The operand in floats, and the axis counted from the front."""
    x = to_float(x) if dtype is None else cast_array(x, wanted(dtype))
    if x.dtype.kind != "f" or not x.size or not x.ndim:
        raise Refused
    return in_rows(x), place_of(dim, x.ndim)


@form(log_sum_exp.softmax)
def softmax(x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    """eˣ divided by its sum over an axis."""
    weights, total = exponentials(*_floats(x, dim, dtype))
    return weights / total if x.size < MANY else numpy.divide(weights, total, out=weights)


@gradient(softmax)
def _softmax(given: Any, out: Any, x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    part = given * out
    part -= out * total_of(part, place_of(dim, x.ndim), True)
    return (part.astype(x.dtype, copy=False),)


@form(log_sum_exp.log_softmax)
def log_softmax(x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    x, axis = _floats(x, dim, dtype)
    centred = x - greatest(x, axis, None, None, True)
    return centred - numpy.log(total_of(numpy.exp(centred), axis, True))


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
    peak = greatest(x, axes, None, None, True)
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
    """x divided by its norm."""
    if x.dtype.kind != "f" or power_of(p) != 2:
        raise Refused
    return x / numpy.maximum(norm(x, 2, dim, True), x.dtype.type(eps))


@gradient(normalize)
def _normalize(given: Any, out: Any, x: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Any:
    length = norm(x, 2, dim, True)
    along = out * total_of(given * out, axes_of(dim, x.ndim), True)
    kept = numpy.where(length >= eps, along, x.dtype.type(0))
    return ((given - kept) / numpy.maximum(length, x.dtype.type(eps)),)
