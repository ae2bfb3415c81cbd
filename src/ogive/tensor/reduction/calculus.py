"""Integrals and derivatives of sampled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, to_tensor
from ogive.tensor.movement.joining import cat

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral of y along `dim`, with y linear between its points.

    Shapes: (a, b) → (a,) for `dim` -1; `x`, the places of the points, is (b,) or broadcasts.
    Without `x` the points are `dx` apart.

    >>> ogive.trapezoid(Tensor([1.0, 2.0, 4.0])).item()
    4.5

    Raises `ShapeError` when `x` does not fit.
    """
    axis = to_axis(dim, y.ndim, "trapezoid")
    return y.sum(axis) if y.shape[axis] == 0 else _areas(y, x, dx, axis, "trapezoid").sum(axis)


trapz = trapezoid


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1
) -> Tensor:
    """The integrals of y from its first point to each of the others. See `trapezoid`.

    Shapes: (a, b) → (a, b - 1) for `dim` -1.

    >>> ogive.cumulative_trapezoid(Tensor([1.0, 2.0, 4.0])).tolist()
    [1.5, 4.5]
    """
    axis = to_axis(dim, y.ndim, "cumulative_trapezoid")
    if y.shape[axis] == 0:
        return y.cumsum(axis)
    return _areas(y, x, dx, axis, "cumulative_trapezoid").cumsum(axis)


def gradient(
    x: Tensor,
    *,
    spacing: Any = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> list[Tensor]:
    """The derivative of x along each of `dim`, or along all axes, exact for parabolas inside.

    Shapes: a tensor like x per axis. `spacing` is the distance of the points, one for all axes (1
    by default) or one for each axis, or tensors with their places. At the ends the derivative is
    exact for lines, or with `edge_order` 2 for parabolas.

    >>> ogive.gradient(Tensor([1.0, 4.0, 9.0, 16.0]))[0].tolist()
    [3.0, 4.0, 6.0, 7.0]

    Raises `ShapeError` for an axis of `edge_order` points or fewer, `ArgumentError` when `spacing`
    is not for as many axes.
    """
    if edge_order not in (1, 2):
        raise ArgumentError(f"gradient: edge_order is 1 or 2, got {edge_order!r}")
    given = range(x.ndim) if dim is None else dim if isinstance(dim, Sequence) else [dim]
    axes = [to_axis(axis, x.ndim, "gradient") for axis in given]
    spacings = list(spacing) if isinstance(spacing, tuple | list) else [spacing] * len(axes)
    if len(spacings) != len(axes):
        raise ArgumentError(f"gradient: {len(spacings)} spacings are given for {len(axes)} axes")
    return [_slope(x, axis, step, edge_order) for axis, step in zip(axes, spacings, strict=True)]


def _areas(y: Tensor, x: Tensor | None, dx: float, axis: int, name: str) -> Tensor:
    """The area between neighbouring points, in a dtype that can hold sums of narrow integers."""
    y = y.cast(dtypes.int64) if y.dtype.is_integer else y
    sums = _after(y, axis) + _before(y, axis)
    if x is None:
        return sums * (dx / 2)
    points = _along(x, axis, y.ndim)
    if points.shape[axis] != y.shape[axis]:
        raise ShapeError(
            f"{name}: x has the shape {build.show(x.shape)}, and y {build.show(y.shape)}; along "
            "the axis they must be equal"
        )
    return sums * (_after(points, axis) - _before(points, axis)) / 2


def _slope(x: Tensor, axis: int, spacing: Any, order: int) -> Tensor:
    """The derivative along one axis, from each point and its two neighbours."""
    size = x.shape[axis]
    if size <= order:
        raise ShapeError(
            f"gradient: axis {axis} of shape {build.show(x.shape)} has {size} points; an "
            f"edge_order of {order} needs {order + 1}"
        )
    rise = _after(x, axis) - _before(x, axis)
    left: Any
    right: Any
    if isinstance(spacing, Core):
        points = _along(to_tensor(spacing), axis, x.ndim)
        width = _after(points, axis) - _before(points, axis)
        slopes, left, right = rise / width, _before(width, axis), _after(width, axis)
    else:
        left = right = 1.0 if spacing is None else float(spacing)
        slopes = rise / left
    parts = [slopes.narrow(axis, 0, 1), slopes.narrow(axis, size - 2, 1)]
    if size > 2:
        bend = (_after(slopes, axis) - _before(slopes, axis)) / (left + right)
        if order == 2:
            parts[0] = parts[0] - (bend * left).narrow(axis, 0, 1)
            parts[1] = parts[1] + (bend * right).narrow(axis, size - 3, 1)
        parts.insert(1, _before(slopes, axis) + bend * left)
    return cat(parts, axis)


def _along(x: Tensor, axis: int, rank: int) -> Tensor:
    """A vector placed along an axis of a tensor; a tensor of more axes is unchanged."""
    if x.ndim == 1:
        return x.reshape(*[1] * axis, x.shape[0], *[1] * (rank - axis - 1))
    return x.reshape(*[1] * (rank - x.ndim), *x.shape)


def _before(x: Tensor, axis: int) -> Tensor:
    return x.narrow(axis, 0, x.shape[axis] - 1)


def _after(x: Tensor, axis: int) -> Tensor:
    return x.narrow(axis, 1, x.shape[axis] - 1)
