"""Rows that are scanned side by side.

A running value waits for the last one, so a row is scanned element by element. Those of several
rows do not wait for each other: they go into lanes, and a few elements of each into a tile, which
is loaded and stored by rows and transposed in registers.

    before   out[r0*4096 + r1] = x[r0*4096] + ... + x[r0*4096 + r1]
    after    lanes r0: 8;  register tile r1: 16, one after the other
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.loops.kernel_axes import axis_extent, scanned_axes
from ogive.passes.place.kernel_facts import KernelFacts
from ogive.targets.target import Target


def scanned_rows(kernel: KernelFacts, target: Target) -> tuple[UOp, int, UOp, int] | None:
    """The axis of rows that are scanned in lanes and how many, and the axis that the scan goes
    along with the elements of a tile; None where it does not go along rows, or of too few."""
    if not kernel.scans or not kernel.outputs:
        return None
    along, *others = scanned_axes(kernel.root)
    (store, *more) = kernel.stores
    beside = [access.strides.get(along) for access in kernel.loads if access.depends_on(along)]
    if others or more or store.strides.get(along) != 1 or any(step != 1 for step in beside):
        return None
    rows = kernel.outputs[-1]
    widths = [node.dtype.itemsize for node in kernel.root.walk() if node.op is Op.SCAN]
    widths += [access.index.dtype.itemsize for access in kernel.accesses]
    lanes, steps = target.vector_bytes // max(widths), _steps(axis_extent(along), target)
    if lanes < 2 or axis_extent(rows) < lanes or not steps or store.strides.get(rows, 0) == 0:
        return None
    return rows, lanes, along, steps


def _steps(length: int, target: Target) -> int:
    """The most elements of a tile that a row is a multiple of; 0 if these are too few."""
    least = target.costs.accesses.transposed_rows
    most = min(target.costs.lanes.scanned_steps, length // 2)
    return max([s for s in range(least, most + 1) if length % s == 0], default=0)
