"""Softmax, log-sum-exp, and normalization over axes.

The maximum is subtracted from x first, so that no exponential overflows. float16 and bfloat16 are
computed in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.tensor import build
from ogive.tensor.core import to_axis
from ogive.tensor.elementwise.binary_operations import float_dtype
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.basic_reductions import Axes

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
def softmax(self: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """eˣ divided by its sum along `dim`. With a `dtype`, x is cast first.

    Shapes: unchanged.

    >>> Tensor([1.0, 1.0]).softmax().tolist()
    [0.5, 0.5]
    """
    x, result = widen(self if dtype is None else self.cast(dtype), "softmax")
    axis = to_axis(dim, max(x.ndim, 1), "softmax")
    if x.numel() == 0:
        return x.cast(result)
    weights = (x - x.amax(axis, keepdim=True).detach()).exp()
    # One division for each row, not for each element. The sum is at least 1.
    return (weights * weights.sum(axis, keepdim=True).reciprocal()).cast(result)


@outlined
def log_softmax(self: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`, without the rounding of small results. Shapes: unchanged.

    >>> Tensor([0.0]).log_softmax().tolist()
    [0.0]
    """
    x, result = widen(self if dtype is None else self.cast(dtype), "log_softmax")
    axis = to_axis(dim, max(x.ndim, 1), "log_softmax")
    if x.numel() == 0:
        return x.cast(result)
    centred = x - x.amax(axis, keepdim=True).detach()
    return (centred - centred.exp().sum(axis, keepdim=True).log()).cast(result)


def softmin(self: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """`softmax` of -x. Shapes: unchanged.

    >>> Tensor([1.0, 1.0]).softmin().tolist()
    [0.5, 0.5]
    """
    return self.neg().softmax(dim, dtype)


@outlined
def logsumexp(self: Tensor, dim: Axes, keepdim: bool = False) -> Tensor:
    """log Σ eˣ over the axes `dim`; -∞ for no elements.

    Shapes: (a, b) → (a,) for `dim` -1.

    >>> Tensor([1000.0]).logsumexp(0).tolist()
    1000.0
    """
    x, result = widen(self, "logsumexp")
    if x.numel() == 0:
        return x.exp().sum(dim, keepdim).log().cast(result)
    peak = x.amax(dim, keepdim=True)
    peak = where(peak.abs().eq(math.inf), 0, peak).detach()
    total = (x - peak).exp().sum(dim, keepdim).log()
    return (total + peak.reshape(total.shape)).cast(result)


@outlined
def normalize(self: Tensor, p: float = 2.0, dim: Axes = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its p-norm along `dim`, which counts as at least `eps`. Shapes: unchanged.

    >>> Tensor([[3.0, 4.0]]).normalize().tolist() == Tensor([[0.6, 0.8]]).tolist()
    True
    """
    x, result = widen(self, "normalize")
    return (x / x.norm(p, dim, keepdim=True).maximum(eps)).cast(result)


def widen(x: Tensor | Tensor, name: str) -> tuple[Tensor, DType]:
    """Return `x` in the dtype to compute in, and the dtype of the result."""
    dtype = float_dtype(x.dtype, name)
    return x.cast(dtypes.float32 if dtype in build.WIDENED else dtype), dtype
