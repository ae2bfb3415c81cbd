"""Recognition of attention scores, which are products of all rows with all rows."""

from __future__ import annotations

from ogive.compiler.ir.memory import upper_count, upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.targets.target import Target


def are_scores(node: UOp, target: Target) -> bool:
    """Whether a reduction is a large product of rows with rows."""
    (product,) = node.src
    shape = product.shape
    last = len(shape) - 1
    is_product = node.arg == (Op.ADD, (last,)) and product.op is Op.MUL and product.dtype.is_float
    if not is_product or last < 2:
        return False
    costs = target.costs.staging
    rows, columns, terms = upper_shape(shape[-3:])
    size = node.dtype.itemsize
    total = upper_count(node.shape) * size
    operand = columns * terms * size
    small = costs.small_operand_share * target.l2_bytes
    return (
        all(factor.op is Op.EXPAND for factor in product.src)
        and total >= costs.score_bytes
        and rows >= costs.score_rows
        and columns >= terms
        and (columns >= costs.score_growth * terms or operand <= small)
        and (operand <= costs.operand_bytes or total >= costs.most_score_bytes)
    )


def has_few_columns(node: UOp, target: Target) -> bool:
    """Whether a node is a product whose columns do not fill half a vector.

    Its operands are better in memory, where several rows can be read side by side.
    """
    if node.op is not Op.REDUCE_AXES or node.combine is not Op.ADD:
        return False
    product = node.operand
    if product.op is not Op.MUL or len(product.shape) < 3:
        return False
    _, columns, _ = upper_shape(product.shape[-3:])
    return are_few(columns, node.dtype.itemsize, target)


def are_few(columns: int, itemsize: int, target: Target) -> bool:
    """Whether this number of columns does not fill half a vector."""
    return 2 * columns * itemsize < target.vector_bytes
