"""Views given by strides, as other libraries have them, expressed as movements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.ir.shape import row_major_strides

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def span_of(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The number of elements from the first to the last that a view shows, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def strided(flat: Tensor, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
    """Return the view of `flat` with `flat[i·strides[0] + j·strides[1] + ...]` at (i, j, ...).

    `flat` is as long as the span of the view. Strides count elements and are not negative. A layout
    that is row-major but for the order of its axes becomes a reshape and a permutation, and so
    stays on `DISK`. Layouts may have gaps, and their axes may overlap.

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
    window = span_of(shape, strides)
    view = flat
    for axis in moving:
        window -= (shape[axis] - 1) * strides[axis]
        view = _split(view, shape[axis], strides[axis], window)
    view = view.reshape(*[shape[axis] for axis in moving])
    order = sorted(range(len(moving)), key=lambda position: moving[position])
    if len(order) > 1:
        view = view.permute(*order)
    view = view.reshape(*[size if axis in moving else 1 for axis, size in enumerate(shape)])
    return view.expand(*shape) if shape else view


def _split(view: Tensor, size: int, stride: int, window: int) -> Tensor:
    """Split the last axis into (size, window): windows that begin `stride` elements apart."""
    *outer, length = view.shape
    kept = [(0, each) for each in outer]
    row = stride
    if window > stride:
        # The windows overlap. Repeat the line end to end and cut the copies into rows that are
        # longer than it by a stride: then each row begins a stride later in the line.
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
    return view.shrink([*kept, (0, size), (0, window)])
