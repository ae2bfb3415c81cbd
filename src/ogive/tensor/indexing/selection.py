"""Elements selected by masks, counted, or made unique.

Most of these compute at once, since the number of elements is in the shape of the result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    needing_memory,
)
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, to_integer, to_tensor, wrap
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.movement.joining import where
from ogive.tensor.sorting.binary_search import searchsorted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor


MANY = 1 << 14
"""The number of elements from which sorting in a kernel is faster than NumPy, with its graph."""


class Histogram(NamedTuple):
    """The number of elements in each bin, and the edges of the bins."""

    hist: Tensor
    bin_edges: Tensor


def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of all elements that are not zero, in order, as int64. Computes at once.

    Shapes: (a, b) → (n, 2) for n of them; with `as_tuple` a tuple of (n,), one per axis.

    >>> Tensor([[0, 1], [2, 0]]).nonzero().tolist()
    [[0, 1], [1, 0]]
    """
    array = (self != 0).numpy()
    shape = (1,) if as_tuple and not array.ndim else array.shape
    with needing_memory("nonzero"):
        lines = numpy.unravel_index(array.reshape(-1).nonzero()[0], shape) if shape else ()
        if as_tuple:
            return tuple([to_tensor(line.astype(numpy.int64), self.device) for line in lines])
        coordinates = numpy.empty((int(numpy.count_nonzero(array)), len(shape)), numpy.int64)
        for axis, line in enumerate(lines):
            coordinates[:, axis] = line
        return to_tensor(coordinates, self.device)


def argwhere(self: Tensor) -> Tensor:
    """`nonzero` as one tensor.

    >>> Tensor([0, 5]).argwhere().tolist()
    [[1]]
    """
    coordinates: Tensor = self.nonzero()
    return coordinates


def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask` holds, as a flat tensor. The mask is computed at once.

    Shapes: both broadcast → (n,).

    >>> Tensor([[1, 2], [3, 4]]).masked_select(Tensor([True, False])).tolist()
    [1, 3]

    Raises `DtypeError` unless `mask` is bool.
    """
    _check_mask(mask, "masked_select")
    shape = build.broadcast_shapes(self.shape, mask.shape, "masked_select")
    return advanced_indexing.read(self.expand(shape).ravel(), (mask.expand(shape).ravel(),))


def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source` in order, where `mask` holds; this tensor elsewhere.

    Shapes: `mask` and the tensor broadcast, and `source` has an element for each place.

    >>> x = Tensor([1, 2, 3])
    >>> x.masked_scatter(Tensor([True, False, True]), Tensor([8, 9])).tolist()
    [8, 2, 9]

    Raises `DtypeError` unless `mask` is bool and `source` of this dtype; `IndexRangeError` when
    computed, if `source` has too few elements.
    """
    _check_mask(mask, "masked_scatter")
    if source.dtype is not self.dtype:
        raise DtypeError(
            f"masked_scatter: the source is of {source.dtype.name} and the tensor of "
            f"{self.dtype.name}; they must be the same"
        )
    shape = build.broadcast_shapes(self.shape, mask.shape, "masked_scatter")
    wide = mask.expand(shape)
    number = (wide.ravel().cumsum(0) - 1).reshape(shape)
    return where(wide, source.take(where(wide, number, 0)), self)


def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """The count of each number from 0 on, or the sum of the weights of its occurrences.

    Shapes: (n,) of integers → (greatest + 1,), or longer for `minlength`. Computes the greatest
    at once.

    >>> Tensor([1, 3, 1]).bincount().tolist()
    [0, 2, 0, 1]

    Raises `ShapeError` for other than one axis, `DtypeError` for other than integers;
    `IndexRangeError` for negative ones, when computed.
    """
    if self.ndim != 1 or (weights is not None and weights.shape != self.shape):
        raise ShapeError(
            f"bincount takes one axis, and weights of the same shape, got {build.show(self.shape)}"
        )
    if not self.dtype.is_integer:
        raise DtypeError(f"bincount counts integers, not {self.dtype.name}")
    least = to_integer(minlength, "bincount: minlength")
    length = max(least, int(self.max().item()) + 1 if self.numel() else 0)
    values = _ones(self) if weights is None else weights
    if not values.dtype.is_float:
        values = values.cast(dtypes.int64 if weights is None else dtypes.float64)
    elif values.dtype is not dtypes.float32:
        values = values.cast(dtypes.float64)
    return _sum_at(self.cast(dtypes.int64), values, length)


def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """The number of elements in each of `bins` equal parts of [min, max]; others do not count.

    Shapes: any → (bins,). If `min` and `max` are equal, those of the elements are used.

    >>> Tensor([1.0, 2.0, 1.5, 9.0]).histc(2, 1, 2).tolist()
    [1.0, 2.0]

    Raises `DtypeError` for other than floats, `ArgumentError` for no bins.
    """
    if not self.dtype.is_float:
        raise DtypeError(f"histc takes floats, not {self.dtype.name}; cast it first")
    count = _to_bins(bins, "histc")
    flat = self.ravel()
    low, high = _bounds(flat, (min, max), "histc")
    share = (flat - low) * count / (high - low)
    place = share.floor().clamp(0, count - 1)
    inside = (flat >= low) & (flat <= high)
    position = where(inside, place, 0.0).cast(dtypes.int64)
    return _sum_at(position, inside.cast(self.dtype), count)


def histogram(
    self: Tensor,
    bins: Any,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """The number of elements in each bin, or the sum of their weights, and the edges of bins.

    Shapes: any → `hist` (n,), `bin_edges` (n + 1,). `bins` is a number of equal bins, in
    `range` or from the least to the greatest element, or a tensor of ascending edges. A bin
    includes its first edge, the last one both. With `density` the bins have the area 1
    together.

    >>> Tensor([1.0, 2.0, 1.5]).histogram(2, range=(1.0, 2.0)).hist.tolist()
    [1.0, 2.0]

    Raises `DtypeError` for other than floats, `ArgumentError` for no bins.
    """
    if not self.dtype.is_float:
        raise DtypeError(f"histogram takes floats, not {self.dtype.name}; cast it first")
    flat = self.ravel()
    if isinstance(bins, Core):
        edges: Tensor = to_tensor(bins)
    else:
        count = _to_bins(bins, "histogram")
        low, high = _bounds(flat, range or (0, 0), "histogram")
        with graph_lock:
            number = wrap(build.count(count + 1), self.device).cast(self.dtype)
        # The last edge is exactly the bound, so that the greatest element is inside.
        edges = where(number.eq(count), high, low + (high - low) * (number / count))
    last = to_integer(edges.shape[0], "histogram: the number of edges") - 1
    inside = (flat >= edges[0]) & (flat <= edges[last])
    # Materialized, because the search is vectorized and the sum is sequential.
    place = (searchsorted(edges, flat, right=True) - 1).clamp(0, last - 1).contiguous()
    values = _ones(flat) if weight is None else weight.ravel()
    total = _sum_at(place, where(inside, values, 0).cast(self.dtype), last)
    if density:
        total = total / total.sum() / edges.diff()
    return Histogram(total, edges)


def unique(
    self: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Each element once, in ascending order; with `dim` each part along that axis. Computes at
    once.

    Shapes: any → (n,), or with n in place of the axis. With `return_inverse` also the place of
    each element in the result, with `return_counts` how often each occurs, as int64. No NaN
    equals another. Elements are always sorted, whatever `sorted` says; complex numbers by their
    real parts first.

    >>> Tensor([3, 1, 3]).unique().tolist()
    [1, 3]
    >>> values, inverse = Tensor([3, 1, 3]).unique(return_inverse=True)
    >>> inverse.tolist()
    [1, 0, 1]
    """
    return _unique(self, dim, True, return_inverse, return_counts, "unique")


def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal elements. Computes at once. Shapes: as `unique`.

    >>> Tensor([1, 1, 2, 1]).unique_consecutive().tolist()
    [1, 2, 1]
    """
    return _unique(self, dim, False, return_inverse, return_counts, "unique_consecutive")


def _check_mask(mask: Any, name: str) -> None:
    if not isinstance(mask, Core):
        raise ArgumentTypeError(f"{name}: the mask must be a tensor, got {mask!r}")
    if not mask.dtype.is_bool:
        raise DtypeError(f"{name}: the mask must be bool, not {mask.dtype.name}")


def _ones(x: Core) -> Tensor:
    kind = x.dtype if x.dtype.is_float else dtypes.int64
    with graph_lock:
        return wrap(build.filled(kind, 1, x.node.shape), x.device)


def _sum_at(positions: Core, values: Core, length: int) -> Tensor:
    """The sums of the values at each position below `length`."""
    with graph_lock:
        start = build.filled(values.dtype, 0, (length,))
        return wrap(build.scatter(start, values.node, [positions.node], Op.ADD), values.device)


def _to_bins(bins: Any, name: str) -> int:
    count = to_integer(bins, f"{name}: bins")
    if count < 1:
        raise ArgumentError(f"{name}: bins must be positive, got {count}")
    return count


def _bounds(x: Tensor, given: tuple[float, float], name: str) -> tuple[Tensor, Tensor]:
    """The bounds of a histogram, which are never equal."""
    low, high = given
    if low > high:
        raise ArgumentError(f"{name}: the bounds {low} to {high} are in the wrong order")
    if low != high or not x.numel():
        with graph_lock:
            ends = (low, high) if low != high else (low, high + 1)
            first, last = [wrap(build.constant(x.dtype, end), x.device) for end in ends]
        return first, last
    least, most = x.amin(), x.amax()
    is_point = least == most
    step = 1.0 if name == "histc" else 0.5
    return where(is_point, least - step, least), where(is_point, most + step, most)


def _unique(x: Tensor, dim: int | None, sorts: bool, inverse: bool, counts: bool, name: str) -> Any:
    axis = None if dim is None else to_axis(dim, x.ndim, name)
    source = x.ravel() if axis is None else x.movedim(axis, 0)
    values = _values(source)
    lines = values.numpy(force=True).reshape(values.shape[0], math.prod(values.shape[1:]))
    count, width = lines.shape
    if not sorts or not width:
        order = numpy.arange(count)
    else:
        compiled = width == 1 and count >= MANY
        order = values.ravel().argsort().numpy() if compiled else numpy.lexsort(lines.T[::-1])
    first, group = group_lines(lines, order)
    kept = advanced_indexing.read(source, (first,))
    results = [kept if axis is None else kept.movedim(0, axis)]
    if inverse:
        results.append(to_tensor(group.reshape(x.shape if axis is None else group.shape), x.device))
    if counts:
        number = numpy.bincount(group, minlength=first.size).astype(numpy.int64)
        results.append(to_tensor(number, x.device))
    return tuple(results) if len(results) > 1 else results[0]


def _values(source: Tensor) -> Tensor:
    """Elements that NumPy can compare: a complex number is two, the real part first."""
    if not source.dtype.is_complex:
        return source.cast(dtypes.float32) if source.dtype.is_storage_only else source
    from ogive.tensor.elementwise.complex_numbers import view_as_real

    return view_as_real(source)


def group_lines(
    lines: NDArray[Any], order: NDArray[Any]
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """The position of the first line of each group, in order, and for each line the number of its
    group. A line with a NaN equals no other."""
    count = len(lines)
    ordered = lines[order]
    starts = numpy.ones(count, bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    group = numpy.empty(count, numpy.int64)
    group[order] = numpy.cumsum(starts) - 1
    return order[starts].astype(numpy.int64), group
