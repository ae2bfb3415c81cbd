"""Rules of second derivatives for losses, normalizations, attention and inverses.

Most are composed: the gradient of the gradient is that of an expression that gives the same.

    cross_entropy(x, classes)      the mean of -log_softmax(x) at the classes
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused
from ogive.eager.gradients.second_derivatives import composed, rule
from ogive.eager.tensors import give
from ogive.tensor.linear_algebra import inverses, matrix_functions
from ogive.tensor.losses import classification, regression
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.movement import joining
from ogive.tensor.neural import (
    dot_product_attention,
    feature_normalization,
    window_pooling,
)
from ogive.tensor.reduction import distances


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


# Losses


@rule(regression.mse_loss)
def _mse_loss(given: Any, out: Any, x: Any, target: Any, reduction: str = "mean") -> Any:
    if x.value.shape != target.value.shape:
        raise Refused
    factor = 2 / math.prod(x.value.shape) if reduction == "mean" else 2.0
    return [lambda: given * (x - target) * factor, lambda: given * (target - x) * factor]


@composed(regression.l1_loss)
def _l1_loss(x: Any, target: Any, reduction: str = "mean", weight: None = None) -> Any:
    return _reduced((x - target).abs(), reduction)


@composed(regression.huber_loss)
def _huber_loss(
    x: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: None = None
) -> Any:
    away = x - target
    size = away.abs()
    near = give(size.value < delta)
    loss = joining.where(near, away * away * 0.5, (size - 0.5 * delta) * delta)
    return _reduced(loss, reduction)


@composed(regression.smooth_l1_loss)
def _smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    if beta == 0:
        return _l1_loss(x, target, reduction)
    return _huber_loss(x, target, reduction, beta) * (1 / beta)


@composed(regression.kl_div)
def _kl_div(x: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    if not log_target and not (target.value > 0).all():
        raise Refused
    loss = target.exp() * (target - x) if log_target else target * (target.log() - x)
    return loss.sum() / len(x.value) if reduction == "batchmean" else _reduced(loss, reduction)


@composed(classification.binary_cross_entropy)
def _binary_cross_entropy(x: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    loss = -(target * x.log().clamp_min(-100) + (1 - target) * (1 - x).log().clamp_min(-100))
    return _reduced(loss if weight is None else loss * weight, reduction)


@composed(classification.binary_cross_entropy_with_logits)
def _binary_cross_entropy_with_logits(
    x: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    share = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * x + share * (-x).softplus()
    return _reduced(loss if weight is None else loss * weight, reduction)


@composed(classification.nll_loss)
def _nll_loss(
    x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    shares, total = _shares(x, target, weight, ignore_index, 0.0)
    return _weighted(x, shares, total, reduction)


@composed(classification.cross_entropy)
def _cross_entropy(
    x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    shares, total = _shares(x, target, weight, ignore_index, label_smoothing)
    return _weighted(x.log_softmax(_classes(x)), shares, total, reduction)


def _classes(x: Any) -> int:
    return 0 if x.value.ndim == 1 else 1


def _shares(x: Any, target: Any, weight: Any, ignored: int, smoothing: float) -> tuple[Any, float]:
    """How much each class counts in each loss, and how much all losses count in their mean."""
    shape, axis, labels = x.value.shape, _classes(x), target.value
    count = shape[axis]
    if weight is not None and weight.record is not None:
        raise Refused
    scale: Any = numpy.ones(count) if weight is None else weight.value
    scale = scale.reshape(-1, *(1,) * (len(shape) - axis - 1))
    if labels.dtype.kind == "f":
        shares = target * (1 - smoothing) + smoothing / count
        return shares * give(scale.astype(labels.dtype)), labels.size / count
    hit = numpy.expand_dims(labels, axis) == numpy.arange(count).reshape(scale.shape)
    counted = numpy.expand_dims(labels != ignored, axis) * scale
    shares = (hit * (1 - smoothing) + smoothing / count) * counted
    return give(shares.astype(x.value.dtype)), float((hit * counted).sum())


def _weighted(x: Any, shares: Any, total: float, reduction: str) -> Any:
    loss = -(x * shares)
    if reduction == "none":
        return loss.sum(_classes(x))
    return loss.sum() * (1 / total) if reduction == "mean" else loss.sum()


# Normalizations


def _normalized(x: Any, axes: Any, eps: float) -> Any:
    away = x - x.mean(axes, keepdim=True)
    return away * ((away * away).mean(axes, keepdim=True) + eps).rsqrt()


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _line(parameter: Any, x: Any) -> Any:
    """One number per channel, in a shape that broadcasts to (batch, channels, ...)."""
    return None if parameter is None else parameter.reshape(-1, *(1,) * (x.value.ndim - 2))


@composed(feature_normalization.layer_norm)
def _layer_norm(
    x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return _scaled(_normalized(x, list(range(-count, 0)), eps), weight, bias)


@composed(feature_normalization.rms_norm)
def _rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    least = float(numpy.finfo(x.value.dtype).eps) if eps is None else eps
    root = ((x * x).mean(list(range(-count, 0)), keepdim=True) + least).rsqrt()
    return _scaled(x * root, weight, None)


@composed(feature_normalization.group_norm)
def _group_norm(
    x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    groups = _normalized(x.reshape(len(x.value), num_groups, -1), [2], eps)
    return _scaled(groups.reshape(x.value.shape), _line(weight, x), _line(bias, x))


@composed(feature_normalization.normalize_batch)
def _normalize_batch(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = [0, *range(2, x.value.ndim)]
    return _scaled(_normalized(x, axes, eps), _line(weight, x), _line(bias, x))


@composed(feature_normalization.normalize_by)
def _normalize_by(x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    scaled = (x - _line(mean, x)) * (_line(variance, x) + eps).rsqrt()
    return _scaled(scaled, _line(weight, x), _line(bias, x))


# Layers


@composed(dot_product_attention.scaled_dot_product_attention)
def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    if dropout_p or enable_gqa:
        raise Refused
    factor = 1 / math.sqrt(query.value.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if is_causal:
        attn_mask = give(numpy.tri(*scores.value.shape[-2:], dtype=bool))
    if attn_mask is not None:
        is_choice = attn_mask.value.dtype == bool
        scores = scores.masked_fill(~attn_mask, -math.inf) if is_choice else scores + attn_mask
    return scores.softmax(-1) @ value


def _max_pool(
    pool: Callable[..., Any], x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
    dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    window = (kernel_size, stride, padding, dilation, ceil_mode)
    pooled, places = eager_calls[pool](x.detach(), *window, return_indices=True)
    axes = AXES[pool]
    chosen = x.flatten(-axes).gather(-1, places.flatten(-axes))
    return chosen.reshape(pooled.value.shape)


AXES = {
    window_pooling.max_pool1d: 1, window_pooling.max_pool2d: 2, window_pooling.max_pool3d: 3,
}  # fmt: skip
for _pool in AXES:
    composed(_pool)(functools.partial(_max_pool, _pool))


@composed(distances.cdist)
def _cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Any:
    away = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if p == 1:
        return away.abs().sum(-1)
    squares = (away * away).sum(-1)
    if p != 2 or not squares.value.all():
        raise Refused
    return squares.sqrt()


# Inverses


@rule(inverses.inv)
def _inv(given: Any, out: Any, A: Any) -> Any:
    return [lambda: -(out.mT @ given @ out.mT)]


@rule(inverses.det)
def _det(given: Any, out: Any, A: Any) -> Any:
    if not out.value.all():
        raise Refused
    return [lambda: (given * out)[..., None, None] * A.inverse().mT]


@rule(matrix_functions.logdet)
def _logdet(given: Any, out: Any, A: Any) -> Any:
    return [lambda: given[..., None, None] * A.inverse().mT]


@composed(inverses.solve)
def _solve(A: Any, B: Any, *, left: bool = True) -> Any:
    return A.inverse() @ B if left else B @ A.inverse()
