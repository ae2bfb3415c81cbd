"""The reads of a row program, element by element: which buffers each element goes through a part of
its own of, and which it reads one element of, at its own place.

    ASSIGN(s, REDUCE_AXES(ADD, EXP(x[4, 100] - EXPAND(m[4, 1]))))    of x a part, of m one element

Of two row programs of which one reads the results of the other in this way, each element needs
nothing of the first one but its own result: they can be one kernel (`merge_regions.py`), which
goes through the part that both share while it is in a cache.
"""

from __future__ import annotations

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.shape import Shape
from ogive.named import record
from ogive.passes.fuse.reads.axis_relations import View, identity_view, source_view
from ogive.passes.fuse.reads.bit_sets import collect, join, reaches, single


@record(frozen=True)
class ElementReads:
    """By slots: of `parts`, each element goes through some that no other one reads; of `single`,
    each reads the one at its own place. `shape` is that of the elements, without ones."""

    shape: Shape
    parts: frozenset[int]
    single: frozenset[int]


def element_reads(graph: UOp) -> ElementReads | None:
    """The reads of each element of a region; None if the region is no row program.

    That is one with reductions, whose other values follow from elementwise work and movement.
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
        return None
    return _sorted_reads(target.shape, views)


def _opened(view: View, axes: tuple[int, ...], first: int) -> View:
    """How the source of a reduction is read: along its axes, by loops of its own."""
    loops = list(view.loops)
    for number, axis in enumerate(axes, start=first):
        loops[axis] = single(number)
    bare = view.bare | collect(axes)
    return View(tuple(loops), bare, view.scope, view.places)


def _sorted_reads(shape: Shape, views: dict[UOp, set[View]]) -> ElementReads:
    """The slots of a region, of whose memory all reads are known."""
    own = [single(axis) for axis, size in enumerate(shape) if size != 1]
    outputs = join(own)
    parts, alone = set(), set()
    for node, node_views in views.items():
        if node.op is not Op.RESHAPE or node.operand.op is not Op.PARAM:
            continue
        slot = node.operand.slot
        if all(outputs & ~view.used == 0 and reaches(view.used, len(shape)) for view in node_views):
            parts.add(slot)
        if all([bits for bits in view.loops if bits] == own for view in node_views):
            alone.add(slot)
    return ElementReads(without_ones(shape), frozenset(parts), frozenset(alone))


def without_ones(shape: Shape) -> Shape:
    """A shape without the axes of one element."""
    return tuple([size for size in shape if size != 1])
