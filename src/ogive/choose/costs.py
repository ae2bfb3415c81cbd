"""What operations cost, an addition being 1; and how large register tiles are.

What stage 3 decides by and stage 6 has to agree with.
"""

from __future__ import annotations

from ogive.device.target import Target
from ogive.ir.node import UOp
from ogive.ir.ops import TRANSCENDENTAL, Op

_COSTS = {
    Op.DIV: 4, Op.SQRT: 6, Op.RECIPROCAL: 4, Op.FLOORDIV: 8, Op.MOD: 8, Op.GATHER: 4,
    Op.THREEFRY: 80,
}  # fmt: skip


def operation_cost(node: UOp) -> int:
    """What one element of an elementwise or gathering node costs, an addition being 1."""
    if node.op in TRANSCENDENTAL:
        return 12
    if node.op in (Op.CAST, Op.BITCAST):
        return 0
    return _COSTS.get(node.op, 1)


def sums_in_registers(target: Target) -> int:
    """How many vectors of sums a product keeps; the other registers are for its operands."""
    return target.vector_registers - target.vector_registers // 4


def best_tile(extent: int, most: int) -> int:
    """The tile length up to `most` that wastes least of `extent`, the longest of those."""
    return min(
        range(1, min(most, extent) + 1),
        key=lambda tile: (round(-(-extent // tile) * tile / extent, 2) + 0.25 / tile, -tile),
        default=1,
    )
