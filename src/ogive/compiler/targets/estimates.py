"""Small estimates that several passes share: for one operation, one axis, one register file."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import TRANSCENDENTAL, Op
from ogive.compiler.targets.target import Target

_FIELDS = {
    Op.FLOORDIV: "integer_division", Op.MOD: "integer_division", Op.GATHER: "gather",
    Op.THREEFRY: "random_bits",
    Op.EXP: "exponential", Op.EXP2: "exponential", Op.LOG: "logarithm", Op.LOG2: "logarithm",
    Op.SIN: "sine", Op.COS: "sine", Op.TANH: "hyperbolic_tangent", Op.ERF: "error_function",
    Op.POW: "power", Op.DIV: "repeated_division", Op.RECIPROCAL: "repeated_division",
    Op.SQRT: "repeated_root", Op.RSQRT: "reciprocal_root",
}  # fmt: skip
"""The fields of `Operations` for operations that are neither simple nor like most functions."""

DIVIDING = frozenset({Op.DIV, Op.RECIPROCAL, Op.SQRT, Op.RSQRT})
"""Operations of the divider, which takes a long vector in several steps."""


def operation_cycles(node: UOp, target: Target) -> float:
    """Cycles of a vector of an elementwise or gathering node."""
    op, operations = node.op, target.costs.operations
    field = _FIELDS.get(op)
    if field is None:
        if op in TRANSCENDENTAL:
            return operations.function
        is_free = op in (Op.CAST, Op.BITCAST) or _puts_together(node)
        return 0 if is_free else operations.simple
    cycles: float = getattr(operations, field)
    return cycles * target.vector_bytes / target.divided_bytes if op in DIVIDING else cycles


def operation_time(node: UOp, target: Target) -> float:
    """Nanoseconds of a vector of such a node that is computed again, beside other work: of what is
    simple, loads hide a share."""
    operations = target.costs.operations
    cycles = operation_cycles(node, target)
    if cycles == operations.simple:
        cycles *= operations.hidden_share
    return float(cycles * operations.cycle_nanoseconds)


def work_time(node: UOp, target: Target) -> float:
    """Nanoseconds of a vector of such a node in a kernel that does nothing else: less than beside
    other work if the processor takes a vector in one step."""
    share = 1.0 if node.op in DIVIDING else _share_of_steps(target)
    return operation_time(node, target) * share


def addition_time(target: Target) -> float:
    """Nanoseconds of a vector of an addition in such a kernel."""
    operations = target.costs.operations
    cycles = operations.simple * operations.hidden_share * _share_of_steps(target)
    return float(cycles * operations.cycle_nanoseconds)


def _share_of_steps(target: Target) -> float:
    """The steps that a vector takes, as a share of those where operations were measured: two."""
    return target.vector_bytes / target.step_bytes / 2


def _puts_together(node: UOp) -> bool:
    """Whether a node packs narrow elements into a word, which is mostly loaded whole."""
    shifted = node.right if node.op is Op.OR else node
    if shifted.op is not Op.SHL or shifted.right.op is not Op.CONST:
        return False
    (element, _) = shifted.src
    return element.op is Op.CAST and element.operand.dtype.itemsize < node.dtype.itemsize


def sums_in_registers(target: Target) -> int:
    """The number of registers for the sums of a product. The others are for its operands."""
    return target.vector_registers - target.vector_registers // 4


def step_cost(rows: int, vectors: int, load: float, target: Target) -> float:
    """The cycles of a step of a product's register tile; `load` is the cost of loading a vector.

    Two multiply-adds begin in a cycle, unless they take vectors in several steps. With few sums,
    each waits for its last addition. On some processors fewer broadcasts than multiply-adds begin.
    """
    costs = target.costs.tiles
    least = max(costs.waiting_sums, rows * costs.spread_begun * target.spreads_slowly)
    begun = max(rows * vectors, least * target.step_bytes / target.vector_bytes)
    return begun + rows * costs.spread + vectors * load


def multiply_cost(
    lengths: tuple[int, ...], vectors: int, target: Target, spare: int = 1
) -> float:
    """The cycles of a multiply-add in the best register tile of `vectors` columns.

    Rows are along the last two axes of `lengths`. The estimate counts waiting sums and the empty
    part of the last tile. `spare` registers are needed beside those of sums and vectors.
    """
    room = min(sums_in_registers(target), target.vector_registers - vectors - spare)
    rows, columns = (1, *lengths)[-2:]
    most = max(room // vectors, 1)
    return min(
        _filled_up(rows, high)
        * _filled_up(columns, wide)
        * step_cost(high * wide, vectors, target.costs.tiles.near_load, target)
        / (high * wide * vectors)
        for high in range(1, min(rows, most) + 1)
        for wide in range(1, min(columns, most // high) + 1)
    )


def _filled_up(length: int, step: int) -> float:
    """The length of an axis rounded up to whole tiles, as a multiple of its length."""
    return -(-length // step) * step / length


def best_tile(extent: int, most: int, target: Target) -> int:
    """The tile length up to `most` with the least loss for `extent`; of equal ones the longest.

    A long tile reads less for each sum. A length that does not divide the axis wastes work and
    needs gates.
    """
    gate = target.costs.operations.gate_share
    read_again = target.costs.tiles.read_again

    def loss(tile: int) -> float:
        gated = gate if extent % tile else 0.0
        return -(-extent // tile) * tile / extent + read_again / tile + gated

    return min(range(1, min(most, extent) + 1), key=lambda tile: (loss(tile), -tile), default=1)


def whole_vectors(extent: int, lanes: int, target: Target) -> float:
    """The time of an axis in vectors of `lanes`.

    An axis shorter than a vector takes less if arithmetic is done in halves of vectors.
    """
    if extent >= lanes:
        return -(-extent // lanes)
    steps = target.vector_bytes // target.step_bytes
    return -(-extent * steps // lanes) / steps


def lane_use(extent: int, lanes: int, target: Target) -> float:
    """The share of lanes in use if an axis is in vectors of `lanes`, less the cost of masks.

    Only a last vector that is not full needs a mask.
    """
    if extent % lanes == 0:
        return 1.0 if extent else 0.0
    return extent / (-(-extent // lanes) * lanes) - target.costs.operations.mask_share


def memory_level(nbytes: int, target: Target) -> int:
    """The level that holds a value of that size between kernels: 1 or 2 for the second- or
    third-level cache, 3 for memory."""
    last = target.streamed_bytes or target.l3_bytes
    return 1 + (nbytes > target.l2_bytes) + (nbytes > last)
