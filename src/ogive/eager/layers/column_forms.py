"""Forms of images as columns of windows, and back: `nn.functional.unfold` and `fold`."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.layers.window_taps import Windows, per_axis, windows
from ogive.tensor.neural import im2col


def _windows(lengths: Any, taps: Any, dilation: Any, padding: Any, stride: Any) -> Windows:
    given = [tuple(each) if each.__class__ is list else each for each in (taps, stride, dilation)]
    return windows(tuple(lengths), *given, per_axis(padding, 2, 0))


def _to_columns(windows: Windows, x: Any) -> Any:
    """Shapes: (batch, channels, h, w) → (batch, channels · taps, places)."""
    rows = x.shape[1] * len(windows.cuts)
    return numpy.ascontiguousarray(windows.columns(x).reshape(rows, len(x), -1).swapaxes(0, 1))


def _to_image(windows: Windows, columns: Any) -> Any:
    """The transpose of `_to_columns`: values of overlapping windows are added."""
    batch, rows, _ = columns.shape
    lines = numpy.ascontiguousarray(columns.swapaxes(0, 1)).reshape(rows, -1)
    return numpy.ascontiguousarray(windows.spread(lines, batch))


@form(im2col.unfold_windows)
def unfold_windows(
    x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Each window as a column."""
    if x.ndim != 4 or not x.size or x.dtype.kind == "b":
        raise Refused
    windows = _windows(x.shape[2:], kernel_size, dilation, padding, stride)
    check_size((*x.shape[:2], len(windows.cuts), *windows.places))
    return _to_columns(windows, x)


@gradient(unfold_windows)
def _unfold_windows(
    given: Any, out: Any, x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Any:  # fmt: skip
    windows = _windows(x.shape[2:], kernel_size, dilation, padding, stride)
    return (_to_image(windows, given),)


@form(im2col.fold_windows)
def fold_windows(
    x: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Any:  # fmt: skip
    """The sum of the windows that the columns hold, at their places."""
    windows = _windows(per_axis(output_size, 2), kernel_size, dilation, padding, stride)
    columns = windows.places[0] * windows.places[1]
    fits = x.ndim == 3 and x.size and x.shape[1] % len(windows.cuts) == 0 and x.shape[2] == columns
    if not fits or x.dtype.kind != "f":
        raise Refused
    check_size((x.shape[0], x.shape[1] // len(windows.cuts), *windows.padded))
    return _to_image(windows, x)


@gradient(fold_windows)
def _fold_windows(
    given: Any, out: Any, x: Any, output_size: Any, kernel_size: Any, dilation: Any = 1,
    padding: Any = 0, stride: Any = 1,
) -> Any:  # fmt: skip
    windows = _windows(per_axis(output_size, 2), kernel_size, dilation, padding, stride)
    return (_to_columns(windows, given),)
