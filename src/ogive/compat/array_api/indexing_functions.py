"""Indexing functions."""

from __future__ import annotations

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ShapeError
from ogive.tensor.tensor import Tensor


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements at positions along an axis.

    Shapes: (a, b, c) with (n,) → (a, n, c) for `axis` 1, and likewise for indices of any shape.

    >>> ogive.take(Tensor([[1, 2], [3, 4]]), Tensor([1, 0]), axis=1).tolist()
    [[2, 1], [4, 3]]

    Raises `ShapeError` without `axis` unless x has one axis.
    """
    own, positions = to_array(x, "take"), to_array(indices, "take")
    if axis is None:
        if own.ndim != 1:
            raise ShapeError(f"take: shape {own.shape} has {own.ndim} axes; say which with axis")
        axis = 0
    moved = own.movedim(axis, 0)[positions]
    places = tuple(range(positions.ndim))
    targets = tuple([place + axis % own.ndim for place in places])
    return moved.movedim(places, targets) if places else moved


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at positions along an axis, with positions of their own for every line.

    Shapes: (a, b) with (a, n) → (a, n) for `axis` -1; the other axes broadcast.

    >>> ogive.take_along_axis(Tensor([[10, 20], [30, 40]]), Tensor([[1], [0]])).tolist()
    [[20], [30]]
    """
    positions = to_array(indices, "take_along_axis").cast(dtypes.int64)
    return to_array(x, "take_along_axis").take_along_dim(positions, axis)
