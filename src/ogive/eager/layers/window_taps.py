"""Read windows that slide along the last axes of arrays, tap by tap.

x (length)   →   x[tap · dilation : ... : stride]   one element a place, for each tap
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy

from ogive.eager.forms import Refused

Numbers = tuple[int, ...]


def per_axis(value: Any, axes: int, least: int = 1) -> Numbers:
    """An integer for each axis, from one for all axes or one per axis. Raises `Refused`."""
    given = (value,) * axes if value.__class__ is int else tuple(value)
    if len(given) == 1:
        given *= axes
    if len(given) != axes or any(each.__class__ is not int or each < least for each in given):
        raise Refused
    return given


class Windows:
    """The places of windows along the last axes of a padded input."""

    __slots__ = (
        "cuts", "dilations", "layout", "lengths", "padded", "padding", "places", "strides", "taps"
    )  # fmt: skip

    def __init__(
        self, lengths: Numbers, taps: Numbers, strides: Numbers, dilations: Numbers, pads: Any
    ) -> None:
        self.lengths = lengths
        self.taps = taps
        self.strides = strides
        self.layout: Any = None  # a `sample_columns.Layout`, made on first use
        self.dilations = dilations
        self.padding: tuple[tuple[int, int], ...] = pads
        self.padded = tuple([n + sum(pad) for n, pad in zip(lengths, pads, strict=True)])
        rows = list(zip(self.padded, taps, strides, dilations, strict=True))
        self.places = tuple([(n - d * (t - 1) - 1) // s + 1 for n, t, s, d in rows])
        if min(self.places) < 1 or min(taps) < 1:
            raise Refused
        lines = [
            [slice(tap * d, tap * d + s * (places - 1) + 1, s) for tap in range(t)]
            for (_, t, s, d), places in zip(rows, self.places, strict=True)
        ]
        # The elements that each tap reads, with the last axis running fastest.
        self.cuts: list[Any] = [(..., *cut) for cut in itertools.product(*lines)]

    @property
    def inner(self) -> tuple[Any, ...]:
        """The place of the input in the padded array."""
        rows = zip(self.padding, self.lengths, strict=True)
        return (..., *[slice(before, before + length) for (before, _), length in rows])

    def surround(self, x: Any, fill: Any = 0) -> Any:
        """The input, padded with `fill`."""
        if self.padded == self.lengths:
            return x
        front = x.shape[: x.ndim - len(self.lengths)]
        padded = numpy.full((*front, *self.padded), fill, x.dtype)
        padded[self.inner] = x
        return padded

    def columns(self, x: Any) -> Any:
        """The elements that taps read. Shapes: (batch, channels, ...) → (channels · taps, batch ·
        places)."""
        padded = self.surround(x)
        count, channels = x.shape[:2]
        columns = numpy.empty((channels, len(self.cuts), count, *self.places), x.dtype)
        for tap, cut in enumerate(self.cuts):
            columns[:, tap] = padded[cut].swapaxes(0, 1)
        return columns.reshape(channels * len(self.cuts), -1)

    def spread(self, columns: Any, count: int) -> Any:
        """The transpose of `columns`: add each element at the place where it was read."""
        channels = len(columns) // len(self.cuts)
        parts = columns.reshape(channels, len(self.cuts), count, *self.places)
        padded = numpy.zeros((count, channels, *self.padded), columns.dtype)
        for tap, cut in enumerate(self.cuts):
            padded[cut] += parts[:, tap].swapaxes(0, 1)
        return padded if self.padded == self.lengths else padded[self.inner]


@functools.lru_cache(1024)
def windows(
    lengths: Numbers, taps: Any, strides: Any, dilations: Any, padding: Any, reaches: bool = False
) -> Windows:
    """The windows for a user's arguments. Raises `Refused` for invalid ones.

    With `reaches`, the last window of a line may reach past the padding (`ceil_mode`).
    """
    axes = len(lengths)
    taps, strides = per_axis(taps, axes), per_axis(strides, axes)
    dilations = per_axis(dilations, axes)
    if padding == "valid":
        padding = 0
    if padding == "same":
        if max(strides) > 1:
            raise Refused
        totals = [dilation * (tap - 1) for tap, dilation in zip(taps, dilations, strict=True)]
        pads = tuple([(total // 2, total - total // 2) for total in totals])
    else:
        pads = tuple([(pad, pad) for pad in per_axis(padding, axes, 0)])
        if reaches:
            rows = zip(lengths, taps, strides, dilations, pads, strict=True)
            pads = tuple([_reaching(*row) for row in rows])
    return Windows(lengths, taps, strides, dilations, pads)


def _reaching(
    length: int, taps: int, stride: int, dilation: int, pad: tuple[int, int]
) -> tuple[int, int]:
    """The padding with which a last window reaches past the edge, if it begins before the edge."""
    before, after = pad
    reach = dilation * (taps - 1) + 1
    moves = -((reach - length - before - after) // stride)  # rounded up
    if moves * stride >= length + before:
        moves -= 1
    return before, max(after, moves * stride + reach - length - before)
