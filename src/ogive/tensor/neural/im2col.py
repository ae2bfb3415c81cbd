"""Windows of images as columns of a matrix, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.binary_operations import any_dtype
from ogive.tensor.movement.sliding_windows import (
    Numbers,
    batched,
    pad_last,
    per_axis,
    place_count,
    slide_last,
    spatial_lengths,
    spread,
)

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

APART = (0, 1, 2, 4, 3, 5)
"""The permutation between (taps, places, taps, places) and (taps, taps, places, places)."""


def unfold_windows(
    self: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Every window of an image as one column, like PyTorch's `nn.functional.unfold`.

    Shapes: (batch, channels, h, w) → (batch, channels · taps · taps, places · places), the
    batch being optional. The arguments are those of `conv2d`.

    >>> ogive.ones(1, 3, 8, 8).unfold_windows(3, stride=2).shape
    (1, 27, 9)

    Raises `ShapeError` when there is no room for a window.
    """
    options = _to_options(kernel_size, dilation, padding, stride, "unfold")
    taps, dilations, pads, strides = options
    places = _places(spatial_lengths(self.shape, 2, "unfold"), *options)
    if min(places) < 1:
        raise ShapeError(
            f"unfold: input {build.show(self.shape)} with padding={pads} has no room for "
            f"windows of {build.show(taps)} with dilation={dilations}"
        )
    with graph_lock:
        node = pad_last(batched(self.node, 2), [(pad, pad) for pad in pads])
        node = build.permute(slide_last(node, taps, strides, dilations), APART)
        batch, channels = node.shape[:2]
        columns = (batch, channels * math.prod(taps), math.prod(places))
        return _unbatched(build.reshape(node, columns), self, 4)


def fold_windows(
    self: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Columns as windows of an image, added up where they overlap, like PyTorch's
    `nn.functional.fold`.

    Shapes: (batch, channels · taps · taps, places · places) → (batch, channels, *output_size),
    the batch being optional; as many places as there are in an image of `output_size`.

    >>> ogive.ones(1, 4, 4).fold_windows(3, 2).tolist()
    [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]

    Raises `ShapeError` when there are not that many rows or columns.
    """
    options = _to_options(kernel_size, dilation, padding, stride, "fold")
    taps, dilations, pads, strides = options
    lengths = per_axis(output_size, 2, "fold: output_size")
    places = _places(lengths, *options)
    any_dtype(self.dtype, "fold")
    shape = self.shape
    rows, columns = math.prod(taps), math.prod(places)
    if len(shape) not in (2, 3) or shape[-2] % rows or shape[-1] != columns:
        raise ShapeError(
            f"fold: input has the shape {build.show(shape)}; expected (batch, a multiple of "
            f"{rows}, {columns}), the batch being optional, for {build.show(places)} windows "
            f"of {build.show(taps)}"
        )
    batch = shape[0] if len(shape) == 3 else 1
    channels = shape[-2] // rows
    with graph_lock:
        node = build.reshape(self.node, (batch, channels, *taps, *places))
        node = build.permute(node, APART)
        for each, axis in enumerate((2, 4)):
            length = lengths[each] + 2 * pads[each]
            node = spread(node, axis, length, strides[each], dilations[each])
        node = build.reduce(node, Op.ADD, (2, 4))
        node = build.reshape(node, (batch, channels, node.shape[3], node.shape[5]))
        return _unbatched(pad_last(node, [(-pad, -pad) for pad in pads]), self, 3)


def _to_options(
    taps: Any, dilation: Any, padding: Any, stride: Any, name: str
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    return (
        per_axis(taps, 2, f"{name}: kernel_size"),
        per_axis(dilation, 2, f"{name}: dilation"),
        per_axis(padding, 2, f"{name}: padding", 0),
        per_axis(stride, 2, f"{name}: stride"),
    )


def _places(
    lengths: Numbers, taps: Numbers, dilations: Numbers, pads: Numbers, strides: Numbers
) -> Numbers:
    options = zip(lengths, taps, dilations, pads, strides, strict=True)
    return tuple([place_count(n + 2 * pad, k, s, d) for n, k, d, pad, s in options])


def _unbatched(node: UOp, input: Core, rank: int) -> Tensor:
    """Without the batch axis, unless `input` has one and so `rank` axes."""
    if input.ndim != rank:
        node = build.reshape(node, node.shape[1:])
    return wrap(node, input.device)
