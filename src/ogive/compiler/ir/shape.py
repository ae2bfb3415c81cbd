"""Shapes of tensor-graph nodes, derived from their sources and arguments.

A length is an integer or, if it depends on a `VARIABLE`, an index node. The argument of a movement
op holds integers, and None for each symbolic length, which is a further source. So symbolic
lengths are ordinary sources, and static shapes cost no nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ogive.compiler.ir.layouts import Layout
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op

Dim = Any  # int | UOp; mypy cannot mix the two in arithmetic
Shape = tuple[Dim, ...]


def as_length(size: Dim) -> Dim:
    """`size` in its simplest form: an integer if it can have only one value.

    A variable stays a variable, so that it can be bound again, unless the length is always 0.
    """
    if size.__class__ is int:
        return size
    low, high = size.bounds
    if low != high or (high != 0 and size.op in (Op.BIND, Op.VARIABLE)):
        return size
    return low


def least(size: Dim) -> int:
    """The least value that a length or position takes."""
    return size if isinstance(size, int) else int(size.vmin)


def greatest(size: Dim) -> int:
    """The greatest value that a length or position takes."""
    return size if isinstance(size, int) else int(size.vmax)


def movement_argument(node: UOp) -> Any:
    """The argument of a movement node with its symbolic entries filled in from the sources."""
    if len(node.src) == 1:
        return node.arg
    symbolic = iter(node.src[1:])

    def fill(entry: Any) -> Any:
        if entry is None:
            return next(symbolic)
        return tuple(fill(part) for part in entry) if isinstance(entry, tuple) else entry

    return fill(node.arg)


def split_argument(argument: Any) -> tuple[Any, tuple[UOp, ...]]:
    """The reverse of `movement_argument`: `argument` with None for nodes, and these in order."""
    symbolic: list[UOp] = []

    def strip(entry: Any) -> Any:
        if isinstance(entry, UOp):
            symbolic.append(entry)
            return None
        return tuple([strip(part) for part in entry]) if isinstance(entry, tuple) else entry

    return strip(argument), tuple(symbolic)


_SHAPE_OF_SOURCE = frozenset({
    Op.FLIP, Op.CONTIGUOUS, Op.DETACH, Op.GRADIENT, Op.COPY, Op.AFTER, Op.ASSIGN,
    Op.SCATTER, Op.SCAN_AXIS, Op.ORDERED, Op.SORT, Op.STAGE_AXIS, Op.SHARD,
})  # fmt: skip


def infer_shape(node: UOp) -> Shape:
    """The shape of `node`. The shapes of its sources are known."""
    op = node.op
    if op in ELEMENTWISE:
        return common_shape(node.src)
    if op in (Op.BUFFER, Op.PARAM):
        return (node.size,)
    if op is Op.IOTA:
        return (node.stop,) if node.stop is not None else (node.symbolic,)
    if op is Op.PERMUTE:
        shape = node.operand.shape
        return tuple([shape[axis] for axis in node.arg])
    if op in (Op.RESHAPE, Op.EXPAND):
        return tuple(movement_argument(node))
    if op is Op.SHRINK:
        return tuple([as_length(end - begin) for begin, end in movement_argument(node)])
    if op is Op.PAD:
        pads = movement_argument(node)[0]
        return tuple(
            [
                as_length(before + size + after)
                for size, (before, after) in zip(node.operand.shape, pads, strict=True)
            ]
        )
    if op is Op.REDUCE_AXES:
        axes = node.axes
        return tuple([1 if i in axes else size for i, size in enumerate(node.operand.shape)])
    if op in _SHAPE_OF_SOURCE:
        return node.src[0].shape
    if op is Op.GATHER:
        return common_shape(node.indices)
    if op is Op.ORDER:
        return (*node.operand.shape[:-1], node.count)
    if op is Op.ARRANGE:
        *lines, chunks, length = node.operand.shape
        return (*lines, as_length(chunks * length))
    if op is Op.MULTI:
        return Layout(*node.arg).whole_shape(node.src[0].shape)
    if op is Op.MSELECT:
        return Layout(*node.arg[:3]).part_shape(node.operand.shape)
    if op in (Op.CUSTOM, Op.CALL):
        return tuple(node.outputs[node.output][0])
    return ()


def common_shape(sources: tuple[UOp, ...]) -> Shape:
    """The shape of the sources of an elementwise node. All that are not scalars have the same."""
    for source in sources:
        if source.shape:
            return source.shape
    return ()


def element_count(shape: Iterable[Dim]) -> Dim:
    """The product of the lengths."""
    return as_length(math.prod(shape))


def row_major_strides(shape: Sequence[Dim]) -> list[Dim]:
    """The distance in elements between neighbours along each axis."""
    strides: list[Dim] = []
    step: Dim = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * size
    strides.reverse()
    return strides
