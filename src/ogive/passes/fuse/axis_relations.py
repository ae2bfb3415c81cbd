"""How the axes of a value relate to the loops of the kernel that reads it.

A `View` is one way a value is read inside a kernel: for each of its axes, the set of loops its
index depends on (as bits), whether the index is the bare loop counter, and what the index is else:
its place. Loops are numbered from the outside in: first the kernel's output axes, then the axes of
the reductions inside it.

    y[i] = x[i] + x[i + 1] + x[i + 2]      reads x by loop 0 at the places 0, 1 and 2

Views that are equal read the same element at the same time, and others another one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

from ogive.ir.node import UOp
from ogive.ir.ops import MOVEMENT, Op
from ogive.ir.shape import Dim, as_length, greatest
from ogive.named import NamedTuple


class View(NamedTuple):
    """How one reader sees a value: `loops[axis]` are bits of loops, `bare` bits of axes.

    `scope` has the bits of all loops that are open at the reader. `by_data` tells that positions
    are values of an index, so that the same element may be read again and again. `places[axis]` is
    what tells apart indices of the same loops: the distance from the counter, or how an index is
    made of several.
    """

    loops: tuple[int, ...]
    bare: int
    scope: int
    places: tuple[Hashable, ...]
    by_data: bool = False

    @property
    def used(self) -> int:
        """The loops that the read position depends on."""
        used = 0
        for bits in self.loops:
            used |= bits
        return used


def identity_view(extents: Sequence[Dim]) -> View:
    """A value read by its own kernel's output loops; along an axis of one element there is none."""
    everything = (1 << len(extents)) - 1
    loops = [0 if extent == 1 else 1 << axis for axis, extent in enumerate(extents)]
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
    moved = 0
    for axis, (size, other) in enumerate(zip(source.shape, node.shape, strict=True)):
        if (axis in node.arg) if op is Op.FLIP else (size is not other and size != other):
            moved |= 1 << axis
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
        bare |= ((view.bare >> position) & 1) << axis
    return View(tuple(loops), bare, view.scope, tuple(places), view.by_data)


def _reshape_view(before: Sequence[Dim], after: Sequence[Dim], view: View) -> View:
    loops = [0] * len(before)
    places: list[Hashable] = [0] * len(before)
    bare = 0
    for axis, size in enumerate(before):
        if size == 1:
            bare |= 1 << axis
    for left, right in reshape_groups(tuple(before), tuple(after)):
        bits = 0
        for axis in right:
            bits |= view.loops[axis]
        if len(left) == 1 and len(right) == 1:
            bare |= ((view.bare >> right[0]) & 1) << left[0]
            places[left[0]] = view.places[right[0]]
        else:
            parts = tuple([(view.loops[axis], view.places[axis], after[axis]) for axis in right])
            for axis in left:
                places[axis] = (before[axis], parts)
        for axis in left:
            loops[axis] = bits
    return View(tuple(loops), bare, view.scope, tuple(places), view.by_data)


def gathered_view(node: UOp, view: View, varying: Mapping[UOp, int]) -> View:
    """How the source of a `GATHER` is read when the node itself is read by `view`.

    Along an axis whose index merely counts, the loop passes through. Along any other it depends on
    the loops that the index varies with; `varying` has the axes along which it does (bits).
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
            bare |= (counted.bare & 1) << axis
            continue
        by_data |= varying[index] != 0
        bits = 0
        for position, own in enumerate(view.loops):
            if (varying[index] >> position) & 1:
                bits |= own
        loops.append(bits)
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
            counted.add(view.loops[0].bit_length() - 1)
    return counted


def _counted_view(index: UOp, view: View) -> View | None:
    """How the `IOTA` under an index is read, if movement is all there is above it."""
    while index.op in MOVEMENT and index.op is not Op.PAD:
        view = source_view(index, view)
        index = index.operand
    return view if index.op is Op.IOTA else None


def varying_axes(node: UOp, source_axes: int) -> int:
    """The axes of a movement node along which it varies, if its source varies along those bits."""
    op, source = node.op, node.operand
    if not source_axes:
        return 0
    if op is Op.PERMUTE:
        return sum(((source_axes >> axis) & 1) << i for i, axis in enumerate(node.arg))
    if op is Op.EXPAND:
        return sum(
            1 << axis
            for axis, size in enumerate(source.shape)
            if (source_axes >> axis) & 1 and size != 1
        )
    if op is Op.RESHAPE:
        result = 0
        for left, right in reshape_groups(source.shape, node.shape):
            if any((source_axes >> axis) & 1 for axis in left):
                result |= sum(1 << axis for axis in right)
        return result
    return source_axes
