"""Normalization, losses and what else layers of networks do."""

from __future__ import annotations

import math

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor


def _by_channel(x: Tensor, given: Tensor) -> Tensor:
    """A number for each channel, so that it broadcasts."""
    return given.reshape(1, -1, *[1] * (x.ndim - 2))


@operator("BatchNormalization")
def batch_normalization(c: Call) -> Value:
    x, epsilon = c.tensor(0), c.get("epsilon", 1e-5)
    scale, bias, mean, variance = (_by_channel(x, c.tensor(index)) for index in range(1, 5))
    if not c.flag("training_mode"):
        normalized = (x - mean) / (variance + epsilon).sqrt() * scale + bias
        return normalized.cast(x.dtype)
    axes = [axis for axis in range(x.ndim) if axis != 1]
    own_mean, own_variance = x.mean(axes, True), x.var(axes, 0, True)
    normalized = (x - own_mean) / (own_variance + epsilon).sqrt() * scale + bias
    momentum = c.get("momentum", 0.9)
    running = mean * momentum + own_mean * (1 - momentum)
    spread = variance * momentum + own_variance * (1 - momentum)
    return normalized.cast(x.dtype), running.reshape(-1), spread.reshape(-1)


@operator("InstanceNormalization")
def instance_normalization(c: Call) -> Value:
    x = c.tensor(0)
    axes = list(range(2, x.ndim))
    centered = x - x.mean(axes, True)
    spread = (centered.square().mean(axes, True) + c.get("epsilon", 1e-5)).sqrt()
    return centered / spread * _by_channel(x, c.tensor(1)) + _by_channel(x, c.tensor(2))


@operator("GroupNormalization")
def group_normalization(c: Call) -> Value:
    x, groups = c.tensor(0), c.get("num_groups")
    wide = x.cast(dtypes.float32) if c.get("stash_type", 1) == 1 else x
    batch, channels, *inner = shape_of(x)
    parts = wide.reshape(batch, groups, channels // groups * math.prod(inner))
    centered = parts - parts.mean(-1, True)
    parts = centered / (centered.square().mean(-1, True) + c.get("epsilon", 1e-5)).sqrt()
    scale, bias = c.tensor(1), c.tensor(2)
    if c.version < 21:  # a number for each group
        scale = scale.repeat_interleave(channels // groups)
        bias = bias.repeat_interleave(channels // groups)
    normalized = parts.reshape(*x.shape).cast(x.dtype)
    return normalized * _by_channel(x, scale) + _by_channel(x, bias)


@operator("LayerNormalization")
@operator("LayerNormalization", domain="com.microsoft")
def layer_normalization(c: Call) -> Value:
    x = c.tensor(0)
    axes = list(range(c.get("axis", -1) % x.ndim, x.ndim))
    wide = x.cast(dtypes.float32) if c.get("stash_type", 1) == 1 else x
    mean = wide.mean(axes, True)
    centered = wide - mean
    inverse = 1 / (centered.square().mean(axes, True) + c.get("epsilon", 1e-5)).sqrt()
    normalized = (centered * inverse).cast(x.dtype) * c.tensor(1)
    return normalized + c.tensor(2) if c.has(2) else normalized, mean, inverse


@operator("SimplifiedLayerNormalization")
@operator("RMSNormalization")
def rms_normalization(c: Call) -> Value:
    x = c.tensor(0)
    axes = list(range(c.get("axis", -1) % x.ndim, x.ndim))
    wide = x.cast(dtypes.float32) if c.get("stash_type", 1) == 1 else x
    inverse = 1 / (wide.square().mean(axes, True) + c.get("epsilon", 1e-5)).sqrt()
    return (wide * inverse).cast(x.dtype) * c.tensor(1)


@operator("MeanVarianceNormalization")
def mean_variance_normalization(c: Call) -> Value:
    x, axes = c.tensor(0), c.get("axes") or [0, 2, 3]
    centered = x - x.mean(axes, True)
    return centered / (centered.square().mean(axes, True).sqrt() + 1e-9)


@operator("LRN")
def local_response_normalization(c: Call) -> Value:
    x, size = c.tensor(0), c.get("size")
    before = (size - 1) // 2
    around = [0, 0] * (x.ndim - 2) + [before, size - 1 - before]
    squares = x.square().pad(around)
    total = squares.narrow(1, 0, shape_of(x)[1])
    for step in range(1, size):
        total = total + squares.narrow(1, step, shape_of(x)[1])
    scale = total * (c.get("alpha", 1e-4) / size) + c.get("bias", 1.0)
    return x / scale.pow(c.get("beta", 0.75))


@operator("NegativeLogLikelihoodLoss")
def negative_log_likelihood(c: Call) -> Value:
    return _pick(c, c.tensor(0), c.tensor(1), c.optional(2))


@operator("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(c: Call) -> Value:
    chances = c.tensor(0).log_softmax(1)
    return _pick(c, chances, c.tensor(1), c.optional(2)), chances


def _pick(c: Call, chances: Tensor, target: Tensor, weight: Tensor | None) -> Tensor:
    """Minus the logarithm of the chance of each target, weighted and reduced."""
    ignored = c.get("ignore_index")
    index = target.cast(dtypes.int64)
    skipped = None
    if ignored is not None:
        skipped = index == ignored
        index = (index * 0).where(skipped, index)
    picked = -chances.gather(1, index.unsqueeze(1)).squeeze(1)
    weights = picked * 0 + 1 if weight is None else weight[index]
    if skipped is not None:
        weights = (weights * 0).where(skipped, weights)
    picked = picked * weights
    reduction = c.get("reduction", "mean")
    if reduction == "none":
        return picked
    return picked.sum() if reduction == "sum" else picked.sum() / weights.sum()
