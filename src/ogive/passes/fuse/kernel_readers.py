"""The kernels under construction, and how each of them reads a value.

A read is a kernel with a `View` of the value. It is passed on from a node to its sources: as it is
by what works element by element, changed by movement, with a loop more by a reduction.

    before   y = sum(x * w, 1) is read by loop 0 of a kernel
    after    x * w is read by loops 0 and 1, of which 1 is new; then x and w are
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field

from ogive.ir.memory import upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import MOVEMENT, Op
from ogive.ir.shape import common_shape, greatest
from ogive.named import record
from ogive.passes.fuse.axis_relations import (
    View,
    gathered_view,
    identity_view,
    permuted_view,
    source_view,
)
from ogive.passes.fuse.bit_sets import (
    NO_LOOP,
    Axes,
    Loops,
    all_below,
    join,
    members,
    reaches,
    single,
)
from ogive.passes.fuse.choose_staged import row_bytes
from ogive.passes.fuse.reduction_directions import find_directions
from ogive.targets.target import Target


@record
class Kernel:
    """A kernel under construction: its root and the loops opened so far, the output's first."""

    root: UOp
    extents: list[int]
    output_count: int
    node_count: int = 0
    work: int = 0
    has_product: bool = False
    by_tensor_cores: bool = False
    directions: set[bool] = field(default_factory=set)
    """Whether reductions go along the rows of memory (`reduction_directions.py`), of those whose
    results its elements are made from."""
    rows: dict[Loops, Loops] = field(default_factory=dict)
    """The loops that stage a row, each a set of one, and with each the output loops around it."""
    scratch: int = 0
    """The bytes of all staged rows."""

    @property
    def is_ordered(self) -> bool:
        """Whether some of its loops are innermost and in order, whichever axes they are of."""
        is_scattered = self.root.op is Op.ASSIGN and bool(self.root.indices)
        return is_scattered or self.root.op in (Op.SCAN_AXIS, Op.ARRANGE)

    @property
    def output_loops(self) -> Loops:
        """The loops over the elements of the root."""
        return all_below(self.output_count)

    def open_loop(self, extent: int) -> Loops:
        """Add a loop, inside of all others; the set of it alone."""
        self.extents.append(extent)
        return single(len(self.extents) - 1)

    def iterations(self, loops: Loops) -> int:
        """How many iterations some loops have together."""
        return math.prod([self.extents[loop] for loop in members(loops)])


@record
class Readers:
    """All reads of one value seen so far."""

    views: list[tuple[Kernel, View]] = field(default_factory=list)
    _known: set[tuple[int, View]] = field(default_factory=set)

    @classmethod
    def of(cls, views: Iterable[tuple[Kernel, View]]) -> Readers:
        """These reads."""
        readers = cls()
        for kernel, view in views:
            readers.add(kernel, view)
        return readers

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
    loop = kernel.open_loop(greatest(node.shape[axis]))
    around = view.used & ~view.loops[axis]
    kernel.rows[loop] = around
    kernel.scratch += row_bytes(node, axis)
    return kernel, view.along(axis, loop, scope=around | loop)


def pass_on(
    node: UOp,
    reads: Readers,
    readers: dict[UOp, Readers],
    varying: dict[UOp, Axes],
    target: Target,
) -> None:
    """Tell the sources of `node` how they are read."""
    op = node.op
    if op in MOVEMENT:
        below = readers[node.operand]
        for kernel, view in reads.views:
            below.add(kernel, source_view(node, view))
    elif op is Op.REDUCE_AXES:
        _pass_on_reduction(node, reads, readers, target)
    elif op is Op.SCAN_AXIS:
        _open_scan(node, reads, readers)
    elif op is Op.SORT:
        readers[node.operand].add(*open_row(node, reads, len(node.shape) - 1))
    elif op is Op.ARRANGE:
        _open_arrangement(node, reads, readers)
    elif op is Op.ASSIGN:
        for kernel, view in reads.views:
            for source in node.src[1:]:
                readers[source].add(kernel, view)
    elif op not in (Op.COPY, Op.CUSTOM):  # which read memory as it stands
        _pass_on_elements(node, reads, readers, varying)


def _pass_on_reduction(
    node: UOp, reads: Readers, readers: dict[UOp, Readers], target: Target
) -> None:
    """A reduction is computed once in each kernel, wherever that reads it."""
    for part in reads.by_kernel():
        kernel, view = part.views[0]
        if not reaches(view.used, kernel.output_count):
            kernel.directions |= find_directions([node])
        readers[node.operand].add(kernel, _open_reduction(node, kernel, view))
        kernel.node_count += 1
        kernel.has_product |= is_large_product(node, target)


def _pass_on_elements(
    node: UOp, reads: Readers, readers: dict[UOp, Readers], varying: dict[UOp, Axes]
) -> None:
    """An element is computed from those at its own place, or where an index says."""
    for kernel, view in reads.views:
        kernel.node_count += 1
        sources = node.src
        if node.op is Op.GATHER:
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
        and upper_count(product.shape) >= target.costs.fusion.large_product
    )


def _open_scan(node: UOp, reads: Readers, readers: dict[UOp, Readers]) -> None:
    """A scan reads its source by its own loops; what it starts from, before the loop in order."""
    ((kernel, view),) = reads.views
    readers[node.operand].add(kernel, view)
    if node.initial is not None:
        scope = view.scope & ~view.loops[node.axis]
        readers[node.initial].add(kernel, view.along(node.axis, NO_LOOP, scope))


def _open_arrangement(node: UOp, reads: Readers, readers: dict[UOp, Readers]) -> None:
    """Elements and their groups are read by the kernel's own loops; where the groups start, by one
    more, before that in order."""
    ((kernel, view),) = reads.views
    x, starts, group = node.src
    loop = kernel.open_loop(greatest(starts.shape[-1]))
    kernel.node_count += 1
    readers[x].add(kernel, view)
    readers[group].add(kernel, view)
    around = view.used & ~view.loops[-1]
    last = len(view.loops) - 1
    readers[starts].add(kernel, view.along(last, loop, scope=around | loop))


def _open_reduction(node: UOp, kernel: Kernel, view: View) -> View:
    """The view of a reduction's source: its reduced axes are read by new loops."""
    loops, places = list(view.loops), list(view.places)
    bare = view.bare
    scope = view.used & (kernel.output_loops | join(kernel.rows))
    work = kernel.iterations(kernel.output_loops)
    for axis in node.axes:
        extent = greatest(node.operand.shape[axis])
        loop = kernel.open_loop(extent)
        loops[axis], places[axis] = loop, 0
        bare |= single(axis)
        scope |= loop
        work *= extent
    kernel.work = max(kernel.work, work)
    return View(tuple(loops), bare, scope, tuple(places), view.by_data)
