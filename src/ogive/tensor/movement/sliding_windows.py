"""Sliding windows by movements alone, for convolution, pooling and unfolding.

    x (length)   →   w (taps, places)   with   w[tap, place] = x[place·stride + tap·dilation]

The axis is repeated once per tap, and each repetition begins `dilation` elements later than the
previous one. That is a shear, and a shear is two reshapes with rows of different lengths:

    repeat   0 1 2 3     pad    0 1 2 3 ·     rows that are one longer    · · 0 1 2 3
             0 1 2 3     each   0 1 2 3 ·     start one element further   · 0 1 2 3 ·
             0 1 2 3     row    0 1 2 3 ·     to the left each time       0 1 2 3 · ·

The position of each kept element is then linear in tap and place, for windows as for their
transpose, so the loops of neither contain a division. A stride cuts the axis into blocks of that
length, which slide in steps of 1.

All functions here work on nodes and are called with `graph_lock` held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import make
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import to_integer
from ogive.tensor.lengths import is_symbolic

Numbers = tuple[int, ...]


# Reading arguments


def per_axis(value: Any, count: int, name: str, least: int = 1) -> Numbers:
    """An integer for each of `count` axes, from one for all axes or one for each."""
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
    """The input with a batch axis, which it may lack."""
    return node if len(node.shape) == axes + 2 else build.reshape(node, (1, *node.shape))


# Movement of single axes


def on_axis(shape: Shape, axis: int, pair: tuple[int, int], rest: Any = None) -> build.Pairs:
    """`pair` for one axis; `rest` for the others, by default the whole axis."""
    return tuple([pair if other == axis else rest or (0, size) for other, size in enumerate(shape)])


def pad_axis(node: UOp, axis: int, before: int, after: int, fill: Any = 0) -> UOp:
    """One axis, padded; a negative length cuts."""
    begin, end = max(-before, 0), node.shape[axis] - max(-after, 0)
    node = build.shrink(node, on_axis(node.shape, axis, (begin, end)))
    pads = on_axis(node.shape, axis, (max(before, 0), max(after, 0)), (0, 0))
    return build.pad(node, pads, fill)


def pad_last(node: UOp, pads: Sequence[tuple[int, int]], fill: Any = 0) -> UOp:
    """The last axes, padded with `fill`; a negative length cuts."""
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
    """Split one axis into several."""
    shape = node.shape
    return build.reshape(node, (*shape[:axis], *lengths, *shape[axis + 1 :]))


def join_axes(node: UOp, axis: int) -> UOp:
    """Join an axis with the next one."""
    shape = node.shape
    return build.reshape(node, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def every(node: UOp, axis: int, step: int) -> UOp:
    """The first of every `step` elements along an axis, which `step` divides."""
    if step == 1:
        return node
    node = split_axis(node, axis, (node.shape[axis] // step, step))
    return join_axes(build.shrink(node, on_axis(node.shape, axis + 1, (0, 1))), axis)


def _exchange(node: UOp, axis: int) -> UOp:
    """Exchange an axis with the next one."""
    rank = len(node.shape)
    return build.permute(node, (*range(axis), axis + 1, axis, *range(axis + 2, rank)))


# Windows


def place_count(length: int, taps: int, stride: int, dilation: int) -> int:
    """The number of windows in a length; 0 or less if none fits."""
    return (length - dilation * (taps - 1) - 1) // stride + 1


def slide(node: UOp, axis: int, taps: int, stride: int = 1, dilation: int = 1) -> UOp:
    """Replace one axis by its windows, the two axes (taps, places)."""
    length = node.shape[axis]
    places = place_count(length, taps, stride, dilation)
    if taps == 1:
        node = pad_axis(node, axis, 0, places * stride - length)
        return split_axis(every(node, axis, stride), axis, (1, places))
    if stride > 1 and dilation == 1:
        return _slide_phases(node, axis, taps, stride, places)
    reach = dilation * (taps - 1)
    row = reach + max(length, places * stride)
    node = split_axis(node, axis, (1, length))
    node = build.expand(node, (*node.shape[:axis], taps, *node.shape[axis + 1 :]))
    node = pad_axis(node, axis + 1, 0, row - dilation - length)
    node = pad_axis(join_axes(node, axis), axis, reach, dilation)
    node = split_axis(node, axis, (taps, row))
    node = build.shrink(node, on_axis(node.shape, axis + 1, (reach, reach + places * stride)))
    return every(node, axis + 1, stride)


def _slide_phases(node: UOp, axis: int, taps: int, stride: int, places: int) -> UOp:
    """Windows with a stride, by blocks of that length: tap = stride·t + r is element r of the block
    at place + t, so blocks slide in steps of 1."""
    blocks = -(-taps // stride)
    count = places + blocks - 1
    node = pad_axis(node, axis, 0, count * stride - node.shape[axis])
    node = slide(split_axis(node, axis, (count, stride)), axis, blocks)
    node = join_axes(_exchange(node, axis + 1), axis)
    return build.shrink(node, on_axis(node.shape, axis, (0, taps)))


def slide_last(node: UOp, taps: Numbers, strides: Numbers, dilations: Numbers) -> UOp:
    """Replace the last axes by their windows: (..., taps₀, places₀, taps₁, places₁, ...)."""
    axis = len(node.shape) - len(taps)
    for count, stride, dilation in zip(taps, strides, dilations, strict=True):
        node = slide(node, axis, count, stride, dilation)
        axis += 2
    return node


def lay_out(node: UOp, stride: int) -> UOp:
    """The same values in memory, ordered so that windows with a `stride` along the last axis are
    contiguous: elements whose positions have the same remainder follow each other.

    before   0 1 2 3 4 5     after, for a stride of 2   0 2 4 1 3 5
    """
    if stride == 1:
        return keep(node)
    axis = len(node.shape) - 1
    length = node.shape[axis]
    count = -(-length // stride)
    node = pad_axis(node, axis, 0, count * stride - length)
    node = _exchange(split_axis(node, axis, (count, stride)), axis)
    node = join_axes(_exchange(keep(node), axis), axis)
    return build.shrink(node, on_axis(node.shape, axis, (0, length)))


def keep(node: UOp) -> UOp:
    """The same values, materialized in memory."""
    return make(Op.CONTIGUOUS, node.dtype, (node,), (), node.shape)


def spread(node: UOp, axis: int, length: int, stride: int = 1, dilation: int = 1) -> UOp:
    """The reverse of `slide`: (taps, places) → (terms, length), with every element where `slide`
    read it and zeros elsewhere. The sum over the terms is the transpose of `slide`.
    """
    taps, places = node.shape[axis : axis + 2]
    if stride > 1 and dilation == 1 and taps > 1:
        blocks = -(-taps // stride)
        node = pad_axis(node, axis, 0, blocks * stride - taps)
        node = _exchange(split_axis(node, axis, (blocks, stride)), axis + 1)
        node = join_axes(spread(node, axis, places + blocks - 1), axis + 1)
        return pad_axis(node, axis + 1, 0, length - node.shape[axis + 1])
    if stride > 1:
        node = pad_axis(split_axis(node, axis + 1, (places, 1)), axis + 2, 0, stride - 1)
        node = join_axes(node, axis + 1)
    if taps == 1:
        return pad_axis(node, axis + 1, 0, length - places * stride)
    reach = dilation * (taps - 1)
    row = reach + max(length, places * stride)
    node = pad_axis(node, axis + 1, reach, row - reach - places * stride)
    node = pad_axis(join_axes(node, axis), axis, -reach, -dilation)
    node = split_axis(node, axis, (taps, row - dilation))
    return build.shrink(node, on_axis(node.shape, axis + 1, (0, length)))
