"""What operations cost, an addition being 1; and how large register tiles are.

What stage 3 decides by and stage 6 has to agree with.
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import TRANSCENDENTAL, Op
from ogive.targets.target import Target

_COSTS = {
    Op.DIV: 4, Op.SQRT: 6, Op.RECIPROCAL: 4, Op.FLOORDIV: 8, Op.MOD: 8, Op.GATHER: 4,
    Op.THREEFRY: 80,
}  # fmt: skip
_FUNCTION_COST = 12

MOST_STRIDE = 4
"""The distance up to which lanes are picked out of whole vectors rather than gathered."""

APART_BYTES = 1 << 10
"""The distance from which on rows lie apart: a processor does not fetch the next one by itself."""

GATE_LOSS = 0.02
"""The share of a kernel's time that gates take where tiles do not fill their axis."""

TILE_LOSS = 0.25
"""What reading an operand again for each tile takes, beside the sums of a row of one."""

ACROSS = 2.5
"""What a sum across the lanes of a vector takes, in operations on vectors."""

STORED_TURNED = 0.3
"""What an element of a product takes that is turned in registers on its way to memory."""

TAIL_LOSS = 0.06
"""The share of a kernel's time that the masks of a vector take that an axis does not fill."""


def operation_cost(node: UOp) -> int:
    """What one element of an elementwise or gathering node costs, an addition being 1."""
    if node.op in TRANSCENDENTAL:
        return _FUNCTION_COST
    if node.op in (Op.CAST, Op.BITCAST) or _puts_together(node):
        return 0
    return _COSTS.get(node.op, 1)


def _puts_together(node: UOp) -> bool:
    """Whether a node puts narrow elements together into a word, which mostly is loaded whole."""
    shifted = node.src[1] if node.op is Op.OR else node
    if shifted.op is not Op.SHL or shifted.src[1].op is not Op.CONST:
        return False
    (element, _) = shifted.src
    return element.op is Op.CAST and element.src[0].dtype.itemsize < node.dtype.itemsize


def sums_in_registers(target: Target) -> int:
    """How many vectors of sums a product keeps; the other registers are for its operands."""
    return target.vector_registers - target.vector_registers // 4


def best_tile(extent: int, most: int) -> int:
    """The tile length up to `most` that wastes least of `extent`, the longest of those.

    A long tile reads less for each sum; one that does not fill the axis needs gates.
    """
    def loss(tile: int) -> float:
        gated = GATE_LOSS if extent % tile else 0.0
        return -(-extent // tile) * tile / extent + TILE_LOSS / tile + gated

    return min(range(1, min(most, extent) + 1), key=lambda tile: (loss(tile), -tile), default=1)


def whole_vectors(extent: int, lanes: int, target: Target) -> float:
    """How many vectors of `lanes` an axis takes as long as. A vector that need not be whole may
    take less, where arithmetic goes by halves."""
    if extent >= lanes:
        return -(-extent // lanes)
    steps = target.vector_bytes // target.step_bytes
    return -(-extent * steps // lanes) / steps


def lane_use(extent: int, lanes: int) -> float:
    """The share of lanes that do something if an axis is spread over vectors of `lanes`, less
    what the gates of a last vector take that is not full."""
    if extent % lanes == 0:
        return 1.0 if extent else 0.0
    return extent / (-(-extent // lanes) * lanes) - TAIL_LOSS
