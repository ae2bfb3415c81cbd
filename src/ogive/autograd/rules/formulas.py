"""Arithmetic on nodes of one shape, for gradient rules. `graph_lock` is held.

Constants fit any shape:

    multiply(x, 2.0)   →   MUL(x, CONST 2.0)
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, movement_argument
from ogive.compiler.live.registry import make
from ogive.tensor import build

Operand = UOp | float


def _operand(value: Operand, like: UOp) -> UOp:
    return value if isinstance(value, UOp) else build.constant(like.dtype, value)


def _binary(op: Op, left: Operand, right: Operand) -> UOp:
    like = left if isinstance(left, UOp) else right
    assert isinstance(like, UOp), "one operand is a node"
    sources = (_operand(left, like), _operand(right, like))
    return make(op, like.dtype, sources, None, sources[0].shape or sources[1].shape)


def add(left: Operand, right: Operand) -> UOp:
    return _binary(Op.ADD, left, right)


def subtract(left: Operand, right: Operand) -> UOp:
    return _binary(Op.SUB, left, right)


def multiply(left: Operand, right: Operand) -> UOp:
    return _binary(Op.MUL, left, right)


def divide(left: Operand, right: Operand) -> UOp:
    return _binary(Op.DIV, left, right)


def power(left: Operand, right: Operand) -> UOp:
    return _binary(Op.POW, left, right)


def apply(op: Op, x: UOp) -> UOp:
    """A unary operation."""
    return make(op, x.dtype, (x,), None, x.shape)


def negate(x: UOp) -> UOp:
    return apply(Op.NEG, x)


def conjugate(x: UOp) -> UOp:
    """The complex conjugate of x; a real x as it is."""
    if not x.dtype.is_complex:
        return x
    if x.op is Op.CONST:
        return build.constant(x.dtype, x.arg.conjugate())
    part = x.dtype.part
    real = make(Op.REAL, part, (x,), None, x.shape)
    imaginary = negate(make(Op.IMAGINARY, part, (x,), None, x.shape))
    return make(Op.COMPLEX, x.dtype, (real, imaginary), None, x.shape)


def square(x: UOp) -> UOp:
    return multiply(x, x)


def compare(op: Op, left: Operand, right: Operand) -> UOp:
    """A comparison, as bool."""
    like = left if isinstance(left, UOp) else right
    assert isinstance(like, UOp), "one operand is a node"
    sources = (_operand(left, like), _operand(right, like))
    return make(op, dtypes.bool_, sources, None, sources[0].shape or sources[1].shape)


def choose(condition: UOp, chosen: Operand, other: Operand) -> UOp:
    """`chosen` where the condition holds, else `other`."""
    like = chosen if isinstance(chosen, UOp) else other
    assert isinstance(like, UOp), "one operand is a node"
    sources = (condition, _operand(chosen, like), _operand(other, like))
    return make(Op.WHERE, like.dtype, sources, None, condition.shape)


def zeros_like(x: UOp) -> UOp:
    return build.filled(x.dtype, 0, x.shape)


def ones_like(x: UOp) -> UOp:
    return build.filled(x.dtype, 1, x.shape)


def sign(x: UOp) -> UOp:
    """1, 0 or -1; 0 for NaN."""
    positive = build.cast(compare(Op.CMPLT, 0.0, x), x.dtype)
    return subtract(positive, build.cast(compare(Op.CMPLT, x, 0.0), x.dtype))


# Movement


def unmove(node: UOp, moved: UOp) -> UOp:
    """The adjoint of the movement `node`, applied to `moved`, which has the shape of its result.

    Repeated elements are added up, and elements that were left out are zero.
    """
    source = node.operand
    argument = movement_argument(node)
    if node.op is Op.RESHAPE:
        return build.reshape(moved, source.shape)
    if node.op is Op.PERMUTE:
        order = tuple(sorted(range(len(argument)), key=argument.__getitem__))
        return build.permute(moved, order)
    if node.op is Op.FLIP:
        return build.flip(moved, argument)
    if node.op is Op.SHRINK:
        pads = [
            (begin, size - end)
            for (begin, end), size in zip(argument, source.shape, strict=True)
        ]
        return build.pad(moved, tuple(pads))
    if node.op is Op.PAD:
        pairs = [
            (before, before + size)
            for (before, _), size in zip(argument[0], source.shape, strict=True)
        ]
        return build.shrink(moved, tuple(pairs))
    assert node.op is Op.EXPAND, "the movement ops"
    axes = [
        axis for axis, size in enumerate(source.shape) if size == 1 and node.shape[axis] != 1
    ]
    return build.reduce(moved, Op.ADD, tuple(axes))


def move_again(node: UOp, source: UOp) -> UOp:
    """The movement of `node`, applied to another source of the same shape."""
    return make(node.op, source.dtype, (source, *node.src[1:]), node.arg, node.shape)


def as_value(memory: UOp, shape: Shape) -> UOp:
    """The gradient of memory as that of the value of `shape` in it."""
    if memory.shape == shape:
        return memory
    whole = build.reshape(memory, upper_shape(shape))
    return build.shrink(whole, tuple([(0, size) for size in shape]))


# Products of all elements but one


def products_of_others(x: UOp, axes: tuple[int, ...]) -> UOp:
    """For each element, the product of all others over `axes`, which may have zeros."""
    rank = len(x.shape)
    remaining = tuple([axis for axis in range(rank) if axis not in axes])
    order = (*remaining, *axes)
    moved = build.permute(x, order)
    line = build.reshape(moved, (*[x.shape[axis] for axis in remaining], _count(x, axes)))
    last = len(remaining)
    before = _products_before(line, last)
    after = build.flip(_products_before(build.flip(line, (last,)), last), (last,))
    others = build.reshape(multiply(before, after), moved.shape)
    return build.permute(others, tuple(sorted(range(rank), key=order.__getitem__)))


def _count(x: UOp, axes: tuple[int, ...]) -> int:
    count = 1
    for axis in axes:
        count = count * x.shape[axis]
    return count


def _products_before(x: UOp, axis: int) -> UOp:
    """For each element, the product of those before it."""
    return shift(build.scan(x, Op.MUL, axis), axis, 1, 1)


def shift(x: UOp, axis: int, distance: int, fill: float) -> UOp:
    """The elements moved by `distance` along the axis, with `fill` in front."""
    pads = tuple([(distance if each == axis else 0, 0) for each in range(len(x.shape))])
    padded = build.pad(x, pads, fill)
    return build.shrink(padded, tuple([(0, size) for size in x.shape]))
