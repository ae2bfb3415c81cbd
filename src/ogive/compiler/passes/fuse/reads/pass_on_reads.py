"""How a value reads its sources follows from how it is read itself.

As they are by what works element by element, by another place or axis through movement, with a loop
more by a reduction:

    before   y = sum(x * w, 1) is read by loop 0 of a kernel
    after    x * w is read by loops 0 and 1, of which 1 is new; then x and w are
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.passes.fuse.graph_facts import GraphFacts
from ogive.compiler.passes.fuse.reads.axis_relations import View, gathered_view, source_view
from ogive.compiler.passes.fuse.reads.bit_sets import NO_LOOP, Axes, join, reaches, single
from ogive.compiler.passes.fuse.reads.kernel_drafts import (
    KernelDraft,
    Reads,
    is_large_product,
    open_row,
)
from ogive.compiler.passes.fuse.reads.reduction_directions import find_directions
from ogive.compiler.targets.target import Target

ReadsOf = Mapping[UOp, Reads]
"""The reads of each value of a graph."""


def pass_on(node: UOp, reads: Reads, reads_of: ReadsOf, facts: GraphFacts) -> None:
    """Add to the reads of its sources how `node`, which is computed for `reads`, reads them."""
    op = node.op
    if op in MOVEMENT:
        below = reads_of[node.operand]
        for kernel, view in reads.pairs:
            below.add(kernel, source_view(node, view))
    elif op is Op.REDUCE_AXES:
        _pass_on_reduction(node, reads, reads_of, facts.target)
    elif op is Op.SCAN_AXIS:
        _open_scan(node, reads, reads_of)
    elif op is Op.SORT:
        reads_of[node.operand].add(*open_row(node, reads, len(node.shape) - 1))
    elif op is Op.ARRANGE:
        _open_arrangement(node, reads, reads_of)
    elif op is Op.ASSIGN:
        for kernel, view in reads.pairs:
            for source in node.src[1:]:
                reads_of[source].add(kernel, view)
    elif op not in (Op.COPY, Op.CUSTOM):  # which read memory as it stands
        _pass_on_elements(node, reads, reads_of, facts.varying)


def _pass_on_reduction(
    node: UOp, reads: Reads, reads_of: ReadsOf, target: Target
) -> None:
    """A reduction is computed once in each kernel, wherever that reads it."""
    for part in reads.by_kernel():
        kernel, view = part.pairs[0]
        if not reaches(view.used, kernel.output_count):
            kernel.directions |= find_directions([node])
        reads_of[node.operand].add(kernel, _open_reduction(node, kernel, view))
        kernel.node_count += 1
        kernel.has_product |= is_large_product(node, target)


def _pass_on_elements(
    node: UOp, reads: Reads, reads_of: ReadsOf, varying: Mapping[UOp, Axes]
) -> None:
    """An element is computed from those at its own place, or where an index says."""
    for kernel, view in reads.pairs:
        kernel.node_count += 1
        sources = node.src
        if node.op is Op.GATHER:
            reads_of[node.operand].add(kernel, gathered_view(node, view, varying))
            sources = node.indices
        for source in sources:
            if source.shape or source.op is not Op.CONST:
                reads_of[source].add(kernel, view)


def _open_scan(node: UOp, reads: Reads, reads_of: ReadsOf) -> None:
    """A scan reads its source by its own loops; what it starts from, before the loop in order."""
    ((kernel, view),) = reads.pairs
    reads_of[node.operand].add(kernel, view)
    if node.initial is not None:
        scope = view.scope & ~view.loops[node.axis]
        reads_of[node.initial].add(kernel, view.along(node.axis, NO_LOOP, scope))


def _open_arrangement(node: UOp, reads: Reads, reads_of: ReadsOf) -> None:
    """Elements and their groups are read by the kernel's own loops; where the groups start, by one
    more, before that in order."""
    ((kernel, view),) = reads.pairs
    x, starts, group = node.src
    loop = kernel.open_loop(greatest(starts.shape[-1]))
    kernel.node_count += 1
    reads_of[x].add(kernel, view)
    reads_of[group].add(kernel, view)
    around = view.used & ~view.loops[-1]
    last = len(view.loops) - 1
    reads_of[starts].add(kernel, view.along(last, loop, scope=around | loop))


def _open_reduction(node: UOp, kernel: KernelDraft, view: View) -> View:
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
