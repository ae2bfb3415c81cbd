"""Register tiles of kernels whose results are concatenations of computed pieces.

    before   out[r0*512 + r1] = a + b where r0 < 1, else a - b where r0 < 2, else c
    after    all of r0 in the tile: each entry has one piece, and common parts are computed once

Without the tile, each element would compute all pieces and select one.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.targets.target import Target

_COMPUTED = ELEMENTWISE - {Op.WHERE, Op.CAST, Op.BITCAST}


def tile_pieces(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> dict[UOp, int]:
    """The register tile of a kernel that joins pieces that it computes; empty for other kernels."""
    if kernel.reductions or kernel.scans or not lanes:
        return {}
    pieces: dict[UOp, int] = {}
    for node in kernel.root.walk():
        if node.op is Op.WHERE:
            counter = _selecting_counter(node)
            is_free = counter in kernel.outputs and counter not in lanes
            if counter is not None and is_free and _joins_computed(node):
                pieces[counter] = axis_extent(counter)
    if not pieces or math.prod(pieces.values()) > target.costs.lanes.most_pieces:
        return {}
    return pieces


def _selecting_counter(node: UOp) -> UOp | None:
    """The counter that alone selects one of two values, or None."""
    condition = node.src[0]
    if condition.op is not Op.CMPLT or len(condition.ranges) != 1:
        return None
    is_place = condition.left.op is Op.RANGE and condition.right.op is Op.CONST
    return condition.left if is_place else None


def _joins_computed(node: UOp) -> bool:
    """Whether one of the values to select from is computed."""
    pending, seen = list(node.src[1:]), {node}
    while pending:
        value = pending.pop()
        if value.op is Op.WHERE and value not in seen:
            seen.add(value)
            pending.extend(value.src[1:])
        elif value.op in _COMPUTED:
            return True
    return False
