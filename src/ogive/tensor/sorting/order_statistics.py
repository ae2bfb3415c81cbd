"""Order statistics: sorted elements, the greatest, the middle ones, the most frequent.

NaN counts as the greatest, and the two zeros as equal; equal elements keep their order. The target
decides how lines are sorted (`passes/graph/orders/lower_orders.py`). Gradients flow to the places
from which elements came.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compat.methods.keywords import also, numpy_names
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, as_length, greatest
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, DtypeError, IndexRangeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import (
    Core,
    memory_device,
    to_axis,
    to_integer,
    to_number,
    to_tensor,
    wrap,
)
from ogive.tensor.elementwise.binary_operations import refuse
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.lengths import is_symbolic
from ogive.tensor.movement.joining import where
from ogive.tensor.reduction.basic_reductions import Extremes

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@also(axis="dim")
def argsort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The positions of the elements along `dim` in ascending order, as int64.

    Shapes: unchanged. Equal elements keep their order, even in descending order, so `stable` has no
    effect. NaN counts as the greatest.

    >>> Tensor([3, 1, 2, 1]).argsort().tolist()
    [1, 3, 2, 0]

    Raises `AxisError` for a missing axis.
    """
    if not self.ndim:
        to_axis(dim, 1, "argsort")
        return self.cast(dtypes.int64) * 0
    axis = to_axis(dim, self.ndim, "argsort")
    return _order_along(self, axis, descending)


@also(axis="dim")
def sort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Extremes:
    """The elements along `dim` in ascending order, and their positions.

    Shapes: `values` and `indices` (int64) have that of the tensor. See `argsort`.

    >>> Tensor([3.0, 1.0, 2.0]).sort(descending=True).values.tolist()
    [3.0, 2.0, 1.0]
    >>> Tensor([3.0, 1.0, 2.0]).sort(descending=True).indices.tolist()
    [0, 2, 1]
    """
    indices = self.argsort(dim, descending, stable)
    if not self.ndim:
        return Extremes(self.gather(dim, indices), indices)
    axis = to_axis(dim, self.ndim, "sort")
    line = self.detach().movedim(axis, -1)
    if is_symbolic(line.shape[-1]) or line.shape[-1] < 2:
        return Extremes(self.gather(axis, indices), indices)
    with graph_lock:
        ordered = make(Op.ORDERED, line.dtype, (line.node,), descending)
        values = wrap(ordered, self.device).movedim(-1, axis)

    def back(x: Tensor, upstream: Tensor) -> Tensor:
        return upstream.scatter(axis, indices, upstream)  # every place gets another element

    return Extremes(with_gradient(values, self, back), indices)


def msort(self: Tensor) -> Tensor:
    """The elements in ascending order along axis 0.

    >>> Tensor([[3, 1], [2, 5]]).msort().tolist()
    [[2, 1], [3, 5]]
    """
    return self.sort(0).values


def topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Extremes:
    """The `k` greatest elements along `dim`, or the least, in order, and their positions.

    Shapes: (a, b) → (a, k). They come in order even if `sorted` does not ask for it.

    >>> Tensor([5, 9, 1, 7]).topk(2).values.tolist()
    [9, 7]

    Raises `IndexRangeError` if there are not `k` elements.
    """
    axis, count = to_axis(dim, max(self.ndim, 1), "topk"), to_integer(k, "topk: k")
    length = self.shape[axis] if self.ndim else 1
    if not 0 <= count <= greatest(length):
        raise IndexRangeError(f"topk: k={count} of the {length} elements along axis {axis}")
    if not self.ndim:
        return Extremes(self.clone(), self.argsort())
    indices = _order_along(self, axis, largest, count)
    return Extremes(self.gather(axis, indices), indices)


def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Extremes:
    """The `k`-th least element along `dim`, counted from 1, and its position.

    Shapes: (a, b) → (a,).

    >>> Tensor([5, 9, 1, 7]).kthvalue(2).values.item()
    5

    Raises `IndexRangeError` if there is no such element.
    """
    number = to_integer(k, "kthvalue: k")
    length = self.shape[to_axis(dim, self.ndim, "kthvalue")] if self.ndim else 1
    if not 1 <= number <= greatest(length):
        raise IndexRangeError(f"kthvalue: k={number} of {length} elements; it counts from 1")
    return _at_rank(self, dim, keepdim, lambda ordered, axis: number - 1)


@numpy_names
def median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element, or the lower of two; NaN if there is any.

    Shapes: () for None; with `dim` (a, b) → `values` and `indices` (a,).

    >>> Tensor([4.0, 1.0, 3.0, 2.0]).median().item()
    2.0

    Raises `IndexRangeError` when there are no elements.
    """
    return _median(self, dim, keepdim, "median")


@numpy_names
def nanmedian(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """`median` of the elements that are not NaN; NaN if there are none.

    >>> Tensor([4.0, float("nan"), 3.0, 2.0]).nanmedian().item()
    3.0
    """
    return _median(self, dim, keepdim, "nanmedian")


@numpy_names
def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> Extremes:
    """The most frequent element along `dim`, or the least of several, and its position.

    Shapes: (a, b) → (a,).

    >>> Tensor([2, 1, 3, 1, 3]).mode().values.item()
    1
    """
    return _at_rank(self, dim, keepdim, _most_frequent)


@widened
def quantile(
    self: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The value below which a share `q` of the elements along `dim`, or of all, is.

    Shapes: (a, b) → (a,) for a number, (n, a) for a list or a tensor of n. Between two elements the
    value is found by `interpolation`: linear, lower, higher, nearest or midpoint. NaN if there is
    one.

    >>> Tensor([1.0, 2.0, 3.0, 4.0]).quantile(0.5).item()
    2.5

    Raises `DtypeError` except for float32 and float64, `ArgumentError` for a share outside of
    0 to 1, an unknown interpolation, or no elements.
    """
    return _quantile(self, q, dim, keepdim, interpolation, "quantile")


@widened
def nanquantile(
    self: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """`quantile` of the elements that are not NaN.

    >>> Tensor([1.0, float("nan"), 3.0]).nanquantile(0.5).item()
    2.0
    """
    return _quantile(self, q, dim, keepdim, interpolation, "nanquantile")


# Orders


def _order_along(x: Tensor, axis: int, descending: bool, count: int | None = None) -> Tensor:
    """The positions of the first `count` elements in order along an axis, or of all."""
    _refuse_complex(x)
    line = x.detach().movedim(axis, -1)
    length = line.shape[-1]
    if is_symbolic(length):
        line = _filled_up(line, descending)
    with graph_lock:
        node = line.node
        most = node.shape[-1]
        length_kept = most if count is None else count
        if most < 2:
            order = build.count_along(len(node.shape) - 1, (*node.shape[:-1], length_kept))
        else:
            order = make(Op.ORDER, dtypes.int64, (node,), (descending, length_kept))
        positions = wrap(order, x.device)
    if is_symbolic(length) and count is None:
        positions = positions.narrow(-1, 0, length)
    return positions.movedim(-1, axis)


def _filled_up(line: Tensor, descending: bool) -> Tensor:
    """Elements padded to the greatest length of the last axis, with some that sort last."""
    length = line.shape[-1]
    if line.dtype.is_storage_only:
        line = line.cast(dtypes.float32)
    if line.dtype.is_float:
        last = -math.inf if descending else math.nan
    else:
        last = line.dtype.limits[0 if descending else 1]
    pads = (*[(0, 0)] * (line.ndim - 1), (0, as_length(greatest(length) - length)))
    with graph_lock:
        return wrap(build.pad(line.node, pads, last), line.device)


def _refuse_complex(x: Core) -> None:
    if x.dtype.is_complex:
        raise refuse(x.dtype, "sort", "")


# Elements at a rank


def _at_rank(x: Tensor, dim: int, keepdim: bool, rank: Any) -> Extremes:
    """The element at a rank along an axis; `rank` is a number, or one for each line."""
    if not x.ndim:
        to_axis(dim, 1, "an order")
        return Extremes(x.clone(), x.argsort())
    axis = to_axis(dim, x.ndim, "an order")
    order = x.argsort(axis)
    place = rank(x.gather(axis, order), axis)
    if isinstance(place, int):
        indices = order.narrow(axis, place, 1)
    else:
        indices = order.gather(axis, place)
    values = x.gather(axis, indices)
    if keepdim:
        return Extremes(values, indices)
    return Extremes(values.squeeze(axis), indices.squeeze(axis))


def _median(x: Tensor, dim: int | None, keepdim: bool, name: str) -> Any:
    if dim is None:
        if x.numel() == 0:
            raise IndexRangeError(f"{name}: there are no elements, of shape {build.show(x.shape)}")
        value = _median(x.ravel(), 0, False, name).values
        return with_gradient(value, x, _shared(value)) if x.dtype.is_float else value
    if x.ndim and x.shape[to_axis(dim, x.ndim, name)] == 0:
        raise IndexRangeError(f"{name}: axis {dim} of {build.show(x.shape)} has no elements")

    def middle(ordered: Tensor, axis: int) -> Tensor | int:
        length = to_integer(ordered.shape[axis], f"{name}: the length of the axis")
        if not ordered.dtype.is_float:
            return (length - 1) // 2
        missing = ordered.isnan()
        if name == "nanmedian":
            present = missing.logical_not().sum(axis, keepdim=True)
            return ((present - 1) // 2).maximum(0)
        return where(missing.any(axis, keepdim=True), length - 1, (length - 1) // 2)

    return _at_rank(x, dim, keepdim, middle)


def _shared(value: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """The gradient function of one of all elements: those equal to it share the gradient evenly."""

    def back(x: Tensor, upstream: Tensor) -> Tensor:
        equal = (x.eq(value.detach()) | (x.isnan() & value.isnan())).cast(x.dtype)
        return equal * (upstream / equal.sum())

    return back


def _most_frequent(ordered: Tensor, axis: int) -> Tensor:
    """The last position of the longest run of equal elements."""
    with graph_lock:
        place = wrap(build.count_along(axis, ordered.node.shape), ordered.device)
    starts = where(ordered != ordered.roll(1, axis), place, 0)
    length = place - starts.cummax(axis).values
    return length.argmax(axis, keepdim=True)


_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


def _quantile(
    x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, name: str
) -> Tensor:
    if interpolation not in _INTERPOLATIONS:
        raise ArgumentError(
            f"{name}: interpolation is one of {', '.join(_INTERPOLATIONS)}, got {interpolation!r}"
        )
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise DtypeError(f"{name} takes float32 and float64, not {x.dtype.name}")
    share = _to_share(x, q, name)
    source = x.ravel() if dim is None else x if x.ndim else x.reshape(1)
    axis = 0 if dim is None else to_axis(dim, source.ndim, name)
    if source.shape[axis] == 0:
        raise ArgumentError(f"{name}: there are no elements in the shape {build.show(x.shape)}")
    ordered = source.movedim(axis, -1).sort().values
    quantiles = _interpolate(ordered, _ranks(ordered, share.ravel(), name), interpolation)
    if keepdim and x.ndim:
        ones = [1] * x.ndim
        quantiles = quantiles.reshape(*ones, -1) if dim is None else quantiles.unsqueeze(axis)
    quantiles = quantiles.movedim(-1, 0)
    return quantiles if share.ndim else quantiles.squeeze(0)


def _to_share(x: Core, q: Any, name: str) -> Tensor:
    if isinstance(q, Core):
        if q.ndim > 1 or q.dtype is not x.dtype:
            raise ArgumentError(
                f"{name}: q is a number or a tensor of one axis of {x.dtype.name}, not one of "
                f"{q.dtype.name} and shape {build.show(q.shape)}"
            )
        with graph_lock:
            return wrap(q.node, q.device)
    is_line = numpy.ndim(q) == 1
    numbers = [float(to_number(each, f"{name}: q")) for each in (q if is_line else [q])]
    if not all(0 <= each <= 1 for each in numbers):
        raise ArgumentError(f"{name}: q is a share from 0 to 1, or several, got {q}")
    if is_line:
        return to_tensor(numpy.array(numbers, x.dtype.numpy), memory_device(x))
    with graph_lock:
        return wrap(build.constant(x.dtype, numbers[0]), x.device)


def _ranks(ordered: Tensor, share: Tensor, name: str) -> Tensor:
    """The fractional positions of the shares along the last axis: (..., n) → (..., shares)."""
    length: Dim = ordered.shape[-1]
    missing = ordered.isnan()
    if name == "nanquantile":
        last = (missing.logical_not().sum(-1, keepdim=True) - 1).maximum(0)
        return share * last.cast(ordered.dtype)
    last_place = to_integer(length, f"{name}: the length of the axis") - 1
    return where(missing.any(-1, keepdim=True), float(last_place), share * last_place)


def _interpolate(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    def at(places: Tensor) -> Tensor:
        return ordered.gather(-1, places.detach().cast(dtypes.int64))

    if interpolation == "nearest":
        return at(ranks.round())
    if interpolation == "lower":
        return at(ranks.floor())
    if interpolation == "higher":
        return at(ranks.ceil())
    below = ranks.floor()
    weight = 0.5 if interpolation == "midpoint" else ranks - below
    return at(below).lerp(at(ranks.ceil()), weight)
