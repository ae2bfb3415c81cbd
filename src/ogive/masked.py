"""Reductions over the elements that a mask selects, with the names of `torch.masked`.

Each replaces the elements where the mask is False by the identity of the reduction (0 for a sum,
-∞ for a maximum) and reduces all, in one kernel. A mask is bool and broadcasts to the input; None
selects all. Where nothing is selected, the result is the identity, or NaN for means, medians and
deviations.

>>> sum(Tensor([1.0, 2.0, 4.0]), mask=Tensor([True, False, True])).item()
5.0
"""

from __future__ import annotations

import math
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.errors import ArgumentTypeError, DtypeError
from ogive.tensor.creation.constructors import ones_like
from ogive.tensor.movement.joining import where
from ogive.tensor.reduction.basic_reductions import Axes
from ogive.tensor.tensor import Tensor


def sum(
    input: Tensor,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum of the selected elements. Shapes: (a, b) → (a,) for `dim` 1; () for None.

    >>> ogive.masked.sum(Tensor([[1, 2], [3, 4]]), 1, mask=Tensor([True, False])).tolist()
    [1, 3]
    """
    return _shown(input, mask, 0).sum(_axes(dim), keepdim, dtype=dtype)


def prod(
    input: Tensor,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product of the selected elements. Shapes: as `sum`.

    >>> ogive.masked.prod(Tensor([2, 3]), mask=Tensor([True, False])).item()
    2
    """
    x = _shown(input, mask, 1)
    axes = range(x.ndim) if _axes(dim) is None else _axes(dim)
    if isinstance(axes, int):
        return x.prod(axes, keepdim, dtype=dtype)
    kind = dtypes.int64 if dtype is None and not x.dtype.is_inexact else dtype
    x = x if kind is None else x.cast(kind)
    places = sorted([axis % max(x.ndim, 1) for axis in axes or ()], reverse=True)
    for axis in places:
        x = x.prod(axis, keepdim)
    return x


def amax(
    input: Tensor,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The greatest selected element. Shapes: as `sum`.

    >>> ogive.masked.amax(Tensor([1, 5]), mask=Tensor([True, False])).item()
    1
    """
    low, _ = _limits(input.dtype)
    return _as(_shown(input, mask, low).amax(_axes(dim), keepdim), dtype)


def amin(
    input: Tensor,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The least selected element. Shapes: as `sum`.

    >>> ogive.masked.amin(Tensor([1, 5]), mask=Tensor([False, True])).item()
    5
    """
    _, high = _limits(input.dtype)
    return _as(_shown(input, mask, high).amin(_axes(dim), keepdim), dtype)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The position of the greatest selected element, in the dtype of the input. Shapes: as `sum`.

    >>> ogive.masked.argmax(Tensor([1, 5]), mask=Tensor([True, False])).item()
    0
    """
    low, _ = _limits(input.dtype)
    position = _shown(input, mask, low).argmax(dim, keepdim)
    return position.cast(input.dtype if dtype is None else dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The position of the least selected element, in the dtype of the input. Shapes: as `sum`.

    >>> ogive.masked.argmin(Tensor([1, 5]), mask=Tensor([False, True])).item()
    1
    """
    _, high = _limits(input.dtype)
    position = _shown(input, mask, high).argmin(dim, keepdim)
    return position.cast(input.dtype if dtype is None else dtype)


def mean(
    input: Tensor,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean of the selected elements. Shapes: as `sum`.

    >>> ogive.masked.mean(Tensor([1.0, 5.0, 3.0]), mask=Tensor([True, False, True])).item()
    2.0

    Raises `DtypeError` for integers, unless `dtype` is another.
    """
    x = _as(input, dtype)
    if not x.dtype.is_inexact:
        raise DtypeError(f"masked.mean takes floats, not {x.dtype.name}; give a dtype")
    total = sum(x, dim, keepdim=keepdim, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The median of the selected elements, the lower of two. Shapes: as `sum`.

    >>> ogive.masked.median(Tensor([1.0, 5.0, 3.0]), mask=Tensor([True, False, True])).item()
    1.0
    """
    x = input if input.dtype.is_float else input.cast(dtypes.float32)
    return _as(_shown(x, mask, math.nan).nanmedian(dim, keepdim).values, dtype)


def var(
    input: Tensor,
    dim: Axes = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the selected elements: squared distances from the mean, divided by n - 1, or
    by n if `unbiased` is False, or by n - `correction` if that is given. Shapes: as `sum`.

    >>> ogive.masked.var(Tensor([1.0, 9.0, 3.0]), mask=Tensor([True, False, True])).item()
    2.0
    """
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    kind = dtype if dtype is not None or input.dtype.is_inexact else dtypes.float32
    x = _as(input, kind)
    count = _count(input, dim, True, mask)
    middle = sum(x, dim, keepdim=True, mask=mask) / count
    distance = x - middle
    squares = (distance * distance.conj()).real if x.dtype.is_complex else distance.square()
    total = sum(squares, dim, keepdim=keepdim, mask=mask)
    left = _count(input, dim, keepdim, mask) - correction
    return (total / left.clamp(min=0).cast(total.dtype)).cast(x.dtype)


def std(
    input: Tensor,
    dim: Axes = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation, the square root of `var`. Shapes: as `sum`.

    >>> ogive.masked.std(Tensor([1.0, 9.0, 3.0]), None, False, mask=Tensor([1, 0, 1]).bool()).item()
    1.0
    """
    spread = var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    )
    return spread.sqrt()


def norm(
    input: Tensor,
    ord: float = 2.0,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """(Σ |x|ᵖ)^(1/p) over the selected elements, with p = `ord`. Shapes: as `sum`.

    >>> ogive.masked.norm(Tensor([3.0, 9.0, 4.0]), mask=Tensor([True, False, True])).item()
    5.0
    """
    neutral = math.inf if ord == -math.inf else 0
    return _shown(input, mask, neutral).norm(ord, _axes(dim), keepdim, dtype)


def logsumexp(
    input: Tensor,
    dim: Axes = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """log Σ eˣ over the selected elements. Shapes: as `sum`.

    >>> ogive.masked.logsumexp(Tensor([1.0, 5.0]), mask=Tensor([True, False])).item()
    1.0
    """
    axes = _axes(dim)
    places = tuple(range(input.ndim)) if axes is None else axes
    shown = _shown(input, mask, -math.inf if input.dtype.is_inexact else input.dtype.limits[0])
    return _as(shown.logsumexp(places, keepdim), input.dtype if dtype is None else dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(eˣ + eʸ), where elements that are not selected count as -∞. Shapes: broadcast.

    >>> x = Tensor([1.0])
    >>> ogive.masked.logaddexp(x, x, other_mask=Tensor([False])).item()
    1.0
    """
    left = _shown(input, input_mask, -math.inf)
    return _as(left.logaddexp(_shown(other, other_mask, -math.inf)), dtype)


# Functions that keep the shape


def cumsum(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The sum of the selected elements up to each position. Shapes: unchanged.

    >>> ogive.masked.cumsum(Tensor([1, 2, 4]), 0, mask=Tensor([True, False, True])).tolist()
    [1, 1, 5]
    """
    return _shown(input, mask, 0).cumsum(dim, input.dtype if dtype is None else dtype)


def cumprod(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The product of the selected elements up to each position. Shapes: unchanged.

    >>> ogive.masked.cumprod(Tensor([3, 2, 4]), 0, mask=Tensor([True, False, True])).tolist()
    [3, 3, 12]
    """
    return _shown(input, mask, 1).cumprod(dim, input.dtype if dtype is None else dtype)


def softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """eˣ / Σ eˣ over the selected elements, 0 elsewhere; NaN if there are none. Shapes: unchanged.

    >>> ogive.masked.softmax(Tensor([1.0, 9.0, 1.0]), 0, mask=Tensor([True, False, True])).tolist()
    [0.5, 0.0, 0.5]
    """
    return _shown(_as(input, dtype), mask, -math.inf).softmax(dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`. Shapes: unchanged.

    >>> ogive.masked.log_softmax(Tensor([1.0, 9.0]), 0, mask=Tensor([True, False])).tolist()
    [0.0, -inf]
    """
    return _shown(_as(input, dtype), mask, -math.inf).log_softmax(dim)


def softmin(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """`softmax` of -x. Shapes: unchanged.

    >>> ogive.masked.softmin(Tensor([1.0, 9.0, 1.0]), 0, mask=Tensor([True, False, True])).tolist()
    [0.5, 0.0, 0.5]
    """
    return softmax(-_as(input, dtype), dim, mask=mask)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The selected elements divided by their norm, or `eps` if that is greater. Shapes: unchanged.

    >>> ogive.masked.normalize(Tensor([3.0, 9.0]), 2, 0, mask=Tensor([True, False])).tolist()
    [1.0, 0.0]
    """
    x = _as(input, dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return _shown(x, mask, 0) / length.maximum(eps)


# Common parts


def _shown(input: Tensor, mask: Tensor | None, neutral: Any) -> Tensor:
    """The input, with the value `neutral` where the mask is False."""
    if mask is None:
        return input
    if not isinstance(mask, Tensor) or not mask.dtype.is_bool:
        raise ArgumentTypeError(f"a mask is a tensor of bool, not {mask!r}")
    return where(mask, input, neutral).cast(input.dtype)


def _count(input: Tensor, dim: Axes, keepdim: bool, mask: Tensor | None) -> Tensor:
    """The number of selected elements."""
    ones = ones_like(input, dtype=dtypes.int64)
    return sum(ones, dim, keepdim=keepdim, mask=mask)


def _limits(dtype: DType) -> tuple[Any, Any]:
    return (-math.inf, math.inf) if dtype.is_float else dtype.limits


def _as(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype is None else x.cast(dtype)


def _axes(dim: Any) -> Any:
    """The axes to reduce. An empty list means all, as in PyTorch."""
    return None if isinstance(dim, tuple | list) and not dim else dim
