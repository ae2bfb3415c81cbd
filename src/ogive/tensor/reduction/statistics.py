"""Reductions composed of other reductions: norms, averages without NaN, moments, covariances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also, numpy_names
from ogive.compiler.ir.dtype import to_dtype
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.core import to_axes, to_axis, to_integer, to_shape, to_tensor, wrap
from ogive.tensor.elementwise.binary_operations import addable_dtype, inexact_dtype
from ogive.tensor.elementwise.complex_numbers import complex
from ogive.tensor.linear_algebra.decompositions import svdvals
from ogive.tensor.movement.joining import cat, where
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.basic_reductions import Axes, accumulator, to_float

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Bounds(NamedTuple):
    """The least and the greatest elements."""

    min: Tensor
    max: Tensor


@outlined
def norm(
    self: Tensor, p: float | str = "fro", dim: Axes = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The length of vectors: (Σ |x|ᵖ)^(1/p); "fro" means 2, ∞ the greatest |x|, -∞ the least.

    Shapes: (a, b) → (a,) for `dim` -1; () for None. p = 0 counts elements other than 0; "nuc"
    adds the singular values of matrices, see `ogive.linalg.matrix_norm`.

    >>> Tensor([3.0, -4.0]).norm().item(), Tensor([3.0, -4.0]).norm(1).item()
    (5.0, 7.0)

    Raises `DtypeError` for integers and bool, `ArgumentError` for another word.
    """
    if p == "nuc":
        plane = to_axes((-2, -1) if dim is None else dim, self.ndim, "norm")
        x = self if dtype is None else self.cast(dtype)
        total = svdvals(x.movedim(plane, (-2, -1))).sum(-1)
        return total.unsqueeze(plane[0]).unsqueeze(plane[1]) if keepdim else total
    if isinstance(p, str) and p != "fro":
        raise ArgumentError(f"norm: p is a number, 'fro' or 'nuc', got {p!r}")
    x = to_float(self.abs() if self.dtype.is_complex else self, None, "norm")
    result = x.dtype if dtype is None else to_dtype(dtype)
    wide = x.cast(accumulator(result))
    return _length(wide, 2.0 if p == "fro" else float(p), dim, keepdim).cast(result)


def dist(self: Tensor, other: Tensor, p: float = 2.0) -> Tensor:
    """The `norm` of the difference, of all its elements. Shapes broadcast → ().

    >>> Tensor([1.0, 1.0]).dist(Tensor([4.0, 5.0])).item()
    5.0
    """
    return self.sub(other).norm(p)


@numpy_names
def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Bounds:
    """The least and the greatest element, as `min` and `max`; NaN if there is one.

    Shapes: (a, b) → (a,) each for `dim` -1; () for None.

    >>> low, high = Tensor([3, 1, 2]).aminmax()
    >>> low.item(), high.item()
    (1, 3)
    """
    return Bounds(self.amin(dim, keepdim), self.amax(dim, keepdim))


@numpy_names
def nansum(self: Tensor, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The sum of the elements that are not NaN.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([1.0, float("nan"), 2.0]).nansum().item()
    3.0
    """
    return where(self.isnan(), 0, self).sum(dim, keepdim, dtype)


@numpy_names
def nanmean(self: Tensor, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The average of the elements that are not NaN; NaN if all are.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([1.0, float("nan"), 2.0]).nanmean().item()
    1.5

    Raises `DtypeError` for integers and bool, unless a float `dtype` is given.
    """
    x = to_float(self, dtype, "nanmean")
    wide = x.cast(accumulator(x.dtype))
    number = wide.eq(wide).sum(dim, keepdim)
    return (wide.nansum(dim, keepdim) / number.cast(wide.dtype)).cast(x.dtype)


@also(axis="dim")
def count_nonzero(self: Tensor, dim: Axes = None) -> Tensor:
    """The number of elements other than 0, as int64.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([0, 3, 5]).count_nonzero().item()
    2
    """
    return self.ne(0).sum(dim)


def var_mean(
    self: Tensor,
    dim: Axes = None,
    correction: float | None = 1,
    keepdim: bool = False,
    *,
    unbiased: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """`var` and `mean`. Shapes: (a, b) → (a,) each for `dim` -1; () for None.

    >>> [value.item() for value in Tensor([1.0, 2.0, 3.0]).var_mean()]
    [1.0, 2.0]
    """
    spread = self.var(dim, correction, keepdim, unbiased=unbiased)
    return spread, self.mean(None if isinstance(dim, bool) else dim, keepdim)


def std_mean(
    self: Tensor,
    dim: Axes = None,
    correction: float | None = 1,
    keepdim: bool = False,
    *,
    unbiased: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """`std` and `mean`. Shapes: (a, b) → (a,) each for `dim` -1; () for None.

    >>> [value.item() for value in Tensor([1.0, 2.0, 3.0]).std_mean()]
    [1.0, 2.0]
    """
    spread = self.std(dim, correction, keepdim, unbiased=unbiased)
    return spread, self.mean(None if isinstance(dim, bool) else dim, keepdim)


def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The slices along `dim`; a slice whose `norm` is above `maxnorm` is scaled down to it.

    Shapes: unchanged.

    >>> Tensor([[3.0, 4.0], [0.0, 1.0]]).renorm(2, 0, 1.0).norm(2, 1).round(decimals=5).tolist()
    [1.0, 1.0]
    """
    axis = to_axis(dim, self.ndim, "renorm")
    others = [other for other in range(self.ndim) if other != axis]
    lengths = self.norm(p, others, keepdim=True) if others else self.abs()
    return self.mul(where(lengths > maxnorm, maxnorm / (lengths + 1e-7), 1))


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum over the axes along which a tensor of `size` would be repeated to this shape.

    Shapes: (a, b) → (a, 1), (b,), ...

    >>> Tensor([[1, 2], [3, 4]]).sum_to_size(2, 1).tolist()
    [[3], [7]]

    Raises `ShapeError` when a tensor of `size` does not expand to this shape.
    """
    wanted = to_shape(size, "sum_to_size")
    missing = self.ndim - len(wanted)
    full = (1,) * missing + wanted
    if missing < 0 or any(n not in (1, own) for n, own in zip(full, self.shape, strict=True)):
        raise ShapeError(
            f"sum_to_size: shape {build.show(wanted)} does not expand to {build.show(self.shape)}"
        )
    axes = [axis for axis, n in enumerate(full) if n != self.shape[axis]]
    total = self.sum(axes, keepdim=True) if axes or not wanted else self.clone()
    return total.reshape(wanted)


@also(axis="dim")
def diff(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The n-th differences of neighbours along `dim`; for bool, whether neighbours differ.

    Shapes: (a,) → (a - n,), where `prepend` and `append` are joined to this tensor first.

    >>> Tensor([1, 3, 6]).diff().tolist()
    [2, 3]

    Raises `ArgumentError` for a negative `n`.
    """
    if to_integer(n, "diff: n") < 0:
        raise ArgumentError(f"diff: n is {n}, and cannot be negative")
    axis = to_axis(dim, self.ndim, "diff")
    around = [part for part in (prepend, self, append) if part is not None]
    x = cat(around, axis) if n and len(around) > 1 else self.clone()
    for _ in range(n):
        length = x.shape[axis]
        if length == 0:
            break
        high, low = x.narrow(axis, 1, length - 1), x.narrow(axis, 0, length - 1)
        x = high ^ low if x.dtype.is_bool else high - low
    return x


def cov(
    self: Tensor,
    *,
    correction: float = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariances of the rows, whose columns are observations.

    Shapes: (variables, observations) → (variables, variables); () for one variable. An
    observation counts `fweights` times and weighs `aweights`.

    >>> Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).cov().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]

    Raises `ShapeError` for more than 2 axes.
    """
    if self.ndim > 2:
        raise ShapeError(f"cov: shape {build.show(self.shape)} has more than 2 axes")
    dtype = inexact_dtype(addable_dtype(self.dtype, "cov"), "cov")
    x = self.cast(accumulator(dtype))
    if self.ndim < 2:
        x = x.reshape(1, x.numel())
    weights, freedom = _weights(x, fweights, aweights, correction)
    if weights is None:
        centred = weighted = x - x.mean(1, keepdim=True)
    else:
        centred = x - (x * weights).sum(1, keepdim=True) / weights.sum()
        weighted = centred * weights
    result = (weighted @ centred.T.conj() / freedom).cast(dtype)
    return result.reshape(()) if x.shape[0] == 1 else result


def corrcoef(self: Tensor) -> Tensor:
    """The correlations of the rows: `cov` over the products of the standard deviations.

    Shapes: (variables, observations) → (variables, variables); (observations,) → ().

    >>> Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).corrcoef().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    covariance = self.cov()
    if covariance.ndim == 0:
        return covariance / covariance
    variance = covariance.diagonal()
    deviation = (variance.real if variance.dtype.is_complex else variance).sqrt()
    correlations = covariance / deviation.unsqueeze(1) / deviation
    if correlations.dtype.is_complex:
        return complex(correlations.real.clamp(-1, 1), correlations.imag.clamp(-1, 1))
    return correlations.clamp(-1, 1)


def _weights(
    x: Tensor, fweights: Tensor | None, aweights: Tensor | None, correction: float
) -> tuple[Tensor | None, Tensor | float]:
    """The weight of each observation, if not 1, and the divisor of the sum of products."""
    given = [w.cast(x.dtype) for w in (fweights, aweights) if w is not None]
    if not given:
        count = x.shape[1]
        if isinstance(count, int):
            return None, max(count - correction, 0)
        return None, (to_tensor(count, x.device).cast(x.dtype) - correction).maximum(0)
    weights = given[0] if len(given) == 1 else given[0] * given[1]
    total = weights.sum()
    excess = total if aweights is None else (weights * given[-1]).sum()
    freedom = total - excess / total * correction
    return weights, (freedom.real if freedom.dtype.is_complex else freedom).maximum(0)


def _length(x: Tensor, p: float, dim: Axes, keepdim: bool) -> Tensor:
    if p == 2:
        return _root(x.square().sum(dim, keepdim), 2)
    if p == 0:
        number = x.ne(0).sum(dim, keepdim).cast(x.dtype)
        with graph_lock:
            return wrap(build.unmoved(number.node, x.node), x.device)
    size = x.abs()
    if p == 1:
        return size.sum(dim, keepdim)
    if math.isinf(p):
        return size.amax(dim, keepdim) if p > 0 else size.amin(dim, keepdim)
    if p < 0:  # a norm is 0 where an element is; that has the gradient 0 too
        nothing = size.eq(0)
        safe = where(nothing.any(dim, keepdim=True), 1, size)
        return where(nothing.any(dim, keepdim), 0, safe.pow(p).sum(dim, keepdim).pow(1 / p))
    return _root(size.pow(p).sum(dim, keepdim), p)


def _root(total: Tensor, p: float) -> Tensor:
    """total^(1/p), with the gradient at 0 defined as 0, so that a zero vector does not give NaN."""
    nothing = total.eq(0)
    safe = where(nothing, 1, total)
    return where(nothing, 0, safe.sqrt() if p == 2 else safe.pow(1 / p))
