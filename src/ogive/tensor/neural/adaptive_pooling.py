"""Pooling to a given number of windows: window i of n is ⌊i·length/n⌋ to ⌈(i+1)·length/n⌉."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compiler.live.registry import graph_lock
from ogive.errors import ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.pairwise import only_floats
from ogive.tensor.movement.joining import where
from ogive.tensor.movement.sliding_windows import Numbers, per_axis, spatial_lengths
from ogive.tensor.neural.window_pooling import Pooled, first_greatest, first_position
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.log_sum_exp import widen

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
def adaptive_avg_pool1d(self: Tensor, output_size: Any) -> Tensor:
    """The averages of `output_size` windows; see `adaptive_avg_pool2d`.

    Shapes: (batch, channels, length) → (batch, channels, output_size).

    >>> Tensor([[[1.0, 2.0, 3.0]]]).adaptive_avg_pool1d(2).tolist()
    [[[1.5, 2.5]]]
    """
    return _averages(self, output_size, 1)


@outlined
def adaptive_avg_pool2d(self: Tensor, output_size: Any) -> Tensor:
    """The averages of windows that cover the input, `output_size` of them along each axis.

    Shapes: (batch, channels, h, w) → (batch, channels, *output_size), the batch being
    optional; a None in `output_size` keeps the length.

    >>> ogive.ones(1, 3, 7, 7).adaptive_avg_pool2d((1, None)).shape
    (1, 3, 1, 7)

    Raises `ShapeError` for an axis without elements.
    """
    return _averages(self, output_size, 2)


@widened
def adaptive_avg_pool3d(self: Tensor, output_size: Any) -> Tensor:
    """The averages of windows that cover the input; see `adaptive_avg_pool2d`.

    Shapes: (batch, channels, d, h, w) → (batch, channels, *output_size).

    >>> ogive.ones(1, 3, 4, 4, 4).adaptive_avg_pool3d(3).shape
    (1, 3, 3, 3, 3)
    """
    return _averages(self, output_size, 3)


def adaptive_max_pool1d(self: Tensor, output_size: Any, return_indices: bool = False) -> Pooled:
    """The greatest values of `output_size` windows; see `adaptive_max_pool2d`.

    Shapes: (batch, channels, length) → (batch, channels, output_size).

    >>> Tensor([[[1.0, 2.0, 3.0]]]).adaptive_max_pool1d(2).tolist()
    [[[2.0, 3.0]]]
    """
    return _greatest(self, output_size, return_indices, 1)


def adaptive_max_pool2d(self: Tensor, output_size: Any, return_indices: bool = False) -> Pooled:
    """The greatest values of windows that cover the input, `output_size` along each axis.

    Shapes: (batch, channels, h, w) → (batch, channels, *output_size), the batch being
    optional. `return_indices` gives their positions in the h · w image too, as int64.

    >>> ogive.ones(1, 3, 7, 7).adaptive_max_pool2d(2).shape
    (1, 3, 2, 2)

    Raises `ShapeError` for an axis without elements.
    """
    return _greatest(self, output_size, return_indices, 2)


@widened
def adaptive_max_pool3d(self: Tensor, output_size: Any, return_indices: bool = False) -> Pooled:
    """The greatest values of windows that cover the input; see `adaptive_max_pool2d`.

    Shapes: (batch, channels, d, h, w) → (batch, channels, *output_size).

    >>> ogive.ones(1, 3, 4, 4, 4).adaptive_max_pool3d(3).shape
    (1, 3, 3, 3, 3)
    """
    return _greatest(self, output_size, return_indices, 3)


def _averages(x: Tensor, output_size: Any, axes: int) -> Tensor:
    name = f"adaptive_avg_pool{axes}d"
    sizes = _to_sizes(x, output_size, axes, name)
    wide, dtype = widen(x, name)
    for axis, size in zip(range(x.ndim - axes, x.ndim), sizes, strict=True):
        parts, counts = _cut(wide, axis, size, 0)
        wide = parts.sum(axis + 1) / counts
    return wide.cast(dtype)


def _greatest(x: Tensor, output_size: Any, return_indices: bool, axes: int) -> Pooled:
    name = f"adaptive_max_pool{axes}d"
    sizes = _to_sizes(x, output_size, axes, name)
    values = x.cast(x.dtype)
    lengths = x.shape[-axes:]
    total = math.prod(lengths)
    with graph_lock:
        line = build.reshape(build.count(total), (*(1,) * (x.ndim - axes), *lengths))
        positions = wrap(build.expand(line, x.shape), x.device)
    # The last axis first, so that of equal elements the first in the image is found.
    for axis, size in reversed(list(zip(range(x.ndim - axes, x.ndim), sizes, strict=True))):
        values, _ = _cut(values, axis, size, -math.inf)
        peaks = first_greatest(values, (axis + 1,))
        if return_indices:
            positions, _ = _cut(positions, axis, size, total)
            positions = first_position(values, peaks, positions, total).amin(axis + 1)
        values = peaks.squeeze(axis + 1)
    return (values, positions) if return_indices else values


def _cut(x: Tensor, axis: int, size: int, fill: float) -> tuple[Tensor, Any]:
    """One axis as (windows, elements), with `fill` outside each window; and the window sizes.

    Windows of equal size are a reshape. Otherwise each row is the whole axis, masked.
    """
    shape = x.shape
    length = shape[axis]
    if size and length % size == 0:
        each = length // size
        return x.reshape(*shape[:axis], size, each, *shape[axis + 1 :]), each
    with graph_lock:
        place = wrap(build.count(size), x.device).unsqueeze(1)
        position = wrap(build.count(length), x.device)
    begin = (place * length).floor_divide(max(size, 1))
    end = ((place + 1) * length + (size - 1)).floor_divide(max(size, 1))
    inside = (begin <= position) & (position < end)
    after = (1,) * (len(shape) - axis - 1)
    parts = where(inside.reshape(size, length, *after), x.unsqueeze(axis), fill)
    return parts, (end - begin).reshape(size, *after)


def _to_sizes(x: Core, output_size: Any, axes: int, name: str) -> Numbers:
    only_floats(x.dtype, name)
    lengths = spatial_lengths(x.shape, axes, name)
    if 0 in lengths:
        raise ShapeError(
            f"{name}: input has the shape {build.show(x.shape)}; only the batch may be empty"
        )
    sizes = output_size if isinstance(output_size, tuple | list) else (output_size,) * axes
    if len(sizes) == axes:
        filled = zip(sizes, lengths, strict=True)
        sizes = [length if size is None else size for size, length in filled]
    return per_axis(tuple(sizes), axes, f"{name}: output_size", 0)
