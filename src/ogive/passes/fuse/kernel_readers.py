"""The kernels under construction, and how each of them reads a value.

A read is a kernel with a `View` of the value. It is passed on from a node to its sources: as it is
by what works element by element, changed by movement, with a loop more by a reduction.

    before   y = sum(x * w, 1) is read by loop r0 of a kernel
    after    x * w is read by r0, r1, of which r1 is new; then x and w are
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from ogive.ir.node import UOp
from ogive.ir.ops import MOVEMENT, Op
from ogive.ir.shape import common_shape, greatest
from ogive.passes.fuse.axis_relations import (
    View,
    gathered_view,
    identity_view,
    permuted_view,
    source_view,
)
from ogive.passes.fuse.choose_staged import row_bytes
from ogive.targets.target import Target


@dataclass
class Kernel:
    """A kernel under construction: its root and the loops opened so far, the output's first."""

    root: UOp
    extents: list[int]
    output_count: int
    node_count: int = 0
    work: int = 0
    has_product: bool = False
    by_tensor_cores: bool = False
    rows: dict[int, int] = field(default_factory=dict)
    """The loops (bits) that stage a row, and with each the output loops around it."""
    scratch: int = 0
    """The bytes of all staged rows."""

    @property
    def is_ordered(self) -> bool:
        """Whether some of its loops are innermost and in order, whichever axes they are of."""
        is_scattered = self.root.op is Op.ASSIGN and bool(self.root.indices)
        return is_scattered or self.root.op in (Op.SCAN_AXIS, Op.ARRANGE)


@dataclass
class Readers:
    """All reads of one value seen so far."""

    views: list[tuple[Kernel, View]] = field(default_factory=list)
    _known: set[tuple[int, View]] = field(default_factory=set)

    @classmethod
    def of(cls, views: Iterable[tuple[Kernel, View]]) -> Readers:
        """These reads."""
        made = cls()
        for kernel, view in views:
            made.add(kernel, view)
        return made

    def add(self, kernel: Kernel, view: View) -> None:
        known = (id(kernel), view)
        if known not in self._known:
            self._known.add(known)
            self.views.append((kernel, view))

    def includes(self, other: Readers) -> bool:
        """Whether a value with these reads is read wherever one with `other` reads is."""
        return self._known >= other._known

    def by_kernel(self) -> list[Readers]:
        """The reads of each kernel by themselves."""
        parts: dict[int, Readers] = {}
        for kernel, view in self.views:
            parts.setdefault(id(kernel), Readers()).add(kernel, view)
        return list(parts.values())


def open_kernel(root: UOp, nest: tuple[int, ...] | None) -> tuple[Kernel, View]:
    """A kernel that computes `root`, and how it does: along its axes, or those in another order."""
    stored = root.op is Op.ASSIGN and root.indices
    shape = common_shape(root.src[1:]) if stored else root.shape
    if root.op is Op.ARRANGE:
        shape = root.operand.shape
    kernel = Kernel(root, [greatest(size) for size in shape], len(shape))
    kernel.work = math.prod(kernel.extents)
    if nest is None:
        return kernel, identity_view(kernel.extents)
    kernel.extents = [kernel.extents[axis] for axis in nest]
    return kernel, permuted_view(identity_view(kernel.extents), nest)


def open_row(node: UOp, reads: Readers, axis: int) -> tuple[Kernel, View]:
    """How a staged value is computed: along a new loop, for the output loops it varies with."""
    kernel, view = reads.views[0]
    bit = 1 << len(kernel.extents)
    kernel.extents.append(greatest(node.shape[axis]))
    around = view.used & ~view.loops[axis]
    kernel.rows[bit] = around
    kernel.scratch += row_bytes(node, axis)
    loops = (*view.loops[:axis], bit, *view.loops[axis + 1 :])
    places = (*view.places[:axis], 0, *view.places[axis + 1 :])
    return kernel, View(loops, view.bare, around | bit, places)


def pass_on(
    node: UOp,
    reads: Readers,
    readers: dict[UOp, Readers],
    varying: dict[UOp, int],
    target: Target,
) -> None:
    """Tell the sources of `node` how they are read."""
    op = node.op
    if op in (Op.COPY, Op.CUSTOM):
        return  # they read memory as it stands
    if op is Op.ASSIGN:
        for kernel, view in reads.views:
            for source in node.src[1:]:
                readers[source].add(kernel, view)
        return
    if op is Op.SCAN_AXIS:
        _open_scan(node, reads, readers)
        return
    if op is Op.SORT:
        readers[node.operand].add(*open_row(node, reads, len(node.shape) - 1))
        return
    if op is Op.ARRANGE:
        _open_arrangement(node, reads, readers)
        return
    if op is Op.REDUCE_AXES:
        for part in reads.by_kernel():
            kernel, view = part.views[0]
            readers[node.operand].add(kernel, _open_reduction(node, kernel, view))
            kernel.node_count += 1
            kernel.has_product |= is_large_product(node, target)
        return
    for kernel, view in reads.views:
        if op in MOVEMENT:
            below = source_view(node, view)
            readers[node.operand].add(kernel, below)
        else:
            kernel.node_count += 1
            sources = node.src
            if op is Op.GATHER:
                readers[node.operand].add(kernel, gathered_view(node, view, varying))
                sources = node.indices
            for source in sources:
                if source.shape or source.op is not Op.CONST:
                    readers[source].add(kernel, view)


def is_large_product(node: UOp, target: Target) -> bool:
    """Whether a reduction is a product of the kind whose sums are made in a register tile."""
    (product,) = node.src
    return (
        node.combine is Op.ADD
        and product.op is Op.MUL
        and all(factor.op is Op.EXPAND for factor in product.src)
        and math.prod(map(greatest, product.shape)) >= target.costs.fusion.large_product
    )


def _open_scan(node: UOp, reads: Readers, readers: dict[UOp, Readers]) -> None:
    """A scan reads its source by its own loops; what it starts from, before the loop in order."""
    ((kernel, view),) = reads.views
    readers[node.operand].add(kernel, view)
    if node.initial is not None:
        axis = node.axis
        loops = (*view.loops[:axis], 0, *view.loops[axis + 1 :])
        places = (*view.places[:axis], 0, *view.places[axis + 1 :])
        scope = view.scope & ~view.loops[axis]
        readers[node.initial].add(kernel, View(loops, view.bare, scope, places))


def _open_arrangement(node: UOp, reads: Readers, readers: dict[UOp, Readers]) -> None:
    """Elements and their groups are read by the kernel's own loops; where the groups start, by one
    more, before that in order."""
    ((kernel, view),) = reads.views
    x, starts, group = node.src
    bit = 1 << len(kernel.extents)
    kernel.extents.append(greatest(starts.shape[-1]))
    kernel.node_count += 1
    readers[x].add(kernel, view)
    readers[group].add(kernel, view)
    around = view.used & ~view.loops[-1]
    loops, places = (*view.loops[:-1], bit), (*view.places[:-1], 0)
    readers[starts].add(kernel, View(loops, view.bare, around | bit, places))


def _open_reduction(node: UOp, kernel: Kernel, view: View) -> View:
    """The view of a reduction's source: its reduced axes are read by new loops."""
    loops, places = list(view.loops), list(view.places)
    bare = view.bare
    scope = view.used & (((1 << kernel.output_count) - 1) | sum(kernel.rows))
    work = 1
    for axis in node.axes:
        extent = greatest(node.operand.shape[axis])
        bit = 1 << len(kernel.extents)
        kernel.extents.append(extent)
        loops[axis], places[axis] = bit, 0
        bare |= 1 << axis
        scope |= bit
        work *= extent
    kernel.work = max(kernel.work, math.prod(kernel.extents[: kernel.output_count]) * work)
    return View(tuple(loops), bare, scope, tuple(places), view.by_data)
