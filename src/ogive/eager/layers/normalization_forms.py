"""Forms of normalization: subtract the mean, and divide by the standard deviation."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.eager.casts import in_rows
from ogive.eager.forms import Refused, done_by, form, gradient, is_captured
from ogive.eager.writing import may_write, replace
from ogive.tensor.method_functions import plain_functions
from ogive.tensor.neural import feature_normalization as plain
from ogive.tensor.tensor import Tensor

_total: Any = numpy.add.reduce


def _check(x: Any, *parameters: Any) -> None:
    if x.dtype.kind != "f" or not x.size:
        raise Refused
    for parameter in parameters:
        if parameter is not None and parameter.dtype != x.dtype:
            raise Refused


def _scaled(lines: Any, axes: Any, eps: float) -> tuple[Any, Any]:
    """Lines normalized to mean 0 and deviation 1, and the reciprocal deviations."""
    count = _count(lines, axes)
    centred = lines - _total(lines, axes, None, None, True) / count
    variance = _total(centred * centred, axes, None, None, True) / count
    scale = numpy.reciprocal(numpy.sqrt(variance + eps))
    centred *= scale
    return centred, scale


def _count(lines: Any, axes: Any) -> int:
    if axes.__class__ is int:
        return int(lines.shape[axes])
    return math.prod([lines.shape[axis] for axis in axes])


def _unscaled(given: Any, scaled: Any, scale: Any, axes: Any) -> Any:
    """The gradient of `_scaled`."""
    count = _count(given, axes)
    along = _total(given * scaled, axes, None, None, True) / count
    return (given - _total(given, axes, None, None, True) / count - scaled * along) * scale


def _affine(scaled: Any, weight: Any, bias: Any) -> Any:
    """Multiply by `weight` and add `bias`, in place."""
    if weight is not None:
        scaled *= weight
    if bias is not None:
        scaled += bias
    return scaled


# Over the last axes


def _to_lines(x: Any, normalized_shape: Any, *parameters: Any) -> Any:
    """(..., *normalized_shape) as (lines, elements)."""
    shape = (normalized_shape,) if normalized_shape.__class__ is int else tuple(normalized_shape)
    _check(x, *parameters)
    if not shape or x.shape[x.ndim - len(shape) :] != shape or x.ndim < len(shape):
        raise Refused
    if any(each is not None and each.shape != shape for each in parameters):
        raise Refused
    return in_rows(x).reshape(-1, math.prod(shape))


def _flat(parameter: Any) -> Any:
    return parameter if parameter is None or parameter.ndim == 1 else parameter.reshape(-1)


@form(plain.layer_norm)
def layer_norm(
    x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """(x - mean) / √(variance + eps) over the last axes, times `weight`, plus `bias`."""
    lines = _to_lines(x, normalized_shape, weight, bias)
    return _affine(_scaled(lines, 1, eps)[0], _flat(weight), _flat(bias)).reshape(x.shape)


@gradient(layer_norm)
def _layer_norm(
    given: Any,
    out: Any,
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Any:
    scaled, scale = _scaled(_to_lines(x, normalized_shape, weight, bias), 1, eps)
    below = given.reshape(scaled.shape)
    inner = below if weight is None else below * _flat(weight)
    gradients = [_unscaled(inner, scaled, scale, 1).reshape(x.shape)]
    if weight is not None:
        gradients.append(_total(below * scaled, 0).reshape(weight.shape))
    if bias is not None:
        gradients.append(_total(below, 0).reshape(bias.shape))
    return gradients


@form(plain.rms_norm)
def rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """x / √(mean of x² + eps) over the last axes, times `weight`."""
    lines = _to_lines(x, normalized_shape, weight)
    return _affine(lines * _root(lines, eps), _flat(weight), None).reshape(x.shape)


def _root(lines: Any, eps: float | None) -> Any:
    small = float(numpy.finfo(lines.dtype).eps) if eps is None else eps
    return numpy.reciprocal(
        numpy.sqrt(_total(lines * lines, 1, None, None, True) / lines.shape[1] + small)
    )


@gradient(rms_norm)
def _rms_norm(
    given: Any, out: Any, x: Any, normalized_shape: Any, weight: Any = None, eps: Any = None
) -> Any:
    lines = _to_lines(x, normalized_shape, weight)
    scale = _root(lines, eps)
    scaled = lines * scale
    below = given.reshape(lines.shape)
    inner = below if weight is None else below * _flat(weight)
    along = _total(inner * scaled, 1, None, None, True) / lines.shape[1]
    to_x = ((inner - scaled * along) * scale).reshape(x.shape)
    if weight is None:
        return (to_x,)
    return to_x, _total(below * scaled, 0).reshape(weight.shape)


# Over channels


def _line(parameter: Any, rank: int) -> Any:
    """One number per channel, in a shape that broadcasts to (batch, channels, ...)."""
    return None if parameter is None else parameter.reshape(-1, *(1,) * (rank - 2))


def _check_channels(x: Any, *parameters: Any) -> None:
    _check(x, *parameters)
    if x.ndim < 2:
        raise Refused
    if any(each is not None and each.shape != x.shape[1:2] for each in parameters):
        raise Refused


def _to_affine(given: Any, scaled: Any, weight: Any, bias: Any) -> list[Any]:
    """The gradients of `weight` and `bias`, of those that are not None."""
    axes = (0, *range(2, given.ndim))
    gradients = []
    if weight is not None:
        gradients.append(_total(given * scaled, axes))
    if bias is not None:
        gradients.append(_total(given, axes))
    return gradients


@form(plain.group_norm)
def group_norm(
    x: Any, num_groups: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Normalize each group of channels of each entry; multiply by `weight`, add `bias`."""
    _check_channels(x, weight, bias)
    if num_groups.__class__ is not int or num_groups < 1 or x.shape[1] % num_groups:
        raise Refused
    scaled = _scaled(x.reshape(len(x), num_groups, -1), 2, eps)[0].reshape(x.shape)
    return _affine(scaled, _line(weight, x.ndim), _line(bias, x.ndim))


@gradient(group_norm)
def _group_norm(
    given: Any,
    out: Any,
    x: Any,
    num_groups: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Any:
    scaled, scale = _scaled(x.reshape(len(x), num_groups, -1), 2, eps)
    inner = given if weight is None else given * _line(weight, x.ndim)
    to_x = _unscaled(inner.reshape(scaled.shape), scaled, scale, 2).reshape(x.shape)
    return [to_x, *_to_affine(given, scaled.reshape(x.shape), weight, bias)]


@form(plain.normalize_batch)
def normalize_batch(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    """A batch normalized by its own statistics, with its means and unbiased variances."""
    _check_channels(x, weight, bias)
    axes = (0, *range(2, x.ndim))
    count = _count(x, axes)
    mean = _total(x, axes, None, None, True) / count
    centred = x - mean
    squares = _total(centred * centred, axes, None, None, True)
    centred *= numpy.reciprocal(numpy.sqrt(squares / count + eps))
    normalized = _affine(centred, _line(weight, x.ndim), _line(bias, x.ndim))
    results: Any = (normalized, mean.reshape(-1), squares.reshape(-1) / (count - 1))
    return plain.Normalized(*results)


@gradient(normalize_batch)
def _normalize_batch(given: Any, out: Any, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = (0, *range(2, x.ndim))
    scaled, scale = _scaled(x, axes, eps)
    inner = given if weight is None else given * _line(weight, x.ndim)
    return [_unscaled(inner, scaled, scale, axes), *_to_affine(given, scaled, weight, bias)]


@done_by(plain.move_towards)
def move_towards(running: Tensor, latest: Tensor, momentum: Any) -> None:
    """Move running statistics towards the latest ones."""
    fits = momentum.__class__ is float and running.is_eager and latest.is_eager
    fits = fits and latest.record is None
    fits = fits and running.value.dtype == latest.value.dtype and may_write(running, [])
    if not fits or is_captured():
        _move_plain(running, latest, momentum)
        return
    old = running.value
    replace(running, old + (latest.value - old) * momentum)


_move_plain = plain_functions[plain.move_towards]


@form(plain.normalize_by)
def normalize_by(x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    """A batch normalized by given statistics."""
    _check_channels(x, mean, variance, weight, bias)
    scaled = (x - _line(mean, x.ndim)) * _scale(variance, eps, x.ndim)
    return _affine(scaled, _line(weight, x.ndim), _line(bias, x.ndim))


def _scale(variance: Any, eps: float, rank: int) -> Any:
    return _line(numpy.reciprocal(numpy.sqrt(variance + eps)), rank)


@gradient(normalize_by)
def _normalize_by(
    given: Any, out: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float
) -> Any:
    scale = _scale(variance, eps, x.ndim)
    inner = given * scale if weight is None else given * (scale * _line(weight, x.ndim))
    centred = x - _line(mean, x.ndim)
    axes = (0, *range(2, x.ndim))

    def to_variance() -> Any:
        return _total(inner * centred, axes) * (-0.5 / (variance + eps))

    to_mean = lambda: -_total(inner, axes)  # noqa: E731  (one of the two that are seldom wanted)
    return [inner, to_mean, to_variance, *_to_affine(given, centred * scale, weight, bias)]
