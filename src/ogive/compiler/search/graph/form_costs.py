"""The cost of a form by itself, in nanoseconds of one thread: its work, and the memory of sums.

Extraction adds these up. They do not depend on the cut into kernels; `schedule_times.py` does.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.search.graph.leaves import element_count
from ogive.compiler.targets.estimates import addition_time, work_time
from ogive.compiler.targets.target import Target

_LINES = frozenset({Op.SORT, Op.SCAN_AXIS, Op.ARRANGE, Op.SCATTER})


def form_cost(node: UOp, target: Target) -> float:
    """The time of a node alone, without the nodes below it."""
    op = node.op
    if op in ELEMENTWISE:
        if not node.dtype.itemsize:
            return 0.0
        return element_count(node) * node.dtype.itemsize / target.vector_bytes * max(
            work_time(node, target), addition_time(target)
        )
    if op is Op.REDUCE_AXES:
        terms = element_count(node.operand) * node.dtype.itemsize / target.vector_bytes
        return terms * addition_time(target) + _stored(node, target)
    if op is Op.CONTIGUOUS or op in _LINES:
        return 2 * _stored(node, target)
    if op is Op.GATHER:
        return element_count(node) * work_time(node, target)
    return 0.0


def _stored(node: UOp, target: Target) -> float:
    """The time to write a value to the second-level cache, or to read it."""
    return element_count(node) * node.dtype.itemsize / target.costs.memory.kept_write[1]
