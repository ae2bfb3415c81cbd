"""The reads of each element of a row program.

An element may read a part of a buffer that no other element reads, or a single element at its own
place:

    ASSIGN(s, REDUCE_AXES(ADD, EXP(x[4, 100] - EXPAND(m[4, 1]))))    of x a part, of m one element

If a row program reads the results of another one only at its own place, each element needs one
result of the other. Then both can be one kernel (`merge_regions.py`), which reads the part that
both share while it is in a cache.
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.passes.fuse.reads.axis_relations import View, identity_view, source_view
from ogive.compiler.passes.fuse.reads.bit_sets import collect, join, reaches, single
from ogive.named import record


@record(frozen=True)
class ElementReads:
    """The slots of a row program by how its elements read them.

    Of a slot in `parts`, each element reads elements that no other one reads. Of a slot in
    `single`, it reads only the one at its own place. `shape` is that of the elements, without axes
    of length 1.
    """

    shape: Shape
    parts: frozenset[int]
    single: frozenset[int]


def element_reads(graph: UOp) -> ElementReads | None:
    """The reads of each element of a region; None if the region is not a row program.

    A row program has one result and consists of reductions, elementwise operations and movements.
    Without reductions, it reads all memory in the order of its elements.
    """
    (store, *others) = graph.src
    if others or store.indices or store.target.op not in (Op.RESHAPE, Op.PARAM):
        return None
    target, value = store.target, store.value
    rank = len(target.shape)
    views: dict[UOp, set[View]] = {value: {identity_view(target.shape)}}
    loops = rank
    for node in reversed(value.walk()):
        node_views = views.get(node, set())
        if node.op is Op.PARAM or node.dtype is dtypes.index:
            continue
        for view in node_views:
            if node.op in ELEMENTWISE:
                below = dict.fromkeys(node.src, view)
            elif node.op in MOVEMENT:
                below = {node.operand: source_view(node, view)}
            elif node.op is Op.REDUCE_AXES:
                below = {node.operand: _opened(view, node.axes, loops)}
                loops += len(node.axes)
            elif node.src:
                return None
            else:
                continue
            for source, seen in below.items():
                views.setdefault(source, set()).add(seen)
    if loops == rank:
        return _reads_in_place(target.shape, views)
    return _sorted_reads(target.shape, views)


def _opened(view: View, axes: tuple[int, ...], first: int) -> View:
    """The view of a reduction's source: along the reduced axes by loops of its own."""
    loops = list(view.loops)
    for number, axis in enumerate(axes, start=first):
        loops[axis] = single(number)
    bare = view.bare | collect(axes)
    return View(tuple(loops), bare, view.scope, view.places)


def _sorted_reads(shape: Shape, views: dict[UOp, set[View]]) -> ElementReads:
    """The element reads of a region, from the views of all its nodes."""
    output_axes = [single(axis) for axis, size in enumerate(shape) if size != 1]
    outputs = join(output_axes)
    parts, alone = set(), set()
    for node, node_views in views.items():
        if node.op is not Op.RESHAPE or node.operand.op is not Op.PARAM:
            continue
        slot = node.operand.slot
        if all(outputs & ~view.used == 0 and reaches(view.used, len(shape)) for view in node_views):
            parts.add(slot)
        if all([bits for bits in view.loops if bits] == output_axes for view in node_views):
            alone.add(slot)
    return ElementReads(without_ones(shape), frozenset(parts), frozenset(alone))


def _reads_in_place(shape: Shape, views: dict[UOp, set[View]]) -> ElementReads | None:
    """The slots of a region without reductions, if it goes through all memory in its own order."""
    own = [single(axis) for axis, size in enumerate(shape) if size != 1]
    parts, alone = set(), set()
    for node, node_views in views.items():
        if node.op is not Op.RESHAPE or node.operand.op is not Op.PARAM:
            continue
        slot = node.operand.slot
        read = [[bits for bits in view.loops if bits] for view in node_views]
        if not all(_is_in_order(bits, own) for bits in read):
            return None
        if all(bits == own for bits in read):
            parts.add(slot)
            if not any(any(view.places) or view.by_data for view in node_views):
                alone.add(slot)
    return ElementReads(without_ones(shape), frozenset(parts), frozenset(alone))


def _is_in_order(some: list[int], own: list[int]) -> bool:
    """Whether some loops come in the order in which a region has them."""
    rest = iter(own)
    return all(bits in rest for bits in some)


def without_ones(shape: Shape) -> Shape:
    """A shape without the axes of length 1."""
    return tuple([size for size in shape if size != 1])
