"""Movement as index arithmetic: the position at which a movement node reads its source.

    before   a read of PERMUTE(x) (1, 0) at (r0, r1)         after   a read of x at (r1, r0)
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, movement_argument, row_major_strides
from ogive.compiler.ir.symbolic.index_arithmetic import logical_and, symbolic_rules
from ogive.named import NamedTuple

Position = tuple[UOp, ...]


class Access(NamedTuple):
    """A read of a tensor value at one position. Its result is used only where `gate` holds."""

    position: Position
    gate: UOp | None


NOWHERE = Access((), None)
"""The access to a scalar."""


def index_constant(value: int) -> UOp:
    return UOp.const(dtypes.index, value)


def index_node(value: Dim) -> UOp:
    """A length or position as an index node."""
    return value if isinstance(value, UOp) else index_constant(value)


def conjoin(gate: UOp | None, condition: UOp | None) -> UOp | None:
    """The conjunction of two conditions. None stands for a condition that always holds."""
    if gate is None or condition is None:
        both = condition if gate is None else gate
    else:
        both = logical_and(gate, condition)
    return None if both is None or (both.op is Op.CONST and both.arg) else both


def comparison(op: Op, left: UOp, right: UOp) -> UOp:
    """The comparison of two values, as index arithmetic where both come from loop counters alone.

        before   CMPLE(CAST int64 (r0), CAST int64 (r1))         after   r0 < r1 + 1

    A condition on counters can be simplified, proved for whole tiles, and used to end loops.
    """
    first, second = _as_index(left), _as_index(right)
    if first is None or second is None:
        return UOp(op, dtypes.bool_, (left, right))
    return symbolic_rules.build(op, dtypes.bool_, (first, second))


def _as_index(value: UOp) -> UOp | None:
    """The index expression for an int64 computed from loop counters alone; None for others."""
    if value.dtype is not dtypes.int64:
        return None
    if value.op is Op.CONST:
        return index_constant(value.arg)
    if value.op is Op.CAST:
        return value.operand if value.operand.dtype is dtypes.index else None
    if value.op not in (Op.ADD, Op.SUB):
        return None
    left, right = [_as_index(source) for source in value.src]
    if left is None or right is None:
        return None
    result = left + right if value.op is Op.ADD else left - right
    return None if result.sound_bounds is None else result


def padded(node: UOp, value: UOp, access: Access) -> UOp:
    """The value of a `PAD` at `access`, given the `value` that its source has there."""
    inside = _inside(node, access, least=0)
    if inside is access.gate or inside is None:
        return value
    fill = node.dtype.canonical(movement_argument(node)[1])
    # A gated load gives zero by itself, and it is positive zero.
    is_gated = value.op is Op.LOAD and value.place.gate is inside
    if is_gated and repr(fill) in ("0", "0.0", "False"):
        return value
    return UOp(Op.WHERE, node.dtype, (inside, value, UOp.const(node.dtype, fill)))


def _permute(node: UOp, access: Access) -> Access:
    position: list[UOp] = list(access.position)
    for place, axis in enumerate(node.arg):
        position[axis] = access.position[place]
    return Access(tuple(position), access.gate)


def _expand(node: UOp, access: Access) -> Access:
    zero = index_constant(0)
    position = [
        zero if size == 1 else entry
        for entry, size in zip(access.position, node.operand.shape, strict=True)
    ]
    return Access(tuple(position), access.gate)


def _flip(node: UOp, access: Access) -> Access:
    shape = node.shape
    position = [
        (shape[axis] - 1) - entry if axis in node.arg else entry
        for axis, entry in enumerate(access.position)
    ]
    return Access(tuple(position), access.gate)


def _shrink(node: UOp, access: Access) -> Access:
    ranges = movement_argument(node)
    position = [
        entry + begin for entry, (begin, _) in zip(access.position, ranges, strict=True)
    ]
    return Access(tuple(position), access.gate)


def _pad(node: UOp, access: Access) -> Access:
    pads = movement_argument(node)[0]
    # An axis of length 1 has one position, so it is read there even where the padding is.
    position = [
        index_constant(0) if size == 1 else entry - before
        for entry, size, (before, _) in zip(
            access.position, node.operand.shape, pads, strict=True
        )
    ]
    return Access(tuple(position), _inside(node, access, least=2))


def _inside(node: UOp, access: Access, least: int) -> UOp | None:
    """The gate of an access to a `PAD`, and that the position is not in the padding.

    Axes that are shorter than `least`, but not empty, are left out.
    """
    gate = access.gate
    pads = movement_argument(node)[0]
    for entry, size, (before, after) in zip(
        access.position, node.operand.shape, pads, strict=True
    ):
        if isinstance(size, int) and 0 < size < least:
            continue
        moved = entry - before
        if before != 0:
            gate = conjoin(gate, moved.ge(0))
        if after != 0:
            gate = conjoin(gate, moved.lt(size))
    return gate


def _reshape(node: UOp, access: Access) -> Access:
    """Only the axes between equal leading and equal trailing ones are flattened.

    The positions of the others stay as they are, because a flat position would lose what is known
    about them only under the gate.
    """
    before, after = node.operand.shape, node.shape
    shortest = min(len(before), len(after))
    front = 0
    while front < shortest and before[front] == after[front]:
        front += 1
    back = 0
    while back < shortest - front and before[-1 - back] == after[-1 - back]:
        back += 1
    outer, inner = len(before) - back, len(after) - back
    middle = _refold(access.position[front:inner], after[front:inner], before[front:outer])
    position = (*access.position[:front], *middle, *access.position[inner:])
    return Access(position, access.gate)


def _refold(position: Position, after: Shape, before: Shape) -> list[UOp]:
    """The position in a shape `before` with the row-major number of `position` in `after`."""
    flat: UOp = index_constant(0)
    for entry, stride in zip(position, row_major_strides(after), strict=True):
        flat = flat + entry * stride
    refolded = []
    for size, stride in zip(before, row_major_strides(before), strict=True):
        if size == 1:
            refolded.append(index_constant(0))
        else:
            refolded.append(flat // stride)
            flat = flat % stride
    return refolded


MOVES = {
    Op.PERMUTE: _permute,
    Op.EXPAND: _expand,
    Op.FLIP: _flip,
    Op.SHRINK: _shrink,
    Op.PAD: _pad,
    Op.RESHAPE: _reshape,
}
"""For each movement op, the access to its source: a function of the node and an access to it."""
