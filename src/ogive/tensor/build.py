"""Nodes of tensor graphs: movement, broadcasting, casts, reductions.

All functions work on nodes and are called with `graph_lock` held. A movement that changes nothing
makes no node, and a chain of movements of one kind makes one:

    reshape(reshape(x, (6,)), (2, 3))   →   RESHAPE(x) (2, 3)
    shrink(x, ((0, 4), (0, 3)))         →   x, where x has the shape (4, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length, common_shape, split_argument
from ogive.compiler.live import history
from ogive.compiler.live.registry import make
from ogive.errors import ArgumentError, IndexRangeError, ShapeError, user_origin
from ogive.tensor.lengths import difference

Pairs = tuple[tuple[Dim, Dim], ...]

SCALARS = frozenset({Op.CONST, Op.VARIABLE, Op.BIND})
"""Ops of scalars, which may be operands beside any shape without being expanded."""

WIDENED = frozenset({dtypes.float16, dtypes.bfloat16})
"""Dtypes whose sums and products are accumulated in float32."""


MOST_ELEMENTS = (1 << 63) - 1
"""The greatest number of elements of a tensor, since positions have 64 bits."""


def check_size(shape: Shape) -> None:
    """Raise `ShapeError` if a shape has more than `MOST_ELEMENTS`.

    As in NumPy and PyTorch, a length of 0 does not help. Symbolic lengths are checked when memory
    is allocated.
    """
    count = 1
    for size in shape:
        if size.__class__ is int and size:
            count *= size
    if count > MOST_ELEMENTS:
        raise ShapeError(
            f"a tensor of shape {show(shape)} has more elements than can be counted, 2**63 - 1"
        )


def show(shape: Sequence[Dim]) -> str:
    """A shape as the user would write it."""
    return str(tuple(shape))


# Scalars and casts


def constant(dtype: DType, value: Scalar | complex) -> UOp:
    """A scalar. Raises `ArgumentError` for an integer that no 64-bit dtype holds, and for a complex
    number in a real dtype."""
    if value.__class__ is complex and dtype.kind != "complex":
        raise ArgumentError(f"{value} is complex and does not fit {dtype.name}; give its real part")
    if dtype.kind != "float" and type(value) is int and not -(1 << 63) <= value < 1 << 64:
        raise ArgumentError(f"{value} does not fit {dtype.name}")
    return make(Op.CONST, dtype, (), value)


def fitting(dtype: DType, value: Scalar | complex) -> UOp:
    """A scalar of exactly this value. Raises `ArgumentError` for an integer that does not fit.

    A negative one counts from the end of an unsigned dtype, as in PyTorch.
    """
    least, greatest = dtype.limits
    lowest = least or -greatest
    if dtype.is_integer and type(value) is int and not lowest <= value <= greatest:
        raise ArgumentError(
            f"{value} does not fit {dtype.name}, which holds {least} to {greatest}"
        )
    return constant(dtype, value)


def index_value(size: Dim) -> UOp:
    """A length or position as a scalar of int64."""
    if isinstance(size, UOp):
        return make(Op.CAST, dtypes.int64, (size,))
    return make(Op.CONST, dtypes.int64, (), size)


def filled(dtype: DType, value: Scalar | complex, shape: Shape) -> UOp:
    """A value of `shape` that has `value` everywhere."""
    return expand_to(constant(dtype, value), shape)


class _Unmoved:
    """The rule of a `GRADIENT` node for a value that does not depend on its inputs."""

    __slots__ = ()

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        return [filled(source.dtype, 0, source.shape) for source in node.inputs]


_UNMOVED = _Unmoved()


def unmoved(value: UOp, source: UOp) -> UOp:
    """`value`, which is computed from `source` but does not depend on it: its gradient is zero.

    `backward()` refuses a value that leads to no leaf. This value leads to the leaves of `source`.
    """
    if not source.dtype.is_inexact or not history.is_tracking():
        return value
    return make(Op.GRADIENT, value.dtype, (value, source), _UNMOVED)


def count(length: Dim) -> UOp:
    """0, 1, 2, ... along one axis, as int64."""
    if isinstance(length, UOp):
        return make(Op.IOTA, dtypes.int64, (length,))
    check_size((length,))
    return make(Op.IOTA, dtypes.int64, (), length)


def cast(node: UOp, dtype: DType) -> UOp:
    """Convert to `dtype`. Constants are converted at once if the result is certain."""
    source = node.dtype
    if source is dtype:
        return node
    if node.op is Op.CONST and not (source.is_inexact and dtype.is_integer):
        return make(Op.CONST, dtype, (), node.arg)
    return make(Op.CAST, dtype, (node,), None, node.shape)


# Movement


def _move(op: Op, node: UOp, argument: Any, shape: Shape | None = None) -> UOp:
    if argument.__class__ is not tuple:
        argument = shape = tuple(argument)  # a namespace may have a class of its own for sizes
    if _is_static(argument):
        return make(op, node.dtype, (node,), argument, shape)
    argument, symbolic = split_argument(argument)
    return make(op, node.dtype, (node, *symbolic), argument, shape)


def _is_static(argument: Any) -> bool:
    for entry in argument:
        kind = entry.__class__
        if kind is tuple:
            if not _is_static(entry):
                return False
        elif kind is UOp:
            return False
    return True


def reshape(node: UOp, shape: Shape) -> UOp:
    """The same elements in row-major order under another shape."""
    if node.shape == shape:
        return node
    while node.op is Op.RESHAPE:
        node = node.operand
        if node.shape == shape:
            return node
    return _move(Op.RESHAPE, node, shape, shape)


def permute(node: UOp, order: tuple[int, ...]) -> UOp:
    """Reorder the axes: axis i of the result is axis `order[i]`."""
    if node.op is Op.PERMUTE:
        inner = node.arg
        node, order = node.operand, tuple([inner[axis] for axis in order])
    if order == tuple(range(len(order))):
        return node
    return make(Op.PERMUTE, node.dtype, (node,), order)


def expand(node: UOp, shape: Shape) -> UOp:
    """Repeat axes of length 1."""
    if node.shape == shape:
        return node
    if node.op is Op.EXPAND:
        node = node.operand
    check_size(shape)
    return _move(Op.EXPAND, node, shape, shape)


def shrink(node: UOp, pairs: Pairs) -> UOp:
    """Keep `[begin, end)` of each axis."""
    if pairs == tuple([(0, size) for size in node.shape]):
        return node
    if node.op is Op.SHRINK and len(node.src) == 1:
        outer = node.arg
        node = node.operand
        pairs = tuple(
            [
                (as_length(low + begin), as_length(low + end))
                for (low, _), (begin, end) in zip(outer, pairs, strict=True)
            ]
        )
    return _move(Op.SHRINK, node, pairs)


def pad(node: UOp, pads: Pairs, fill: Scalar = 0) -> UOp:
    """Surround with `fill`, `(before, after)` elements per axis."""
    if pads == ((0, 0),) * len(pads):
        return node
    padded = _move(Op.PAD, node, (pads, node.dtype.canonical(fill)))
    check_size(padded.shape)
    return padded


def flip(node: UOp, axes: tuple[int, ...]) -> UOp:
    """Reverse the order along `axes`."""
    if node.op is Op.FLIP:
        axes, node = tuple(set(axes) ^ set(node.axes)), node.operand
    shape = node.shape
    axes = tuple(sorted([axis for axis in axes if shape[axis] not in (0, 1)]))
    return make(Op.FLIP, node.dtype, (node,), axes) if axes else node


# Broadcasting


def broadcast_shapes(left: Shape, right: Shape, name: str) -> Shape:
    """The common shape of two shapes, aligned at the last axis."""
    if left == right:
        return left
    if not left or not right:
        return left or right
    rank = max(len(left), len(right))
    first = (1,) * (rank - len(left)) + left
    second = (1,) * (rank - len(right)) + right
    result = []
    for axis, (one, other) in enumerate(zip(first, second, strict=True)):
        if one == other or other == 1:
            result.append(one)
        elif one == 1:
            result.append(other)
        else:
            raise ShapeError(
                f"{name}: shapes {show(left)} and {show(right)} do not broadcast: axis "
                f"{axis - rank} has lengths {one} and {other}; they must be equal or one of them 1"
                f"{difference(left, right)}"
            )
    return tuple(result)


def expand_to(node: UOp, shape: Shape) -> UOp:
    """Broadcast to `shape`, which must fit."""
    own = node.shape
    if own == shape:
        return node
    missing = len(shape) - len(own)
    if missing:
        node = reshape(node, (1,) * missing + own)
    return expand(node, shape)


def broadcast(nodes: Sequence[UOp], name: str) -> tuple[UOp, ...]:
    """Operands broadcast to one shape; scalars stay scalars."""
    shape = nodes[0].shape
    for node in nodes[1:]:
        shape = broadcast_shapes(shape, node.shape, name)
    return tuple([node if node.op in SCALARS else expand_to(node, shape) for node in nodes])


# Selection


def gather(node: UOp, indices: Sequence[UOp]) -> UOp:
    """The elements at `(indices[0][p], indices[1][p], ...)` for each position p of the indices.

    There is one int64 index per axis. All have one shape, except scalars, and the result has that
    shape. An index that counts along an axis of its own (`count_along`) selects a whole axis. An
    element outside `0 ... n - 1` is an `IndexRangeError` when the result is computed; if the
    operand has no elements, it is raised at once.
    """
    if not indices:
        return node
    if 0 in node.shape:
        shape = common_shape(tuple(indices))
        if 0 in shape:
            return unmoved(filled(node.dtype, 0, shape), node)
        raise IndexRangeError(
            f"an index of shape {show(shape)} selects from a tensor of shape {show(node.shape)}, "
            "which has no elements"
        )
    return _at_users_line(make(Op.GATHER, node.dtype, (node, *indices)))


def scatter(node: UOp, value: UOp, indices: Sequence[UOp], op: Op | None = None) -> UOp:
    """`node` with `value[p]` at `(indices[0][p], indices[1][p], ...)` for each p in order.

    There is one int64 index per axis. The value and the indices have one shape, except scalars.
    Without `op` the last value stays; with ADD, MUL, MAXIMUM or MINIMUM each value is combined with
    the element there. An element outside `0 ... n - 1` is an `IndexRangeError` when the result is
    computed; if the operand has no elements, it is raised at once.
    """
    shape = common_shape((value, *indices))
    if 0 in shape:
        return node
    if 0 in node.shape:
        raise IndexRangeError(
            f"values of shape {show(shape)} are put into a tensor of shape {show(node.shape)}, "
            "which has no elements"
        )
    assert value.dtype is node.dtype, "a value is put into a tensor of its own dtype"
    return _at_users_line(make(Op.SCATTER, node.dtype, (node, value, *indices), op, node.shape))


def _at_users_line(node: UOp) -> UOp:
    """A node that may fault, with the user's line as its origin, however deep inside a call."""
    if node.origin is None:
        node.origin = user_origin(2)
    return node


def count_along(axis: int, shape: Shape) -> UOp:
    """A value of `shape` that holds each element's position along one axis, as int64."""
    line = (1,) * axis + (shape[axis],) + (1,) * (len(shape) - axis - 1)
    return expand(reshape(count(shape[axis]), line), shape)


def take_along(node: UOp, places: UOp) -> UOp:
    """The elements of `node` (..., n) at `places` (..., m, ...) along its last axis."""
    lines = range(len(node.shape) - 1)
    return gather(node, [*[count_along(axis, places.shape) for axis in lines], places])


# Reduction


def reduce(node: UOp, op: Op, axes: tuple[int, ...]) -> UOp:
    """Reduce over `axes`, which stay with length 1. 16-bit floats are accumulated in float32."""
    shape = node.shape
    axes = tuple([axis for axis in axes if shape[axis] != 1])
    if not axes:
        return node
    dtype = node.dtype
    kept_shape = tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    if 0 in [shape[axis] for axis in axes]:
        return unmoved(filled(dtype, _IDENTITIES[op], kept_shape), node)
    # An extreme is one of the elements. But narrow elements are compared as wide ones.
    widened = dtype in WIDENED
    if widened:
        node = cast(node, dtypes.float32)
    node = make(Op.REDUCE_AXES, node.dtype, (node,), (op, axes), kept_shape)
    return cast(node, dtype) if widened else node


def scan(node: UOp, op: Op, axis: int) -> UOp:
    """The running totals along `axis`; the shape stays.

    Sums and products of floats use at least twice their width, since a running total has no tree.
    """
    if 0 in node.shape or node.shape[axis] == 1:
        return node
    wide = node
    if op in (Op.ADD, Op.MUL) and node.dtype in WIDENED:
        wide = cast(node, dtypes.float32)
    elif op in (Op.ADD, Op.MUL) and node.dtype is dtypes.float32:
        wide = cast(node, dtypes.float64)
    return make(Op.SCAN_AXIS, node.dtype, (wide,), (op, axis), node.shape)


_IDENTITIES: dict[Op, Scalar] = {Op.ADD: 0, Op.MUL: 1, Op.AND: True, Op.OR: False}
"""The result of reducing no elements, for the ops that have one."""
