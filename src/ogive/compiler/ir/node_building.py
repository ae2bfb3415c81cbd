"""Short constructors for the nodes that passes build.

A movement that changes nothing gives its operand. A scalar may be an operand beside any shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, split_argument


def apply(op: Op, *sources: UOp) -> UOp:
    """An elementwise operation, with the dtype of the last source."""
    return UOp(op, sources[-1].dtype, sources)


def apply_number(op: Op, node: UOp, number: Scalar) -> UOp:
    """An elementwise operation with a number as its second operand."""
    return UOp(op, node.dtype, (node, UOp.const(node.dtype, number)))


def compare_number(op: Op, node: UOp, number: Scalar) -> UOp:
    """The comparison of every element with a number."""
    return UOp(op, dtypes.bool_, (node, UOp.const(node.dtype, number)))


def cast(node: UOp, dtype: DType) -> UOp:
    """The node converted to `dtype`."""
    return node if node.dtype is dtype else UOp(Op.CAST, dtype, (node,))


def move(op: Op, node: UOp, argument: Any) -> UOp:
    """A movement; lengths in its argument may be nodes."""
    numbers, symbolic = split_argument(argument)
    return UOp(op, node.dtype, (node, *symbolic), numbers)


def reshape(node: UOp, shape: Shape) -> UOp:
    """The same elements in row-major order under another shape."""
    return node if node.shape == shape else move(Op.RESHAPE, node, shape)


def expand(node: UOp, shape: Shape) -> UOp:
    """The node with axes of length 1 repeated to `shape`, which has as many axes."""
    return node if node.shape == shape else move(Op.EXPAND, node, shape)


def permute(node: UOp, order: Sequence[int]) -> UOp:
    """The node with its axes reordered: axis i of the result is axis `order[i]`."""
    if list(order) == list(range(len(order))):
        return node
    return UOp(Op.PERMUTE, node.dtype, (node,), tuple(order))


def pad_axis(node: UOp, axis: int, pads: tuple[Dim, Dim], fill: Scalar) -> UOp:
    """The node with `pads` = (before, after) elements of `fill` added to one axis."""
    if pads == (0, 0):
        return node
    everywhere = tuple([pads if i == axis else (0, 0) for i in range(len(node.shape))])
    return move(Op.PAD, node, (everywhere, node.dtype.canonical(fill)))


def shrink_axis(node: UOp, axis: int, length: Dim) -> UOp:
    """The first `length` elements of one axis."""
    if node.shape[axis] == length:
        return node
    kept = tuple([(0, length if i == axis else size) for i, size in enumerate(node.shape)])
    return move(Op.SHRINK, node, kept)


def filled(dtype: DType, value: Scalar, shape: Shape) -> UOp:
    """A value of `shape` that has `value` everywhere."""
    return expand(reshape(UOp.const(dtype, value), (1,) * len(shape)), shape)


def count(length: Dim) -> UOp:
    """0, 1, 2, ... along one axis, as int64."""
    if isinstance(length, UOp):
        return UOp(Op.IOTA, dtypes.int64, (length,))
    return UOp(Op.IOTA, dtypes.int64, (), length)


def count_along(axis: int, shape: Shape) -> UOp:
    """A value of `shape` that holds each element's position along one axis, as int64."""
    line = (1,) * axis + (shape[axis],) + (1,) * (len(shape) - axis - 1)
    return expand(reshape(count(shape[axis]), line), shape)


def take_along(node: UOp, places: UOp) -> UOp:
    """The elements of `node` (..., n) at `places` (..., m, ...) along its last axis."""
    lines = [count_along(axis, places.shape) for axis in range(len(node.shape) - 1)]
    return UOp(Op.GATHER, node.dtype, (node, *lines, places))
