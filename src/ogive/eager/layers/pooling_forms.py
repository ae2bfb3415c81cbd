"""Forms of pooling: windows reduced to one value each, a tap at a time."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused, form, gradient
from ogive.eager.layers import bilinear_weights as bilinear
from ogive.eager.layers.window_taps import Numbers, Windows, windows
from ogive.tensor.neural import adaptive_pooling, resize, window_pooling

MOST_TAPS = 64
"""How large windows may be: each tap takes a few µs."""


def _find(
    x: Any, axes: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> Windows:
    if x.dtype.kind != "f" or x.ndim not in (axes + 1, axes + 2) or not x.size or ceil_mode:
        raise Refused
    if stride is None or stride == () or stride == []:
        stride = kernel_size
    given = [
        tuple(each) if each.__class__ is list else each
        for each in (kernel_size, stride, dilation, padding)
    ]
    found = windows(x.shape[x.ndim - axes :], *given)
    if len(found.cuts) > MOST_TAPS:
        raise Refused
    for (before, _), taps in zip(found.padding, found.taps, strict=True):
        if 2 * before > taps:
            raise Refused
    return found


def _greatest(x: Any, found: Windows) -> Any:
    padded = found.surround(x, -math.inf)
    made = padded[found.cuts[0]].copy()
    for cut in found.cuts[1:]:
        numpy.maximum(made, padded[cut], out=made)
    return made


def _to_first(given: Any, out: Any, x: Any, found: Windows) -> Any:
    """Of equal elements of a window that are the greatest, the first one has the gradient."""
    padded = found.surround(x, -math.inf)
    spread = numpy.zeros(padded.shape, x.dtype)
    is_open = numpy.ones(out.shape, bool)
    for cut in found.cuts:
        chosen = ~(padded[cut] < out) & is_open
        spread[cut] += chosen * given
        is_open &= ~chosen
    return (spread if found.padded == found.lengths else spread[found.inner],)


def _declare_greatest(function: Callable[..., Any], axes: int) -> None:
    """The form of the greatest value of each window over so many axes."""

    @form(function)
    def pool(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if return_indices:
            raise Refused
        return _greatest(x, _find(x, axes, kernel_size, stride, padding, dilation, ceil_mode))

    @gradient(pool)
    def _(
        given: Any,
        out: Any,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        found = _find(x, axes, kernel_size, stride, padding, dilation, ceil_mode)
        return _to_first(given, out, x, found)


for _function, _axes in ((window_pooling.max_pool1d, 1), (window_pooling.max_pool2d, 2)):
    _declare_greatest(_function, _axes)


# Averages


@functools.lru_cache(256)
def _counts(found: Windows, counts_padding: bool) -> Any:
    """How many elements each window averages: a number if all have as many, else an array."""
    if counts_padding or found.padded == found.lengths:
        return len(found.cuts)
    inside = found.surround(numpy.ones(found.lengths))
    return sum(inside[cut] for cut in found.cuts)


def _average(x: Any, found: Windows, counts_padding: bool) -> Any:
    padded = found.surround(x)
    total = padded[found.cuts[0]].copy()
    for cut in found.cuts[1:]:
        total += padded[cut]
    total /= _counts(found, bool(counts_padding))
    return total


def _to_all(given: Any, x: Any, found: Windows, counts_padding: bool) -> Any:
    part = given / numpy.asarray(_counts(found, bool(counts_padding)), x.dtype)
    front = x.shape[: x.ndim - len(found.lengths)]
    spread = numpy.zeros((*front, *found.padded), x.dtype)
    for cut in found.cuts:
        spread[cut] += part
    return (spread if found.padded == found.lengths else spread[found.inner],)


@form(window_pooling.avg_pool1d)
def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The average of each window along a line."""
    found = _find(x, 1, kernel_size, stride, padding, 1, ceil_mode)
    return _average(x, found, count_include_pad)


@gradient(avg_pool1d)
def _avg_pool1d(
    given: Any,
    out: Any,
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    found = _find(x, 1, kernel_size, stride, padding, 1, ceil_mode)
    return _to_all(given, x, found, count_include_pad)


@form(window_pooling.avg_pool2d)
def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: None = None,
) -> Any:
    """The average of each window of an image."""
    if divisor_override is not None:
        raise Refused
    found = _find(x, 2, kernel_size, stride, padding, 1, ceil_mode)
    return _average(x, found, count_include_pad)


@gradient(avg_pool2d)
def _avg_pool2d(
    given: Any,
    out: Any,
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: None = None,
) -> Any:
    found = _find(x, 2, kernel_size, stride, padding, 1, ceil_mode)
    return _to_all(given, x, found, count_include_pad)


# Blocks of equal size


def _blocks(lengths: Numbers, wanted: Any) -> tuple[list[int], list[int]]:
    """How many blocks there are along each axis, and how long each is."""
    given = (wanted,) * len(lengths) if wanted.__class__ is int else tuple(wanted)
    if len(given) == 1:
        given *= len(lengths)
    sizes = [n if size is None else size for n, size in zip(lengths, given, strict=True)]
    if any(size.__class__ is not int or size < 1 for size in sizes):
        raise Refused
    if any(length % size for length, size in zip(lengths, sizes, strict=True)):
        raise Refused
    return sizes, [length // size for length, size in zip(lengths, sizes, strict=True)]


def _block_shape(front: Numbers, sizes: list[int], each: list[int]) -> tuple[list[int], Numbers]:
    """The shape in which blocks have axes of their own, and these axes."""
    shape = list(front)
    for size, length in zip(sizes, each, strict=True):
        shape += [size, length]
    return shape, tuple(range(len(front) + 1, len(shape), 2))


def _block_average(x: Any, output_size: Any, axes: int) -> Any:
    if x.dtype.kind != "f" or x.ndim not in (axes + 1, axes + 2) or not x.size:
        raise Refused
    front = x.shape[: x.ndim - axes]
    sizes, each = _blocks(x.shape[x.ndim - axes :], output_size)
    shape, inner = _block_shape(front, sizes, each)
    total = numpy.add.reduce(x.reshape(shape), inner)
    total /= math.prod(each)
    return total


@form(adaptive_pooling.adaptive_avg_pool1d)
def adaptive_avg_pool1d(x: Any, output_size: Any) -> Any:
    """The averages of `output_size` windows of one length."""
    return _block_average(x, output_size, 1)


@form(adaptive_pooling.adaptive_avg_pool2d)
def adaptive_avg_pool2d(x: Any, output_size: Any) -> Any:
    """The averages of windows of one size, `output_size` of them along each axis."""
    return _block_average(x, output_size, 2)


def _repeated(made: Any, shape: list[int], inner: Numbers) -> Any:
    """One value for each block, in all of it."""
    return numpy.broadcast_to(numpy.expand_dims(made, inner), shape)


def _block_gradient(given: Any, x: Any, output_size: Any, axes: int) -> Any:
    front = x.shape[: x.ndim - axes]
    sizes, each = _blocks(x.shape[x.ndim - axes :], output_size)
    shape, inner = _block_shape(front, sizes, each)
    return (_repeated(given / math.prod(each), shape, inner).reshape(x.shape),)


@gradient(adaptive_avg_pool1d)
def _adaptive_avg_pool1d(given: Any, out: Any, x: Any, output_size: Any) -> Any:
    return _block_gradient(given, x, output_size, 1)


@gradient(adaptive_avg_pool2d)
def _adaptive_avg_pool2d(given: Any, out: Any, x: Any, output_size: Any) -> Any:
    return _block_gradient(given, x, output_size, 2)


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
    """Each pixel repeated, or lines between pixels; other resolutions are not done here."""
    if antialias or recompute_scale_factor or x.dtype.kind != "f":
        raise Refused
    if mode != "nearest":
        return bilinear.resize(x, bilinear.weights(x, size, scale_factor, mode, align_corners))
    if align_corners is not None:
        raise Refused
    each = _factors(x, size, scale_factor)
    front = x.shape[:2]
    shape, inner = _block_shape(front, list(x.shape[2:]), each)
    targets = [n * factor for n, factor in zip(x.shape[2:], each, strict=True)]
    if math.prod(shape) > 1 << 16:
        raise Refused
    return numpy.ascontiguousarray(_repeated(x, shape, inner)).reshape(*front, *targets)


def _factors(x: Any, size: Any, scale_factor: Any) -> list[int]:
    """How often pixels are repeated along each axis."""
    lengths = x.shape[2:]
    if not 1 <= len(lengths) <= 3 or not x.size or (size is None) == (scale_factor is None):
        raise Refused
    given = scale_factor if size is None else size
    entries = tuple(given) if given.__class__ in (tuple, list) else (given,) * len(lengths)
    if size is not None:
        entries = tuple([n / length for n, length in zip(entries, lengths, strict=True)])
    each = [int(entry) for entry in entries]
    if len(each) != len(lengths) or any(map(float.__ne__, map(float, each), map(float, entries))):
        raise Refused
    if min(each) < 1 or math.prod(each) == 1:
        raise Refused
    return each


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
    if mode != "nearest":
        matrices = bilinear.weights(x, size, scale_factor, mode, align_corners)
        return (bilinear.resize(given, [matrix.T for matrix in matrices]),)
    shape, inner = _block_shape(x.shape[:2], list(x.shape[2:]), _factors(x, size, scale_factor))
    return (numpy.add.reduce(given.reshape(shape), inner),)
