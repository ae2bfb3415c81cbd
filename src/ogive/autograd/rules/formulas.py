"""Arithmetic on nodes of one shape, for gradient rules. `graph_lock` is held by all callers.

Python numbers are constants, which need no shape:

    multiply(x, 2.0)   →   MUL(x, CONST 2.0)
"""

from __future__ import annotations

from ogive.ir import dtype as dtypes
from ogive.ir.memory import upper_shape
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape, movement_argument
from ogive.live.registry import make
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
    """Apply an op of one operand."""
    return make(op, x.dtype, (x,), None, x.shape)


def negate(x: UOp) -> UOp:
    return apply(Op.NEG, x)


def conjugate(x: UOp) -> UOp:
    """Return the complex conjugate of x; a real x is returned as it is."""
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
    """Compare two operands. The result is bool."""
    like = left if isinstance(left, UOp) else right
    assert isinstance(like, UOp), "one operand is a node"
    sources = (_operand(left, like), _operand(right, like))
    return make(op, dtypes.bool_, sources, None, sources[0].shape or sources[1].shape)


def choose(condition: UOp, chosen: Operand, other: Operand) -> UOp:
    """Return `chosen` where the condition holds, and `other` elsewhere."""
    like = chosen if isinstance(chosen, UOp) else other
    assert isinstance(like, UOp), "one operand is a node"
    sources = (condition, _operand(chosen, like), _operand(other, like))
    return make(Op.WHERE, like.dtype, sources, None, condition.shape)


def zeros_like(x: UOp) -> UOp:
    return build.filled(x.dtype, 0, x.shape)


def ones_like(x: UOp) -> UOp:
    return build.filled(x.dtype, 1, x.shape)


def sign(x: UOp) -> UOp:
    """Return 1, 0 or -1 by the sign of x; 0 for NaN."""
    positive = build.cast(compare(Op.CMPLT, 0.0, x), x.dtype)
    return subtract(positive, build.cast(compare(Op.CMPLT, x, 0.0), x.dtype))


# Movement


def unmove(node: UOp, moved: UOp) -> UOp:
    """Apply the transpose of a movement: bring `moved` back to the shape before `node`.

    Repeated elements are added up, and elements that the movement left out are zeros.
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
    assert node.op is Op.EXPAND, "the other movements are handled above"
    axes = [
        axis for axis, size in enumerate(source.shape) if size == 1 and node.shape[axis] != 1
    ]
    return build.reduce(moved, Op.ADD, tuple(axes))


def move_again(node: UOp, source: UOp) -> UOp:
    """Apply the movement of `node` to another source of the same shape."""
    return make(node.op, source.dtype, (source, *node.src[1:]), node.arg, node.shape)


def as_value(memory: UOp, shape: Shape) -> UOp:
    """Bring a gradient of flat memory to the `shape` of the value that the memory holds."""
    if memory.shape == shape:
        return memory
    whole = build.reshape(memory, upper_shape(shape))
    return build.shrink(whole, tuple([(0, size) for size in shape]))


# Products of all but one


def products_of_others(x: UOp, axes: tuple[int, ...]) -> UOp:
    """Return, for each element, the product of all others over `axes`, without dividing by it."""
    rank = len(x.shape)
    rest = tuple([axis for axis in range(rank) if axis not in axes])
    order = (*rest, *axes)
    moved = build.permute(x, order)
    line = build.reshape(moved, (*[x.shape[axis] for axis in rest], _count(x, axes)))
    last = len(rest)
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
    """Return, for each element, the product of the elements before it along the axis."""
    return shift(build.scan(x, Op.MUL, axis), axis, 1, 1)


def shift(x: UOp, axis: int, distance: int, fill: float) -> UOp:
    """Shift elements by `distance` along an axis, with `fill` in front."""
    pads = tuple([(distance if each == axis else 0, 0) for each in range(len(x.shape))])
    padded = build.pad(x, pads, fill)
    return build.shrink(padded, tuple([(0, size) for size in x.shape]))
