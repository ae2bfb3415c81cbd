"""Images resampled to another size, and channels exchanged for resolution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, to_entries, to_integer, to_number, wrap
from ogive.tensor.elementwise.pairwise import only_floats
from ogive.tensor.movement.joining import where
from ogive.tensor.movement.sliding_windows import Numbers, per_axis, spatial_lengths
from ogive.tensor.reduction.log_sum_exp import widen

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

MODES = {
    "nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "area": (1, 2, 3), "linear": (1,),
    "bilinear": (2,), "trilinear": (3,), "bicubic": (2,),
}  # fmt: skip
"""The modes of `interpolate`, with the number of axes that each supports."""


def interpolate(
    self: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The image resampled to another resolution.

    Shapes: (batch, channels, h, w) → (batch, channels, *size), or ⌊length · scale_factor⌋;
    one or three axes of space alike. `mode` is "nearest", "nearest-exact", "area", "linear",
    "bilinear", "trilinear" or "bicubic". With `align_corners` the centres of the corner
    pixels keep their place, else the edges of the image do. `antialias` widens the filter
    where the image gets smaller.

    >>> Tensor([[[1.0, 3.0]]]).interpolate(4, mode="linear").tolist()
    [[[1.0, 1.5, 2.5, 3.0]]]

    Raises `ArgumentError` unless exactly one of `size` and `scale_factor` is given, and for a
    mode that does not support the number of axes.
    """
    axes = to_axes(self, mode, align_corners, antialias)
    sizes, ratios = to_sizes(self, size, scale_factor, recompute_scale_factor, axes)
    only_floats(self.dtype, "interpolate")
    if mode == "area":
        pool: Callable[[Any], Tensor] = getattr(self, f"adaptive_avg_pool{axes}d")
        return pool(sizes)
    x, dtype = widen(self, "interpolate")
    for axis, target, ratio in zip(range(2, x.ndim), sizes, ratios, strict=True):
        length = x.shape[axis]
        if is_kept(mode, axes, length, target, bool(align_corners or antialias)):
            continue
        if mode.startswith("nearest"):
            x = _nearest(x, axis, target, mode, axes, ratio)
            continue
        if align_corners:
            ratio = (length - 1) / (target - 1) if target > 1 else 0.0
        if antialias:
            x = _filtered(x, axis, target, ratio, mode == "bicubic")
        else:
            x = _smooth(x, axis, target, ratio, bool(align_corners), mode == "bicubic")
    return x.cast(dtype).clone()  # it would be a view if no axis changes


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Channels become pixels: each pixel becomes a square of r = `upscale_factor` pixels.

    Shapes: (..., channels · r², h, w) → (..., channels, h · r, w · r).

    >>> ogive.ones(1, 8, 2, 3).pixel_shuffle(2).shape
    (1, 2, 4, 6)

    Raises `ShapeError` when r² does not divide the channels.
    """
    factor = _to_factor(self, upscale_factor, "pixel_shuffle: upscale_factor")
    *front, channels, height, width = self.shape
    if channels % factor**2:
        raise ShapeError(
            f"pixel_shuffle: input {build.show(self.shape)} has {channels} channels, which "
            f"{factor}² does not divide"
        )
    kept = channels // factor**2
    rank = len(front)
    x = self.reshape(*front, kept, factor, factor, height, width)
    order = [rank, rank + 3, rank + 1, rank + 4, rank + 2]
    x = x.permute(*range(rank), *order)
    return x.reshape(*front, kept, height * factor, width * factor).clone()


def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """Pixels become channels: the reverse of `pixel_shuffle`, r being `downscale_factor`.

    Shapes: (..., channels, h · r, w · r) → (..., channels · r², h, w).

    >>> ogive.ones(1, 2, 4, 6).pixel_unshuffle(2).shape
    (1, 8, 2, 3)

    Raises `ShapeError` when r does not divide height and width.
    """
    factor = _to_factor(self, downscale_factor, "pixel_unshuffle: downscale_factor")
    *front, channels, height, width = self.shape
    if height % factor or width % factor:
        raise ShapeError(
            f"pixel_unshuffle: input {build.show(self.shape)} is {height} by {width}, which "
            f"{factor} does not divide"
        )
    rank = len(front)
    x = self.reshape(*front, channels, height // factor, factor, width // factor, factor)
    order = [rank, rank + 2, rank + 4, rank + 1, rank + 3]
    x = x.permute(*range(rank), *order)
    return x.reshape(*front, channels * factor**2, height // factor, width // factor).clone()


def channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """The channels of several groups, taken in turn from each of them.

    Shapes: (batch, channels, ...), unchanged.

    >>> Tensor([[[1], [2], [3], [4]]]).channel_shuffle(2).flatten().tolist()
    [1, 3, 2, 4]

    Raises `ShapeError` when `groups` does not divide the channels.
    """
    number = to_integer(groups, "channel_shuffle: groups")
    if self.ndim < 3 or number < 1 or self.shape[1] % number:
        raise ShapeError(
            f"channel_shuffle: input has the shape {build.show(self.shape)}; expected (batch, "
            f"channels, ...) with channels that groups={number} divides"
        )
    batch, channels, *rest = self.shape
    x = self.reshape(batch, number, channels // number, *rest)
    return x.transpose(1, 2).reshape(self.shape).clone()


# One axis


def is_kept(mode: str, axes: int, length: int, target: int, aligned: bool) -> bool:
    """Whether an axis whose length stays is copied, though the scale may give other positions.

    PyTorch does so in the linear modes, and for images also in "nearest".
    """
    if length != target:
        return False
    return aligned or mode.endswith("linear") or (mode == "nearest" and axes == 2)


def _nearest(x: Tensor, axis: int, target: int, mode: str, axes: int, ratio: float) -> Tensor:
    length = x.shape[axis]
    shape = x.shape
    ratio, shift = _step(mode, axes, length, target, ratio)
    if target % length == 0 and ratio * target == length:
        x = x.unsqueeze(axis + 1)
        x = x.expand(*shape[: axis + 1], target // length, *shape[axis + 1 :])
        return x.reshape(*shape[:axis], target, *shape[axis + 1 :])
    # In float32, as in PyTorch: the choice of the nearer neighbour can depend on it.
    place = _count(target, x).cast(dtypes.float32) + shift
    return _take(x, axis, (place * ratio).floor(), 0)


def _step(mode: str, axes: int, length: int, target: int, ratio: float) -> tuple[float, float]:
    """The distance of the pixels taken, and the sampling position within a new pixel."""
    if mode == "nearest" and axes == 2 and target == 2 * length:
        ratio = 0.5  # as in PyTorch, whatever scale led to this length
    return ratio, 0.5 if mode == "nearest-exact" else 0.0


def nearest_pixels(mode: str, axes: int, length: int, target: int, ratio: float) -> Any:
    """The source pixel of each new pixel along an axis, as an array."""
    ratio, shift = _step(mode, axes, length, target, ratio)
    if target % length == 0 and ratio * target == length:
        return numpy.arange(length).repeat(target // length)
    place = numpy.arange(target).astype(numpy.float32) + numpy.float32(shift)
    return numpy.floor(place * numpy.float32(ratio)).astype(numpy.int64).clip(0, length - 1)


def _smooth(
    x: Tensor, axis: int, target: int, ratio: float, align_corners: bool, cubic: bool
) -> Tensor:
    """A weighted sum of two or four neighbours; beyond the edge the last pixel is repeated."""
    place = _count(target, x).cast(dtypes.float64)
    place = place * ratio if align_corners else (place + 0.5) * ratio - 0.5
    if not cubic:
        place = place.clamp(min=0)
    base = place.floor()
    terms = []
    for offset in (-1, 0, 1, 2) if cubic else (0, 1):
        distance = (place - base - offset).abs()
        weight = cubic_kernel(distance, -0.75) if cubic else 1 - distance
        line = weight.cast(x.dtype).reshape(-1, *(1,) * (x.ndim - axis - 1))
        terms.append(_take(x, axis, base, offset) * line)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _filtered(x: Tensor, axis: int, target: int, ratio: float, cubic: bool) -> Tensor:
    """A weighted mean of all pixels under a filter as wide as the pixels of the result."""
    length = x.shape[axis]
    widen_by = max(ratio, 1.0)
    support = (2.0 if cubic else 1.0) * widen_by
    centre = (_count(target, x).cast(dtypes.float64).unsqueeze(1) + 0.5) * ratio
    pixel = _count(length, x).cast(dtypes.float64)
    begin = (centre - support + 0.5).trunc().clamp(min=0)
    end = (centre + support + 0.5).trunc()
    distance = ((pixel - centre + 0.5) / widen_by).abs()
    weight = cubic_kernel(distance, -0.5) if cubic else (1 - distance).clamp(min=0)
    weight = where((begin <= pixel) & (pixel < end), weight, 0.0)
    weight = (weight / weight.sum(1, keepdim=True)).cast(x.dtype)
    weight = weight.reshape(target, length, *(1,) * (x.ndim - axis - 1))
    return (x.unsqueeze(axis) * weight).sum(axis + 1)


def cubic_kernel(distance: Tensor, a: float) -> Tensor:
    """The cubic convolution kernel with slope `a` at 1, for distances from 0 on."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return where(distance <= 1, near, where(distance < 2, far, 0.0))


def _take(x: Tensor, axis: int, places: Tensor, offset: int) -> Tensor:
    """The elements at `places` (whole numbers) plus `offset` along an axis, clamped to it."""
    line = (places.cast(dtypes.int64) + offset).clamp(0, x.shape[axis] - 1)
    shape = (*x.shape[:axis], line.shape[0], *x.shape[axis + 1 :])
    with graph_lock:
        indices = [build.count_along(other, shape) for other in range(len(shape))]
        line = line.reshape(-1, *(1,) * (len(shape) - axis - 1))
        indices[axis] = build.expand_to(line.node, shape)
        return wrap(build.gather(x.node, indices), x.device)


def _count(length: int, x: Core) -> Tensor:
    with graph_lock:
        return wrap(build.count(length), x.device)


# Checks of the arguments


def to_axes(x: Core, mode: str, align_corners: bool | None, antialias: bool) -> int:
    if mode not in MODES:
        raise ArgumentError(f"interpolate: mode must be one of {', '.join(MODES)}; got {mode!r}")
    axes = x.ndim - 2
    if axes not in MODES[mode]:
        raise ShapeError(
            f"interpolate: input has the shape {build.show(x.shape)}; mode {mode!r} takes (batch, "
            f"channels) and {' or '.join(map(str, MODES[mode]))} axes of space"
        )
    if align_corners is not None and not mode.endswith(("linear", "cubic")):
        raise ArgumentError(
            f"interpolate: align_corners goes with linear, bilinear, bicubic and trilinear, not "
            f"with {mode!r}"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ArgumentError(f"interpolate: antialias goes with bilinear and bicubic, not {mode!r}")
    return axes


def to_sizes(
    x: Core, size: Any, scale_factor: Any, recompute: bool | None, axes: int
) -> tuple[Numbers, list[float]]:
    """The lengths of the result, and the pixels of the input per pixel of the result."""
    lengths = spatial_lengths(x.shape, axes, "interpolate")
    if (size is None) == (scale_factor is None):
        raise ArgumentError(
            f"interpolate takes size or scale_factor, one of them; got size={size} and "
            f"scale_factor={scale_factor}"
        )
    if 0 in lengths:
        raise ShapeError(
            f"interpolate: input has the shape {build.show(x.shape)}; only the batch and the "
            "channels may be empty"
        )
    if size is not None:
        if recompute:
            raise ArgumentError("interpolate: recompute_scale_factor goes with scale_factor")
        sizes = per_axis(size, axes, "interpolate: size")
        return sizes, [n / s for n, s in zip(lengths, sizes, strict=True)]
    factors = [to_number(entry, "interpolate: scale_factor") for entry in to_entries(scale_factor)]
    if len(factors) not in (1, axes):
        raise ArgumentTypeError(
            f"interpolate: scale_factor is one number or {axes} of them, not {scale_factor!r}"
        )
    factors *= axes // len(factors)
    pairs = list(zip(lengths, factors, strict=True))
    sizes = tuple([math.floor(length * factor) for length, factor in pairs])
    if min(sizes) < 1:
        raise ArgumentError(
            f"interpolate: scale_factor={scale_factor} makes {build.show(sizes)} of the lengths "
            f"{build.show(lengths)}; each must be at least 1"
        )
    if recompute:
        return sizes, [n / s for n, s in zip(lengths, sizes, strict=True)]
    return sizes, [1 / factor for factor in factors]


def _to_factor(x: Core, value: Any, name: str) -> int:
    factor = to_integer(value, name)
    if factor < 1:
        raise ArgumentError(f"{name} must be at least 1, got {factor}")
    if x.ndim < 3:
        raise ShapeError(
            f"{name.partition(':')[0]}: input has the shape {build.show(x.shape)}; expected (..., "
            "channels, h, w)"
        )
    return factor
