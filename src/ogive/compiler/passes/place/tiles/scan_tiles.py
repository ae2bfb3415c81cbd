"""The placement of scans of several rows at once.

Each running total needs the one before, so a row is scanned element by element. Different rows are
independent: they go into lanes, and a few elements of each into a tile, which is loaded and stored
by rows and transposed in registers.

    before   out[r0*4096 + r1] = x[r0*4096] + ... + x[r0*4096 + r1]
    after    lanes r0: 8;  register tile r1: 16, one after the other
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.kernel_axes import axis_extent, scanned_axes
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.targets.target import Target


def scanned_rows(kernel: KernelFacts, target: Target) -> tuple[UOp, int, UOp, int] | None:
    """(axis of rows, lanes, axis of the scan, elements of a tile) of a kernel that scans rows.

    None for other kernels, or if there are too few rows.
    """
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
    """The greatest number of elements in a tile that divides a row; 0 if there is none."""
    least = target.costs.accesses.transposed_rows
    most = min(target.costs.lanes.scanned_steps, length // 2)
    return max([s for s in range(least, most + 1) if length % s == 0], default=0)
