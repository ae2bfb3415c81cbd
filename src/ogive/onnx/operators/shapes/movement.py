"""Operators that move elements, make tensors, or say what shape one has."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.onnx.call import Call, index_tensor, to_tensor
from ogive.onnx.dynamic_lengths import broadcast, is_fixed, missing_length, to_array
from ogive.onnx.elements import Array
from ogive.onnx.operators.values.elementwise import is_text
from ogive.onnx.table import Value, operator
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


def shape_of(value: Any) -> tuple[Any, ...]:
    """The lengths of a tensor or array: integers, or expressions where an axis may change."""
    return tuple(size if isinstance(size, UOp) else int(size) for size in value.shape)


def movable(c: Call, index: int = 0) -> Any:
    """An input that is only moved: it stays known if it is, whatever the others are."""
    value = c.values[index]
    return value if isinstance(value, numpy.ndarray) else c.tensor(index)


@operator("Shape", known=True)
def shape(c: Call) -> Value:
    lengths = shape_of(movable(c))
    return to_array(lengths[c.get("start", 0) : c.get("end")])


@operator("Size", known=True)
def size(c: Call) -> Value:
    return to_array([math.prod(shape_of(movable(c)))]).reshape(())


@operator("Constant", known=True)
def constant(c: Call) -> Value:
    (name,) = c.attributes
    given = c.get(name)
    if name in ("value_float", "value_floats"):
        return numpy.array(given, numpy.float32)
    if name in ("value_int", "value_ints"):
        return numpy.array(given, numpy.int64)
    return numpy.array(given, object) if name.startswith("value_string") else given


@operator("ConstantOfShape", known=True)
def constant_of_shape(c: Call) -> Value:
    lengths = c.integers(0)
    given = c.get("value", numpy.zeros(1, numpy.float32))
    number = given.reshape(-1)[0]
    if is_fixed(*lengths) and math.prod(lengths) <= 64:
        return numpy.full(lengths, number, given.dtype)
    return to_tensor(number).reshape(*[1] * len(lengths)).expand(*lengths)


@operator("Range", known=True)
def make_range(c: Call) -> Value:
    start, limit, delta = (c.array(index).reshape(-1)[0] for index in range(3))
    if not is_fixed(start, limit, delta):
        return arange(start, limit, delta)
    count = c.bound(max(math.ceil((limit - start) / delta), 0))
    return (start + numpy.arange(count) * delta).astype(start.dtype)


@operator("Reshape", known=True)
def reshape(c: Call) -> Value:
    value = movable(c)
    lengths = c.integers(1) if c.has(1) else list(c.get("shape"))
    old = shape_of(value)
    if not c.flag("allowzero"):
        lengths = [
            old[axis] if is_fixed(each) and each == 0 else each for axis, each in enumerate(lengths)
        ]
    if -1 in lengths:
        rest = missing_length(old, lengths)
        lengths = [rest if is_fixed(each) and each == -1 else each for each in lengths]
    return value.reshape(tuple(lengths))


@operator("Flatten", known=True)
def flatten(c: Call) -> Value:
    value, axis = movable(c), c.get("axis", 1)
    lengths = shape_of(value)
    axis += len(lengths) if axis < 0 else 0
    return value.reshape(math.prod(lengths[:axis]), math.prod(lengths[axis:]))


@operator("Squeeze", known=True)
def squeeze(c: Call) -> Value:
    value, axes = movable(c), c.axes(1)
    lengths = shape_of(value)
    gone = {axis % len(lengths) for axis in axes} if axes is not None else None
    kept = [
        each
        for axis, each in enumerate(lengths)
        if (axis not in gone if gone is not None else each != 1)
    ]
    return value.reshape(tuple(kept))


@operator("Unsqueeze", known=True)
def unsqueeze(c: Call) -> Value:
    value, axes = movable(c), c.axes(1) or []
    lengths = list(shape_of(value))
    rank = len(lengths) + len(axes)
    for axis in sorted(each % rank for each in axes):
        lengths.insert(axis, 1)
    return value.reshape(tuple(lengths))


@operator("Transpose", known=True)
def transpose(c: Call) -> Value:
    value = movable(c)
    order = c.get("perm") or list(range(value.ndim))[::-1]
    return value.permute(*order) if isinstance(value, Tensor) else value.transpose(order)


@operator("Expand", known=True)
def expand(c: Call) -> Value:
    value = movable(c)
    lengths = broadcast(shape_of(value), c.integers(1))
    if isinstance(value, Tensor) or not is_fixed(*lengths):
        return to_tensor(value).expand(*lengths)
    return numpy.broadcast_to(value, lengths)


@operator("Tile", known=True)
def tile(c: Call) -> Value:
    value, repeats = movable(c), c.integers(1)
    if isinstance(value, numpy.ndarray):
        c.bound(math.prod(repeats) * value.size)
    return value.tile(*repeats) if isinstance(value, Tensor) else numpy.tile(value, repeats)


@operator("Concat", known=True)
def concat(c: Call) -> Value:
    axis = c.get("axis", 1)
    if all(isinstance(value, numpy.ndarray) for value in c.values):
        return numpy.concatenate(c.values, axis)
    return cat(c.tensors(), axis)


@operator("Split", known=True)
def split(c: Call) -> Value:
    value, axis = movable(c), c.get("axis", 0)
    length = shape_of(value)[axis]
    sizes = c.integers(1) if c.has(1) else c.get("split")
    if sizes is None:
        count = c.get("num_outputs", len(c.node.outputs))
        if not is_fixed(length):
            return tuple(value.split(length // count, axis))
        step = -(-length // count)
        sizes = [max(min(step, length - index * step), 0) for index in range(count)]
    if isinstance(value, Tensor):
        return tuple(value.split(sizes, axis))
    return tuple(numpy.split(value, numpy.cumsum(sizes)[:-1], axis))


@operator("Slice", until=10, known=True)
def slice_by_attributes(c: Call) -> Value:
    starts, ends = c.get("starts"), c.get("ends")
    return _slice(movable(c), starts, ends, c.get("axes"), None)


@operator("Slice", since=10, known=True)
def slice_by_inputs(c: Call) -> Value:
    axes = c.integers(3) if c.has(3) else None
    steps = c.integers(4) if c.has(4) else None
    return _slice(movable(c), c.integers(1), c.integers(2), axes, steps)


def _slice(
    value: Any, starts: list[int], ends: list[int], axes: list[int] | None, steps: list[int] | None
) -> Value:
    lengths = shape_of(value)
    if not is_fixed(*lengths, *starts, *ends):
        return _slice_lengths(to_tensor(value), starts, ends, axes, steps)
    part = value
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = (axes[place] if axes is not None else place) % len(lengths)
        step = steps[place] if steps is not None else 1
        chosen = range(lengths[axis])[slice(start, _stop(end, lengths[axis], step), step)]
        part = _take_range(part, axis, chosen)
    return part


def _slice_lengths(
    value: Tensor, starts: list[Any], ends: list[Any], axes: list[int] | None,
    steps: list[int] | None,
) -> Tensor:  # fmt: skip
    """A slice where a length or a place is an expression."""
    chosen = [slice(None)] * value.ndim
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = (axes[place] if axes is not None else place) % value.ndim
        step = steps[place] if steps is not None else 1
        whole = is_fixed(end) and end >= _ENDLESS
        chosen[axis] = slice(start, None if whole else end, step)
    return value[tuple(chosen)]


_ENDLESS = (1 << 31) - 1
"""From here on an end is what exporters write for the end of an axis."""


def _stop(end: int, length: int, step: int) -> int | None:
    """The end of a slice, where what is before the first element is no end."""
    if step < 0 and end < -length:
        return None
    return end


def _take_range(value: Any, axis: int, chosen: range) -> Value:
    if isinstance(value, numpy.ndarray):
        return value.take(numpy.array(chosen, numpy.int64), axis)
    before = (slice(None),) * axis
    if len(chosen) == 0:
        return value[(*before, slice(0, 0))]
    if chosen.step > 0:
        return value[(*before, slice(chosen.start, chosen[-1] + 1, chosen.step))]
    forward = chosen[::-1]
    return value[(*before, slice(forward.start, forward[-1] + 1, forward.step))].flip(axis)


@operator("Pad", known=True)
def pad(c: Call) -> Value:
    x = c.tensor(0)
    amounts = c.integers(1) if c.has(1) else list(c.get("pads") or c.get("paddings"))
    rank = len(amounts) // 2
    axes = c.integers(3) if c.has(3) else list(range(rank))
    mode = c.get("mode", "constant")
    value = c.number(2) if c.has(2) else c.get("value", 0.0)
    for place, axis in enumerate(axes):
        before, after = amounts[place], amounts[place + rank]
        x = _pad_axis(x, axis % x.ndim, before, after, mode, value)
    return x


def _pad_axis(x: Tensor, axis: int, before: int, after: int, mode: str, value: Any) -> Tensor:
    """Pad one axis; less than nothing cuts off."""
    length = shape_of(x)[axis]
    if before < 0 or after < 0:
        x = x.narrow(axis, max(-before, 0), length + min(before, 0) + min(after, 0))
        before, after, length = max(before, 0), max(after, 0), shape_of(x)[axis]
    if not before and not after:
        return x
    if mode == "constant":
        return x.pad([0, 0] * (x.ndim - 1 - axis) + [before, after], value=value)
    places = numpy.arange(-before, length + after)
    if mode == "edge":
        places = places.clip(0, length - 1)
    elif mode == "wrap":
        places = places % length
    else:
        period = max(2 * (length - 1), 1)
        places = (length - 1) - abs(places % period - (length - 1))
    return x.index_select(axis, index_tensor(places))


@operator("EyeLike")
def eye_like(c: Call) -> Value:
    rows, columns = shape_of(c.values[0])
    c.bound(rows * columns)
    dtype = c.dtype("dtype") if c.get("dtype") else c.tensor(0).dtype
    return to_tensor(numpy.eye(rows, columns, c.get("k", 0)).astype(dtype.numpy))


@operator("Trilu")
def triangle(c: Call) -> Value:
    diagonal = int(c.number(1)) if c.has(1) else 0
    return c.tensor(0).triu(diagonal) if c.flag("upper", 1) else c.tensor(0).tril(diagonal)


@operator("DepthToSpace")
def depth_to_space(c: Call) -> Value:
    x, block = c.tensor(0), c.get("blocksize")
    batch, channels, height, width = shape_of(x)
    inner = channels // block**2
    if c.get("mode", "DCR") == "DCR":
        parts = x.reshape(batch, block, block, inner, height, width).permute(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(batch, inner, block, block, height, width).permute(0, 1, 4, 2, 5, 3)
    return parts.reshape(batch, inner, height * block, width * block)


@operator("SpaceToDepth")
def space_to_depth(c: Call) -> Value:
    x, block = c.tensor(0), c.get("blocksize")
    batch, channels, height, width = shape_of(x)
    parts = x.reshape(batch, channels, height // block, block, width // block, block)
    order = (0, 3, 5, 1, 2, 4) if c.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    moved = parts.permute(*order)
    return moved.reshape(batch, channels * block**2, height // block, width // block)


@operator("ReverseSequence")
def reverse_sequence(c: Call) -> Value:
    x, lengths = c.tensor(0), c.tensor(1)
    time, batch = c.get("time_axis", 0), c.get("batch_axis", 1)
    steps = [1] * x.ndim
    steps[time] = shape_of(x)[time]
    ends = [1] * x.ndim
    ends[batch] = shape_of(x)[batch]
    place = index_tensor(numpy.arange(shape_of(x)[time])).reshape(*steps)
    end = lengths.reshape(*ends)
    return x.gather(time, (end - 1 - place).where(place < end, place).expand(*x.shape))


@operator("CenterCropPad")
def center_crop_pad(c: Call) -> Value:
    x, wanted = c.tensor(0), c.integers(1)
    axes = c.get("axes") or list(range(x.ndim))
    for axis, length in zip(axes, wanted, strict=True):
        more = length - shape_of(x)[axis]
        before = more // 2 if more >= 0 else -(-more // 2)
        x = _pad_axis(x, axis % x.ndim, before, more - before, "constant", 0)
    return x


@operator("BitCast")
def bit_cast(c: Call) -> Value:
    x = c.tensor(0)
    bits = x.cast(dtypes.uint8) if x.dtype == dtypes.bool_ else x
    return bits.bitcast(c.dtype("to"))


def known_or_tensor(value: Any) -> Array | Tensor:
    """A value that texts and known numbers stay as."""
    return value if is_text(value) or isinstance(value, numpy.ndarray) else to_tensor(value)
