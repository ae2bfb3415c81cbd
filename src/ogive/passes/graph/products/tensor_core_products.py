"""Which sums tensor cores compute: products of narrow values, of enough rows, columns and terms."""

from __future__ import annotations

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.targets.target import Target

NARROW = {
    dtypes.bfloat16: dtypes.float32, dtypes.float16: dtypes.float32,
    dtypes.int8: dtypes.int32, dtypes.uint8: dtypes.int32,
}  # fmt: skip
"""The types of elements that tensor cores multiply, each with that of the sums."""
LEAST_SIDE = 8
LEAST_LENGTH = 16
"""A product with fewer rows, columns or terms is no work for them."""


def find_factors(node: UOp, target: Target) -> tuple[UOp, UOp] | None:
    """The narrow values that a sum multiplies, if it is a product that tensor cores compute."""
    if not target.grid.tensor_cores:
        return None
    product = node.operand
    if node.combine is not Op.ADD or len(node.axes) != 1 or product.op is not Op.MUL:
        return None
    shape = product.shape
    if not all(isinstance(size, int) for size in shape):
        return None
    left, right = product.src
    narrow = [narrow_value(factor) for factor in (left, right)]
    if narrow[0] is None or narrow[1] is None or narrow[0].dtype is not narrow[1].dtype:
        return None
    (length,) = [shape[axis] for axis in node.axes]
    rows = _longest_alone(left, right)
    columns = _longest_alone(right, left)
    if min(rows, columns) < LEAST_SIDE or length < LEAST_LENGTH:
        return None
    return narrow[0], narrow[1]


def narrow_value(factor: UOp) -> UOp | None:
    """The narrow value that a factor widens, behind movement of axes."""
    while factor.op is Op.EXPAND or factor.op in (Op.RESHAPE, Op.PERMUTE):
        factor = factor.operand
    if factor.op is not Op.CAST or NARROW.get(factor.operand.dtype) is not factor.dtype:
        return None
    return factor.operand


def _longest_alone(factor: UOp, other: UOp) -> int:
    """The longest axis along which a factor varies and the other one is repeated."""
    repeated = other.operand.shape if other.op is Op.EXPAND else other.shape
    own = factor.operand.shape if factor.op is Op.EXPAND else factor.shape
    alone = [size for size, beside in zip(own, repeated, strict=True) if beside == 1]
    return max([int(size) for size in alone], default=1)
