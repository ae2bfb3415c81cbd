"""The work and cost of one tile of a kernel's parallel axis, to decide how to divide it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, IRREGULAR, LANE, PARALLEL, Op
from ogive.compiler.ir.shape import Dim, greatest
from ogive.compiler.passes.loops.staging.sorting_network import exchange_count
from ogive.compiler.targets.estimates import operation_cycles
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


def work_per_tile(root: UOp, target: Target) -> int:
    """The number of operations of one tile. A load or store counts like an addition."""
    total = sum(
        cost * math.prod([int(counter.extent.vmax) for counter in counters])
        for _, cost, counters in _counted(root, target)
    )
    return max(total, 1)


def grain_of(work: int, target: Target) -> int:
    """The least number of tiles worth a call on another thread, if each has `work` operations."""
    return max(1, target.costs.sharing.call_work // work)


MOST_COST = 1 << 48
"""The limit of each cost of a tile: greater ones count as this."""


class TileCosts(NamedTuple):
    """The vector instructions of one tile, and the bytes that it reads and writes.

    Bytes are those of all loads from buffers and stores to them, even if they access the same
    element several times. With loops of symbolic length, the costs are expressions of variables.
    """

    instructions: Dim
    read: Dim
    written: Dim


def tile_costs(root: UOp, target: Target) -> TileCosts:
    """The cost of one tile of a lowered kernel.

        before   SINK(STORE(INDEX(PARAM 0, t*64 + u*16), x + LOAD(...) stride 1, t, u, lane))
        after    instructions 4 * (1 load + 1 addition + 1 store), read 256, written 256
    """
    # The key of a term is the product of symbolic lengths by which it is multiplied.
    instructions: Counter[tuple[UOp, ...]] = Counter()
    read: Counter[tuple[UOp, ...]] = Counter()
    written: Counter[tuple[UOp, ...]] = Counter()
    counted = list(_counted(root, target))
    reductions = [node for node, _, _ in counted if node.op is Op.REDUCE]
    fused = {reduction.operand for reduction in reductions if reduction.combine is Op.ADD}
    for node, cost, counters in counted:
        if node.op is Op.MUL and node in fused:
            continue  # it is one instruction with the addition
        value = node.value if node.op is Op.STORE else node
        lanes, times, lengths = _repetition(counters)
        size = value.dtype.itemsize
        vectors = lanes if _is_irregular(node) else -(-lanes * size // target.vector_bytes)
        instructions[lengths] += cost * times * vectors
        if node.op is Op.STORE:
            written[lengths] += times * lanes * size
        elif node.op is Op.LOAD and node.place.base.op is Op.PARAM:
            read[lengths] += times * lanes * size
    return TileCosts(*[_total(terms) for terms in (instructions, read, written)])


def _counted(root: UOp, target: Target) -> Iterator[tuple[UOp, int, frozenset[UOp]]]:
    """The nodes of a kernel that take time, each with its cost and the counters that repeat it."""
    for node in root.walk():
        if node.dtype is dtypes.index:
            continue
        if node.op in ELEMENTWISE:
            cost = round(operation_cycles(node, target))
        elif node.op in (Op.LOAD, Op.STORE, Op.REDUCE, Op.SCAN, Op.TALLY):
            cost = 1
        elif node.op is Op.STAGE and (count := node.sorted_count) is not None:
            cost = 2 * exchange_count(count)
        else:
            continue
        counters = node.ranges
        if node.op is Op.STORE:
            counters = frozenset(node.closed)
        elif node.op is Op.REDUCE:
            counters = counters.union(node.closed)
        yield node, cost, frozenset([each for each in counters if each.placement != PARALLEL])


def _repetition(counters: frozenset[UOp]) -> tuple[int, int, tuple[UOp, ...]]:
    """How often a node is computed: (lanes, fixed number of times, symbolic numbers of times)."""
    lanes = times = 1
    lengths: list[UOp] = []
    for counter in counters:
        length = counter.extent
        if counter.placement == LANE:
            lanes *= int(length.vmax)
        elif length.op is Op.CONST or length.ranges:
            times *= int(length.vmax)
        else:
            lengths.append(length)
    return lanes, times, tuple(sorted(lengths, key=lambda length: length.content_key))


def _is_irregular(node: UOp) -> bool:
    """Whether an access loads or stores its lanes one by one."""
    stride = node.stride if node.op in (Op.LOAD, Op.STORE) else None
    return stride == IRREGULAR or (isinstance(stride, int) and stride not in (0, 1))


def _total(terms: Counter[tuple[UOp, ...]]) -> Dim:
    total: Dim = 0
    for lengths, times in terms.items():
        term: Dim = times
        for length in lengths:
            term = length * term
        total = term + total
    return total if greatest(total) <= MOST_COST else MOST_COST
