"""Histograms over several axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, DtypeError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor.core import Core, memory_device, to_tensor
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.movement.joining import where
from ogive.tensor.sorting.binary_search import searchsorted

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Histograms(NamedTuple):
    """Counts by bin, and the edges of the bins along each axis."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histograms:
    """The number of points in each bin, or the sum of their weights, and the edges of the bins.

    Shapes: (..., n) points of n coordinates → `hist` with n axes, `bin_edges` one line each. `bins`
    is a number for all axes, or for each a number or a tensor of ascending edges; `range` are the
    least and the greatest edge, two numbers an axis. As `histogram` else.

    >>> points = Tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.9]])
    >>> ogive.histogramdd(points, 2).hist.tolist()
    [[1.0, 0.0], [0.0, 2.0]]

    Raises `DtypeError` for other than floats, `ShapeError` and `ArgumentError` when `bins`, `range`
    and `weight` do not fit.
    """
    if not input.dtype.is_float:
        raise DtypeError(f"histogramdd takes floats, not {input.dtype.name}; cast it first")
    if input.ndim < 2:
        raise ShapeError(f"histogramdd: the shape is {input.shape}; expected (..., n)")
    points = input.reshape(-1, input.shape[-1])
    count = points.shape[1]
    axis_bins = list(bins) if isinstance(bins, tuple | list) else [bins] * count
    if len(axis_bins) != count or (range is not None and len(range) != 2 * count):
        raise ArgumentError(f"histogramdd: {count} axes take as many bins, and twice the bounds")
    edges = []
    for axis, part in enumerate(axis_bins):
        bounds = None if range is None else (range[2 * axis], range[2 * axis + 1])
        line = points[:, axis]
        edges.append(
            to_tensor(part)
            if isinstance(part, Core)
            else line.histogram(part, range=bounds).bin_edges
        )
    total = _counts(points, edges, weight)
    if density:
        total = total / total.sum()
        for axis, line in enumerate(edges):
            total = total / line.diff().reshape(-1, *[1] * (count - 1 - axis))
    return Histograms(total, tuple(edges))


def _counts(points: Tensor, edges: list[Tensor], weight: Tensor | None) -> Tensor:
    sizes = [line.shape[0] - 1 for line in edges]
    position: Any = 0
    inside: Any = True
    for axis, line in enumerate(edges):
        value, last = points[:, axis].contiguous(), sizes[axis]
        inside = (value >= line[0]) & (value <= line[last]) & inside
        place = (searchsorted(line, value, right=True) - 1).clamp(0, last - 1)
        position = position * last + place
    factor: Any = 1.0 if weight is None else weight.reshape(-1)
    shares = where(inside, factor, 0.0).cast(points.dtype)
    blank = zeros(math.prod(sizes), dtype=points.dtype, device=memory_device(points))
    return blank.scatter_add(0, position, shares).reshape(*sizes)
