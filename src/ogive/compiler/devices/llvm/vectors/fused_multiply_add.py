"""Products that are added to a sum by the instruction that multiplies."""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.lower.linearize import is_loop


def fused_products(root: UOp) -> frozenset[UOp]:
    """Products, possibly gated, that are used only by sums, with an instruction for both.

    These are products of f32, of f64, and dot products of words.
    """
    users: dict[UOp, list[UOp]] = {}
    nodes = root.walk()
    for node in nodes:
        for source in node.src:
            users.setdefault(source, []).append(node)

    def are_sums(node: UOp) -> bool:
        return all(user.op is Op.REDUCE and user.combine is Op.ADD for user in users.get(node, ()))

    gated = {node for node in nodes if _is_gated_product(node) and are_sums(node)}
    fused = gated | {
        node
        for node in nodes
        if _is_product(node) and (are_sums(node) or gated.issuperset(users[node]))
    }
    return frozenset(fused)


def chained_sums(root: UOp, fused: frozenset[UOp]) -> frozenset[UOp]:
    """Sums of a few products without a loop, which become a chain of multiply-adds.

    Separate accumulators would have to be added up right away.
    """
    return frozenset(
        [
            node
            for node in root.walk()
            if node.op is Op.REDUCE
            and node.operand in fused
            and not any(is_loop(counter) for counter in node.closed)
        ]
    )


def _is_product(node: UOp) -> bool:
    is_float = node.dtype in (dtypes.float32, dtypes.float64)
    return node.op is Op.DOT or (node.op is Op.MUL and is_float)


def _is_gated_product(node: UOp) -> bool:
    """Whether a node is a product where a gate holds, and zero elsewhere."""
    if node.op is not Op.WHERE or not _is_product(node.if_true):
        return False
    return node.if_false is UOp.const(node.dtype, 0)
