"""Checks of values that may fault: divisors that are zero, positions outside their axis.

A `CHECK` reports a fault where its condition fails, and lets the kernel continue with a harmless
value: so nothing is divided by zero, and no access is outside its buffer.
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.positions import index_node
from ogive.compiler.ir.shape import Dim, least


def can_fault(node: UOp) -> bool:
    """Whether this node may fault: its divisor may be zero, or a position out of range."""
    indices = indices_of(node)
    if indices:
        pairs = zip(indices, node.src[0].shape, strict=True)
        return any(not _is_within(index, length) for index, length in pairs)
    return (
        node.op in (Op.FLOORDIV, Op.MOD)
        and node.dtype.kind in ("int", "uint")
        and not (node.right.op is Op.CONST and node.right.literal != 0)
    )


def indices_of(node: UOp) -> tuple[UOp, ...]:
    """The indices of a node that reads or writes elements by positions; for others none."""
    return node.indices if node.op in (Op.GATHER, Op.SCATTER, Op.ASSIGN) else ()


def _is_within(index: UOp, length: Dim) -> bool:
    """Whether an index is known to be within an axis of that length."""
    low, high = index.bounds
    if low >= 0 and high < least(length):
        return True
    while index.op in MOVEMENT and index.op is not Op.PAD:
        index = index.operand
    return index.op is Op.IOTA and index.shape == (length,)


def checked_divisor(divisor: UOp, gate: UOp | None, site: int) -> UOp:
    """The divisor with a check: where it is zero there is a fault, and 1 takes its place."""
    low, high = divisor.bounds
    if low > 0 or high < 0:
        return divisor
    zero = UOp.const(divisor.dtype, 0)
    return _checked(divisor, UOp(Op.CMPNE, dtypes.bool_, (divisor, zero)), gate, (site, 1))


def checked_position(value: UOp, length: Dim, gate: UOp | None, site: int | None) -> UOp:
    """An index as a checked position: outside its axis there is a fault, and 0 takes its place.

        before   LOAD int64                 after   index(CHECK(u, u < n)), u = BITCAST(LOAD) uint64

    A negative number is too large when read as unsigned, so one comparison is enough. `site` None
    says that the index is known to be within the axis.
    """
    low, high = value.bounds
    if site is None or (low >= 0 and high < least(length)):
        return _as_position(value)
    if value.op is Op.CAST and value.operand.dtype is dtypes.index:
        inside = value.operand.ge(0) & value.operand.lt(length)
        if inside.op is Op.CONST and inside.arg:
            return value.operand
    magnitude = UOp(Op.BITCAST, dtypes.uint64, (value,))
    if isinstance(length, int):
        limit = UOp.const(dtypes.uint64, length)
    else:
        limit = UOp(Op.CAST, dtypes.uint64, (length,))
    inside = UOp(Op.CMPLT, dtypes.bool_, (magnitude, limit))
    return UOp(Op.CAST, dtypes.index, (_checked(magnitude, inside, gate, (site, 0)),))


def harmless_position(value: UOp, length: Dim) -> UOp:
    """An integer as a position, clamped to the axis, so that no value in memory can do harm."""
    low, high = value.bounds
    if low >= 0 and high < least(length):
        return _as_position(value)
    for op, end in ((Op.MAXIMUM, 0), (Op.MINIMUM, least(length) - 1)):
        value = UOp(op, value.dtype, (value, UOp.const(value.dtype, end)))
    return _as_position(value)


def _as_position(value: UOp) -> UOp:
    if value.op is Op.CONST:
        return index_node(value.arg)
    if value.op is Op.CAST and value.operand.dtype is dtypes.index:
        return value.operand
    return UOp(Op.CAST, dtypes.index, (value,))


def with_checks(value: UOp, position: tuple[UOp, ...], access: UOp) -> UOp:
    """`value` with the checks of `position` that are not in `access` already.

    An access does not contain the position along an axis of length 1 or an expanded one, so the
    check of that position would be lost.
    """
    checks = [entry.operand for entry in position if entry.op is Op.CAST]
    checks_needed = [check for check in checks if check.op is Op.CHECK]
    if not checks_needed:
        return value
    present = access.backward_slice()
    for check in checks_needed:
        if check not in present:
            value = _checked(value, check.holds, check.gate, check.arg)
    return value


def _checked(value: UOp, good: UOp, gate: UOp | None, argument: tuple[int, int]) -> UOp:
    sources = (value, good) if gate is None else (value, good, gate)
    return UOp(Op.CHECK, value.dtype, sources, argument)
