"""Movements that are composed of the basic ones, by PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ogive.errors import AxisError, IndexRangeError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.ops import Op
from ogive.ir.shape import Dim, Shape, as_length
from ogive.live.registry import graph_lock, make
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
    """Return a view in another shape. With a dtype instead of a shape, it is `bitcast`.

    Shapes: any → `shape`, with the same number of elements.

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
    """Return `view(other.shape)`.

    >>> Tensor([1, 2]).view_as(Tensor([[3], [4]])).shape
    (2, 1)
    """
    return self.view(other.shape)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Return `expand(other.shape)`.

    >>> Tensor([1, 2]).expand_as(Tensor([[3, 4], [5, 6]])).shape
    (2, 2)
    """
    return self.expand(other.shape)


def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    """Return `expand(*shape)`: axes of length 1 are repeated, and axes added in front.

    >>> Tensor([1, 2]).broadcast_to((3, 2)).shape
    (3, 2)
    """
    return self.expand(*shape)


def ravel(self: Tensor) -> Tensor:
    """Join all axes into one. The result is a view of a contiguous tensor, and else a copy.

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
    """Move the axes `source` to the positions `destination`. The other axes keep their order.

    Shapes: (a, b, c) → (b, c, a) for `movedim(0, -1)`.

    >>> ogive.zeros(2, 3, 4).movedim(0, -1).shape
    (3, 4, 2)

    Raises `ShapeError` unless `source` and `destination` are of one length.
    """
    origins, targets = to_entries(source), to_entries(destination)
    if len(origins) != len(targets):
        raise ShapeError(
            f"movedim: {len(origins)} axes {origins} cannot move to {len(targets)} positions "
            f"{targets}"
        )
    rank = self.ndim or 1
    to_axes(origins, rank, "movedim"), to_axes(targets, rank, "movedim")
    moved = {
        to_axis(to, rank, "movedim"): to_axis(axis, rank, "movedim")
        for axis, to in zip(origins, targets, strict=True)
    }
    if not self.ndim:
        return self.permute([])
    unmoved = iter([axis for axis in range(rank) if axis not in moved.values()])
    return self.permute([moved[to] if to in moved else next(unmoved) for to in range(rank)])


def t(self: Tensor) -> Tensor:
    """Return the transpose of a matrix, or a vector or scalar as it is. Shapes: (a, b) → (b, a).

    >>> Tensor([[1, 2, 3]]).t().shape
    (3, 1)

    Raises `ShapeError` for more than 2 axes.
    """
    if self.ndim > 2:
        raise ShapeError(f"t: shape {build.show(self.shape)} has more than 2 axes; use mT")
    return self.T


def mT(self: Tensor) -> Tensor:
    """The transposes of matrices: the last two axes exchanged. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.zeros(2, 3, 4).mT.shape
    (2, 4, 3)

    Raises `AxisError` for fewer than 2 axes.
    """
    if self.ndim < 2:
        raise AxisError(f"mT: shape {build.show(self.shape)} has no two axes to exchange")
    return self.transpose(-2, -1)


def mH(self: Tensor) -> Tensor:
    """The conjugate transposes of matrices. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.zeros(2, 3, 4).mH.shape
    (2, 4, 3)
    """
    return self.mT.conj()


def H(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix. Shapes: (a, b) → (b, a).

    >>> ogive.zeros(2, 3).H.shape
    (3, 2)
    """
    return self.t().conj()


def adjoint(self: Tensor) -> Tensor:
    """Return the conjugate transposes of matrices, as `mH`. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.zeros(2, 3, 4).adjoint().shape
    (2, 4, 3)
    """
    return self.mH


def narrow(self: Tensor, dim: int, start: Dim | Tensor, length: Dim) -> Tensor:
    """Return `length` elements along `dim`, from `start` on.

    Shapes: (a, b) → (length, b) for `dim` 0. `start` may be a tensor of one integer, which is read
    when the result is computed.

    >>> Tensor([1, 2, 3, 4]).narrow(0, 1, 2).tolist()
    [2, 3]

    Raises `IndexRangeError` if the axis ends before.
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
    """Return the slice at `index` along `dim`, without that axis.

    Shapes: (a, b) → (b,) for `dim` 0.

    >>> Tensor([[1, 2], [3, 4]]).select(1, -1).tolist()
    [2, 4]
    """
    axis = to_axis(dim, self.ndim, "select")
    with graph_lock:
        return views.show(self, to_view(self.shape, (*[slice(None)] * axis, index)))


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return all windows of `size` elements along `dimension` that begin at multiples of `step`.

    Shapes: (a,) → (⌊(a - size) / step⌋ + 1, size). The new axis is the last.

    >>> Tensor([1, 2, 3, 4]).unfold(0, 2, 1).tolist()
    [[1, 2], [2, 3], [3, 4]]

    Raises `ShapeError` if the axis is shorter than `size`.
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
    """Return a copy with the slice at `index` along `dim` replaced by `src`. Shapes: unchanged.

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
    """Return a copy with the slice `start:end:step` along `dim` replaced by `src`.

    Shapes: unchanged.

    >>> Tensor([1, 2, 3, 4]).slice_scatter(Tensor([8, 9]), start=1, end=3).tolist()
    [1, 8, 9, 4]

    Raises `ShapeError` unless `src` has the shape of the slice.
    """
    axis = to_axis(dim, self.ndim, "slice_scatter")
    view = to_view(self.shape, (*[slice(None)] * axis, slice(start, end, step)))
    return put_back(self, view, src, "slice_scatter")


def put_back(x: Tensor, view: View, part: Tensor, name: str) -> Tensor:
    """Return `x` with the elements that `view` shows replaced by `part`."""
    if part.shape != view.shape:
        raise ShapeError(
            f"{name}: src has the shape {build.show(part.shape)}, and the part it replaces has "
            f"{build.show(view.shape)}"
        )
    device = same_device([x, part], name)
    with graph_lock:
        new = assignment.fit(part, x.dtype, view.shape)
        mask = view.backward(build.filled(dtypes.bool_, True, view.shape), False)
        nodes = (mask, view.backward(new, 0), x.node)
        return wrap(make(Op.WHERE, x.dtype, nodes), device)


def _windows_of(x: Core, axis: int, size: int, step: int) -> Tensor:
    """Return the windows along an axis, with their elements along a new axis behind it.

    Overlapping windows are computed. Others are a view of the axis in blocks of `step`: each window
    is the beginning of a block. Such a view can be written to.
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
    """Return `narrow` for a `start` that is a tensor. It is not checked: positions wrap around."""
    size = x.shape[axis]
    if not at_most(length, size):
        raise IndexRangeError(
            f"narrow: axis {axis} of length {size} has fewer than {length} elements"
        )
    with graph_lock:
        positions = wrap(build.count(length), x.device) + start.reshape(()) % size
    return advanced_indexing.read(x, (*[slice(None)] * axis, positions))


def _window(shape: Shape, axis: int, bounds: tuple[Dim, Dim]) -> list[tuple[Dim, Dim]]:
    """Return a window: `bounds` for `axis`, and the whole of all other axes."""
    return [bounds if other == axis else (0, size) for other, size in enumerate(shape)]
