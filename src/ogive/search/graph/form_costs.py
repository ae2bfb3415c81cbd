"""The cost of a single form, in nanoseconds of one thread: its work, and the memory of a sum.

Extraction adds these costs up. They do not depend on how the graph is cut into kernels;
`schedule_times.py` takes that into account.
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op
from ogive.search.graph.leaves import element_count
from ogive.targets.estimates import operation_time
from ogive.targets.target import Target

_LINES = frozenset({Op.SORT, Op.SCAN_AXIS, Op.ARRANGE, Op.SCATTER})


def form_cost(node: UOp, target: Target) -> float:
    """The nanoseconds to compute a node from its sources."""
    op = node.op
    if op in ELEMENTWISE:
        if not node.dtype.itemsize:
            return 0.0
        return element_count(node) * node.dtype.itemsize / target.vector_bytes * max(
            operation_time(node, target), _least(target)
        )
    if op is Op.REDUCE_AXES:
        terms = element_count(node.operand) * node.dtype.itemsize / target.vector_bytes
        return terms * _least(target) + _stored(node, target)
    if op is Op.CONTIGUOUS or op in _LINES:
        return 2 * _stored(node, target)
    if op is Op.GATHER:
        return element_count(node) * operation_time(node, target)
    return 0.0


def _least(target: Target) -> float:
    operations = target.costs.operations
    return operations.simple * operations.hidden_share * operations.cycle_nanoseconds


def _stored(node: UOp, target: Target) -> float:
    """The nanoseconds to write a value to the second-level cache, or to read it from there."""
    return element_count(node) * node.dtype.itemsize / target.costs.memory.kept_write[1]
