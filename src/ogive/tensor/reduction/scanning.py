"""Scans: running sums, products and extremes along an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.live.registry import graph_lock
from ogive.errors import DtypeError
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, wrap
from ogive.tensor.elementwise.binary_operations import any_dtype, field_dtype
from ogive.tensor.gradients.known_gradients import Back, with_gradient
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.basic_reductions import Extremes, to_summand

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
@also(axis="dim")
def cumsum(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The sum of the elements up to each one along `dim`: yᵢ = x₀ + … + xᵢ.

    Shapes: any, and the result has the same. Integers and bool add up in int64 unless `dtype`
    says otherwise; floats inside in twice their width.

    >>> Tensor([[1, 2, 3], [4, 5, 6]]).cumsum(1).tolist()
    [[1, 3, 6], [4, 9, 15]]

    Raises `AxisError` if there is no such axis.
    """
    return _accumulate(self, Op.ADD, dim, dtype, "cumsum")


@outlined
@also(axis="dim")
def cumprod(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The product of the elements up to each one along `dim`, in the dtypes of `cumsum`.

    Shapes: any, and the result has the same.

    >>> Tensor([1, 2, 3, 4]).cumprod(0).tolist()
    [1, 2, 6, 24]

    Raises `AxisError` if there is no such axis.
    """
    return _accumulate(self, Op.MUL, dim, dtype, "cumprod")


@also(axis="dim")
def cummax(self: Tensor, dim: int) -> Extremes:
    """The greatest element up to each one along `dim`, and its last position.

    Shapes: any, and `values` and `indices` (of int64) have the same. NaN counts as the
    greatest.

    >>> Tensor([1, 3, 2, 3]).cummax(0).values.tolist()
    [1, 3, 3, 3]
    >>> Tensor([1, 3, 2, 3]).cummax(0).indices.tolist()
    [0, 1, 1, 3]

    Raises `AxisError` if there is no such axis.
    """
    return _extremes(self, Op.MAXIMUM, dim, "cummax")


@also(axis="dim")
def cummin(self: Tensor, dim: int) -> Extremes:
    """The least element up to each one along `dim`, and its last position.

    Shapes: any, and `values` and `indices` (of int64) have the same. NaN counts as the least.

    >>> Tensor([3, 1, 2]).cummin(0).values.tolist()
    [3, 1, 1]

    Raises `AxisError` if there is no such axis.
    """
    return _extremes(self, Op.MINIMUM, dim, "cummin")


@also(axis="dim")
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """log(e^x₀ + … + e^xᵢ) for each i along `dim`, without overflow.

    Shapes: any, and the result has the same. Computed by doubling: each of log₂ n steps doubles
    the number of elements that every result includes.

    >>> Tensor([-1000.0, 1000.0, 0.0]).logcumsumexp(0).tolist()
    [-1000.0, 1000.0, 1000.0]

    Raises `DtypeError` for other dtypes than floats, `AxisError` if there is no such axis.
    """
    if not field_dtype(self.dtype, "logcumsumexp").is_inexact:
        raise DtypeError(f"logcumsumexp takes floats, not {self.dtype.name}; cast it first")
    axis = to_axis(dim, max(self.ndim, 1), "logcumsumexp")
    x = self.cast(dtypes.float32) if self.dtype in build.WIDENED else self.cast(self.dtype)
    if not self.ndim:
        return x.clone().cast(self.dtype)
    if x.dtype.is_complex:
        return _log_sums(x, axis)
    return with_gradient(_log_sums(x, axis), x, _log_sums_back(axis)).cast(self.dtype)


def _log_sums(x: Tensor, axis: int) -> Tensor:
    total = x
    reach = 1
    while reach < greatest(x.shape[axis]):
        total = total.logaddexp(_moved(total, axis, reach, -math.inf)).contiguous()
        reach *= 2
    return total


def _log_sums_back(axis: int) -> Back:
    """The gradient of `_log_sums`, y: e^(xⱼ - yⱼ) · Σ upstreamᵢ·e^(yⱼ - yᵢ) over i ≥ j.

    No exponent is above zero, since y never falls. The sums are made by doubling, as y is; what is
    computed is linear in `upstream`, so that it has gradients of its own also where that is zero.
    """

    def back(x: Tensor, upstream: Tensor) -> Tensor:
        total = x.logcumsumexp(axis)
        sums = upstream
        reach = 1
        while reach < greatest(x.shape[axis]):
            following = _moved(total, axis, -reach, math.inf)
            share = where(total.eq(following), 1.0, (total - following).exp())  # ∞ - ∞ among them
            sums = (sums + share * _moved(sums, axis, -reach, 0.0)).contiguous()
            reach *= 2
        return (x - total).exp() * sums

    return back


def _accumulate(x: Core, op: Op, dim: int, dtype: Any, name: str) -> Tensor:
    with graph_lock:
        node = to_summand(x.node, dtype, name)
        axis = to_axis(dim, max(len(node.shape), 1), name)
        if op is Op.MUL and node.dtype.is_complex and node.shape:
            from ogive.tensor.elementwise import complex_numbers

            return complex_numbers.running_product(wrap(node, x.device), axis)
        return wrap(build.scan(node, op, axis) if node.shape else node, x.device)


def _extremes(x: Tensor, op: Op, dim: int, name: str) -> Extremes:
    axis = to_axis(dim, max(x.ndim, 1), name)
    with graph_lock:
        node = x.node
        any_dtype(node.dtype, name)
        if not node.shape:
            return Extremes(wrap(node, x.device), wrap(build.constant(dtypes.int64, 0), x.device))
        values = wrap(build.scan(node, op, axis), x.device)
        position = wrap(build.count_along(axis, node.shape), x.device)
    is_extreme = values.eq(x)
    if x.dtype.is_float:
        is_extreme = is_extreme | x.isnan()
    last = where(is_extreme, position, 0)
    with graph_lock:
        return Extremes(values, wrap(build.scan(last.node, Op.MAXIMUM, axis), x.device))


def _moved(x: Tensor, axis: int, distance: int, fill: float) -> Tensor:
    """Each element `distance` further along an axis, and `fill` where none comes from."""
    with graph_lock:
        shape = x.node.shape
        pads = tuple([
            (max(distance, 0), max(-distance, 0)) if i == axis else (0, 0)
            for i in range(len(shape))
        ])  # fmt: skip
        padded = build.pad(x.node, pads, fill)
        bounds = tuple([
            (max(-distance, 0), max(-distance, 0) + size) if i == axis else (0, size)
            for i, size in enumerate(shape)
        ])  # fmt: skip
        return wrap(build.shrink(padded, bounds), x.device)
