"""How much a kernel does per tile of its parallel axis, for deciding how to share it out."""

from __future__ import annotations

import math

from ogive.choose.costs import operation_cost
from ogive.codegen.optimize.placement import PARALLEL
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op


def work_per_tile(root: UOp) -> int:
    """The operations of one tile, a load or store counting like an addition."""
    total = 0
    for node in root.walk():
        if node.dtype is dtypes.index:
            continue
        if node.op in ELEMENTWISE:
            cost = operation_cost(node)
        elif node.op in (Op.LOAD, Op.STORE, Op.REDUCE, Op.SCAN):
            cost = 1
        else:
            continue
        counters = node.ranges
        if node.op is Op.STORE:
            counters = frozenset(node.src[2:])
        elif node.op is Op.REDUCE:
            counters = counters.union(node.src[1:])
        total += cost * math.prod(
            int(counter.src[0].vmax) for counter in counters if counter.arg[1] != PARALLEL
        )
    return max(total, 1)


GRAIN_WORK = 1 << 15
"""Operations worth handing to another thread."""


def grain_of(work: int) -> int:
    """The least number of tiles worth a call, if one tile takes that many operations."""
    return max(1, GRAIN_WORK // work)
