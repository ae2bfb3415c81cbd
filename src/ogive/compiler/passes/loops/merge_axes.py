"""Merges neighbouring axes that every access walks as one.

    before   r0 < 64, r1 < 64:  a[r0*64 + r1] = b[r0*64 + r1]
    after    r0 < 4096:         a[r0] = b[r0]

Axes of symbolic lengths are merged if this holds for all values of the variables.
"""

from __future__ import annotations

from itertools import pairwise

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.positions import index_constant
from ogive.compiler.ir.symbolic.polynomials import are_equal
from ogive.compiler.passes.loops.accesses import MemoryAccess, memory_accesses, stride_along
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges


def merge_axes(root: UOp) -> UOp:
    """The kernel with as few axes as its accesses allow."""
    while True:
        pair = _mergeable_pair(root)
        if pair is None:
            return root
        outer, inner = pair
        merged = make_range(outer.extent * inner.extent, outer.number)
        # Every use is outer*size*stride + inner*stride, so `inner` can take the values of both.
        root = replace_ranges(root, {outer: index_constant(0), inner: merged})


def _mergeable_pair(root: UOp) -> tuple[UOp, UOp] | None:
    accesses = memory_accesses(root)
    elsewhere = _used_outside_offsets(root)
    for group in _axis_groups(root):
        for outer, inner in pairwise(group):
            if outer.ranges_below or inner.ranges_below:
                continue
            if outer.placement is not None or inner.placement is not None:
                continue
            if outer in elsewhere or inner in elsewhere:
                continue
            if all(_follow_each_other(outer, inner, access) for access in accesses):
                return outer, inner
    return None


def _follow_each_other(outer: UOp, inner: UOp, access: MemoryAccess) -> bool:
    """Whether an access continues along `outer` where `inner` ends."""
    if outer in access.irregular or inner in access.irregular:
        return False
    if outer.extent.op is Op.CONST and inner.extent.op is Op.CONST:
        size: int = inner.extent.literal
        return access.strides.get(outer, 0) == access.strides.get(inner, 0) * size
    offset = access.index.offset
    return are_equal(stride_along(offset, outer), stride_along(offset, inner) * inner.extent)


def _axis_groups(root: UOp) -> list[tuple[UOp, ...]]:
    """The groups of counters that stores and reductions close together.

    A counter may be merged only if all nodes that close it close the same group.
    """
    groups: dict[tuple[UOp, ...], None] = {}
    for node in root.walk():
        if node.op in (Op.REDUCE, Op.STAGE, Op.STORE):
            groups[node.closed] = None
    owners: dict[UOp, int] = {}
    for group in groups:
        for counter in group:
            owners[counter] = owners.get(counter, 0) + 1
    return [group for group in groups if all(owners[counter] == 1 for counter in group)]


def _used_outside_offsets(root: UOp) -> set[UOp]:
    """Counters whose values are used in other places than offsets: in gates and in data."""
    used: set[UOp] = set()
    for node in root.walk():
        if node.dtype is not dtypes.index and node.op not in _POSITIONAL:
            for source in node.src:
                if source.dtype is dtypes.index:
                    used |= source.ranges
    return used


_POSITIONAL = frozenset({Op.INDEX, Op.REDUCE, Op.STORE, Op.STAGE, Op.SINK})
