"""Panels: an operand of a product, kept in the order in which the product reads it.

    before   (..., n, k) read at n*K + k
    after    the same value, kept as (..., n/width, k, width)
"""

from __future__ import annotations

from ogive.ir.memory import PANELS
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape


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
