"""Forms of resizing images, and of adaptive pooling."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.layers import axis_maps
from ogive.eager.shapes.adding import add_at
from ogive.tensor.neural import adaptive_pooling, resize


def _steps(x: Any, sizes: Any, ratios: Any, mode: str, is_aligned: bool, is_filtered: bool) -> Any:
    """The maps of the axes that change, in all modes except "nearest"."""
    axes = len(sizes)
    steps = []
    for axis, (target, ratio) in enumerate(zip(sizes, ratios, strict=True), 2):
        length = x.shape[axis]
        if mode == "area":
            steps.append((axis, axis_maps.averages(length, target, x.dtype)))
            continue
        if resize.is_kept(mode, axes, length, target, is_aligned or is_filtered):
            continue
        if is_aligned:
            ratio = (length - 1) / (target - 1) if target > 1 else 0.0
        is_cubic = mode == "bicubic"
        if is_filtered:
            matrix = axis_maps.filtered(length, target, ratio, is_cubic, x.dtype)
        else:
            matrix = axis_maps.neighbours(length, target, ratio, is_aligned, is_cubic, x.dtype)
        steps.append((axis, matrix))
    return steps


def _nearest(x: Any, sizes: Any, ratios: Any, mode: str) -> list[tuple[int, Any]]:
    """The axes that change, with the pixels to take along each, in mode "nearest"."""
    axes = len(sizes)
    steps = []
    for axis, (target, ratio) in enumerate(zip(sizes, ratios, strict=True), 2):
        length = x.shape[axis]
        if resize.is_kept(mode, axes, length, target, False):
            continue
        steps.append((axis, resize.nearest_pixels(mode, axes, length, target, ratio)))
    return steps


def _find(
    x: Any, size: Any, scale_factor: Any, mode: Any, align_corners: Any, recompute: Any,
    antialias: Any,
) -> tuple[Any, bool]:  # fmt: skip
    """The step along each axis, and whether the steps take pixels (or apply maps)."""
    if x.dtype.kind != "f" or not x.size:
        raise Refused
    axes = resize.to_axes(x, mode, align_corners, antialias)
    sizes, ratios = resize.to_sizes(x, size, scale_factor, recompute, axes)
    check_size((*x.shape[:2], *sizes))
    if mode.startswith("nearest"):
        return _nearest(x, sizes, ratios, mode), True
    return _steps(x, sizes, ratios, mode, bool(align_corners), bool(antialias)), False


@form(resize.interpolate)
def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """The image resampled, one axis after the other."""
    options = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    steps, is_nearest = _find(x, *options)
    image = x
    if is_nearest:
        for axis, pixels in steps:
            image = image.take(pixels, axis)
    else:
        image = axis_maps.apply(x, steps)
    return image.copy() if image is x else image


@gradient(interpolate)
def _interpolate(
    given: Any,
    out: Any,
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    options = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    steps, is_nearest = _find(x, *options)
    if not is_nearest:
        return (axis_maps.apply_back(given, steps),)
    for axis, pixels in reversed(steps):
        given = _added_up(given, axis, pixels, x.shape[axis])
    return (given,)


def _added_up(given: Any, axis: int, pixels: Any, length: int) -> Any:
    """The gradient of taking pixels along an axis: sums at the places of these pixels."""
    front, rest = given.shape[:axis], given.shape[axis + 1 :]
    count = len(pixels) // length
    if len(pixels) == count * length and (pixels == numpy.arange(length).repeat(count)).all():
        return numpy.add.reduce(given.reshape(*front, length, count, *rest), axis + 1)
    total = numpy.zeros((*front, length, *rest), given.dtype)
    add_at(total, (*[slice(None)] * axis, pixels), given)
    return total


# Adaptive pooling


def _sizes(x: Any, wanted: Any, axes: int) -> list[tuple[int, int]]:
    """The spatial axes, each with its number of windows."""
    if x.ndim not in (axes + 1, axes + 2) or not x.size:
        raise Refused
    given = (wanted,) * axes if wanted.__class__ is int else tuple(wanted)
    if len(given) == 1:
        given *= axes
    sizes = []
    for axis, size in zip(range(x.ndim - axes, x.ndim), given, strict=True):
        target = x.shape[axis] if size is None else size
        if target.__class__ is not int or target < 1:
            raise Refused
        sizes.append((axis, target))
    return sizes


def _average_steps(x: Any, output_size: Any, axes: int) -> list[axis_maps.Step]:
    return [
        (axis, axis_maps.averages(x.shape[axis], target, x.dtype))
        for axis, target in _sizes(x, output_size, axes)
        if target != x.shape[axis]
    ]


def _blocks(x: Any, output_size: Any, axes: int) -> tuple[list[int], tuple[int, ...]] | None:
    """A shape in which equal windows have axes of their own, and these axes.

    None if the windows differ in size.
    """
    sizes = _sizes(x, output_size, axes)
    if any(x.shape[axis] % target for axis, target in sizes):
        return None
    shape = list(x.shape[: x.ndim - axes])
    for axis, target in sizes:
        shape += [target, x.shape[axis] // target]
    return shape, tuple(range(x.ndim - axes + 1, len(shape), 2))


def _declare_average(function: Callable[..., Any], axes: int) -> None:
    """Declare the form of adaptive average pooling over `axes` axes."""

    @form(function)
    def pool(x: Any, output_size: Any) -> Any:
        if x.dtype.kind != "f":
            raise Refused
        blocks = _blocks(x, output_size, axes)
        if blocks is not None:
            total = numpy.add.reduce(x.reshape(blocks[0]), blocks[1])
            total /= x.size // total.size
            return total
        return axis_maps.apply(x, _average_steps(x, output_size, axes))

    @gradient(pool)
    def _(given: Any, out: Any, x: Any, output_size: Any) -> Any:
        blocks = _blocks(x, output_size, axes)
        if blocks is None:
            return (axis_maps.apply_back(given, _average_steps(x, output_size, axes)),)
        part = given / numpy.asarray(x.size // given.size, x.dtype)
        return (numpy.broadcast_to(numpy.expand_dims(part, blocks[1]), blocks[0]).reshape(x.shape),)


for _axes, _function in enumerate(
    (
        adaptive_pooling.adaptive_avg_pool1d, adaptive_pooling.adaptive_avg_pool2d,
        adaptive_pooling.adaptive_avg_pool3d,
    ), 1,
):  # fmt: skip
    _declare_average(_function, _axes)


def _laid_out(x: Any, output_size: Any, axes: int) -> tuple[Any, list[int], list[int]]:
    """Equal windows with their elements along the last axis; and the order and shape of the axes
    before."""
    blocks = _blocks(x, output_size, axes)
    if blocks is None:
        raise Refused
    shape, inner = blocks
    order = [axis for axis in range(len(shape)) if axis not in inner] + list(inner)
    moved = x.reshape(shape).transpose(order)
    return moved.reshape(*moved.shape[: -len(inner)], -1), order, list(moved.shape)


def _declare_greatest(function: Callable[..., Any], axes: int) -> None:
    """Declare the form of adaptive max pooling into equal windows."""

    @form(function)
    def pool(x: Any, output_size: Any, return_indices: bool = False) -> Any:
        if x.dtype.kind != "f":
            raise Refused
        laid, _, _ = _laid_out(x, output_size, axes)
        chosen = laid.argmax(-1)[..., None]
        greatest = numpy.take_along_axis(laid, chosen, -1)[..., 0]
        if not return_indices:
            return greatest
        lengths = x.shape[x.ndim - axes :]
        line = numpy.arange(math.prod(lengths)).reshape(lengths)
        places, _, _ = _laid_out(numpy.broadcast_to(line, x.shape), output_size, axes)
        return greatest, numpy.take_along_axis(places, chosen, -1)[..., 0]

    @gradient(pool)
    def _(given: Any, out: Any, x: Any, output_size: Any, return_indices: bool = False) -> Any:
        laid, order, shape = _laid_out(x, output_size, axes)
        spread = numpy.zeros(laid.shape, x.dtype)
        numpy.put_along_axis(spread, laid.argmax(-1)[..., None], given[..., None], -1)
        back = numpy.argsort(order)
        return (spread.reshape(shape).transpose(back).reshape(x.shape),)


for _axes, _function in enumerate(
    (
        adaptive_pooling.adaptive_max_pool1d, adaptive_pooling.adaptive_max_pool2d,
        adaptive_pooling.adaptive_max_pool3d,
    ), 1,
):  # fmt: skip
    _declare_greatest(_function, _axes)
