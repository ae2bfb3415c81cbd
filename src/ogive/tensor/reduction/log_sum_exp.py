"""Exponentials over an axis: softmax and its relatives.

All use x minus its maximum, so that nothing overflows, and compute half-width floats in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also, numpy_names
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.tensor import build
from ogive.tensor.core import to_axis
from ogive.tensor.elementwise.binary_operations import float_dtype
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.basic_reductions import Axes

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
@also(axis="dim")
def softmax(self: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """eˣ over its sum along `dim`; x is cast to `dtype` first, if one is given.

    Shapes: unchanged.

    >>> Tensor([1.0, 1.0]).softmax().tolist()
    [0.5, 0.5]
    """
    x, result = widen(self if dtype is None else self.cast(dtype), "softmax")
    axis = to_axis(dim, max(x.ndim, 1), "softmax")
    if x.numel() == 0:
        return x.cast(result)
    weights = (x - x.amax(axis, keepdim=True).detach()).exp()
    # The sum is at least 1. One division per row, not per element.
    return (weights * weights.sum(axis, keepdim=True).reciprocal()).cast(result)


@outlined
@also(axis="dim")
def log_softmax(self: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`, computed without `softmax`. Shapes: unchanged.

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
@numpy_names
def logsumexp(self: Tensor, dim: Axes, keepdim: bool = False) -> Tensor:
    """log Σ eˣ over the axes `dim`; -∞ for no elements.

    Shapes: (a, b) → (a,) for `dim` -1.

    >>> Tensor([1000.0]).logsumexp(0).tolist()
    1000.0
    """
    x, result = widen_field(self, "logsumexp")
    if x.numel() == 0:
        return x.exp().sum(dim, keepdim).log().cast(result)
    # The size of the exponential of a complex number is that of its real part.
    peak = (x.real if x.dtype.is_complex else x).amax(dim, keepdim=True)
    peak = where(peak.abs().eq(math.inf), 0, peak).detach()
    total = (x - peak).exp().sum(dim, keepdim).log()
    return (total + peak.reshape(total.shape)).cast(result)


@outlined
def normalize(self: Tensor, p: float = 2.0, dim: Axes = 1, eps: float = 1e-12) -> Tensor:
    """x over its `norm` along `dim`, which counts as at least `eps`. Shapes: unchanged.

    >>> Tensor([[3.0, 4.0]]).normalize().tolist() == Tensor([[0.6, 0.8]]).tolist()
    True
    """
    x, result = widen_field(self, "normalize")
    return (x / x.norm(p, dim, keepdim=True).maximum(eps)).cast(result)


def widen_field(x: Tensor, name: str) -> tuple[Tensor, DType]:
    """`widen`, which leaves complex numbers as they are."""
    return (x, x.dtype) if x.dtype.is_complex else widen(x, name)


def widen(x: Tensor, name: str) -> tuple[Tensor, DType]:
    """`x` in the dtype to compute in, and the dtype of the result."""
    dtype = float_dtype(x.dtype, name)
    return x.cast(dtypes.float32 if dtype in build.WIDENED else dtype), dtype
