"""Views given by strides, as other libraries have them, expressed as movements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.compiler.ir.shape import row_major_strides

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def span_of(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The number of elements from the first to the last that a view shows, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def strided(flat: Tensor, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
    """The view of `flat` whose element (i, j, ...) is `flat[i·strides[0] + j·strides[1] + ...]`.

    `flat` has the length of the view's span; strides are in elements and not negative. A layout
    that is row-major after permuting its axes becomes a reshape and a permutation, and so stays on
    `DISK`. Gaps are cut out, and axes may overlap.

    >>> from ogive.tensor.memory.strided_views import strided
    >>> strided(ogive.arange(6), (3, 2), (1, 3)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    >>> strided(ogive.arange(4), (3, 2), (1, 1)).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    if 0 in shape or list(strides) == row_major_strides(shape):
        return flat.reshape(tuple(shape))
    moving = [axis for axis, size in enumerate(shape) if size > 1 and strides[axis] > 0]
    moving.sort(key=lambda axis: -strides[axis])
    span = span_of(shape, strides)
    view = flat
    for axis in moving:
        span -= (shape[axis] - 1) * strides[axis]
        view = _split(view, shape[axis], strides[axis], span)
    present = [shape[axis] for axis in moving]
    view = view.reshape(*present)
    order = sorted(range(len(moving)), key=lambda position: moving[position])
    if len(order) > 1:
        view = view.permute(*order)
    view = view.reshape(*[size if axis in moving else 1 for axis, size in enumerate(shape)])
    return view.expand(*shape) if shape else view


def _split(view: Tensor, size: int, stride: int, rest: int) -> Tensor:
    """The last axis as (size, rest): windows of `rest` elements, `stride` apart."""
    *outer, length = view.shape
    kept = [(0, each) for each in outer]
    row = stride
    if rest > stride:
        # Windows overlap. If the axis is repeated end to end, rows that are longer by a stride
        # begin one stride later each.
        row = length + stride
        times = -(-size * row // length)
        view = view.reshape(*outer, 1, length).expand(*outer, times, length)
        view = view.reshape(*outer, times * length)
    missing = size * row - view.shape[-1]
    if missing > 0:
        view = view.pad([*[(0, 0) for _ in outer], (0, missing)])
    elif missing < 0:
        view = view.shrink([*kept, (0, size * row)])
    view = view.reshape(*outer, size, row)
    return view.shrink([*kept, (0, size), (0, rest)])
