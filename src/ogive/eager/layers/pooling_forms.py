"""Forms of pooling: windows reduced to one value each, a tap at a time."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused, form, gradient
from ogive.eager.layers.window_taps import Windows, windows
from ogive.tensor.neural import window_pooling as plain

MOST_TAPS = 64
"""The most elements of a window. Each of its taps takes a few µs."""


def _find(
    x: Any, axes: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> Windows:
    if x.dtype.kind != "f" or x.ndim not in (axes + 1, axes + 2) or not x.size:
        raise Refused
    if stride is None or stride == () or stride == []:
        stride = kernel_size
    given = [
        tuple(each) if each.__class__ is list else each
        for each in (kernel_size, stride, dilation, padding)
    ]
    places = windows(x.shape[x.ndim - axes :], *given, bool(ceil_mode))
    if len(places.cuts) > MOST_TAPS:
        raise Refused
    for (before, _), taps in zip(places.padding, places.taps, strict=True):
        if 2 * before > taps:
            raise Refused
    return places


def _greatest(x: Any, windows: Windows) -> Any:
    padded = windows.surround(x, -math.inf)
    greatest = padded[windows.cuts[0]].copy()
    for cut in windows.cuts[1:]:
        numpy.maximum(greatest, padded[cut], out=greatest)
    return greatest


def _greatest_and_places(x: Any, windows: Windows) -> tuple[Any, Any]:
    """The maximum of each window, and the first position of it in the input."""
    greatest = _greatest(x, windows)
    padded = windows.surround(x, -math.inf)
    places = windows.surround(numpy.arange(math.prod(windows.lengths)).reshape(windows.lengths))
    chosen = numpy.zeros(greatest.shape, numpy.int64)
    is_open = numpy.ones(greatest.shape, bool)
    for cut in windows.cuts:
        is_here = ~(padded[cut] < greatest) & is_open
        is_here &= (padded[cut] == greatest) | numpy.isnan(padded[cut])
        numpy.copyto(chosen, places[cut], where=is_here)
        is_open &= ~is_here
    return greatest, chosen


def _to_first(given: Any, out: Any, x: Any, windows: Windows) -> Any:
    """The gradient of the maxima. Of equal maxima in a window, the first one gets it."""
    padded = windows.surround(x, -math.inf)
    spread = numpy.zeros(padded.shape, x.dtype)
    is_open = numpy.ones(out.shape, bool)
    for cut in windows.cuts:
        chosen = ~(padded[cut] < out) & is_open
        spread[cut] += chosen * given
        is_open &= ~chosen
    return (spread if windows.padded == windows.lengths else spread[windows.inner],)


def _declare_greatest(function: Callable[..., Any], axes: int) -> None:
    """Declare the form of max pooling over `axes` axes."""

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
        windows = _find(x, axes, kernel_size, stride, padding, dilation, ceil_mode)
        return _greatest_and_places(x, windows) if return_indices else _greatest(x, windows)

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
        windows = _find(x, axes, kernel_size, stride, padding, dilation, ceil_mode)
        return _to_first(given, out[0] if return_indices else out, x, windows)


for _axes, _function in enumerate((plain.max_pool1d, plain.max_pool2d, plain.max_pool3d), 1):
    _declare_greatest(_function, _axes)


# Averages


@functools.lru_cache(256)
def _counts(windows: Windows, counts_padding: bool) -> Any:
    """The number of elements that each window averages: one number if all are equal."""
    total: Any = 1
    rows = zip(
        windows.lengths, windows.padding, windows.taps, windows.strides, windows.places,
        strict=True,
    )  # fmt: skip
    for length, (before, _), taps, stride, places in rows:
        outside = before if counts_padding else 0
        begin = numpy.arange(places) * stride - before
        end = numpy.minimum(begin + taps, length + outside)
        counts = end - numpy.maximum(begin, -outside)
        total = numpy.multiply.outer(total, counts)
    first = int(total.flat[0])
    return first if (total == first).all() else total


def _divisor(windows: Windows, counts_padding: Any, chosen: Any) -> Any:
    if chosen is None:
        return _counts(windows, bool(counts_padding))
    if chosen.__class__ is not int or chosen == 0:
        raise Refused
    return chosen


def _average(x: Any, windows: Windows, divisor: Any) -> Any:
    padded = windows.surround(x)
    total = padded[windows.cuts[0]].copy()
    for cut in windows.cuts[1:]:
        total += padded[cut]
    total /= divisor
    return total


def _to_all(given: Any, x: Any, windows: Windows, divisor: Any) -> Any:
    part = given / numpy.asarray(divisor, x.dtype)
    front = x.shape[: x.ndim - len(windows.lengths)]
    spread = numpy.zeros((*front, *windows.padded), x.dtype)
    for cut in windows.cuts:
        spread[cut] += part
    return (spread if windows.padded == windows.lengths else spread[windows.inner],)


@form(plain.avg_pool1d)
def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The average of each window along a line."""
    windows = _find(x, 1, kernel_size, stride, padding, 1, ceil_mode)
    return _average(x, windows, _divisor(windows, count_include_pad, None))


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
    windows = _find(x, 1, kernel_size, stride, padding, 1, ceil_mode)
    return _to_all(given, x, windows, _divisor(windows, count_include_pad, None))


def _declare_average(function: Callable[..., Any], axes: int) -> None:
    """Declare the form of average pooling over two or three axes."""

    @form(function)
    def pool(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        windows = _find(x, axes, kernel_size, stride, padding, 1, ceil_mode)
        return _average(x, windows, _divisor(windows, count_include_pad, divisor_override))

    @gradient(pool)
    def _(
        given: Any,
        out: Any,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        windows = _find(x, axes, kernel_size, stride, padding, 1, ceil_mode)
        return _to_all(given, x, windows, _divisor(windows, count_include_pad, divisor_override))


_declare_average(plain.avg_pool2d, 2)
_declare_average(plain.avg_pool3d, 3)
