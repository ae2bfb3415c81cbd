"""Windows that slide along axes, by movement alone: what convolution, pooling and unfolding read.

    x (length)   →   w (taps, places)   with   w[tap, place] = x[place·stride + tap·dilation]

The axis is repeated once a tap, and each repetition begins `dilation` elements later than the one
before it. That is a shear, and a shear is two reshapes to rows of different length:

    repeat   0 1 2 3     pad    0 1 2 3 ·     rows that are one longer    · · 0 1 2 3
             0 1 2 3     each   0 1 2 3 ·     start one element further   · 0 1 2 3 ·
             0 1 2 3     row    0 1 2 3 ·     to the left each time       0 1 2 3 · ·

Every element that is kept then has a position that is linear in tap and place, for the windows and
for their transpose alike, so no division is left in the loops of either.

Everything here works on nodes and is called with `graph_lock` held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import make
from ogive.ir.shape import Shape
from ogive.tensor import build
from ogive.tensor.core import to_integer
from ogive.tensor.lengths import is_symbolic

Numbers = tuple[int, ...]


# Reading arguments


def per_axis(value: Any, count: int, name: str, least: int = 1) -> Numbers:
    """An integer for each of `count` axes: one for all of them, or as many as there are."""
    given = tuple(value) if isinstance(value, tuple | list) else (value,)
    if len(given) not in (1, count):
        raise ArgumentTypeError(
            f"{name} is one integer or {count} of them, one for each axis, not {value!r}"
        )
    numbers = tuple([to_integer(entry, name) for entry in given])
    for number in numbers:
        if number < least:
            raise ArgumentError(f"{name} must be at least {least}, got {value!r}")
    return numbers if len(numbers) == count else numbers * count


def spatial_lengths(shape: Shape, axes: int, name: str) -> Numbers:
    """The lengths of the last `axes` axes of an input (batch, channels, ...) or (channels, ...)."""
    if len(shape) not in (axes + 1, axes + 2):
        raise ShapeError(
            f"{name}: input has the shape {build.show(shape)}; expected {axes + 2} axes (batch, "
            f"channels, {axes} of space), or {axes + 1} without the batch"
        )
    lengths = shape[len(shape) - axes :]
    if is_symbolic(*lengths):
        raise ShapeError(
            f"{name}: input has the shape {build.show(shape)}; windows slide only along axes whose "
            "length does not depend on a variable"
        )
    return tuple(lengths)


def batched(node: UOp, axes: int) -> UOp:
    """The same with the batch axis that an input of `axes` spatial axes may lack."""
    return node if len(node.shape) == axes + 2 else build.reshape(node, (1, *node.shape))


# Movement of single axes


def on_axis(shape: Shape, axis: int, pair: tuple[int, int], rest: Any = None) -> build.Pairs:
    """`pair` for one axis; for the others `rest`, or the whole axis."""
    return tuple(
        [
            pair if other == axis else rest or (0, size)
            for other, size in enumerate(shape)
        ]
    )


def pad_axis(node: UOp, axis: int, before: int, after: int, fill: Any = 0) -> UOp:
    """One axis, padded; a negative length cuts."""
    begin, end = max(-before, 0), node.shape[axis] - max(-after, 0)
    node = build.shrink(node, on_axis(node.shape, axis, (begin, end)))
    pads = on_axis(node.shape, axis, (max(before, 0), max(after, 0)), (0, 0))
    return build.pad(node, pads, fill)


def pad_last(node: UOp, pads: Sequence[tuple[int, int]], fill: Any = 0) -> UOp:
    """The last axes surrounded with `fill`; a negative length cuts."""
    shape = node.shape
    front = len(shape) - len(pads)
    cuts = [
        (max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(shape[front:], pads, strict=True)
    ]
    node = build.shrink(node, (*[(0, size) for size in shape[:front]], *cuts))
    kept = [(max(before, 0), max(after, 0)) for before, after in pads]
    return build.pad(node, (*[(0, 0)] * front, *kept), fill)


def split_axis(node: UOp, axis: int, lengths: Numbers) -> UOp:
    """One axis as several."""
    shape = node.shape
    return build.reshape(node, (*shape[:axis], *lengths, *shape[axis + 1 :]))


def every(node: UOp, axis: int, step: int, count: int) -> UOp:
    """The first `count` of every `step` elements along an axis that is at least that long."""
    node = build.shrink(node, on_axis(node.shape, axis, (0, count * step)))
    if step == 1:
        return node
    node = split_axis(node, axis, (count, step))
    node = build.shrink(node, on_axis(node.shape, axis + 1, (0, 1)))
    shape = node.shape
    return build.reshape(node, (*shape[: axis + 1], *shape[axis + 2 :]))


# Windows


def place_count(length: int, taps: int, stride: int, dilation: int) -> int:
    """How many windows fit into a length; 0 or less when there is no room for one."""
    return (length - dilation * (taps - 1) - 1) // stride + 1


def slide(node: UOp, axis: int, taps: int, stride: int = 1, dilation: int = 1) -> UOp:
    """One axis as two, (taps, places)."""
    length = node.shape[axis]
    places = place_count(length, taps, stride, dilation)
    missing = max(places * stride - length, 0)
    if taps == 1:
        node = every(pad_axis(node, axis, 0, missing), axis, stride, places)
        return split_axis(node, axis, (1, places))
    reach = dilation * (taps - 1)
    row = reach + length + missing
    node = split_axis(node, axis, (1, length))
    node = build.expand(node, (*node.shape[:axis], taps, *node.shape[axis + 1 :]))
    node = pad_axis(node, axis + 1, 0, row - dilation - length)
    shape = node.shape
    flat = (*shape[:axis], taps * (row - dilation), *shape[axis + 2 :])
    node = pad_axis(build.reshape(node, flat), axis, reach, dilation)
    node = split_axis(node, axis, (taps, row))
    node = build.shrink(node, on_axis(node.shape, axis + 1, (reach, row)))
    return every(node, axis + 1, stride, places)


def slide_last(node: UOp, taps: Numbers, strides: Numbers, dilations: Numbers) -> UOp:
    """The last axes as pairs: (..., taps₀, places₀, taps₁, places₁, ...)."""
    axis = len(node.shape) - len(taps)
    for count, stride, dilation in zip(taps, strides, dilations, strict=True):
        node = slide(node, axis, count, stride, dilation)
        axis += 2
    return node


def lay_out(node: UOp, stride: int) -> UOp:
    """The same values, kept in memory so that windows at steps of `stride` along the last axis lie
    side by side: elements whose positions leave the same remainder follow each other.

    before   0 1 2 3 4 5     after, for a stride of 2   0 2 4 1 3 5
    """
    if stride == 1:
        return keep(node)
    axis = len(node.shape) - 1
    length = node.shape[axis]
    count = -(-length // stride)
    node = pad_axis(node, axis, 0, count * stride - length)
    node = split_axis(node, axis, (count, stride))
    order = (*range(axis), axis + 1, axis)
    node = build.permute(keep(build.permute(node, order)), order)
    node = build.reshape(node, (*node.shape[:axis], count * stride))
    return build.shrink(node, on_axis(node.shape, axis, (0, length)))


def keep(node: UOp) -> UOp:
    """The same values, in memory."""
    return make(Op.CONTIGUOUS, node.dtype, (node,), (), node.shape)


def spread(node: UOp, axis: int, length: int, stride: int = 1, dilation: int = 1) -> UOp:
    """The way back: (taps, places) as (taps, length), every element where `slide` has read it and
    zeros elsewhere. The sum over the taps is the transpose of `slide`.
    """
    taps, places = node.shape[axis : axis + 2]
    if stride > 1:
        node = split_axis(node, axis + 1, (places, 1))
        node = pad_axis(node, axis + 2, 0, stride - 1)
        shape = node.shape
        node = build.reshape(node, (*shape[: axis + 1], places * stride, *shape[axis + 3 :]))
    missing = max(places * stride - length, 0)
    if taps == 1:
        return pad_axis(node, axis + 1, 0, length - places * stride)
    reach = dilation * (taps - 1)
    row = reach + length + missing
    node = pad_axis(node, axis + 1, reach, row - reach - places * stride)
    shape = node.shape
    node = build.reshape(node, (*shape[:axis], taps * row, *shape[axis + 2 :]))
    node = pad_axis(node, axis, -reach, -dilation)
    node = split_axis(node, axis, (taps, row - dilation))
    return build.shrink(node, on_axis(node.shape, axis + 1, (0, length)))
