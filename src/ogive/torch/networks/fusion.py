"""`torch.nn.utils.fusion`: batch normalization folded into the layer before it, for inference."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from ogive.errors import ArgumentError, StateError
from ogive.nn.module import AnyModule
from ogive.nn.parameter import Parameter
from ogive.tensor.creation.constructors import ones_like, zeros_like
from ogive.tensor.tensor import Tensor

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip

Given = TypeVar("Given", bound=AnyModule)


def fuse_conv_bn_eval(conv: Given, bn: Any, transpose: bool = False) -> Given:
    """A copy of a convolution that also does what the batch normalization after it does.

    `transpose` says that it is a transposed convolution. Raises `StateError` while either of them
    is training.

    >>> nn = ogive.torch.nn
    >>> conv, bn = nn.Conv2d(3, 4, 1).eval(), nn.BatchNorm2d(4).eval()
    >>> x = ogive.torch.ones(2, 3, 5, 5)
    >>> fused = ogive.torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn)
    >>> bool((fused(x) - bn(conv(x))).abs().max() < 1e-5)
    True
    """
    fused: Any = _copy_of(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    made: Given = fused
    return made


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a convolution with batch normalization folded into it."""
    scale = (ones_like(bn_rm) if bn_w is None else bn_w) * (bn_rv + bn_eps).rsqrt()
    ends = [1] * (conv_w.ndim - 2)
    shape = [1, -1, *ends] if transpose else [-1, 1, *ends]
    return _folded(conv_w, scale.reshape(shape), conv_b, scale, bn_rm, bn_b)


def fuse_linear_bn_eval(linear: Given, bn: Any) -> Given:
    """A copy of a linear layer that also does what the batch normalization after it does.

    Raises `StateError` while either of them is training, and `ArgumentError` if they differ in
    their numbers of features and `bn` has more than one.
    """
    fused: Any = _copy_of(linear, bn)
    if fused.out_features != bn.num_features and bn.num_features != 1:
        raise ArgumentError(
            f"the linear layer gives {fused.out_features} features, but the batch normalization "
            f"has {bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    made: Given = fused
    return made


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a linear layer with batch normalization folded into it."""
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    return _folded(linear_w, scale.unsqueeze(-1), linear_b, scale, bn_rm, bn_b)


def _copy_of(layer: Given, bn: Any) -> Given:
    if layer.training or bn.training:
        raise StateError("layers are fused for inference: call eval() on both of them first")
    if bn.running_mean is None or bn.running_var is None:
        raise StateError("the batch normalization keeps no running statistics to fold")
    return copy.deepcopy(layer)


def _folded(
    weight: Tensor,
    weight_scale: Tensor,
    bias: Tensor | None,
    scale: Tensor,
    mean: Tensor,
    shift: Tensor | None,
) -> tuple[Parameter, Parameter]:
    given = zeros_like(mean) if bias is None else bias
    kind = weight.dtype if bias is None else bias.dtype
    moved = (given - mean) * scale
    moved = moved if shift is None else moved + shift
    needs = bias is not None and bias.requires_grad
    return (
        Parameter((weight * weight_scale).cast(weight.dtype).detach(), weight.requires_grad),
        Parameter(moved.cast(kind).detach(), needs),
    )
