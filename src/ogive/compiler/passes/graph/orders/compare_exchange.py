"""Sorting by compare-exchange, many lines side by side (`SORT`).

A word holds a key in its high half and the position of the element in its low half. So no two words
are equal, and elements with equal keys keep their order. The lowest bit of a word marks elements
that the key does not distinguish, such as -0.0 from 0.0.

    keys     5 1 5        words    5|0 1|1 5|2        sorted    1|1 5|0 5|2        order    1 0 2

A word is twice as wide as its key, so there is none for a key of 64 bits. Such keys are sorted by
their low half first, and then, stably, by their high half.
"""

from __future__ import annotations

import math

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import (
    apply,
    apply_number,
    cast,
    compare_number,
    count_along,
    take_along,
)
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, greatest
from ogive.compiler.targets.graph_costs import Sorting
from ogive.named import NamedTuple


class Words(NamedTuple):
    """Lines of sorted words, and the dtype of their keys."""

    node: UOp
    keys: DType

    def positions(self) -> UOp:
        """The position that each element had in its line, as int64."""
        places = apply_number(Op.AND, self.node, (1 << self.node.dtype.bits // 2) - 1)
        return cast(apply_number(Op.SHR, places, 1), dtypes.int64)

    def in_front(self) -> UOp:
        """The keys."""
        front = apply_number(Op.SHR, self.node, self.node.dtype.bits // 2)
        signed = cast(front, _signed_dtype(self.keys))
        return _unsigned(signed) if self.keys.kind == "uint" else signed

    def marks(self) -> UOp:
        """Whether each element was marked."""
        return compare_number(Op.CMPNE, apply_number(Op.AND, self.node, 1), 0)


def exchanging_time(shape: Shape, bits: int, costs: Sorting) -> float:
    """The estimated nanoseconds to order lines (..., n) of keys of `bits` bits."""
    *lines, length = map(greatest, shape)
    if length > costs.longest_network:
        return math.inf
    layers = (length - 1).bit_length()
    exchanges = length * layers * (layers + 1) / 4
    turns = -(-math.prod(lines) // costs.side_by_side)
    return turns * (2 if bits == 64 else 1) * exchanges * costs.exchange


def order_by_exchanges(keys: UOp) -> UOp:
    """The positions of integers along the last axis in ascending order, as int64, stably.

    Shapes: (..., n) → (..., n), n ≥ 2.
    """
    return _order_by_halves(keys) if keys.dtype.bits == 64 else sorted_words(keys).positions()


def sorted_words(keys: UOp, marks: UOp | None = None) -> Words:
    """Keys of up to 32 bits, sorted together with their positions and `marks`.

    Shapes: (..., n), n ≥ 2.
    """
    word = dtypes.int32 if keys.dtype.bits <= 16 else dtypes.int64
    behind = _counted(keys, word)
    if marks is not None:
        behind = apply(Op.OR, behind, cast(marks, word))
    return Words(_sorted_with(cast(_signed(keys), word), behind), keys.dtype)


def in_order(node: UOp) -> UOp:
    """Integers sorted in ascending order along the last axis."""
    return UOp(Op.SORT, node.dtype, (node,))


def _order_by_halves(keys: UOp) -> UOp:
    signed, places = _signed(keys), _counted(keys, dtypes.int64)
    # The low half is unsigned. Flipping its highest bit gives signed numbers in the same order.
    second = apply_number(Op.XOR, signed, 1 << 31)
    by_second = Words(_sorted_with(second, places), keys.dtype).positions()
    first = apply_number(Op.SHR, take_along(signed, by_second), 32)
    ranks = Words(_sorted_with(first, places), keys.dtype).positions()
    return take_along(by_second, ranks)


def _signed_dtype(dtype: DType) -> DType:
    """The signed integer dtype of the same size."""
    return dtypes.BY_NAME[f"int{dtype.bits}"]


def _signed(keys: UOp) -> UOp:
    """Integers as signed ones in the same order."""
    if keys.dtype.kind != "uint":
        return keys
    signed = UOp(Op.BITCAST, _signed_dtype(keys.dtype), (keys,))
    return apply_number(Op.XOR, signed, -1 << (keys.dtype.bits - 1))


def _unsigned(keys: UOp) -> UOp:
    """The reverse of `_signed`."""
    flipped = apply_number(Op.XOR, keys, -1 << (keys.dtype.bits - 1))
    return UOp(Op.BITCAST, dtypes.BY_NAME[f"uint{keys.dtype.bits}"], (flipped,))


def _counted(keys: UOp, word: DType) -> UOp:
    """The position of each key, shifted left by the bit for its mark."""
    return apply_number(Op.SHL, cast(count_along(len(keys.shape) - 1, keys.shape), word), 1)


def _sorted_with(front: UOp, behind: UOp) -> UOp:
    """Sorted words made of the low half of `front` as their high half, and of `behind`."""
    moved = apply_number(Op.SHL, front, front.dtype.bits // 2)
    return in_order(apply(Op.OR, moved, behind))
