"""Movements rearrange elements without copies: readers of the result compute where to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length, element_count, least
from ogive.compiler.ir.symbolic.variable import bindings
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentTypeError, AxisError, IndexRangeError, ShapeError
from ogive.tensor import build, lengths
from ogive.tensor.core import to_axes, to_axis, to_dim, to_dims, wrap
from ogive.tensor.memory import views
from ogive.tensor.memory.movement_chains import View

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements, in row-major order, under another shape. One length may be -1.

    Shapes: any → `shape`, of as many elements.

    >>> Tensor([1, 2, 3, 4, 5, 6]).reshape(2, -1).shape
    (2, 3)

    Raises `ShapeError` when the number of elements differs.
    """
    wanted = to_dims(shape, "reshape: a length")
    with graph_lock:
        return views.reshaped(self, fit_shape(self.node.shape, wanted))


def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join the axes from `start_dim` to `end_dim`, both included, into one.

    Shapes: (a, b, c) → (a·b·c,).

    >>> Tensor([[1, 2], [3, 4]]).flatten().shape
    (4,)
    """
    with graph_lock:
        shape = self.node.shape or (1,)
        first = to_axis(start_dim, len(shape), "flatten")
        last = to_axis(end_dim, len(shape), "flatten")
        if first > last:
            raise AxisError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
        if first == last and self.node.shape:
            return self
        joined = element_count(shape[first : last + 1])
        shape = (*shape[:first], joined, *shape[last + 1 :])
        return views.reshaped(self, shape)


def unflatten(self: Tensor, dim: int, sizes: Sequence[Any]) -> Tensor:
    """Split one axis into several; one of `sizes` may be -1.

    Shapes: (a·b,) → (a, b).

    >>> Tensor([1, 2, 3, 4, 5, 6]).unflatten(0, (2, -1)).shape
    (2, 3)
    """
    wanted = to_dims((tuple(sizes),), "unflatten: a length")
    with graph_lock:
        shape = self.node.shape
        axis = to_axis(dim, len(shape), "unflatten")
        split = fit_shape(shape[axis : axis + 1], wanted)
        shape = (*shape[:axis], *split, *shape[axis + 1 :])
        return views.reshaped(self, shape)


@also(axis="dim")
def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Drop axes of length 1: all of them, or those named that have it.

    Shapes: (1, a, 1) → (a,).

    >>> Tensor([[[1, 2]]]).squeeze(0).shape
    (1, 2)
    """
    with graph_lock:
        shape = self.node.shape
        rank = len(shape)
        if dim is None:
            axes = tuple(range(rank))
        else:
            axes = to_axes(dim, rank or 1, "squeeze")
        kept = tuple([size for axis, size in enumerate(shape) if axis not in axes or size != 1])
        return views.reshaped(self, kept)


@also(axis="dim")
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """Insert an axis of length 1, which will be axis `dim` of the result.

    Shapes: (a, b) → (a, 1, b) for `dim` 1 or -2.

    >>> Tensor([1, 2, 3]).unsqueeze(-1).shape
    (3, 1)
    """
    with graph_lock:
        shape = self.node.shape
        axis = to_axis(dim, len(shape) + 1, "unsqueeze")
        return views.reshaped(self, (*shape[:axis], 1, *shape[axis:]))


def permute(self: Tensor, *dims: Any) -> Tensor:
    """Reorder the axes: axis i of the result is axis `dims[i]` of this tensor.

    Shapes: (a, b, c) → (c, a, b) for `permute(2, 0, 1)`.

    >>> Tensor([[1, 2, 3], [4, 5, 6]]).permute(1, 0).shape
    (3, 2)

    Raises `AxisError` unless every axis is named once.
    """
    with graph_lock:
        rank = len(self.node.shape)
        given = to_dims(dims, "permute: an axis")
        order = tuple([to_axis(dim, rank, "permute") for dim in given])
        if sorted(order) != list(range(rank)):
            raise AxisError(
                f"permute: {build.show(order)} does not name each of the {rank} axes of shape "
                f"{build.show(self.node.shape)} once"
            )
        return views.permuted(self, order)


def transpose(self: Tensor, dim0: int = -2, dim1: int = -1) -> Tensor:
    """Exchange two axes, by default the last two.

    Shapes: (a, b, c) → (a, c, b).

    >>> Tensor([[1, 2, 3], [4, 5, 6]]).transpose().shape
    (3, 2)
    """
    with graph_lock:
        order = list(range(len(self.node.shape)))
        first = to_axis(dim0, len(order) or 1, "transpose")
        second = to_axis(dim1, len(order) or 1, "transpose")
        if first != second:
            order[first], order[second] = order[second], order[first]
        return views.permuted(self, tuple(order))


def T(self: Tensor) -> Tensor:
    """The axes in reverse order.

    Shapes: (a, b, c) → (c, b, a).

    >>> Tensor([[1, 2, 3], [4, 5, 6]]).T.shape
    (3, 2)
    """
    with graph_lock:
        order = tuple(range(len(self.node.shape) - 1, -1, -1))
        return views.permuted(self, order)


def expand(self: Tensor, *shape: Any) -> Tensor:
    """Repeat axes of length 1, and add axes in front; -1 keeps an axis as it is.

    Shapes: (1, b) → (a, b).

    >>> Tensor([[1, 2, 3]]).expand(4, -1).shape
    (4, 3)

    Raises `ShapeError` when an axis of another length than 1 would have to change.
    """
    wanted = list(to_dims(shape, "expand: a length"))
    with graph_lock:
        own = self.node.shape
        missing = len(wanted) - len(own)
        if missing < 0:
            raise ShapeError(f"expand: {build.show(wanted)} has fewer axes than {build.show(own)}")
        for axis, size in enumerate(wanted):
            present = own[axis - missing] if axis >= missing else 1
            if size == -1 and axis >= missing:
                wanted[axis] = present
            elif size != present and (present != 1 or least(size) < 0):
                raise ShapeError(
                    f"expand: shape {build.show(own)} does not expand to {build.show(wanted)}: "
                    f"axis {axis} would go from {present} to {size}"
                    f"{lengths.difference((size,), (present,))}"
                )
        shown = tuple(wanted)
        return views.show(self, View(own).add(Op.EXPAND, shown, shown))


def shrink(self: Tensor, bounds: Sequence[Sequence[Dim]]) -> Tensor:
    """Keep a window: one pair (begin, end) per axis.

    Shapes: (a, b) → (end₀ - begin₀, end₁ - begin₁).

    >>> Tensor([1, 2, 3, 4]).shrink(((1, 3),)).shape
    (2,)

    Raises `IndexRangeError` for a window that is not inside the tensor.
    """
    shape = self.node.shape
    pairs = to_pairs(bounds, shape, "shrink")
    for axis, ((begin, end), size) in enumerate(zip(pairs, shape, strict=True)):
        if lengths.is_symbolic(begin, end, size):
            order = ((0, begin), (begin, end), (end, size))
            inside = all(lengths.at_most(low, high) for low, high in order)
            when = ", for every value of its variables,"
        else:
            inside, when = 0 <= begin <= end <= size, ""
        if not inside:
            raise IndexRangeError(
                f"shrink: the window {(begin, end)} is not{when} inside axis {axis} of length "
                f"{size}"
            )
    with graph_lock:
        kept = tuple([as_length(end - begin) for begin, end in pairs])
        return views.show(self, View(shape).add(Op.SHRINK, pairs, kept))


def flip(self: Tensor, *axes: Any, dims: Any = ()) -> Tensor:
    """Reverse the order of the elements along the axes named, one by one or as `dims`.

    Shapes: unchanged.

    >>> Tensor([[1, 2], [3, 4]]).flip(0).shape
    (2, 2)
    """
    with graph_lock:
        named = to_dims(axes or (dims,), "flip: an axis")
        places = to_axes(named, self.ndim or 1, "flip")
        return wrap(build.flip(self.node, places) if self.ndim else self.node, self.device)


def to_pairs(given: Sequence[Any], shape: Shape, name: str) -> build.Pairs:
    """One pair per axis of `shape`."""
    if not isinstance(given, tuple | list) or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in given
    ):
        raise ArgumentTypeError(f"{name} takes one pair per axis, got {given!r}")
    if len(given) != len(shape):
        raise ShapeError(
            f"{name}: {len(given)} pairs were given for the {len(shape)} axes of shape "
            f"{build.show(shape)}"
        )
    label = f"{name}: a bound"
    return tuple([(to_dim(before, label), to_dim(after, label)) for before, after in given])


def fit_shape(own: Shape, wanted: tuple[Dim, ...]) -> Shape:
    """`wanted` with its -1 resolved, checked to have as many elements as `own`."""
    if wanted.count(-1) > 1:
        raise ShapeError(f"reshape: only one length of {build.show(wanted)} can be -1")
    for axis, size in enumerate(wanted):
        if isinstance(size, int) and size < -1:
            raise ShapeError(f"reshape: axis {axis} of {build.show(wanted)} has a negative length")
        if lengths.is_symbolic(size) and least(size) < 0:
            raise ShapeError(
                f"reshape: axis {axis} of {build.show(wanted)} may have a negative length"
                f"{lengths.span(size)}"
            )
    known = [size for size in wanted if size != -1]
    if len(known) == len(wanted):
        if element_count(wanted) != element_count(own):
            _refuse(own, wanted)
        return wanted
    if element_count(known) == 0:
        raise ShapeError(
            f"reshape: the length -1 in {build.show(wanted)} could be anything, since the others "
            "already give 0 elements"
        )
    missing = lengths.quotient(own, known)
    if missing is None:
        _refuse(own, wanted)
    return tuple([missing if size == -1 else size for size in wanted])


def _refuse(own: Shape, wanted: tuple[Dim, ...]) -> None:
    bindings((*own, *wanted))  # raises its own error if one name stands for two variables
    raise ShapeError(
        f"reshape: shape {build.show(own)} of {element_count(own)} elements does not fit "
        f"{build.show(wanted)}"
    )
