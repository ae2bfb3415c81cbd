"""Recognition of products for tensor cores: narrow values, enough rows, columns and terms."""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.targets.target import Target

NARROW = {
    dtypes.bfloat16: dtypes.float32, dtypes.float16: dtypes.float32,
    dtypes.int8: dtypes.int32, dtypes.uint8: dtypes.int32,
}  # fmt: skip
"""The dtypes of elements that tensor cores multiply, each with the dtype of the sums."""

LEAST_SIDE = 8
"""The least number of rows, and of columns, of a product for tensor cores."""

LEAST_LENGTH = 16
"""The least number of terms of a sum for tensor cores."""


def find_factors(node: UOp, target: Target) -> tuple[UOp, UOp] | None:
    """The narrow values that a sum multiplies if tensor cores can compute it, else None."""
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
    own = [unexpanded_shape(factor) for factor in (left, right)]
    sides = longest_alone(own[0], own[1]), longest_alone(own[1], own[0])
    if min(sides) < LEAST_SIDE or length < LEAST_LENGTH:
        return None
    return narrow[0], narrow[1]


def narrow_value(factor: UOp) -> UOp | None:
    """The narrow value that a factor widens, under movements of axes; None if there is none."""
    while factor.op is Op.EXPAND or factor.op in (Op.RESHAPE, Op.PERMUTE):
        factor = factor.operand
    if factor.op is not Op.CAST or NARROW.get(factor.operand.dtype) is not factor.dtype:
        return None
    return factor.operand


def unexpanded_shape(factor: UOp) -> Shape:
    """The shape of a factor before it was expanded: 1 along the axes where it is repeated."""
    return factor.operand.shape if factor.op is Op.EXPAND else factor.shape


def longest_alone(own: Shape, other: Shape) -> int:
    """The length of the longest axis that is longer than 1 in the shape `own` only."""
    pairs = zip(own, other, strict=True)
    return max([int(size) for size, beside in pairs if beside == 1], default=1)
