"""Orders by comparing and exchanging, many lines side by side (`SORT`).

What is sorted are words, each with a key in front and the position of its element behind: so no two
are equal, and elements whose keys are stay as they were. Behind the position is a bit to tell apart
what the key does not.

    keys     5 1 5        words    5|0 1|1 5|2        sorted    1|1 5|0 5|2        order    1 0 2

A word is twice as wide as its key. There is none for a key of 64 bits: the order by its second half
is found first, and lines that have it by its first half then.
"""

from __future__ import annotations

import math

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.node_building import (
    apply,
    apply_number,
    cast,
    compare_number,
    count_along,
    take_along,
)
from ogive.ir.ops import Op
from ogive.ir.shape import Shape, greatest
from ogive.named import NamedTuple
from ogive.targets.graph_costs import Sorting


class Words(NamedTuple):
    """Lines of words in order, and the integers that were their keys."""

    node: UOp
    keys: DType

    def positions(self) -> UOp:
        """Where each element was in its line, as int64."""
        places = apply_number(Op.AND, self.node, (1 << self.node.dtype.bits // 2) - 1)
        return cast(apply_number(Op.SHR, places, 1), dtypes.int64)

    def in_front(self) -> UOp:
        """The keys."""
        front = apply_number(Op.SHR, self.node, self.node.dtype.bits // 2)
        signed = cast(front, _signed_dtype(self.keys))
        return _unsigned(signed) if self.keys.kind == "uint" else signed

    def marks(self) -> UOp:
        """Which ones were marked."""
        return compare_number(Op.CMPNE, apply_number(Op.AND, self.node, 1), 0)


def exchanging_time(shape: Shape, bits: int, costs: Sorting) -> float:
    """About how long it takes to order lines (..., n) of keys of `bits` bits, in nanoseconds."""
    *lines, length = map(greatest, shape)
    if length > costs.longest_network:
        return math.inf
    layers = (length - 1).bit_length()
    exchanges = length * layers * (layers + 1) / 4
    turns = -(-math.prod(lines) // costs.side_by_side)
    return turns * (2 if bits == 64 else 1) * exchanges * costs.exchange


def order_by_exchanges(keys: UOp) -> UOp:
    """The positions at which integers along the last axis are found in ascending order, as int64.

    Shapes: (..., n) → (..., n), for n from 2 on. Equal ones keep their order.
    """
    return _order_by_halves(keys) if keys.dtype.bits == 64 else sorted_words(keys).positions()


def sorted_words(keys: UOp, marks: UOp | None = None) -> Words:
    """Keys of up to 32 bits in order, with their positions, and with a bit for each that is marked.

    Shapes: (..., n), for n from 2 on.
    """
    word = dtypes.int32 if keys.dtype.bits <= 16 else dtypes.int64
    behind = _counted(keys, word)
    if marks is not None:
        behind = apply(Op.OR, behind, cast(marks, word))
    return Words(_sorted_with(cast(_signed(keys), word), behind), keys.dtype)


def in_order(node: UOp) -> UOp:
    """Integers in ascending order along the last axis."""
    return UOp(Op.SORT, node.dtype, (node,))


def _order_by_halves(keys: UOp) -> UOp:
    signed, places = _signed(keys), _counted(keys, dtypes.int64)
    # The second half is an unsigned number: its first bit is turned into a sign that counts down.
    second = apply_number(Op.XOR, signed, 1 << 31)
    by_second = Words(_sorted_with(second, places), keys.dtype).positions()
    first = apply_number(Op.SHR, take_along(signed, by_second), 32)
    ranks = Words(_sorted_with(first, places), keys.dtype).positions()
    return take_along(by_second, ranks)


def _signed_dtype(dtype: DType) -> DType:
    """The signed integers of the same size."""
    return dtypes.BY_NAME[f"int{dtype.bits}"]


def _signed(keys: UOp) -> UOp:
    """Integers as signed ones in the same order."""
    if keys.dtype.kind != "uint":
        return keys
    signed = UOp(Op.BITCAST, _signed_dtype(keys.dtype), (keys,))
    return apply_number(Op.XOR, signed, -1 << (keys.dtype.bits - 1))


def _unsigned(keys: UOp) -> UOp:
    """The other way round."""
    flipped = apply_number(Op.XOR, keys, -1 << (keys.dtype.bits - 1))
    return UOp(Op.BITCAST, dtypes.BY_NAME[f"uint{keys.dtype.bits}"], (flipped,))


def _counted(keys: UOp, word: DType) -> UOp:
    """The position of each key, in front of the bit for its mark."""
    return apply_number(Op.SHL, cast(count_along(len(keys.shape) - 1, keys.shape), word), 1)


def _sorted_with(front: UOp, behind: UOp) -> UOp:
    """Words in order: of each the second half of one number in front, and of another behind."""
    moved = apply_number(Op.SHL, front, front.dtype.bits // 2)
    return in_order(apply(Op.OR, moved, behind))
