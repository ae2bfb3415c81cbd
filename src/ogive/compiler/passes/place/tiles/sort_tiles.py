"""The placement of sorts of several rows at once.

A sorting network compares fixed places of a row, so rows go into lanes, and each exchange is made
in all of them. If rows are contiguous, a tile of a few elements of each is transposed in registers
when it is read and when it is written.

    before   s = x[r0*64 + r2] for all r2 < 64, sorted;  out[r0*64 + r1] = s[r1]
    after    lanes r0: 8;  register tiles r1: 8, r2: 8
"""

from __future__ import annotations

from collections.abc import Iterable

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.targets.estimates import best_tile
from ogive.compiler.targets.target import Target


def sorted_rows(
    kernel: KernelFacts, target: Target
) -> tuple[dict[UOp, int], dict[UOp, int]] | None:
    """The lanes and the tile of a kernel that sorts rows; None for others, or for a single row."""
    stages = [n for n in kernel.root.walk() if n.op is Op.STAGE and n.sorted_count is not None]
    beside = [c for c in kernel.outputs if all(c in stage.ranges for stage in stages)]
    if not stages or not beside:
        return None
    rows = max(beside, key=lambda c: (_is_contiguous(kernel, c), c.number))
    lanes = target.vector_bytes // max([stage.dtype.itemsize for stage in stages])
    while lanes // 2 >= axis_extent(rows):
        lanes //= 2
    along = [counter for stage in stages for counter in stage.closed]
    along += [counter for counter in kernel.outputs if counter not in beside]
    return {rows: lanes}, _transposed_tile(kernel, along, target)


def _is_contiguous(kernel: KernelFacts, counter: UOp) -> bool:
    return any(access.strides.get(counter) == 1 for access in kernel.accesses)


def _transposed_tile(
    kernel: KernelFacts, counters: Iterable[UOp], target: Target
) -> dict[UOp, int]:
    most = target.costs.lanes.sorted_steps
    return {
        counter: best_tile(axis_extent(counter), most, target)
        for counter in counters
        if _is_contiguous(kernel, counter)
    }
