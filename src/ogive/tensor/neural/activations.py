"""Activation functions. All compute half-width floats and integers in float32 inside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive.compiler.ir.dtype import DType
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lowered
from ogive.tensor.core import to_axis
from ogive.tensor.elementwise.binary_operations import MAXIMUM, MINIMUM, limit, number_dtype
from ogive.tensor.elementwise.pairwise import only_floats
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.log_sum_exp import widen, widen_field

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def _sigmoid_slope(x: Tensor, upstream: Tensor) -> Tensor:
    """The gradient from the value of the sigmoid, which is 0 where e⁻ˣ overflows; differentiating
    step by step would give 0 · ∞ there."""
    value = x.sigmoid()
    return upstream * (value * (1 - value))


def _silu_slope(x: Tensor, upstream: Tensor) -> Tensor:
    value = x.sigmoid()
    return upstream * (value * (x * (1 - value) + 1))


@outlined
def relu(self: Tensor) -> Tensor:
    """max(x, 0); NaN stays. Shapes: unchanged.

    >>> Tensor([-1.0, 2.0]).relu().tolist()
    [0.0, 2.0]
    """
    number_dtype(self.dtype, "relu")
    return limit(MAXIMUM, self, 0, flat=True)


@outlined
def sigmoid(self: Tensor) -> Tensor:
    """1 / (1 + e⁻ˣ). Shapes: unchanged.

    >>> Tensor([0.0]).sigmoid().tolist()
    [0.5]
    """
    x, dtype = widen_field(self, "sigmoid")
    value = (x.neg().exp() + 1).reciprocal()
    if x.dtype.is_float:
        value = with_gradient(value, x, _sigmoid_slope, is_fixed=True)
    return value.cast(dtype)


@outlined
def silu(self: Tensor) -> Tensor:
    """x · sigmoid(x). Shapes: unchanged.

    >>> Tensor([0.0]).silu().tolist()
    [0.0]
    """
    x, dtype = widen_field(self, "silu")
    value = x / (x.neg().exp() + 1)
    if x.dtype.is_float:
        value = with_gradient(value, x, _silu_slope, is_fixed=True)
    return value.cast(dtype)


@outlined
def gelu(self: Tensor, approximate: str = "none") -> Tensor:
    """x · Φ(x), Φ being the normal distribution; "tanh" takes the usual approximation of it.

    Shapes: unchanged.

    >>> Tensor([0.0]).gelu().tolist()
    [0.0]
    """
    if approximate not in ("none", "tanh"):
        raise ArgumentError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    x, dtype = widen(self, "gelu")
    if approximate == "none":
        inner = (x * math.sqrt(0.5)).erf()
    else:
        inner = ((x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi)).tanh()
    return (x * 0.5 * (inner + 1)).cast(dtype)


@outlined
def relu6(self: Tensor) -> Tensor:
    """min(max(x, 0), 6); NaN stays. Shapes: unchanged.

    >>> Tensor([-1.0, 2.0, 8.0]).relu6().tolist()
    [0.0, 2.0, 6.0]
    """
    return self.hardtanh(0, 6)


@outlined
def hardtanh(self: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """x kept inside [`min_val`, `max_val`]; NaN stays. Shapes: unchanged.

    >>> Tensor([-3.0, 0.5]).hardtanh().tolist()
    [-1.0, 0.5]
    """
    dtype = number_dtype(self.dtype, "hardtanh")
    above = limit(MAXIMUM, self, min_val, flat=True)
    return limit(MINIMUM, above, max_val, flat=True).cast(dtype)


def hardsigmoid(self: Tensor) -> Tensor:
    """relu6(x + 3) / 6. Shapes: unchanged.

    >>> Tensor([-4.0, 0.0]).hardsigmoid().tolist()
    [0.0, 0.5]
    """
    x, dtype = widen_float(self, "hardsigmoid")
    return ((x + 3).relu6() / 6).cast(dtype)


@outlined
def hardswish(self: Tensor) -> Tensor:
    """x · relu6(x + 3) / 6. Shapes: unchanged.

    >>> Tensor([-4.0, 3.0]).hardswish().tolist()
    [-0.0, 3.0]
    """
    x, dtype = widen_float(self, "hardswish")
    # Not clamp, whose gradient at its bounds is 1: here it is 0 from 3 on and up to -3.
    share = where(x > -3, where(x < 3, x + 3, 6), 0)
    return (x * share / 6).cast(dtype)


@outlined
def leaky_relu(self: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x, or x · `negative_slope` below 0. Shapes: unchanged.

    >>> Tensor([-2.0, 2.0]).leaky_relu(0.5).tolist()
    [-1.0, 2.0]
    """
    x, dtype = widen_float(self, "leaky_relu")
    return where(x > 0, x, x * negative_slope).cast(dtype)


def rrelu(
    self: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """`leaky_relu` with the slope halfway between `lower` and `upper`. Shapes: unchanged.

    In `training` each element has a slope of its own, uniform between the two.

    >>> Tensor([-2.0, 2.0]).rrelu(0.25, 0.75).tolist()
    [-1.0, 2.0]
    """
    if not training:
        return self.leaky_relu((lower + upper) / 2)
    x, dtype = widen_float(self, "rrelu")
    slopes = x.new_empty(x.shape).uniform_(lower, upper)
    return where(x > 0, x, x * slopes).cast(dtype)


@lowered
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """`leaky_relu` whose slopes are a tensor: one, or one per channel (axis 1).

    Shapes: unchanged; `weight` is () or (1,) or, for (n, c, ...), (c,).

    >>> Tensor([[-2.0, 2.0]]).prelu(Tensor([0.5, 0.25])).tolist()
    [[-1.0, 2.0]]

    Raises `ShapeError` when there is not one slope per channel.
    """
    x, dtype = widen_float(self, "prelu")
    channels = self.shape[1] if self.ndim > 1 else 1
    if weight.ndim > 1 or (weight.numel() != 1 and weight.shape != (channels,)):
        raise ShapeError(
            f"prelu: the weight has the shape {build.show(weight.shape)}; it must have one "
            f"element or, for shape {build.show(self.shape)}, one per channel, ({channels},)"
        )
    if weight.numel() != 1:
        weight = weight.reshape(-1, *[1] * (self.ndim - 2))
    elif self.ndim == 0:
        weight = weight.reshape(())
    return where(x > 0, x, x * weight).cast(dtype)


@outlined
def elu(self: Tensor, alpha: float = 1.0) -> Tensor:
    """x, or `alpha` · (eˣ - 1) below 0. Shapes: unchanged.

    >>> Tensor([0.0, 2.0]).elu().tolist()
    [0.0, 2.0]
    """
    x, dtype = widen_float(self, "elu")
    return where(x > 0, x, x.clamp_max(0).expm1() * alpha).cast(dtype)


@outlined
def selu(self: Tensor) -> Tensor:
    """`elu` with the slope and scale that keep mean 0 and variance 1. Shapes: unchanged.

    >>> Tensor([0.0]).selu().tolist()
    [0.0]
    """
    x, dtype = widen_float(self, "selu")
    return (x.elu(_SELU_ALPHA) * _SELU_SCALE).cast(dtype)


def celu(self: Tensor, alpha: float = 1.0) -> Tensor:
    """x, or `alpha` · (e^(x / alpha) - 1) below 0. Shapes: unchanged.

    >>> Tensor([0.0, 2.0]).celu(2.0).tolist()
    [0.0, 2.0]
    """
    if alpha == 0:
        raise ArgumentError("celu: alpha is 0, and x is divided by it")
    x, dtype = widen_float(self, "celu")
    return where(x > 0, x, (x.clamp_max(0) / alpha).expm1() * alpha).cast(dtype)


@outlined
def softplus(self: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + e^(beta · x)) / beta, or x where beta · x is above `threshold`.

    Shapes: unchanged.

    >>> Tensor([100.0]).softplus().tolist()
    [100.0]
    """
    x, dtype = widen_float(self, "softplus")
    scaled = x * beta
    curve = where(scaled > threshold, threshold, scaled).exp().log1p() / beta
    return where(scaled > threshold, x, curve).cast(dtype)


@outlined
def logsigmoid(self: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow. Shapes: unchanged.

    >>> Tensor([-100.0]).logsigmoid().tolist()
    [-100.0]
    """
    x, dtype = widen_float(self, "logsigmoid")
    # At 0 both parts choose the same side, since |x| and min(x, 0) have no gradient there.
    is_above = x > 0
    return (where(is_above, 0, x) - where(is_above, -x, x).exp().log1p()).cast(dtype)


@outlined
def mish(self: Tensor) -> Tensor:
    """x · tanh(softplus(x)). Shapes: unchanged.

    >>> Tensor([0.0]).mish().tolist()
    [0.0]
    """
    x, dtype = widen_float(self, "mish")
    return (x * x.softplus().tanh()).cast(dtype)


def softsign(self: Tensor) -> Tensor:
    """x / (1 + |x|). Shapes: unchanged.

    >>> Tensor([1.0, -3.0]).softsign().tolist()
    [0.5, -0.75]
    """
    x, dtype = widen_field(self, "softsign")
    return (x / (x.abs() + 1)).cast(dtype)


def tanhshrink(self: Tensor) -> Tensor:
    """x - tanh(x). Shapes: unchanged.

    >>> Tensor([0.0]).tanhshrink().tolist()
    [0.0]
    """
    x, dtype = widen_field(self, "tanhshrink")
    return (x - x.tanh()).cast(dtype)


def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by `lambd`, and 0 where that is beyond 0. Shapes: unchanged.

    >>> Tensor([-2.0, 0.25, 2.0]).softshrink().tolist()
    [-1.5, 0.0, 1.5]

    Raises `ArgumentError` for a negative `lambd`.
    """
    if lambd < 0:
        raise ArgumentError(f"softshrink: lambd is {lambd}, and cannot be negative")
    x, dtype = widen_float(self, "softshrink")
    return (x - x.clamp(-lambd, lambd)).cast(dtype)


def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """x, and 0 where |x| ≤ `lambd`. Shapes: unchanged.

    >>> Tensor([-2.0, 0.25]).hardshrink().tolist()
    [-2.0, 0.0]
    """
    x, dtype = widen_float(self, "hardshrink")
    return where(x.abs() <= lambd, 0, x).cast(dtype)


def threshold(self: Tensor, threshold: float, value: float) -> Tensor:
    """x where it is above `threshold`, `value` elsewhere; NaN stays. Shapes: unchanged.

    >>> Tensor([1, 5]).threshold(3, -1).tolist()
    [-1, 5]
    """
    if not number_dtype(self.dtype, "threshold").is_float:
        threshold, value = int(threshold), int(value)
    return where(self.le(threshold), value, self)


@outlined
def glu(self: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second.

    Shapes: (a, 2b) → (a, b).

    >>> Tensor([3.0, 0.0]).glu().tolist()
    [1.5]

    Raises `ShapeError` for an odd length.
    """
    x, dtype = widen_float(self, "glu")
    axis = to_axis(dim, self.ndim, "glu")
    length = self.shape[axis]
    if not isinstance(length, int) or length % 2:
        raise ShapeError(
            f"glu: axis {axis} of shape {build.show(self.shape)} has no two equal halves"
        )
    whole = [(0, size) for size in self.shape]
    halves = [(0, length // 2), (length // 2, length)]
    first, second = [x.shrink([*whole[:axis], half, *whole[axis + 1 :]]) for half in halves]
    return (first * second.sigmoid()).cast(dtype)


def widen_float(x: Tensor, name: str) -> tuple[Tensor, DType]:
    """`widen`, which raises for other dtypes than floats."""
    only_floats(x.dtype, name)
    return widen(x, name)


_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805
