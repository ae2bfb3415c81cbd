"""Pooling: windows of the input, reduced to one value each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ShapeError
from ogive.named import NamedTuple, record
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, to_entries, to_integer, wrap
from ogive.tensor.elementwise.binary_operations import number_dtype
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.movement.joining import where
from ogive.tensor.movement.sliding_windows import (
    Numbers,
    lay_out,
    pad_last,
    per_axis,
    slide_last,
    spatial_lengths,
)
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.log_sum_exp import widen

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Pooled = Any  # a tensor, or with `return_indices` the values and their positions


@outlined
def max_pool1d(
    self: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pooled:
    """The greatest value of each window; see `max_pool2d`.

    Shapes: (batch, channels, length) → (batch, channels, places).

    >>> Tensor([[[1.0, 3.0, 2.0, 4.0]]]).max_pool1d(2).tolist()
    [[[3.0, 4.0]]]
    """
    spec = _slide(self, (kernel_size, stride, padding, dilation, ceil_mode), 1, "max_pool1d")
    return _greatest(self, spec, return_indices)


@outlined
def max_pool2d(
    self: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pooled:
    """The greatest value of each window; NaN if there is one.

    Shapes: (batch, channels, h, w) → (batch, channels, places, places), the batch being
    optional. Windows are `stride` apart, which is their size if it is not given. `ceil_mode`
    lets a last window reach over the edge. `return_indices` gives the positions of the
    greatest values in the h · w image too, as int64.

    >>> ogive.ones(1, 3, 8, 8).max_pool2d(2).shape
    (1, 3, 4, 4)

    Raises `ShapeError` when there is no room for a window, `ArgumentError` for a padding of
    more than half of it.
    """
    spec = _slide(self, (kernel_size, stride, padding, dilation, ceil_mode), 2, "max_pool2d")
    return _greatest(self, spec, return_indices)


@widened
def max_pool3d(
    self: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pooled:
    """The greatest value of each window; see `max_pool2d`.

    Shapes: (batch, channels, d, h, w) → (batch, channels, three times places).

    >>> ogive.ones(1, 3, 4, 4, 4).max_pool3d(2).shape
    (1, 3, 2, 2, 2)
    """
    spec = _slide(self, (kernel_size, stride, padding, dilation, ceil_mode), 3, "max_pool3d")
    return _greatest(self, spec, return_indices)


@outlined
def avg_pool1d(
    self: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The average of each window; see `avg_pool2d`.

    Shapes: (batch, channels, length) → (batch, channels, places).

    >>> Tensor([[[1.0, 3.0, 2.0, 4.0]]]).avg_pool1d(2).tolist()
    [[[2.0, 3.0]]]
    """
    spec = _slide(self, (kernel_size, stride, padding, 1, ceil_mode), 1, "avg_pool1d")
    return _average(self, spec, count_include_pad, None)


@outlined
def avg_pool2d(
    self: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The average of each window.

    Shapes: (batch, channels, h, w) → (batch, channels, places, places), as in `max_pool2d`.
    The sum is divided by the number of elements of the window, without those of the padding
    unless `count_include_pad`; or by `divisor_override`.

    >>> ogive.ones(1, 3, 8, 8).avg_pool2d(3, stride=2, padding=1).shape
    (1, 3, 4, 4)

    Raises `ShapeError` when there is no room for a window, `DtypeError` unless x is float.
    """
    spec = _slide(self, (kernel_size, stride, padding, 1, ceil_mode), 2, "avg_pool2d")
    return _average(self, spec, count_include_pad, divisor_override)


@widened
def avg_pool3d(
    self: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The average of each window; see `avg_pool2d`.

    Shapes: (batch, channels, d, h, w) → (batch, channels, three times places).

    >>> ogive.ones(1, 3, 4, 4, 4).avg_pool3d(2).shape
    (1, 3, 2, 2, 2)
    """
    spec = _slide(self, (kernel_size, stride, padding, 1, ceil_mode), 3, "avg_pool3d")
    return _average(self, spec, count_include_pad, divisor_override)


def lp_pool1d(
    self: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p being `norm_type`.

    Shapes: (batch, channels, length) → (batch, channels, places).

    >>> Tensor([[[3.0, 4.0]]]).lp_pool1d(2, 2).tolist()
    [[[5.0]]]
    """
    return _norm(self, norm_type, (kernel_size, stride, 0, 1, ceil_mode), 1)


def lp_pool2d(
    self: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p being `norm_type`.

    Shapes: (batch, channels, h, w) → (batch, channels, places, places).

    >>> ogive.ones(1, 3, 4, 4).lp_pool2d(2, 2).shape
    (1, 3, 2, 2)
    """
    return _norm(self, norm_type, (kernel_size, stride, 0, 1, ceil_mode), 2)


def lp_pool3d(
    self: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p being `norm_type`.

    Shapes: (batch, channels, d, h, w) → (batch, channels, three times places).

    >>> ogive.ones(1, 3, 4, 4, 4).lp_pool3d(2, 2).shape
    (1, 3, 2, 2, 2)
    """
    return _norm(self, norm_type, (kernel_size, stride, 0, 1, ceil_mode), 3)


class Slide(NamedTuple):
    """The windows along the last axes; `pads` makes them cover the input exactly."""

    taps: Numbers
    strides: Numbers
    dilations: Numbers
    padding: Numbers
    pads: list[tuple[int, int]]
    places: Numbers
    name: str

    @property
    def reductions(self) -> tuple[int, ...]:
        """The axes of taps, counted from the back."""
        return tuple(range(-2 * len(self.taps), 0, 2))


def _slide(x: Core, options: tuple[Any, ...], axes: int, name: str) -> Slide:
    kernel_size, stride, padding, dilation, ceil_mode = options
    taps = per_axis(kernel_size, axes, f"{name}: kernel_size")
    same = stride is None or not to_entries(stride)
    strides = taps if same else per_axis(stride, axes, f"{name}: stride")
    padding = per_axis(padding, axes, f"{name}: padding", 0)
    dilations = per_axis(dilation, axes, f"{name}: dilation")
    lengths = spatial_lengths(x.shape, axes, name)
    pads, places = [], []
    for size, count, step, pad, gap in zip(lengths, taps, strides, padding, dilations, strict=True):
        reach = gap * (count - 1) + 1
        if 2 * pad > count:
            raise ArgumentError(
                f"{name}: padding={padding} is more than half of the windows' size {taps}"
            )
        room = size + 2 * pad - reach
        number = (room + (step - 1 if ceil_mode else 0)) // step + 1
        if ceil_mode and (number - 1) * step >= size + pad:
            number -= 1  # a window must not begin in the padding after the input
        if number < 1:
            raise ShapeError(
                f"{name}: input {build.show(x.shape)} with padding={padding} has no room for "
                f"windows of {build.show(taps)} with dilation={dilations}"
            )
        pads.append((pad, (number - 1) * step + reach - size - pad))
        places.append(number)
    return Slide(taps, strides, dilations, padding, pads, tuple(places), name)


def _windows(node: UOp, spec: Slide, fill: Scalar = 0) -> UOp:
    """(..., taps, places, taps, places), with `fill` outside the input.

    Overlapping windows read every element more than once, so the input is laid out for them.
    """
    node = pad_last(node, spec.pads, fill)
    step = spec.strides[-1]
    if spec.taps[-1] > step and (step > 1 or node.op is Op.PAD):
        node = lay_out(node, step)
    return slide_last(node, spec.taps, spec.strides, spec.dilations)


def _greatest(x: Core, spec: Slide, return_indices: bool) -> Pooled:
    dtype = number_dtype(x.dtype, spec.name)
    with graph_lock:
        node = x.node
        values = wrap(_windows(node, spec, dtype.limits[0]), x.device)
    peaks = first_greatest(values, spec.reductions)
    shape = (*x.shape[: -len(spec.taps)], *spec.places)
    if not return_indices:
        return peaks.reshape(shape)
    lengths = spatial_lengths(x.shape, len(spec.taps), spec.name)
    total = math.prod(lengths)
    with graph_lock:
        line = pad_last(build.reshape(build.count(total), lengths), spec.pads, total)
        line = slide_last(line, spec.taps, spec.strides, spec.dilations)
        positions = wrap(line, x.device)
    position = first_position(values, peaks, positions, total)
    return peaks.reshape(shape), position.amin(spec.reductions).reshape(shape)


@record(frozen=True)
class _ToFirst:
    """The backward function of a maximum that gives the gradient to the first of equal elements."""

    axes: tuple[int, ...]

    def __call__(self, values: Tensor, upstream: Tensor) -> Tensor:
        axes = self.axes
        lengths = [int(values.shape[axis]) for axis in axes]
        shape = [1] * values.ndim
        for axis, length in zip(axes, lengths, strict=True):
            shape[axis] = length
        total = math.prod(lengths)
        with graph_lock:
            places = wrap(build.reshape(build.count(total), tuple(shape)), values.device)
        places = places.cast(dtypes.int32)  # as wide as the values, for equal lanes
        greatest = values.lt(values.amax(axes, keepdim=True)).logical_not()
        first = where(greatest, places, total).amin(axes, keepdim=True)
        # `greatest` is redundant, but lets a kernel recognize the comparison of the values.
        return where(greatest & (places == first), upstream, upstream.new_zeros(()))


def first_greatest(values: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The greatest along axes, which stay. Of equal elements the first in the order of `axes` gets
    the gradient, as in PyTorch; in a window with a NaN the first element does."""
    peaks = values.amax(axes, keepdim=True)
    if not values.dtype.is_float:
        return peaks
    return with_gradient(peaks, values, _ToFirst(axes), is_fixed=True)


def first_position(values: Tensor, peaks: Tensor, positions: Tensor, none: int) -> Tensor:
    """`positions` where `values` are the peaks of their windows, `none` elsewhere."""
    is_peak = values == peaks
    if values.dtype.is_float:
        is_peak = is_peak | values.isnan()
    return where(is_peak, positions, none)


def _average(x: Tensor, spec: Slide, count_padding: bool, divisor: int | None) -> Tensor:
    dtype = number_dtype(x.dtype, spec.name)
    # Averages of integers are truncated, as in PyTorch.
    wide = x.cast(dtypes.int64) if dtype.is_integer else widen(x, spec.name)[0]
    with graph_lock:
        total = wrap(_windows(wide.node, spec), x.device).sum(spec.reductions)
    rounding = "trunc" if dtype.is_integer else None
    if divisor is None:
        counts = _counts(x, spec, count_padding)
        return total.div(counts, rounding_mode=rounding).cast(dtype)
    number = to_integer(divisor, f"{spec.name}: divisor_override")
    if number == 0:
        raise ArgumentError(f"{spec.name}: divisor_override must not be 0")
    return total.div(number, rounding_mode=rounding).cast(dtype)


def _counts(x: Core, spec: Slide, count_padding: bool) -> Any:
    """The number of elements that each window averages: a number if it is equal for all, else a
    tensor that broadcasts to the places."""
    result: Any = 1
    for axis, length in enumerate(spatial_lengths(x.shape, len(spec.taps), spec.name)):
        taps, stride, pad = spec.taps[axis], spec.strides[axis], spec.padding[axis]
        low, high = (-pad, length + pad) if count_padding else (0, length)
        last = (spec.places[axis] - 1) * stride - pad
        if -pad >= low and last + taps <= high:
            result = result * taps
            continue
        with graph_lock:
            begin = wrap(build.count(spec.places[axis]), x.device) * stride - pad
        counts = (begin + taps).clamp(max=high) - begin.clamp(min=low)
        result = counts.reshape(-1, *(1,) * (len(spec.taps) - axis - 1)) * result
    return result


def _norm(x: Tensor, power: float, options: tuple[Any, ...], axes: int) -> Tensor:
    spec = _slide(x, options, axes, f"lp_pool{axes}d")
    average = _average(x.pow(power), spec, True, None)
    return (average * math.prod(spec.taps)).pow(1 / power)
