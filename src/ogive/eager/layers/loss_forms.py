"""Forms of losses between values and targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.casts import check_size, unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.losses import classification, regression

Function = Callable[..., Any]

_total = numpy.add.reduce


def reduced(losses: Any, reduction: str) -> Any:
    """The mean or the sum of the losses, or the losses themselves."""
    if reduction == "mean":
        return _total(losses, None) / losses.size
    if reduction == "sum":
        return _total(losses, None)
    if reduction == "none":
        return losses
    raise Refused


def spread(given: Any, size: int, reduction: str) -> Any:
    """The gradient of each loss, from that of the reduced loss."""
    return given / size if reduction == "mean" else given


def _check_floats(x: Any, target: Any) -> None:
    if x.dtype != target.dtype or x.dtype.kind != "f":
        raise Refused
    if x.shape != target.shape:
        check_size(numpy.broadcast_shapes(x.shape, target.shape))


# Functions of the difference


def _both_sides(slope: Any, x: Any, target: Any) -> tuple[Any, Any]:
    return unbroadcast(slope, x), unbroadcast(-slope, target)


@form(regression.mse_loss)
def mse_loss(x: Any, target: Any, reduction: str = "mean", weight: None = None) -> Any:
    """(x - target)²."""
    _check_floats(x, target)
    if weight is not None:
        raise Refused
    apart = numpy.subtract(x, target)
    return reduced(apart * apart, reduction)


@gradient(mse_loss)
def _mse_loss(
    given: Any, out: Any, x: Any, target: Any, reduction: str = "mean", weight: None = None
) -> Any:
    apart = numpy.subtract(x, target)
    return _both_sides(apart * (2 * spread(given, apart.size, reduction)), x, target)


@form(regression.l1_loss)
def l1_loss(x: Any, target: Any, reduction: str = "mean", weight: None = None) -> Any:
    """|x - target|."""
    _check_floats(x, target)
    if weight is not None:
        raise Refused
    return reduced(numpy.abs(numpy.subtract(x, target)), reduction)


@gradient(l1_loss)
def _l1_loss(
    given: Any, out: Any, x: Any, target: Any, reduction: str = "mean", weight: None = None
) -> Any:
    signs = numpy.sign(numpy.subtract(x, target))
    return _both_sides(signs * spread(given, signs.size, reduction), x, target)


@form(regression.smooth_l1_loss)
def smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """With z = |x - target|: z² / (2 · beta) below `beta`, and z - beta / 2 from there on."""
    _check_floats(x, target)
    if beta <= 0:
        raise Refused
    z = numpy.abs(numpy.subtract(x, target))
    return reduced(numpy.where(z < beta, z * z * (0.5 / beta), z - 0.5 * beta), reduction)


@gradient(smooth_l1_loss)
def _smooth_l1_loss(
    given: Any, out: Any, x: Any, target: Any, reduction: str = "mean", beta: float = 1.0
) -> Any:
    apart = numpy.subtract(x, target)
    slope = numpy.where(numpy.abs(apart) < beta, apart * (1 / beta), numpy.sign(apart))
    return _both_sides(slope * spread(given, slope.size, reduction), x, target)


@form(regression.huber_loss)
def huber_loss(
    x: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: None = None
) -> Any:
    """With z = |x - target|: z² / 2 below `delta`, and delta · (z - delta / 2) from there on."""
    _check_floats(x, target)
    if delta <= 0 or weight is not None:
        raise Refused
    z = numpy.abs(numpy.subtract(x, target))
    return reduced(numpy.where(z < delta, z * z * 0.5, (z - 0.5 * delta) * delta), reduction)


@gradient(huber_loss)
def _huber_loss(
    given: Any,
    out: Any,
    x: Any,
    target: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: None = None,
) -> Any:
    slope = numpy.clip(numpy.subtract(x, target), -delta, delta)
    return _both_sides(slope * spread(given, slope.size, reduction), x, target)


# Probabilities


@form(regression.kl_div)
def kl_div(x: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """target · (log target - x)."""
    _check_floats(x, target)
    if log_target:
        losses = numpy.exp(target) * (target - x)
    else:
        # 0 · log 0 counts as 0.
        losses = target * numpy.log(numpy.where(target == 0, 1, target)) - target * x
    if reduction == "batchmean":
        return _total(losses, None) / (len(x) if x.ndim else 1)
    return reduced(losses, reduction)


@gradient(kl_div)
def _kl_div(
    given: Any, out: Any, x: Any, target: Any, reduction: str = "mean", log_target: bool = False
) -> Any:
    if reduction == "batchmean":
        below = given / (len(x) if x.ndim else 1)
    else:
        below = spread(given, numpy.broadcast(x, target).size, reduction)
    if log_target:
        factor = numpy.exp(target)
        to_target = factor * (target - x + 1)
    else:
        factor = target
        logarithm = numpy.log(numpy.where(target == 0, 1, target))
        to_target = logarithm + target / target - x  # NaN at 0, as in PyTorch
    to_x = numpy.broadcast_to(-factor * below, numpy.broadcast(x, target).shape)
    return unbroadcast(to_x, x), unbroadcast(to_target * below, target)


@form(classification.binary_cross_entropy)
def binary_cross_entropy(x: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """-target · log x - (1 - target) · log(1 - x), with logarithms clamped to at least -100."""
    _check_floats(x, target)
    if x.shape != target.shape or not (x.min() >= 0 and x.max() <= 1):
        raise Refused
    yes = numpy.maximum(numpy.log(x), -100)
    no = numpy.maximum(numpy.log1p(-x), -100)
    return reduced(_weighted((target - 1) * no - target * yes, weight), reduction)


def _weighted(losses: Any, weight: Any) -> Any:
    if weight is None:
        return losses
    if weight.dtype != losses.dtype:
        raise Refused
    weighted = losses * weight
    if weighted.shape != losses.shape:
        raise Refused
    return weighted


@gradient(binary_cross_entropy)
def _binary_cross_entropy(
    given: Any, out: Any, x: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    below = spread(given, x.size, reduction)
    yes = numpy.maximum(numpy.log(x), -100)
    no = numpy.maximum(numpy.log1p(-x), -100)
    own = below if weight is None else below * weight
    # PyTorch's bound of 1e-12 avoids a division by 0.
    to_x = (x - target) / numpy.maximum((1 - x) * x, 1e-12) * own
    to_target = (no - yes) * own
    if weight is None:
        return to_x, to_target
    return to_x, to_target, unbroadcast(((target - 1) * no - target * yes) * below, weight)


@form(classification.binary_cross_entropy_with_logits)
def binary_cross_entropy_with_logits(
    x: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """(1 - target) · x + log(1 + e⁻ˣ)."""
    _check_floats(x, target)
    if x.shape != target.shape:
        raise Refused
    if pos_weight is not None and pos_weight.dtype != x.dtype:
        raise Refused
    losses = _logit_losses(x, target, _softplus(x), pos_weight)
    if losses.shape != x.shape:
        raise Refused
    return reduced(_weighted(losses, weight), reduction)


def _softplus(x: Any) -> Any:
    """log(1 + e⁻ˣ)."""
    return numpy.log1p(numpy.exp(-numpy.abs(x))) + numpy.maximum(-x, 0)


def _logit_losses(x: Any, target: Any, softplus: Any, pos_weight: Any) -> Any:
    if pos_weight is not None:
        softplus = softplus * ((pos_weight - 1) * target + 1)
    return (1 - target) * x + softplus


@gradient(binary_cross_entropy_with_logits)
def _binary_cross_entropy_with_logits(
    given: Any,
    out: Any,
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    below = spread(given, x.size, reduction)
    own = below if weight is None else below * weight
    decay = numpy.exp(-numpy.abs(x))
    falling = numpy.where(x >= 0, decay, 1) / (1 + decay)  # sigmoid(-x)
    gradients: list[Any] = []
    if pos_weight is None and weight is None:
        gradients += [((1 - target) - falling) * own, -x * own]
        return gradients
    softplus = _softplus(x)
    if pos_weight is None:
        gradients += [((1 - target) - falling) * own, -x * own]
    else:
        factor = (pos_weight - 1) * target + 1
        gradients += [((1 - target) - factor * falling) * own]
        gradients += [((pos_weight - 1) * softplus - x) * own]
    if weight is not None:
        losses = _logit_losses(x, target, softplus, pos_weight)
        gradients.append(unbroadcast(losses * below, weight))
    if pos_weight is not None:
        gradients.append(unbroadcast(target * softplus * own, pos_weight))
    return gradients
