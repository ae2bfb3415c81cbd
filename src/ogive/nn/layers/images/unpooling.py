"""The inverse of max pooling, and max pooling over windows at random steps."""

from __future__ import annotations

import math
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ShapeError
from ogive.random import rand
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device, to_entries
from ogive.tensor.creation.constructors import arange, zeros
from ogive.tensor.movement.sliding_windows import Numbers, per_axis, spatial_lengths
from ogive.tensor.neural.window_pooling import first_greatest, first_position
from ogive.tensor.tensor import Tensor


@widened
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put values back where `max_pool1d` found them; see `max_unpool2d`.

    Shapes: (batch, channels, places) → (batch, channels, length).

    >>> values, places = Tensor([[[1.0, 3.0, 2.0, 4.0]]]).max_pool1d(2, return_indices=True)
    >>> max_unpool1d(values, places, 2).tolist()
    [[[0.0, 3.0, 0.0, 4.0]]]
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


@widened
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put values back where `max_pool2d` found them, by its positions, with zeros elsewhere.

    Shapes: (batch, channels, places, places) → (batch, channels, h, w), the batch being optional.
    Several sizes pool to the same number of places. `output_size`, (h, w) or a whole shape, selects
    one; without it, a size is (places - 1) · stride - 2 · padding + kernel_size.

    >>> max_unpool2d(Tensor([[[7.0]]]), Tensor([[[2]]]), 2).tolist()
    [[[0.0, 0.0], [7.0, 0.0]]]

    Raises `ShapeError` unless `indices` have the shape of the input; `IndexRangeError` when
    computed, for a position outside.
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


@widened
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put values back where `max_pool3d` found them; see `max_unpool2d`.

    Shapes: (batch, channels, three times places) → (batch, channels, d, h, w).

    >>> max_unpool3d(Tensor([[[[7.0]]]]), Tensor([[[[2]]]]), (1, 1, 3)).tolist()
    [[[[0.0, 0.0, 7.0]]]]
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)


def _unpool(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, size: Any, axes: int
) -> Tensor:
    name = f"max_unpool{axes}d"
    places = spatial_lengths(x.shape, axes, name)
    if indices.shape != x.shape:
        raise ShapeError(f"{name}: indices have the shape {indices.shape}, the input {x.shape}")
    taps = per_axis(kernel_size, axes, f"{name}: kernel_size")
    same = stride is None or not to_entries(stride)
    strides = taps if same else per_axis(stride, axes, f"{name}: stride")
    pads = per_axis(padding, axes, f"{name}: padding", 0)
    lengths: Numbers = tuple([
        (count - 1) * step - 2 * pad + tap
        for count, step, pad, tap in zip(places, strides, pads, taps, strict=True)
    ])  # fmt: skip
    if size is not None:
        lengths = per_axis(tuple(size)[-axes:], axes, f"{name}: output_size")
    front = x.shape[:-axes]
    blank = zeros(*front, math.prod(lengths), dtype=x.dtype, device=memory_device(x))
    flat = blank.scatter(-1, indices.flatten(-axes), x.flatten(-axes))
    return flat.reshape(*front, *lengths)


@widened
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The maximum of each window. The steps between windows have two lengths, in random order.

    Shapes: (batch, channels, h, w) → (batch, channels, *output_size), the batch being optional;
    `output_ratio` is that size in parts of the length. `return_indices` gives the positions in the
    h · w image too. `_random_samples` (batch, channels, 2) are numbers of [0, 1) that say where the
    windows stand along w and h, else they are drawn.

    >>> fractional_max_pool2d(ogive.ones(1, 3, 8, 8), 2, output_size=(5, 5)).shape
    (1, 3, 5, 5)

    Raises `ArgumentError` unless one of size and ratio is given, `ShapeError` without room.
    """
    options = (kernel_size, output_size, output_ratio, return_indices)
    return _fractional(input, options, _random_samples, 2)


@widened
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The maximum of each window; see `fractional_max_pool2d`.

    Shapes: (batch, channels, d, h, w) → (batch, channels, *output_size).

    >>> fractional_max_pool3d(ogive.ones(1, 3, 4, 4, 4), 2, output_ratio=0.5).shape
    (1, 3, 2, 2, 2)
    """
    options = (kernel_size, output_size, output_ratio, return_indices)
    return _fractional(input, options, _random_samples, 3)


def _fractional(x: Tensor, options: tuple[Any, ...], samples: Tensor | None, axes: int) -> Any:
    kernel_size, size, ratio, return_indices = options
    name = f"fractional_max_pool{axes}d"
    lengths = spatial_lengths(x.shape, axes, name)
    if (size is None) == (ratio is None):
        raise ArgumentError(
            f"{name} takes either output_size or output_ratio; got {size} and {ratio}"
        )
    if size is None:
        parts = ratio if isinstance(ratio, tuple | list) else (ratio,) * axes
        size = [int(length * part) for length, part in zip(lengths, parts, strict=True)]
    taps = per_axis(kernel_size, axes, f"{name}: kernel_size")
    places = per_axis(size, axes, f"{name}: output_size")
    if any(p + t - 1 > n for p, t, n in zip(places, taps, lengths, strict=True)):
        raise ShapeError(
            f"{name}: lengths {lengths} have no room for {places} windows of {taps} at different "
            "places"
        )
    batch = x.unsqueeze(0) if x.ndim == axes + 1 else x
    front = batch.shape[:2]
    drawn = samples
    if drawn is None:
        drawn = rand(*front, axes, dtype=x.dtype, device=memory_device(x))
    flat = _window_positions(drawn, lengths, places, taps)
    values = batch.flatten(2).gather(2, flat.flatten(2)).reshape(flat.shape)
    windows = tuple(range(3, 3 + 2 * axes, 2))
    peaks = first_greatest(values, windows)
    shape = (*x.shape[:-axes], *places)
    if not return_indices:
        return peaks.reshape(shape)
    total = math.prod(lengths)
    position = first_position(values, peaks, flat, total).amin(windows)
    return peaks.reshape(shape), position.reshape(shape)


def _window_positions(
    drawn: Tensor, lengths: Numbers, places: Numbers, taps: Numbers
) -> Tensor:
    """(batch, channels, places, taps, places, taps[, places, taps]): positions in flat images."""
    axes, device = len(lengths), memory_device(drawn)
    total: Any = 0
    for axis, (length, count, width) in enumerate(zip(lengths, places, taps, strict=True)):
        # PyTorch draws for w before h, but for d before h before w.
        sample = drawn[..., 1 - axis if axes == 2 else axis].unsqueeze(-1)
        line = arange(count, dtype=dtypes.int64, device=device)
        step = (length - width) / (count - 1) if count > 1 else 0.0
        begin = ((sample + line) * step).trunc() - (sample * step).trunc()
        begin = begin.cast(dtypes.int64).where(line < count - 1, length - width)
        windows = begin.unsqueeze(-1) + arange(width, device=device)
        shape = [*drawn.shape[:2], *[1] * (2 * axes)]
        shape[2 + 2 * axis : 4 + 2 * axis] = [count, width]
        total = total * length + windows.reshape(shape)
    return total  # type: ignore[no-any-return]
