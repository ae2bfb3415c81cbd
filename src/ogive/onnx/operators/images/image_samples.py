"""Operators that read images between their elements: regions of interest, deformed windows."""

from __future__ import annotations

import math

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.elements import Array
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor


def _corners(
    images: Tensor, y: Tensor, x: Tensor, lengths: tuple[int, int], outside: bool
) -> Tensor:
    """The four elements around each place, each times its weight: [..., channels, places, 4].

    images: [n, channels, height * width]; y, x: [n, places]. With `outside`, elements beyond the
    edge are 0, else the last ones are repeated.
    """
    parts = []
    low_y, low_x = y.floor(), x.floor()
    for below in (0, 1):
        for right in (0, 1):
            row, column = low_y + below, low_x + right
            weight = (1 - (y - row).abs()) * (1 - (x - column).abs())
            if outside:
                inside = (row >= 0).logical_and(row < lengths[0])
                inside = inside.logical_and(column >= 0).logical_and(column < lengths[1])
                weight = weight.where(inside, weight * 0)
            row, column = row.clamp(0, lengths[0] - 1), column.clamp(0, lengths[1] - 1)
            at = (row * lengths[1] + column).cast(dtypes.int64).unsqueeze(1)
            count, channels = shape_of(images)[:2]
            at = at.expand(count, channels, shape_of(at)[2])
            parts.append(images.gather(2, at) * weight.unsqueeze(1))
    return stack(parts, -1)


@operator("RoiAlign")
def align_regions(c: Call) -> Value:
    x, regions = c.tensor(0), c.tensor(1)
    channels, height, width = shape_of(x)[1:]
    wanted = c.get("output_height", 1), c.get("output_width", 1)
    default = "half_pixel" if c.version >= 16 else "output_half_pixel"
    is_half = c.get("coordinate_transformation_mode", default) == "half_pixel"
    edges = regions * c.get("spatial_scale", 1.0) - (0.5 if is_half else 0.0)
    count = shape_of(regions)[0]
    places, counts = [], []
    for axis, out in ((1, wanted[0]), (0, wanted[1])):
        start, span = edges[:, axis], edges[:, axis + 2] - edges[:, axis]
        span = span if is_half else span.clamp(min=1.0)
        taken = _samples(c, span, out, count)
        counts.append(taken)
        places.append(_sample_places(start, span, out, taken))
    y, x_places, keep = _grid(places[0], places[1], counts)
    valid = (y >= -1).logical_and(y <= height).logical_and(x_places >= -1)
    valid = valid.logical_and(x_places <= width)
    images = x.index_select(0, c.tensor(2).cast(dtypes.int64)).reshape(count, channels, -1)
    y, x_places = y.clamp(0, height - 1), x_places.clamp(0, width - 1)
    samples = _corners(images, y, x_places, (height, width), False)
    samples = samples * valid.cast(x.dtype).unsqueeze(1).unsqueeze(-1)
    lengths = (count, channels, *wanted, keep.shape[-1])
    marks = keep.reshape(count, 1, *lengths[2:]).cast(x.dtype)
    if c.get("mode", "avg") == "avg":
        return (samples.sum(-1).reshape(*lengths) * marks).sum(-1) / marks.sum(-1).clamp(min=1.0)
    largest = samples.amax(-1).reshape(*lengths)
    return largest.where(marks > 0, largest * 0 - math.inf).amax(-1)


def _samples(c: Call, span: Tensor, out: int, count: int) -> Array:
    """The number of places that each region has along an axis, for one element of the result."""
    given = c.get("sampling_ratio", 0)
    if given > 0:
        return numpy.full(count, given)
    return numpy.maximum(numpy.ceil(span.numpy() / out), 1).astype(numpy.int64)


def _sample_places(start: Tensor, span: Tensor, out: int, counts: Array) -> Tensor:
    """[regions, out, most places]: where an axis is read."""
    most = int(counts.max(initial=1))
    steps = Tensor.from_numpy((numpy.arange(most) + 0.5) / counts[:, None]).cast(start.dtype)
    bins = index_tensor(numpy.arange(out)).cast(start.dtype)
    inside = bins.reshape(1, out, 1) + steps.unsqueeze(1)
    return start.reshape(-1, 1, 1) + inside * (span / out).reshape(-1, 1, 1)


def _grid(y: Tensor, x: Tensor, counts: list[Array]) -> tuple[Tensor, Tensor, Tensor]:
    """Places of both axes combined, [regions, all places], and which of them count."""
    (regions, rows, tall), (_, columns, wide) = shape_of(y), shape_of(x)
    full = regions, rows, columns, tall, wide
    both_y = y.reshape(regions, rows, 1, tall, 1).expand(*full).reshape(regions, -1)
    both_x = x.reshape(regions, 1, columns, 1, wide).expand(*full).reshape(regions, -1)
    own_y = numpy.arange(tall)[:, None] < counts[0][:, None, None]
    own_x = numpy.arange(wide) < counts[1][:, None, None]
    keep = Tensor.from_numpy(own_y & own_x).reshape(regions, 1, 1, tall * wide)
    return both_y, both_x, keep.expand(regions, rows, columns, tall * wide)


@operator("DeformConv")
def deformed_convolution(c: Call) -> Value:
    x, weight, offset = c.tensor(0), c.tensor(1), c.tensor(2)
    if x.ndim != 4:
        raise c.refuse(f"a deformed convolution over {x.ndim - 2} axes; there are those over 2")
    batch, channels, height, width = shape_of(x)
    features, _, tall, wide = shape_of(weight)
    rows, columns = shape_of(offset)[2:]
    groups, parts = c.get("group", 1), c.get("offset_group", 1)
    strides, dilations = c.get("strides") or [1, 1], c.get("dilations") or [1, 1]
    pads = c.get("pads") or [0] * 4
    taps = tall * wide
    moved = offset.reshape(batch * parts, taps, 2, rows, columns)
    y = moved[:, :, 0] + _window_places(rows, tall, strides[0], dilations[0], pads[0], x, 0, wide)
    across = _window_places(columns, wide, strides[1], dilations[1], pads[1], x, 1, tall)
    x_places = moved[:, :, 1] + across
    images = x.reshape(batch * parts, channels // parts, height * width)
    flat = batch * parts, taps * rows * columns
    samples = _corners(images, y.reshape(*flat), x_places.reshape(*flat), (height, width), True)
    samples = samples.sum(-1).reshape(batch, parts, channels // parts, taps, rows * columns)
    if c.has(4):
        samples = samples * c.tensor(4).reshape(batch, parts, 1, taps, rows * columns)
    columns_of = samples.reshape(batch, groups, channels // groups * taps, rows * columns)
    kernel = weight.reshape(1, groups, features // groups, -1)
    product = (kernel @ columns_of).reshape(batch, features, rows, columns)
    return product + c.tensor(3).reshape(1, -1, 1, 1) if c.has(3) else product


def _window_places(
    count: int, taps: int, stride: int, dilation: int, pad: int, like: Tensor, axis: int, other: int
) -> Tensor:
    """[1, all taps, rows, columns] (1 where an axis is not this one): where windows would read."""
    places = numpy.arange(taps)[:, None] * dilation + numpy.arange(count) * stride - pad
    own = numpy.repeat(places, other, 0) if axis == 0 else numpy.tile(places, (other, 1))
    shape = (1, taps * other, count, 1) if axis == 0 else (1, taps * other, 1, count)
    return Tensor.from_numpy(own.reshape(shape).astype(numpy.float64)).cast(like.dtype)
