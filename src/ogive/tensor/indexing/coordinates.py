"""Coordinates of positions in the flat tensor, and of elements that are not zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError
from ogive.tensor.core import memory_device, to_integer, to_shape
from ogive.tensor.creation.constructors import arange, full
from ogive.tensor.indexing.scattering import to_index
from ogive.tensor.movement.joining import stack, where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, in a tensor of this shape, of positions in its flat tensor.

    Shapes: (...) of integers → (...) of int64 for each axis of `shape`. Positions are not checked:
    the first coordinate goes round.

    >>> [axis.tolist() for axis in ogive.unravel_index(Tensor([4, 1]), (2, 3))]
    [[1, 0], [1, 1]]

    Raises `DtypeError` for positions that are no integers.
    """
    # In int64 for all positions: strides of rows need not fit into a narrow dtype.
    to_index(indices, "unravel_index")
    positions = indices.cast(dtypes.int64)
    sizes = to_shape((shape,), "unravel_index")
    steps = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    return tuple([
        positions.div(step, rounding_mode="floor").remainder(size)
        for size, step in zip(sizes, steps, strict=True)
    ])  # fmt: skip


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The coordinates of the first `size` elements that are not zero, as int64.

    Shapes: any tensor of n axes → (size, n); rows without an element hold `fill_value`. Lazy, since
    the shape does not depend on the values, unlike that of `nonzero`.

    >>> ogive.nonzero_static(Tensor([0, 5, 0, 7]), size=3).tolist()
    [[1], [3], [-1]]

    Raises `ArgumentError` for a negative size.
    """
    count = to_integer(size, "nonzero_static: size")
    if count < 0:
        raise ArgumentError(f"nonzero_static: size is {count}, and cannot be negative")
    total = math.prod(input.shape)
    if not total or not count or not input.ndim:
        return full(
            (count, input.ndim), fill_value, dtype=dtypes.int64, device=memory_device(input)
        )
    mask = input.reshape(-1).ne(0)
    place = mask.cumsum(0) - 1
    # An additional row takes the elements beyond `size` and the zeros.
    row = where(mask & (place < count), place, count)
    blank = full((count + 1,), -1, dtype=dtypes.int64, device=memory_device(input))
    positions = arange(total, device=memory_device(input))
    first = blank.scatter(0, row, where(row < count, positions, -1))[:count]
    axes = unravel_index(first, input.shape)
    return where(first.unsqueeze(1) < 0, fill_value, stack(axes, 1))
