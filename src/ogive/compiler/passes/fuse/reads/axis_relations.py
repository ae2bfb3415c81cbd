"""How the axes of a value relate to the loops of the kernel that reads it.

A `View` is one way in which a kernel reads a value. For each axis it has the loops that the index
depends on, whether the index is the bare loop counter, and the place, which is all else that the
index says. Loops are numbered from the outside in: first the kernel's output axes, then the axes of
the reductions inside it. Sets of loops and of axes are bits (`bit_sets.py`).

    y[i] = x[i] + x[i + 1] + x[i + 2]      reads x by loop 0 at the places 0, 1 and 2

Equal views read the same element at the same time; views that differ read different ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.shape import Dim, as_length, greatest
from ogive.compiler.passes.fuse.reads.bit_sets import (
    Axes,
    Loops,
    all_below,
    collect,
    greatest_member,
    has,
    join,
    single,
)
from ogive.named import NamedTuple


class View(NamedTuple):
    """How one reader sees a value.

    `loops[axis]` are the loops that the index of an axis depends on, `bare` the axes whose index is
    a loop counter as it is, `scope` all loops that are open at the reader. `places[axis]` tells
    indices of the same loops apart: it is the distance from the counter, or how an index combines
    several. With `by_data`, positions are values of an index, and an element may be read often.
    """

    loops: tuple[Loops, ...]
    bare: Axes
    scope: Loops
    places: tuple[Hashable, ...]
    by_data: bool = False

    @property
    def used(self) -> Loops:
        """The loops that the read position depends on."""
        return join(self.loops)

    def along(self, axis: int, loop: Loops, scope: Loops) -> View:
        """The read that `loop`, or with no loop one iteration, takes through all of `axis`."""
        loops = (*self.loops[:axis], loop, *self.loops[axis + 1 :])
        places = (*self.places[:axis], 0, *self.places[axis + 1 :])
        return View(loops, self.bare, scope, places)


def long_axes(node: UOp) -> Axes:
    """The axes along which there is more than one element."""
    return collect([axis for axis, size in enumerate(node.shape) if size != 1])


def long_sizes(node: UOp) -> list[Dim]:
    """The sizes of those axes, in order."""
    return [size for size in node.shape if size != 1]


def identity_view(extents: Sequence[Dim]) -> View:
    """A value read by its own kernel's output loops; along an axis of one element there is none."""
    everything = all_below(len(extents))
    loops = [0 if extent == 1 else single(axis) for axis, extent in enumerate(extents)]
    return View(tuple(loops), everything, everything, (0,) * len(loops))


@lru_cache(maxsize=4096)
def reshape_groups(
    before: tuple[Dim, ...], after: tuple[Dim, ...]
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """The finest pairing of axis groups that a row-major reshape keeps together.

    >>> reshape_groups((2, 3, 4), (6, 4))
    (((0, 1), (0,)), ((2,), (1,)))

    Axes of length 1 belong to no group.
    """
    left = [axis for axis, size in enumerate(before) if size != 1]
    right = [axis for axis, size in enumerate(after) if size != 1]
    groups = []
    i = j = 0
    while i < len(left) and j < len(right):
        first, second = i, j
        size_left, size_right = before[left[i]], after[right[j]]
        i, j = i + 1, j + 1
        while size_left != size_right:
            # Which side goes on only decides how fine the groups are, so bounds will do.
            shorter = greatest(size_left) < greatest(size_right)
            if (shorter or j == len(right)) and i < len(left):
                size_left = as_length(size_left * before[left[i]])
                i += 1
            elif j < len(right):
                size_right = as_length(size_right * after[right[j]])
                j += 1
            else:
                return ((tuple(left), tuple(right)),)
        groups.append((tuple(left[first:i]), tuple(right[second:j])))
    if i < len(left) or j < len(right):
        return ((tuple(left), tuple(right)),)
    return tuple(groups)


def source_view(node: UOp, view: View) -> View:
    """How the source of a movement node is read when the node itself is read by `view`."""
    op, source = node.op, node.operand
    if op is Op.PERMUTE:
        return permuted_view(view, node.arg)
    if op is Op.EXPAND:
        spread = [
            same is not size and same != size
            for same, size in zip(source.shape, node.shape, strict=True)
        ]
        loops = [0 if one else bits for bits, one in zip(view.loops, spread, strict=True)]
        places = [0 if one else place for place, one in zip(view.places, spread, strict=True)]
        return View(tuple(loops), view.bare, view.scope, tuple(places), view.by_data)
    if op is Op.RESHAPE:
        return _reshape_view(source.shape, node.shape, view)
    # PAD, SHRINK and FLIP move positions along an axis: the index is no longer bare.
    if op is Op.FLIP:
        moved = collect(node.arg)
    else:
        lengths = enumerate(zip(source.shape, node.shape, strict=True))
        moved = collect([axis for axis, (a, b) in lengths if a is not b and a != b])
    places = [_moved_place(node, axis, place) for axis, place in enumerate(view.places)]
    return View(view.loops, view.bare & ~moved, view.scope, tuple(places), view.by_data)


def _moved_place(node: UOp, axis: int, place: Hashable) -> Hashable:
    """The place along an axis below a `PAD`, `SHRINK` or `FLIP` that is read at a place."""
    if node.op is Op.FLIP:
        return ("flip", node.shape[axis], place) if axis in node.arg else place
    if len(node.src) > 1:
        return (node, place)  # by a symbolic distance
    step = node.arg[axis][0] if node.op is Op.SHRINK else -node.arg[0][axis][0]
    if not step:
        return place
    return place + step if isinstance(place, int) else (step, place)


def permuted_view(view: View, order: Sequence[int]) -> View:
    """How a value is read whose axes, in that order, are read by `view`."""
    loops = [0] * len(order)
    places: list[Hashable] = [0] * len(order)
    bare = 0
    for position, axis in enumerate(order):
        loops[axis] = view.loops[position]
        places[axis] = view.places[position]
        if has(view.bare, position):
            bare |= single(axis)
    return View(tuple(loops), bare, view.scope, tuple(places), view.by_data)


def _reshape_view(before: Sequence[Dim], after: Sequence[Dim], view: View) -> View:
    loops = [0] * len(before)
    places: list[Hashable] = [0] * len(before)
    bare = collect([axis for axis, size in enumerate(before) if size == 1])
    for left, right in reshape_groups(tuple(before), tuple(after)):
        combined = join([view.loops[axis] for axis in right])
        if len(left) == 1 and len(right) == 1:
            if has(view.bare, right[0]):
                bare |= single(left[0])
            places[left[0]] = view.places[right[0]]
        else:
            parts = tuple([(view.loops[axis], view.places[axis], after[axis]) for axis in right])
            for axis in left:
                places[axis] = (before[axis], parts)
        for axis in left:
            loops[axis] = combined
    return View(tuple(loops), bare, view.scope, tuple(places), view.by_data)


def gathered_view(node: UOp, view: View, varying: Mapping[UOp, Axes]) -> View:
    """How the source of a `GATHER` is read when the node itself is read by `view`.

    Along an axis whose index merely counts, the loop passes through. Along any other the read
    depends on the loops that the index varies with; `varying` has the axes along which it does.
    """
    loops = []
    places: list[Hashable] = []
    bare = 0
    by_data = view.by_data
    for axis, index in enumerate(node.indices):
        counted = _counted_view(index, view)
        if counted is not None:
            loops.append(counted.loops[0])
            places.append(counted.places[0])
            if has(counted.bare, 0):
                bare |= single(axis)
            continue
        by_data |= varying[index] != 0
        own = enumerate(view.loops)
        loops.append(join([each for position, each in own if has(varying[index], position)]))
        places.append((index, view.loops, view.places))
    return View(tuple(loops), bare, view.scope, tuple(places), by_data)


def counted_axes(indices: Sequence[UOp], shape: Sequence[Dim]) -> set[int]:
    """The axes of the indices' common shape along which one of them merely counts.

    Two positions that differ along such an axis select different elements.
    """
    counted = set()
    for index in indices:
        view = _counted_view(index, identity_view(shape)) if index.shape else None
        if view is not None and view.bare and view.loops[0]:
            counted.add(greatest_member(view.loops[0]))
    return counted


def _counted_view(index: UOp, view: View) -> View | None:
    """How the `IOTA` under an index is read, if movement is all there is above it."""
    while index.op in MOVEMENT and index.op is not Op.PAD:
        view = source_view(index, view)
        index = index.operand
    return view if index.op is Op.IOTA else None


def varying_axes(node: UOp, source_axes: Axes) -> Axes:
    """The axes along which a movement node varies whose source varies along `source_axes`."""
    op, source = node.op, node.operand
    if not source_axes:
        return 0
    if op is Op.PERMUTE:
        return collect([i for i, axis in enumerate(node.arg) if has(source_axes, axis)])
    if op is Op.EXPAND:
        long = [axis for axis, size in enumerate(source.shape) if size != 1]
        return source_axes & collect(long)
    if op is Op.RESHAPE:
        groups = reshape_groups(source.shape, node.shape)
        return join([collect(right) for left, right in groups if source_axes & collect(left)])
    return source_axes
