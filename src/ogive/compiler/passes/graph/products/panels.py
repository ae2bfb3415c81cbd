"""Panels: an operand of a product, stored in the order in which the product reads it.

    before   (..., n, k) read at n*K + k
    after    the same value, kept as (..., n/width, k, width)
"""

from __future__ import annotations

from ogive.compiler.ir.memory import PANELS, upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import pad_axis, permute, reshape, shrink_axis
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, as_length
from ogive.compiler.targets.estimates import multiply_cost
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


class FilterPanel(NamedTuple):
    """The width of a panel in vectors of features, and the cycles to multiply an element by all
    features."""

    vectors: int
    cycles: float


def best_filter_panel(
    features: int, lanes: int, places: Shape, spare: int, target: Target
) -> FilterPanel:
    """The width of panels that takes the least time with the best tiles of pixels for it.

    The estimate counts the empty part of the last panel.
    """
    filled, lengths = -(-features // lanes), upper_shape(places)

    def estimate(vectors: int) -> float:
        panels = -(-filled // vectors)
        return panels * vectors * multiply_cost(lengths, vectors, target, spare)

    widths = range(1, min(filled, target.costs.tiles.narrow) + 1)
    return min([FilterPanel(each, estimate(each)) for each in widths], key=lambda each: each.cycles)


def make_panels(
    value: UOp,
    axis: int,
    depth: tuple[int, ...],
    width: int,
    kind: tuple[str, ...] = PANELS,
) -> UOp:
    """`value`, stored with its axes in this order: others, panels of `axis`, `depth`, `width`."""
    shape: Shape = value.shape
    length = shape[axis]
    count = as_length((length + width - 1) // width)
    whole = as_length(count * width)
    cut = (*shape[:axis], count, width, *shape[axis + 1 :])
    value = reshape(pad_axis(value, axis, (0, as_length(whole - length)), 0), cut)
    rank = len(cut)
    last = (axis, *[each + (each > axis) for each in depth], axis + 1)
    order = (*[i for i in range(rank) if i not in last], *last)
    value = UOp(Op.CONTIGUOUS, value.dtype, (permute(value, order),), kind)
    value = permute(value, [order.index(i) for i in range(rank)])
    value = reshape(value, (*shape[:axis], whole, *shape[axis + 1 :]))
    return shrink_axis(value, axis, length)
