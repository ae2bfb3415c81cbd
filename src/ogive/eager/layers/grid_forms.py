"""Forms of `affine_grid` and `grid_sample`, which sample images at arbitrary places.

They round as PyTorch does, because rounding decides gradients here. A spatial transformer starts
from the identity map, whose places are the centres of pixels. There the gradient has two possible
values, one for each side.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.shapes.adding import add_at
from ogive.eager.training.new_tensors import linspace
from ogive.nn.layers.images import grids as plain


def _base(lengths: list[int], align_corners: bool, dtype: Any) -> Any:
    """The places of the pixels, each with a 1 appended. Shape: (pixels, axes + 1)."""
    base = numpy.ones((*lengths, len(lengths) + 1), dtype)
    for axis, length in enumerate(lengths):
        line = linspace(-1, 1, length, dtype=dtype) if length > 1 else numpy.zeros(1, dtype)
        if not align_corners:
            line = line * dtype.type(length - 1) / dtype.type(length)
        spread = [1] * len(lengths)
        spread[axis] = length
        base[..., len(lengths) - 1 - axis] = line.reshape(spread)
    return base.reshape(-1, len(lengths) + 1)


def _pixels(theta: Any, size: Any, align_corners: Any) -> tuple[list[int], Any]:
    lengths = [int(length) for length in size][2:]
    axes = len(lengths)
    if theta.dtype.kind != "f" or axes not in (2, 3) or min(lengths) < 1:
        raise Refused
    if theta.shape != (size[0], axes, axes + 1):
        raise Refused
    check_size((len(theta), *lengths, axes))
    return lengths, _base(lengths, bool(align_corners), theta.dtype)


@form(plain.affine_grid)
def affine_grid(theta: Any, size: Any, align_corners: Any = False) -> Any:
    """The grid that maps places by affine maps."""
    lengths, base = _pixels(theta, size, align_corners)
    places = numpy.matmul(base, theta.swapaxes(1, 2))
    return places.reshape(len(theta), *lengths, len(lengths))


@gradient(affine_grid)
def _affine_grid(given: Any, out: Any, theta: Any, size: Any, align_corners: Any = False) -> Any:
    _, base = _pixels(theta, size, align_corners)
    rows = given.reshape(len(theta), len(base), -1)
    return (numpy.matmul(rows.swapaxes(1, 2), base),)


def _to_pixels(place: Any, length: int, align_corners: bool) -> Any:
    """Places from -1 to 1 in units of pixels, with two roundings, as in PyTorch."""
    moved = place + place.dtype.type(1)
    if align_corners:
        return moved * place.dtype.type((length - 1) / 2)
    return (moved.astype(numpy.float64) * (length / 2) - 0.5).astype(place.dtype)


class _Corners:
    """The four pixels around each place, and their weights."""

    def __init__(self, x: Any, grid: Any, padding_mode: str, align_corners: bool) -> None:
        self.shape = x.shape
        is_held = padding_mode == "border"
        self.scales, self.shares, self.pixels, self.inside, self.free = [], [], [], [], []
        for axis in (0, 1):
            length = x.shape[2 + axis]
            place = _to_pixels(grid[..., 1 - axis], length, align_corners)
            held = place.clip(0, length - 1) if is_held else place
            below = numpy.floor(held)
            if not numpy.isfinite(below).all() or numpy.abs(below).max(initial=0) > 1 << 30:
                raise Refused
            self.shares.append(held - below)
            first = below.astype(numpy.int64)
            pair = (first, first + 1)
            self.inside.append([(each >= 0) & (each < length) for each in pair])
            self.pixels.append([each.clip(0, length - 1) for each in pair])
            self.scales.append((length - 1 if align_corners else length) / 2)
            # At the edge itself the gradient is zero, as in PyTorch.
            is_free = (place > 0) & (place < length - 1) if is_held else True
            self.free.append(is_free)

    def corners(self) -> Any:
        """For each corner: its two sides, its pixels as rows, and whether it is in the image."""
        batch = numpy.arange(self.shape[0]).reshape(-1, 1, 1)
        height, width = self.shape[2:]
        for up in (0, 1):
            for right in (0, 1):
                rows = (batch * height + self.pixels[0][up]) * width + self.pixels[1][right]
                yield up, right, rows, self.inside[0][up] & self.inside[1][right]

    def part(self, axis: int, side: int) -> Any:
        """The weight of one side along an axis."""
        share = self.shares[axis]
        return share if side else 1 - share


def _find(x: Any, grid: Any, mode: Any, padding_mode: Any, align_corners: Any) -> _Corners:
    if x.ndim != 4 or grid.ndim != 4 or grid.shape[-1] != 2 or len(x) != len(grid):
        raise Refused
    if mode != "bilinear" or padding_mode not in ("zeros", "border") or not x.size:
        raise Refused
    if x.dtype.kind != "f" or x.dtype != grid.dtype:
        raise Refused
    check_size((*x.shape[:2], *grid.shape[1:3]))
    return _Corners(x, grid, padding_mode, bool(align_corners))


def _rows(x: Any) -> Any:
    """The channels of each pixel as a row. Shapes: (batch, channels, h, w) → (pixels, channels)."""
    return numpy.ascontiguousarray(x.transpose(0, 2, 3, 1)).reshape(-1, x.shape[1])


@form(plain.grid_sample)
def grid_sample(
    input: Any,
    grid: Any,
    mode: Any = "bilinear",
    padding_mode: Any = "zeros",
    align_corners: Any = False,
) -> Any:
    """The values of images at the places of a grid, interpolated between four pixels."""
    samples = _find(input, grid, mode, padding_mode, align_corners)
    rows = _rows(input)
    total: Any = 0
    for up, right, places, inside in samples.corners():
        weight = samples.part(0, up) * samples.part(1, right) * inside
        total = total + rows[places] * weight[..., None]
    return numpy.ascontiguousarray(total.transpose(0, 3, 1, 2))


@gradient(grid_sample)
def _grid_sample(
    given: Any,
    out: Any,
    input: Any,
    grid: Any,
    mode: Any = "bilinear",
    padding_mode: Any = "zeros",
    align_corners: Any = False,
) -> Any:
    samples = _find(input, grid, mode, padding_mode, align_corners)
    below = numpy.ascontiguousarray(given.transpose(0, 2, 3, 1))

    def to_image() -> Any:
        spread = numpy.zeros((input.size // input.shape[1], input.shape[1]), input.dtype)
        for up, right, places, inside in samples.corners():
            weight = samples.part(0, up) * samples.part(1, right) * inside
            add_at(spread, places, below * weight[..., None])
        count, channels, height, width = input.shape
        made = spread.reshape(count, height, width, channels).transpose(0, 3, 1, 2)
        return numpy.ascontiguousarray(made)

    def to_grid() -> Any:
        rows = _rows(input)
        made = numpy.zeros(grid.shape, grid.dtype)
        for up, right, places, inside in samples.corners():
            value = (rows[places] * below).sum(-1) * inside
            made[..., 0] += value * samples.part(0, up) * (1 if right else -1)
            made[..., 1] += value * samples.part(1, right) * (1 if up else -1)
        for axis in (0, 1):
            made[..., 1 - axis] *= samples.scales[axis] * samples.free[axis]
        return made

    return to_image, to_grid
