"""Movements under the names of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import AxisError, IndexRangeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import (
    Core,
    same_device,
    to_axes,
    to_axis,
    to_dim,
    to_dims,
    to_entries,
    to_integer,
    to_tensor,
    wrap,
)
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.indexing.basic_indexing import to_view
from ogive.tensor.lengths import at_most, is_symbolic
from ogive.tensor.memory import assignment, views
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.movement import sliding_windows
from ogive.tensor.movement.basic_movements import fit_shape

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def view(self: Tensor, *shape: Any) -> Tensor:
    """The same memory under another shape; with a dtype, `bitcast`. Writes to one tensor are seen
    in the other. Shapes: any → `shape`, of as many elements.

    >>> Tensor([1, 2, 3, 4]).view(2, -1).shape
    (2, 2)
    >>> Tensor([1.0]).view(ogive.int32).tolist()
    [1065353216]
    """
    if len(shape) == 1 and isinstance(shape[0], DType):
        return self.bitcast(shape[0])
    wanted = to_dims(shape, "view: a length")
    with graph_lock:
        own = self.node.shape
        shown = fit_shape(own, wanted)
        return views.show(self, View(own).add(Op.RESHAPE, shown, shown))


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` with the shape of `other`.

    >>> Tensor([1, 2]).view_as(Tensor([[3], [4]])).shape
    (2, 1)
    """
    return self.view(other.shape)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of `other`.

    >>> Tensor([1, 2]).expand_as(Tensor([[3, 4], [5, 6]])).shape
    (2, 2)
    """
    return self.expand(other.shape)


def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    """`expand`: axes of length 1 are repeated, and axes added in front.

    >>> Tensor([1, 2]).broadcast_to((3, 2)).shape
    (3, 2)
    """
    return self.expand(*shape)


def ravel(self: Tensor) -> Tensor:
    """All axes joined into one: a view if the tensor is contiguous, else a copy.

    Shapes: (a, b) → (a·b,).

    >>> Tensor([[1, 2], [3, 4]]).ravel().shape
    (4,)
    """
    with graph_lock:
        length = self.numel()
        if views.is_contiguous(self):
            return self.reshape(length)
        return wrap(build.reshape(self.node, (length,)), self.device)


def movedim(self: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Axes `source` moved to the places `destination`; the others stay in order.

    Shapes: (a, b, c) → (b, c, a) for `movedim(0, -1)`.

    >>> ogive.zeros(2, 3, 4).movedim(0, -1).shape
    (3, 4, 2)

    Raises `ShapeError` unless there are as many places as axes.
    """
    origins, places = to_entries(source), to_entries(destination)
    if len(origins) != len(places):
        raise ShapeError(
            f"movedim: {len(origins)} axes {origins} do not go to {len(places)} places {places}"
        )
    rank = self.ndim or 1
    to_axes(origins, rank, "movedim"), to_axes(places, rank, "movedim")
    moved = {
        to_axis(to, rank, "movedim"): to_axis(axis, rank, "movedim")
        for axis, to in zip(origins, places, strict=True)
    }
    if not self.ndim:
        return self.permute([])
    remaining = iter([axis for axis in range(rank) if axis not in moved.values()])
    return self.permute([moved[to] if to in moved else next(remaining) for to in range(rank)])


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix; a vector or scalar stays. Shapes: (a, b) → (b, a).

    >>> Tensor([[1, 2, 3]]).t().shape
    (3, 1)

    Raises `ShapeError` for more than 2 axes.
    """
    if self.ndim > 2:
        raise ShapeError(f"t: shape {build.show(self.shape)} has more than 2 axes; use mT")
    return self.T


def mT(self: Tensor) -> Tensor:
    """Matrices transposed: the last two axes exchanged. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.zeros(2, 3, 4).mT.shape
    (2, 4, 3)

    Raises `AxisError` for fewer than 2 axes.
    """
    if self.ndim < 2:
        raise AxisError(f"mT: shape {build.show(self.shape)} has no two axes to exchange")
    return self.transpose(-2, -1)


def mH(self: Tensor) -> Tensor:
    """Matrices transposed, and conjugated. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.zeros(2, 3, 4).mH.shape
    (2, 4, 3)
    """
    return self.mT.conj()


def H(self: Tensor) -> Tensor:
    """The transpose of a matrix, conjugated. Shapes: (a, b) → (b, a).

    >>> ogive.zeros(2, 3).H.shape
    (3, 2)
    """
    return self.t().conj()


def adjoint(self: Tensor) -> Tensor:
    """`mH`. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.zeros(2, 3, 4).adjoint().shape
    (2, 4, 3)
    """
    return self.mH


def narrow(self: Tensor, dim: int, start: Dim | Tensor, length: Dim) -> Tensor:
    """`length` elements along `dim`, from `start` on. Shapes: (a, b) → (length, b) for 0.

    Where `start` is a tensor of one integer, it is read when the result is computed.

    >>> Tensor([1, 2, 3, 4]).narrow(0, 1, 2).tolist()
    [2, 3]

    Raises `IndexRangeError` when they are not all there.
    """
    axis = to_axis(dim, self.ndim, "narrow")
    size = self.shape[axis]
    number = to_dim(length, "narrow: length")
    if isinstance(start, Core):
        return _narrow_at(self, axis, to_tensor(start), number)
    first = to_dim(start, "narrow: start")
    if not is_symbolic(first) and first < 0:
        first = as_length(first + size)
    end = as_length(first + number)
    if not (at_most(0, first) and at_most(first, end) and at_most(end, size)):
        raise IndexRangeError(
            f"narrow: {length} elements from {start} on are not inside axis {axis} of length {size}"
        )
    return self.shrink(_window(self.shape, axis, (first, end)))


def select(self: Tensor, dim: int, index: Dim) -> Tensor:
    """The slice at `index` along `dim`, without that axis. Shapes: (a, b) → (b,) for 0.

    >>> Tensor([[1, 2], [3, 4]]).select(1, -1).tolist()
    [2, 4]
    """
    axis = to_axis(dim, self.ndim, "select")
    with graph_lock:
        return views.show(self, to_view(self.shape, (*[slice(None)] * axis, index)))


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All slices of `size` along `dimension` that begin at multiples of `step`.

    Shapes: (a,) → (⌊(a - size) / step⌋ + 1, size); the new axis is the last.

    >>> Tensor([1, 2, 3, 4]).unfold(0, 2, 1).tolist()
    [[1, 2], [2, 3], [3, 4]]

    Raises `ShapeError` when the axis is shorter than `size`.
    """
    if not self.ndim:
        return self.reshape(1).unfold(dimension, size, step).squeeze(0)
    taps, stride = to_integer(size, "unfold: size"), to_integer(step, "unfold: step")
    axis = to_axis(dimension, self.ndim, "unfold")
    length = self.shape[axis]
    if is_symbolic(length) or not 0 < taps <= length or stride < 1:
        raise ShapeError(
            f"unfold: size {taps} and step {stride} do not fit axis {axis} of length {length}; "
            "both must be at least 1, and size at most the length"
        )
    with graph_lock:
        return _windows_of(self, axis, taps, stride).movedim(axis + 1, -1)


def select_scatter(self: Tensor, src: Tensor, dim: int, index: Dim) -> Tensor:
    """This tensor with `src` as its slice at `index` along `dim`. Shapes: unchanged.

    >>> Tensor([[1, 2], [3, 4]]).select_scatter(Tensor([9, 9]), 0, 0).tolist()
    [[9, 9], [3, 4]]

    Raises `ShapeError` unless `src` has the shape of the slice.
    """
    axis = to_axis(dim, self.ndim, "select_scatter")
    view = to_view(self.shape, (*[slice(None)] * axis, index))
    return put_back(self, view, src, "select_scatter")


def slice_scatter(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: Dim | None = None,
    end: Dim | None = None,
    step: int = 1,
) -> Tensor:
    """This tensor with `src` as its slice `start:end:step` along `dim`. Shapes: unchanged.

    >>> Tensor([1, 2, 3, 4]).slice_scatter(Tensor([8, 9]), start=1, end=3).tolist()
    [1, 8, 9, 4]

    Raises `ShapeError` unless `src` has the shape of the slice.
    """
    axis = to_axis(dim, self.ndim, "slice_scatter")
    view = to_view(self.shape, (*[slice(None)] * axis, slice(start, end, step)))
    return put_back(self, view, src, "slice_scatter")


def put_back(x: Tensor, view: View, part: Tensor, name: str) -> Tensor:
    """`x` with `part` in place of the elements that `view` shows."""
    if part.shape != view.shape:
        raise ShapeError(
            f"{name}: src has the shape {build.show(part.shape)}, and what it replaces "
            f"{build.show(view.shape)}"
        )
    device = same_device([x, part], name)
    with graph_lock:
        new = assignment.fit(part, x.dtype, view.shape)
        mask = view.backward(build.filled(dtypes.bool_, True, view.shape), False)
        nodes = (mask, view.backward(new, 0), x.node)
        return wrap(make(Op.WHERE, x.dtype, nodes), device)


def _windows_of(x: Core, axis: int, size: int, step: int) -> Tensor:
    """Slices along an axis, with their elements along a new axis after it.

    Slices that do not overlap are blocks of the axis, which can be written to.
    """
    shape = x.shape
    before, length, after = shape[:axis], shape[axis], shape[axis + 1 :]
    count = (length - size) // step + 1
    if step < size:
        slide = partial(sliding_windows.slide, axis=axis, taps=size, stride=step)
        shown = views.computed(
            x, slide, (*before, size, count, *after),
            lambda at: (*at[:axis], at[axis], step * at[axis], *at[axis + 1 :]),
        )  # fmt: skip
        return shown.movedim(axis, axis + 1)
    span = count * step
    inside = min(length, span)
    view = View(shape)
    view.add(Op.SHRINK, tuple(_window(shape, axis, (0, inside))), (*before, inside, *after))
    missing = [(0, span - inside if each == axis else 0) for each in range(len(shape))]
    view.add(Op.PAD, tuple(missing), (*before, span, *after))
    blocks = (*before, count, step, *after)
    view.add(Op.RESHAPE, blocks, blocks)
    taken = (*before, count, size, *after)
    view.add(Op.SHRINK, tuple(_window(blocks, axis + 1, (0, size))), taken)
    return views.show(x, view)


def _narrow_at(x: Core, axis: int, start: Tensor, length: Dim) -> Tensor:
    """`narrow` from a position that a tensor holds."""
    size = x.shape[axis]
    if not at_most(length, size):
        raise IndexRangeError(f"narrow: {length} elements are more than axis {axis} of {size} has")
    with graph_lock:
        positions = wrap(build.count(length), x.device) + start.reshape(()) % size
    return advanced_indexing.read(x, (*[slice(None)] * axis, positions))


def _window(shape: Shape, axis: int, bounds: tuple[Dim, Dim]) -> list[tuple[Dim, Dim]]:
    """Bounds of `shrink` that cut one axis and keep the others whole."""
    return [bounds if other == axis else (0, size) for other, size in enumerate(shape)]
