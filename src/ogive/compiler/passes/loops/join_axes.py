"""Joins short axes along which memory is read contiguously and written in another order.

    before   s < 13, b < 2, p < 98:   y[(b*13 + s)*98 + p] = x[p*26 + s*2 + b]
    after    t < 26, p < 98:          y[(t%2*13 + t//2)*98 + p] = x[p*26 + t]

The axis t is long enough for a tile that is transposed in registers. The rows of the tile may be
written anywhere.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.accesses import MemoryAccess, memory_accesses
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.targets.target import Target


def join_axes(root: UOp, target: Target) -> UOp:
    """The kernel with such axes joined until they fill a vector."""
    if any(node.op in (Op.REDUCE, Op.SCAN, Op.STAGE) for node in root.walk()):
        return root
    while (pair := _pair(root, target)) is not None:
        outer, inner = pair
        length = axis_extent(inner)
        joined = make_range(axis_extent(outer) * length, outer.number)
        root = replace_ranges(root, {outer: joined // length, inner: joined % length})
    return root


def _pair(root: UOp, target: Target) -> tuple[UOp, UOp] | None:
    """A short inner axis and the outer one with which all loads walk it as one axis.

    Neither may be the axis along which memory is written contiguously.
    """
    accesses = memory_accesses(root)
    written = {c for a in accesses if a.is_store for c, step in a.strides.items() if step == 1}
    axes = [c for c in output_axes(root) if c.extent.op is Op.CONST and c not in written]
    loads = [access for access in accesses if not access.is_store]
    for load in loads:
        lanes = target.vector_bytes // load.index.dtype.itemsize
        for inner in axes:
            if load.strides.get(inner) != 1 or axis_extent(inner) >= lanes:
                continue
            for outer in axes:
                if outer is not inner and all(_is_one(read, outer, inner) for read in loads):
                    return outer, inner
    return None


def _is_one(access: MemoryAccess, outer: UOp, inner: UOp) -> bool:
    """Whether an access walks two axes as if they were one."""
    if not access.irregular.isdisjoint((outer, inner)):
        return False
    return access.strides.get(outer, 0) == access.strides.get(inner, 0) * axis_extent(inner)
