"""Convolutions and pooling."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor


def _pads(
    c: Call, lengths: tuple[int, ...], kernel: list[int], strides: list[int], dilations: list[int]
) -> list[tuple[int, int]]:
    """The lengths that are added before and after each axis."""
    rank = len(lengths)
    mode = c.get("auto_pad", "NOTSET")
    if mode in ("NOTSET", "VALID"):
        given = c.get("pads") if mode == "NOTSET" else None
        flat = given or [0] * 2 * rank
        return [(flat[axis], flat[axis + rank]) for axis in range(rank)]
    pads = []
    for length, size, stride, dilation in zip(lengths, kernel, strides, dilations, strict=True):
        out = -(-length // stride)
        total = max((out - 1) * stride + dilation * (size - 1) + 1 - length, 0)
        less = total // 2
        pads.append((less, total - less) if mode == "SAME_UPPER" else (total - less, less))
    return pads


def _flat(pads: list[tuple[int, int]]) -> list[int]:
    """As `pad` takes them: the last axis first."""
    return [amount for pair in reversed(pads) for amount in pair]


@operator("Conv")
def conv(c: Call) -> Value:
    return convolve(c, c.tensor(0), c.tensor(1), c.optional(2))


def convolve(
    c: Call, x: Tensor, weight: Tensor, bias: Tensor | None, outside: int = 0
) -> Tensor:
    """A convolution over one to three axes, as the attributes say. Outside of the image, all is as
    `outside`."""
    rank = x.ndim - 2
    kernel = list(shape_of(weight)[2:])
    strides, dilations = c.get("strides") or [1] * rank, c.get("dilations") or [1] * rank
    pads = _pads(c, shape_of(x)[2:], kernel, strides, dilations)
    if outside or any(before != after for before, after in pads):
        x = x.pad(_flat(pads), value=outside)
        pads = [(0, 0)] * rank
    if not 1 <= rank <= 3:
        raise c.refuse(f"a convolution over {rank} axes; there are those over 1 to 3")
    method = getattr(x, f"conv{rank}d")
    padding = [before for before, _ in pads]
    image: Tensor = method(weight, bias, strides, padding, dilations, c.get("group", 1))
    return image


@operator("ConvTranspose")
def conv_transpose(c: Call) -> Value:
    x, weight, bias = c.tensor(0), c.tensor(1), c.optional(2)
    rank = x.ndim - 2
    kernel = shape_of(weight)[2:]
    strides, dilations = c.get("strides") or [1] * rank, c.get("dilations") or [1] * rank
    extra = c.get("output_padding") or [0] * rank
    full = [
        (length - 1) * stride + dilation * (size - 1) + 1 + more
        for length, stride, dilation, size, more in zip(
            shape_of(x)[2:], strides, dilations, kernel, extra, strict=True
        )
    ]
    method = getattr(x, f"conv_transpose{rank}d")
    image: Tensor = method(weight, bias, strides, 0, 0, c.get("group", 1), dilations)
    for axis, (begin, length) in enumerate(_transposed_spans(c, full, shape_of(x)[2:], strides)):
        missing = begin + length - shape_of(image)[axis + 2]
        if missing > 0:
            image = _extend(image, axis + 2, missing, bias)
        image = image.narrow(axis + 2, begin, length)
    return image


def _transposed_spans(
    c: Call, full: list[int], lengths: tuple[int, ...], strides: list[int]
) -> list[tuple[int, int]]:
    """The part of each axis that is kept: its beginning and its length."""
    rank, mode = len(full), c.get("auto_pad", "NOTSET")
    wanted = c.get("output_shape")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [length * stride for length, stride in zip(lengths, strides, strict=True)]
    if wanted is None:
        pads = (c.get("pads") if mode == "NOTSET" else None) or [0] * 2 * rank
        return [(pads[axis], full[axis] - pads[axis] - pads[axis + rank]) for axis in range(rank)]
    spans = []
    for axis in range(rank):
        total = max(full[axis] - wanted[axis], 0)
        before = total - total // 2 if mode == "SAME_LOWER" else total // 2
        spans.append((before, wanted[axis]))
    return spans


def _extend(x: Tensor, axis: int, count: int, bias: Tensor | None) -> Tensor:
    """More elements at the end of an axis, to which only the bias contributes."""
    before = [0, 0] * (x.ndim - 1 - axis)
    if bias is None:
        return x.pad([*before, 0, count])
    lift = bias.reshape(1, -1, *[1] * (x.ndim - 2))
    return (x - lift).pad([*before, 0, count]) + lift


def _out_length(length: int, span: int, stride: int, ceil: bool) -> int:
    """The number of windows."""
    steps = (length - span) / stride
    return (math.ceil(steps) if ceil else math.floor(steps)) + 1


class _Windows:
    """The windows of a pooling: elements by window, padded, and where they come from."""

    def __init__(self, c: Call, x: Tensor, fill: Any) -> None:
        rank = x.ndim - 2
        self.kernel = list(c.get("kernel_shape"))
        self.strides = c.get("strides") or [1] * rank
        self.dilations = c.get("dilations") or [1] * rank
        self.lengths = shape_of(x)[2:]
        self.pads = _pads(c, self.lengths, self.kernel, self.strides, self.dilations)
        ceil = c.flag("ceil_mode")
        outs, grown = [], []
        for axis, (before, after) in enumerate(self.pads):
            span = self.dilations[axis] * (self.kernel[axis] - 1) + 1
            stride = self.strides[axis]
            padded = self.lengths[axis] + before + after
            count = _out_length(padded, span, stride, ceil)
            if ceil and (count - 1) * stride >= self.lengths[axis] + before:
                count -= 1
            outs.append(count)
            end = (count - 1) * stride + span
            grown.append((before, max(end - self.lengths[axis] - before, 0)))
        self.outs = outs
        self.padded = x.pad(_flat(grown), value=fill) if any(map(any, grown)) else x
        self.places = [
            numpy.arange(outs[axis])[:, None] * self.strides[axis]
            + numpy.arange(self.kernel[axis]) * self.dilations[axis]
            for axis in range(rank)
        ]

    def elements(self) -> Tensor:
        """[batch, channel, windows..., elements of a window]."""
        x = self.padded
        for axis, count in enumerate(self.outs):
            stride, dilation = self.strides[axis], self.dilations[axis]
            span = dilation * (self.kernel[axis] - 1) + 1
            used = x.narrow(2 + axis, 0, (count - 1) * stride + span)
            x = used.unfold(2 + axis, span, stride)[..., ::dilation]
        return x.reshape(*shape_of(x)[: 2 + len(self.outs)], math.prod(self.kernel))

    def counts(self, with_pads: bool) -> numpy.ndarray[Any, Any]:
        """The number of elements of each window that are inside. Pads may count, too."""
        counts = numpy.ones(())
        for axis, places in enumerate(self.places):
            before, after = self.pads[axis]
            low, high = (0, self.lengths[axis] + before + after) if with_pads else (
                before, before + self.lengths[axis]
            )  # fmt: skip
            inside = ((places >= low) & (places < high)).sum(1)
            counts = counts[..., None] * inside
        return counts


@operator("MaxPool")
def max_pool(c: Call) -> Value:
    x = c.tensor(0)
    low = -math.inf if x.dtype.is_float else _least(x)
    windows = _Windows(c, x, low)
    elements = windows.elements()
    largest = elements.amax(-1)
    if len(c.node.outputs) < 2:
        return largest
    return largest, _places_of_largest(c, windows, elements, shape_of(x))


def _least(x: Tensor) -> int:
    return int(numpy.iinfo(x.dtype.name).min)


def _places_of_largest(
    c: Call, windows: _Windows, elements: Tensor, lengths: tuple[int, ...]
) -> Tensor:
    """The place of the largest element of each window in the whole input."""
    rank = len(windows.outs)
    order = list(range(rank)) if c.get("storage_order", 0) == 0 else list(range(rank))[::-1]
    steps = dict.fromkeys(order, 1)
    for place, axis in enumerate(order):
        steps[axis] = math.prod(lengths[2 + other] for other in order[place + 1 :])
    flat = numpy.zeros([1] * 2 * rank, numpy.int64)
    for axis, places in enumerate(windows.places):
        shape = [1] * 2 * rank
        shape[axis], shape[rank + axis] = places.shape
        flat = flat + (places - windows.pads[axis][0]).reshape(shape) * steps[axis]
    table = index_tensor(flat.reshape(*windows.outs, -1))
    chosen = elements.argmax(-1, True)
    positions = table.expand(*chosen.shape[:-1], table.shape[-1]).gather(-1, chosen).squeeze(-1)
    base = numpy.arange(lengths[0] * lengths[1]).reshape(*lengths[:2], *[1] * rank)
    return (positions + index_tensor(base * math.prod(lengths[2:]))).cast(dtypes.int64)


@operator("AveragePool")
def average_pool(c: Call) -> Value:
    x = c.tensor(0)
    windows = _Windows(c, x, 0.0)
    counts = windows.counts(c.flag("count_include_pad"))
    total = windows.elements().sum(-1)
    return total / Tensor.from_numpy(counts.astype(numpy.float64)).cast(x.dtype)


@operator("LpPool")
def lp_pool(c: Call) -> Value:
    power = float(c.get("p", 2))
    elements = _Windows(c, c.tensor(0), 0.0).elements()
    return elements.abs().pow(power).sum(-1).pow(1 / power)


def _all_after_channels(x: Tensor) -> list[int]:
    return list(range(2, x.ndim))


@operator("GlobalAveragePool")
def global_average_pool(c: Call) -> Value:
    return c.tensor(0).mean(_all_after_channels(c.tensor(0)), True)


@operator("GlobalMaxPool")
def global_max_pool(c: Call) -> Value:
    return c.tensor(0).amax(_all_after_channels(c.tensor(0)), True)


@operator("GlobalLpPool")
def global_lp_pool(c: Call) -> Value:
    x, power = c.tensor(0), float(c.get("p", 2))
    return x.abs().pow(power).sum(_all_after_channels(x), True).pow(1 / power)


@operator("MaxUnpool")
def max_unpool(c: Call) -> Value:
    x, places = c.tensor(0), c.tensor(1)
    rank = x.ndim - 2
    kernel, strides = c.get("kernel_shape"), c.get("strides") or [1] * rank
    pads = c.get("pads") or [0] * 2 * rank
    batch, channels, *inner = shape_of(x)
    own = [
        (length - 1) * strides[axis] + kernel[axis] - pads[axis] - pads[axis + rank]
        for axis, length in enumerate(inner)
    ]
    lengths = c.integers(2) if c.has(2) else [batch, channels, *own]
    zeros = numpy.zeros(batch * channels * math.prod(own), numpy.float32)
    flat = Tensor.from_numpy(zeros).cast(x.dtype)
    spread = flat.scatter(0, places.reshape(-1), x.reshape(-1)).reshape(batch, channels, *own)
    extra = [(0, lengths[axis + 2] - own[axis]) for axis in range(rank)]
    return spread.pad(_flat(extra)) if any(map(any, extra)) else spread


@operator("Col2Im")
def column_to_image(c: Call) -> Value:
    x, image, block = c.tensor(0), c.integers(1), c.integers(2)
    rank = len(image)
    strides, dilations = c.get("strides") or [1] * rank, c.get("dilations") or [1] * rank
    pads = c.get("pads") or [0] * 2 * rank
    batch, rows, _ = shape_of(x)
    channels = rows // math.prod(block)
    padded = [image[axis] + pads[axis] + pads[axis + rank] for axis in range(rank)]
    flat = numpy.zeros([1] * 2 * rank, numpy.int64)
    for axis in range(rank):
        span = dilations[axis] * (block[axis] - 1) + 1
        count = (padded[axis] - span) // strides[axis] + 1
        places = numpy.arange(block[axis])[:, None] * dilations[axis]
        places = places + numpy.arange(count) * strides[axis]
        shape = [1] * 2 * rank
        shape[axis], shape[rank + axis] = places.shape
        flat = flat + places.reshape(shape) * math.prod(padded[axis + 1 :])
    index = index_tensor(flat.reshape(-1)).reshape(1, 1, -1).expand(batch, channels, flat.size)
    empty = numpy.zeros((batch, channels, math.prod(padded)), numpy.float32)
    total = Tensor.from_numpy(empty).cast(x.dtype)
    total = total.scatter_add(2, index, x.reshape(batch, channels, -1))
    total = total.reshape(batch, channels, *padded)
    for axis in range(rank):
        total = total.narrow(axis + 2, pads[axis], image[axis])
    return total
