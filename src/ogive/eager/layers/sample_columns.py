"""Compute convolutions as products of matrices, sample by sample.

    x (channels, places)   →   columns (channels · taps, places)   →   weight @ columns

If windows move by one element, a tap reads one stretch of memory: the rows of the padded image are
contiguous. Places past the end of a row are read too, and dropped at the end.

    padded rows of 5, 3 taps    abcde fghij    tap 1 of row 0 and 1: bcdef ghij.   kept: bcd ghi
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy

from ogive.eager.layers.window_taps import Windows

MOST_AT_ONCE = 1 << 18
"""The number of elements that are laid out in columns at a time: 1 MiB of float32, which fits into
a core's cache."""

FEW_PLACES = 16
"""Below this number of places, all samples are multiplied in one product."""

_matmul = numpy.matmul


class Layout:
    """The layout of columns of windows: `width` places per sample, some of them dropped later."""

    __slots__ = ("flat", "length", "offsets", "rows", "width", "windows")

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        padded, places = windows.padded, windows.places
        self.rows = (places[0], *padded[1:])
        self.flat = max(windows.strides) == 1 and math.prod(self.rows) <= 2 * math.prod(places)
        if not self.flat:
            self.rows = places
        self.width = math.prod(self.rows)
        steps = [math.prod(padded[axis + 1 :]) for axis in range(len(padded))]
        moves = [
            [tap * dilation * step for tap in range(taps)]
            for taps, dilation, step in zip(windows.taps, windows.dilations, steps, strict=True)
        ]
        self.offsets = [sum(move) for move in itertools.product(*moves)]
        self.length = max(math.prod(padded), max(self.offsets) + self.width)

    def parts(self, count: int, channels: int) -> Iterator[slice]:
        """Slices of the samples that are laid out at a time."""
        step = max(1, MOST_AT_ONCE // (channels * len(self.offsets) * self.width))
        return (slice(start, start + step) for start in range(0, count, step))

    def columns(self, x: Any) -> Any:
        """The elements that taps read.

        Shapes: (batch, channels, ...) → (batch, channels · taps, width).
        """
        count, channels = x.shape[:2]
        columns = numpy.empty((count, channels, len(self.offsets), self.width), x.dtype)
        if self.flat:
            lines = self._lines(x)
            for tap, offset in enumerate(self.offsets):
                columns[:, :, tap] = lines[:, :, offset : offset + self.width]
        else:
            padded = self.windows.surround(x)
            shown = columns.reshape(*columns.shape[:3], *self.rows)
            for tap, cut in enumerate(self.windows.cuts):
                shown[:, :, tap] = padded[cut]
        return columns.reshape(count, -1, self.width)

    def _lines(self, x: Any) -> Any:
        """The padded rows, one after the other. Shape: (batch, channels, length)."""
        padded = self.windows.padded
        if padded == self.windows.lengths and self.length == math.prod(padded):
            return x.reshape(*x.shape[:2], -1)
        lines = numpy.zeros((*x.shape[:2], self.length), x.dtype)
        shown = lines[..., : math.prod(padded)].reshape(*x.shape[:2], *padded)
        shown[self.windows.inner] = x
        return lines

    def spread(self, columns: Any, made: Any) -> None:
        """The transpose of `columns`: add each element to `made` at the place where it was read."""
        count, channels = made.shape[:2]
        parts = columns.reshape(count, channels, len(self.offsets), -1)
        padded = self.windows.padded
        if self.flat:
            lines = numpy.zeros((count, channels, self.length), columns.dtype)
            for tap, offset in enumerate(self.offsets):
                lines[:, :, offset : offset + self.width] += parts[:, :, tap]
            total = lines[..., : math.prod(padded)].reshape(count, channels, *padded)
        else:
            total = numpy.zeros((count, channels, *padded), columns.dtype)
            shown = parts.reshape(*parts.shape[:3], *self.rows)
            for tap, cut in enumerate(self.windows.cuts):
                total[cut] += shown[:, :, tap]
        made[...] = total[self.windows.inner]

    def lay(self, given: Any) -> Any:
        """The values of places, with zeros at dropped ones. Shape: (batch, features, width)."""
        if self.rows == self.windows.places:
            return given.reshape(*given.shape[:2], -1)
        laid = numpy.zeros((*given.shape[:2], *self.rows), given.dtype)
        laid[self._kept] = given
        return laid.reshape(*given.shape[:2], -1)

    def keep(self, laid: Any) -> Any:
        """The inverse of `lay`: the values without the dropped places."""
        return laid.reshape(*laid.shape[:2], *self.rows)[self._kept]

    @property
    def _kept(self) -> tuple[Any, ...]:
        return (..., *[slice(length) for length in self.windows.places])


def layout_of(windows: Windows) -> Layout:
    """The layout of columns of windows. It is made once and kept with them."""
    if windows.layout is None:
        windows.layout = Layout(windows)
    layout: Layout = windows.layout
    return layout


def _grouped(weight: Any, groups: int) -> Any:
    """The weight as (groups, features of a group, channels of a group · taps)."""
    return weight.reshape(groups, len(weight) // groups, -1)


def _multiply(weight: Any, columns: Any) -> Any:
    """Multiply group by group.

    Shapes: (groups, rows, depth), (batch, groups · depth, width) → (batch, groups · rows, width).
    """
    groups, rows, depth = weight.shape
    count, _, width = columns.shape
    if groups > 1:
        products = _matmul(weight, columns.reshape(count, groups, depth, width))
        return products.reshape(count, groups * rows, width)
    if width >= FEW_PLACES:
        return _matmul(weight[0], columns)
    lines = columns.swapaxes(0, 1).reshape(depth, -1)
    return _matmul(weight[0], lines).reshape(rows, count, width).swapaxes(0, 1)


def correlate(windows: Windows, x: Any, weight: Any, groups: int) -> Any:
    """The weighted sums over windows. Shape: (batch, features, places)."""
    layout, filters = layout_of(windows), _grouped(weight, groups)
    sums = numpy.empty((len(x), len(weight), *windows.places), x.dtype)
    for part in layout.parts(*x.shape[:2]):
        sums[part] = layout.keep(_multiply(filters, layout.columns(x[part])))
    return sums


def scatter(windows: Windows, given: Any, weight: Any, groups: int) -> Any:
    """The gradient of the input of `correlate`: each place's gradient, added where a window reads.

    Shape: (batch, channels, lengths).
    """
    layout, filters = layout_of(windows), _grouped(weight, groups).swapaxes(1, 2)
    image = numpy.empty((len(given), weight.shape[1] * groups, *windows.lengths), given.dtype)
    for part in layout.parts(*image.shape[:2]):
        layout.spread(_multiply(filters, layout.lay(given[part])), image[part])
    return image


def weigh(windows: Windows, x: Any, given: Any, weight: Any, groups: int) -> Any:
    """The gradient of the weight of `correlate`, in its shape."""
    layout = layout_of(windows)
    total: Any = 0
    for part in layout.parts(*x.shape[:2]):
        columns, rows = layout.columns(x[part]), layout.lay(given[part])
        count, _, width = columns.shape
        if width < FEW_PLACES and groups == 1:
            columns, rows = [
                each.swapaxes(0, 1).reshape(1, each.shape[1], -1) for each in (columns, rows)
            ]
            count, width = 1, columns.shape[2]
        columns = columns.reshape(count, groups, -1, width)
        products = _matmul(rows.reshape(count, groups, -1, width), columns.swapaxes(2, 3))
        total = total + products.sum(0)
    return total.reshape(weight.shape)
