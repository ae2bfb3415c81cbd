"""Functions that call another function with some arguments fixed."""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ShapeError
from ogive.tensor.tensor import Tensor


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear" and aligned corners.

    Shapes: (batch, channels, h, w) → (batch, channels, *size).

    >>> upsample_bilinear(Tensor([[[[1.0, 3.0]]]]), (1, 3)).tolist()
    [[[[1.0, 2.0, 3.0]]]]
    """
    return input.interpolate(size, scale_factor, "bilinear", align_corners=True)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "nearest". Shapes: (batch, channels, ...) → (batch, channels, *size).

    >>> upsample_nearest(Tensor([[[1.0, 3.0]]]), 4).tolist()
    [[[1.0, 1.0, 3.0, 3.0]]]
    """
    return input.interpolate(size, scale_factor, "nearest")


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of a linear layer. The compiler decides whether the logits are in memory.

    Shapes: input (N, features) or (features,), linear_weight (classes, ..., features), linear_bias
    (classes, ...), target (N, ...) of classes or (N, classes, ...) of probabilities → (), or (N,
    ...) for the reduction "none". PyTorch's `options`, which divide its work into pieces, have no
    effect.

    >>> linear_cross_entropy(Tensor([[1.0]]), Tensor([[0.0], [0.0]]), Tensor([1])).exp().item()
    2.0

    Raises `ShapeError` unless the features agree.
    """
    if input.ndim not in (1, 2) or input.shape[-1] != linear_weight.shape[-1]:
        raise ShapeError(
            f"linear_cross_entropy: input has the shape {input.shape} and linear_weight "
            f"{linear_weight.shape}; expected (N, n) with (classes, ..., n)"
        )
    *outputs, features = linear_weight.shape
    rows = linear_weight.reshape(math.prod(outputs), features)
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = input.linear(rows, bias).reshape(*input.shape[:-1], *outputs)
    ignored = -100 if ignore_index is None else ignore_index
    return logits.cross_entropy(target, weight, ignored, reduction, label_smoothing)
