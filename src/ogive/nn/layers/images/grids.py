"""Sample images at arbitrary places: `grid_sample`, and the grids of affine maps.

All modes are one gather. Along each axis a place has as many taps as the mode weighs (one, two or
four); the taps of all axes together are further axes of the positions, and go by a weighted sum:

    (batch, places) → positions (batch, places, taps, taps) → values (batch, channels, places)
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import arange, ones_like
from ogive.tensor.losses.regression import meet_floats
from ogive.tensor.method_functions import created, open_to_eager
from ogive.tensor.movement.joining import stack, where
from ogive.tensor.neural.resize import cubic_kernel
from ogive.tensor.tensor import Tensor

OFFSETS = {"bilinear": (0, 1), "nearest": (0,), "bicubic": (-1, 0, 1, 2)}
"""For each mode, the pixels that it weighs along an axis, counted from the one below a place."""

PADDINGS = ("zeros", "border", "reflection")


@open_to_eager
@widened
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """The values of images at the places of a grid, interpolated between pixels.

    Shapes: (batch, channels, h, w) with grid (batch, places, places, 2) → (batch, channels, places,
    places). Volumes have places of 3 coordinates. A place is (x, y[, z]), from -1 at one edge of
    the image to 1 at the other; with `align_corners`, the edges are the centres of the outer
    pixels. `mode` is "bilinear", "nearest" or, for images, "bicubic". Outside of the image,
    `padding_mode` "zeros" gives 0, "border" the nearest pixel, "reflection" the mirrored image.

    >>> image = Tensor([[[[1.0, 3.0]]]])
    >>> grid_sample(image, Tensor([[[[0.0, 0.0]]]])).item()
    2.0

    Raises `ShapeError` unless the grid fits, `ArgumentError` for another mode.
    """
    axes = _check(input, grid, mode, padding_mode)
    (x, places), dtype = meet_floats("grid_sample", input=input, grid=grid)
    lengths = x.shape[2:]
    rank = places.ndim - 1
    position: Any = 0
    weight: Any = None
    for axis, length in enumerate(lengths):
        place = _to_pixels(places[..., axes - 1 - axis], length, align_corners)
        taps, share = _along(place, length, mode, padding_mode, align_corners)
        spread = [1] * axes
        spread[axis] = taps.shape[-1]
        shape = (*place.shape, *spread)
        position = position * length + taps.reshape(shape)
        part = share.reshape(shape)
        weight = part if weight is None else weight * part
    batch, channels = x.shape[:2]
    count = math.prod(position.shape[1:])
    index = position.reshape(batch, 1, count).expand(batch, channels, count)
    values = x.flatten(2).gather(2, index).reshape(batch, channels, *position.shape[1:])
    total: Tensor = (values * weight.unsqueeze(1)).sum(tuple(range(rank + 1, rank + 1 + axes)))
    return total.cast(dtype)


@open_to_eager
def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """The grid for `grid_sample` that maps places by affine maps.

    Shapes: theta (batch, 2, 3) with size (batch, channels, h, w) → (batch, h, w, 2); (batch, 3, 4)
    with (batch, channels, d, h, w) → (batch, d, h, w, 3).

    >>> unit = Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> affine_grid(unit, (1, 1, 1, 2)).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]

    Raises `ShapeError` unless `theta` fits `size`.
    """
    batch, _, *lengths = size
    axes = len(lengths)
    if axes not in (2, 3) or theta.shape != (batch, axes, axes + 1):
        raise ShapeError(
            f"affine_grid: theta has the shape {theta.shape} for size={tuple(size)}; expected "
            f"({batch}, {axes}, {axes + 1}), with 2 or 3 axes of space"
        )
    (maps,), dtype = meet_floats("affine_grid", theta=theta)
    grid = maps[:, :, axes].reshape(batch, *[1] * axes, axes)
    for axis, length in enumerate(lengths):
        line = (_line(0, length, maps) * 2 - (length - 1)) / (
            max(length - 1, 1) if align_corners else length
        )
        column = maps[:, :, axes - 1 - axis].reshape(batch, *[1] * axes, axes)
        grid = grid + line.reshape(-1, *[1] * (axes - axis)) * column
    return grid.cast(dtype)


def _line(start: int, end: int, like: Tensor) -> Tensor:
    """The integers from `start` to `end`; eager if `like` is."""
    if like.is_eager:
        line: Tensor = created(Tensor, numpy.arange(start, end, dtype=like.dtype.numpy))
        return line
    return arange(start, end, dtype=like.dtype, device=memory_device(like))


def _check(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> int:
    """Check the arguments of `grid_sample`. Returns the number of spatial axes."""
    axes = input.ndim - 2
    if mode not in OFFSETS or padding_mode not in PADDINGS:
        raise ArgumentError(
            f"grid_sample: mode must be one of {', '.join(OFFSETS)}, padding_mode one of "
            f"{', '.join(PADDINGS)}; got {mode!r} and {padding_mode!r}"
        )
    if mode == "bicubic" and axes == 3:
        raise ArgumentError("grid_sample: mode 'bicubic' takes images, not volumes")
    expected = (input.shape[0], axes)
    if axes not in (2, 3) or grid.ndim != axes + 2 or (grid.shape[0], grid.shape[-1]) != expected:
        raise ShapeError(
            f"grid_sample: input has the shape {input.shape} and grid {grid.shape}; expected "
            "(batch, channels, h, w) with (batch, ..., ..., 2), or an axis more with 3"
        )
    return axes


def _to_pixels(place: Tensor, length: int, align_corners: bool) -> Tensor:
    """Places from -1 to 1 in units of pixels, whose centres are at 0, 1, ..."""
    if align_corners:
        return (place + 1) * ((length - 1) / 2)
    return ((place + 1) * length - 1) * 0.5


def _along(
    place: Tensor, length: int, mode: str, padding_mode: str, align_corners: bool
) -> tuple[Tensor, Tensor]:
    """The positions of the taps along one axis, and their weights: (..., taps) both."""
    if mode != "bicubic":
        place = _padded(place, length, padding_mode, align_corners)
    base = place.round() if mode == "nearest" else place.floor()
    offsets = OFFSETS[mode]
    tap = base.unsqueeze(-1) + _line(offsets[0], offsets[-1] + 1, place)
    fraction = place - base.detach()
    if mode == "nearest":
        weight = ones_like(tap)
    elif mode == "bilinear":
        weight = stack([1 - fraction, fraction], -1)
    else:
        weight = stack([cubic_kernel((fraction - offset).abs(), -0.75) for offset in offsets], -1)
        tap = _padded(tap, length, padding_mode, align_corners).round()
    if padding_mode == "zeros":
        weight = where((tap >= 0) & (tap <= length - 1), weight, 0.0)
    # Cast before the clamp, so that NaN becomes an integer in range, too.
    return tap.detach().cast(dtypes.int64).clamp(0, length - 1), weight


def _padded(place: Tensor, length: int, padding_mode: str, align_corners: bool) -> Tensor:
    """Places moved into the image, by the padding mode; "zeros" leaves them."""
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        low, span = (0.0, length - 1.0) if align_corners else (-0.5, float(length))
        if span == 0:
            return place * 0
        wave = (place - low).remainder(2 * span)
        place = where(wave > span, 2 * span - wave, wave) + low
    return place.clamp(0, length - 1)
