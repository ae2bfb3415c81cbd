"""Panels: an operand of a product, kept in the order in which the product reads it.

    before   (..., n, k) read at n*K + k
    after    the same value, kept as (..., n/width, k, width)
"""

from __future__ import annotations

from ogive.ir.memory import PANELS
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape
from ogive.named import NamedTuple
from ogive.targets.estimates import multiply_cost
from ogive.targets.target import Target


class FilterPanel(NamedTuple):
    """How many vectors of features a panel is wide, and the cycles that it takes to multiply one
    element by all features."""

    vectors: int
    cycles: float


def best_filter_panel(
    features: int, lanes: int, places: Shape, spare: int, target: Target
) -> FilterPanel:
    """The panels that take the least time with the tiles of pixels that go with them, and of which
    little is left empty of the last one."""
    filled = -(-features // lanes)

    def estimate(vectors: int) -> float:
        panels = -(-filled // vectors)
        return panels * vectors * multiply_cost(places, vectors, target, spare)

    widths = range(1, min(filled, target.costs.tiles.narrow) + 1)
    return min([FilterPanel(each, estimate(each)) for each in widths], key=lambda each: each.cycles)


def make_panels(
    value: UOp,
    axis: int,
    depth: tuple[int, ...],
    width: int,
    kind: tuple[str, ...] = PANELS,
) -> UOp:
    """`value`, kept with `axis` cut into panels of `width` that lie innermost, then `depth`."""
    shape: Shape = value.shape
    dtype = value.dtype
    length = shape[axis]
    count = -(-length // width)
    if count * width != length:
        pads = tuple([(0, count * width - length if i == axis else 0) for i in range(len(shape))])
        value = UOp(Op.PAD, dtype, (value,), (pads, dtype.canonical(0)))
    cut = (*shape[:axis], count, width, *shape[axis + 1 :])
    value = UOp(Op.RESHAPE, dtype, (value,), cut)
    rank = len(cut)
    last = (axis, *[other + (other > axis) for other in depth], axis + 1)
    order = (*[i for i in range(rank) if i not in last], *last)
    value = UOp(Op.CONTIGUOUS, dtype, (UOp(Op.PERMUTE, dtype, (value,), order),), kind)
    back = tuple([order.index(i) for i in range(rank)])
    value = UOp(Op.PERMUTE, dtype, (value,), back)
    value = UOp(Op.RESHAPE, dtype, (value,), (*shape[:axis], count * width, *shape[axis + 1 :]))
    if count * width != length:
        ranges = tuple([(0, size) for size in shape])
        value = UOp(Op.SHRINK, dtype, (value,), ranges)
    return value
