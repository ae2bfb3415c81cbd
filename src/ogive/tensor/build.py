"""Nodes of tensor graphs: movement, broadcasting, casts, reductions.

All functions take and return nodes, and are called with `graph_lock` held. A movement that changes
nothing makes no node, and a chain of movements of one kind makes a single node:

    reshape(reshape(x, (6,)), (2, 3))   →   RESHAPE(x) (2, 3)
    shrink(x, ((0, 4), (0, 3)))         →   x, where x has the shape (4, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.errors import ArgumentError, IndexRangeError, ShapeError, user_origin
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, Scalar
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Dim, Shape, as_length, common_shape, split_argument
from ogive.live import history
from ogive.live.registry import make
from ogive.tensor.lengths import difference

Pairs = tuple[tuple[Dim, Dim], ...]

SCALARS = frozenset({Op.CONST, Op.VARIABLE, Op.BIND})
"""Nodes that are operands beside any shape without being expanded."""

WIDENED = frozenset({dtypes.float16, dtypes.bfloat16})
"""Dtypes whose sums and products are accumulated in float32."""


MOST_ELEMENTS = (1 << 63) - 1
"""How many elements a tensor can have: positions are signed integers of 64 bits."""


def check_size(shape: Shape) -> None:
    """Raise `ShapeError` if a shape has more than `MOST_ELEMENTS` elements.

    As in NumPy and PyTorch, axes of length 0 are left out of the product. Symbolic lengths are not
    checked here, but when memory is allocated.
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
    """Return a CONST node.

    Raises `ArgumentError` for an integer that no 64-bit dtype holds, and for a complex number if
    `dtype` is real.
    """
    if value.__class__ is complex and dtype.kind != "complex":
        raise ArgumentError(f"{value} is complex and does not fit {dtype.name}; give its real part")
    if dtype.kind != "float" and type(value) is int and not -(1 << 63) <= value < 1 << 64:
        raise ArgumentError(f"{value} does not fit {dtype.name}")
    return make(Op.CONST, dtype, (), value)


def fitting(dtype: DType, value: Scalar | complex) -> UOp:
    """Return a CONST node. Raises `ArgumentError` for an integer that does not fit `dtype`.

    A negative integer wraps around in an unsigned dtype, as in PyTorch.
    """
    least, greatest = dtype.limits
    lowest = least or -greatest
    if dtype.is_integer and type(value) is int and not lowest <= value <= greatest:
        raise ArgumentError(
            f"{value} does not fit {dtype.name}, which holds {least} to {greatest}"
        )
    return constant(dtype, value)


def index_value(size: Dim) -> UOp:
    """Return a length or position as a scalar node of int64."""
    if isinstance(size, UOp):
        return make(Op.CAST, dtypes.int64, (size,))
    return make(Op.CONST, dtypes.int64, (), size)


def filled(dtype: DType, value: Scalar | complex, shape: Shape) -> UOp:
    """Return a constant expanded to `shape`."""
    return expand_to(constant(dtype, value), shape)


class _Unmoved:
    """The rule of a `GRADIENT` node whose value does not depend on its inputs: zero gradients."""

    __slots__ = ()

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        return [filled(source.dtype, 0, source.shape) for source in node.inputs]


_UNMOVED = _Unmoved()


def unmoved(value: UOp, source: UOp) -> UOp:
    """Return `value` with a gradient of zero for `source`, on which it does not depend.

    The link to `source` is kept because `backward()` refuses a value that leads to no leaf.
    """
    if not source.dtype.is_inexact or not history.is_tracking():
        return value
    return make(Op.GRADIENT, value.dtype, (value, source), _UNMOVED)


def count(length: Dim) -> UOp:
    """Return the numbers 0, 1, ..., length - 1 as int64. Shapes: (length,)."""
    if isinstance(length, UOp):
        return make(Op.IOTA, dtypes.int64, (length,))
    check_size((length,))
    return make(Op.IOTA, dtypes.int64, (), length)


def cast(node: UOp, dtype: DType) -> UOp:
    """Convert to `dtype`. A constant is converted at once, unless a float becomes an integer."""
    source = node.dtype
    if source is dtype:
        return node
    if node.op is Op.CONST and not (source.is_inexact and dtype.is_integer):
        return make(Op.CONST, dtype, (), node.arg)
    return make(Op.CAST, dtype, (node,), None, node.shape)


# Movement


def _move(op: Op, node: UOp, argument: Any, shape: Shape | None = None) -> UOp:
    if argument.__class__ is not tuple:
        argument = shape = tuple(argument)  # a subclass of tuple, such as `ogive.torch.Size`
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
    """Return the same elements, in row-major order, under another shape."""
    if node.shape == shape:
        return node
    while node.op is Op.RESHAPE:
        node = node.operand
        if node.shape == shape:
            return node
    return _move(Op.RESHAPE, node, shape, shape)


def permute(node: UOp, order: tuple[int, ...]) -> UOp:
    """Reorder the axes: axis i of the result is axis `order[i]` of `node`."""
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
    """Pad each axis with `fill`: `(before, after)` elements."""
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
    """Return the shape that two shapes broadcast to, aligned at the last axis.

    Raises `ShapeError` if they do not broadcast; `name` is the operation in the message.
    """
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
    """Broadcast to `shape`. The caller knows that it fits."""
    own = node.shape
    if own == shape:
        return node
    missing = len(shape) - len(own)
    if missing:
        node = reshape(node, (1,) * missing + own)
    return expand(node, shape)


def broadcast(nodes: Sequence[UOp], name: str) -> tuple[UOp, ...]:
    """Broadcast operands to their common shape. Nodes of `SCALARS` are left as they are."""
    shape = nodes[0].shape
    for node in nodes[1:]:
        shape = broadcast_shapes(shape, node.shape, name)
    return tuple([node if node.op in SCALARS else expand_to(node, shape) for node in nodes])


# Selection


def gather(node: UOp, indices: Sequence[UOp]) -> UOp:
    """Return the elements at `(indices[0][p], indices[1][p], ...)` for each position p.

    There is one index of int64 per axis. All have one shape, which is that of the result, or are
    scalars. An index that counts along an axis (`count_along`) takes that whole axis. An index
    outside 0 ... n - 1 raises `IndexRangeError` when the result is computed; if `node` has no
    elements, it is raised here.
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
    """Return `node` with `value[p]` put at `(indices[0][p], indices[1][p], ...)`, in order of p.

    There is one index of int64 per axis. The value and the indices have one shape or are scalars.
    Without `op` the last value wins; with ADD, MUL, MAXIMUM or MINIMUM, each value is combined with
    the element that is there. An index outside 0 ... n - 1 raises `IndexRangeError` when the result
    is computed; if `node` has no elements, it is raised here.
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
    """Note the user's line on a node that may fault, so that its error names that line.

    Only the outermost node of an expression gets an origin otherwise.
    """
    if node.origin is None:
        node.origin = user_origin(2)
    return node


def count_along(axis: int, shape: Shape) -> UOp:
    """Return, for each element of `shape`, its position along `axis`, as int64."""
    line = (1,) * axis + (shape[axis],) + (1,) * (len(shape) - axis - 1)
    return expand(reshape(count(shape[axis]), line), shape)


def take_along(node: UOp, places: UOp) -> UOp:
    """Return the elements of `node` at `places` along its last axis.

    Shapes: (..., n) and (..., m, ...) → (..., m, ...).
    """
    lines = range(len(node.shape) - 1)
    return gather(node, [*[count_along(axis, places.shape) for axis in lines], places])


# Reduction


def reduce(node: UOp, op: Op, axes: tuple[int, ...]) -> UOp:
    """Reduce over `axes` (in order), which stay with length 1.

    float16 and bfloat16 are accumulated in float32.
    """
    shape = node.shape
    axes = tuple([axis for axis in axes if shape[axis] != 1])
    if not axes:
        return node
    dtype = node.dtype
    rest = tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    if 0 in [shape[axis] for axis in axes]:
        return unmoved(filled(dtype, _IDENTITIES[op], rest), node)
    # A maximum or minimum is exact in any dtype, but only wide floats are compared.
    widened = dtype in WIDENED
    if widened:
        node = cast(node, dtypes.float32)
    node = make(Op.REDUCE_AXES, node.dtype, (node,), (op, axes), rest)
    return cast(node, dtype) if widened else node


def scan(node: UOp, op: Op, axis: int) -> UOp:
    """Scan along `axis`: combine each element with all before it. Shapes: unchanged.

    Sums and products of floats are accumulated in twice the width or more, because a running sum
    cannot be added up as a tree.
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
"""The result of a reduction of no elements, for the ops that have one."""
