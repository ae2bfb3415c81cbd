"""Orders of lines found by comparing and exchanging, many lines side by side (`SORT`).

What is sorted are words, each with a key in front and the position of its element behind: so no two
are equal, and elements whose keys are stay as they were. Behind the position is a bit to tell apart
what the key does not.

    keys     5 1 5        words    5|0 1|1 5|2        sorted    1|1 5|0 5|2        order    1 0 2

A word is twice as wide as its key. There is none for a key of 64 bits: the order by its second half
is found first, and lines that have it by its first half then.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape, greatest
from ogive.live.registry import graph_lock, make
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.core import wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

LONGEST = 1 << 14
"""The longest line: as many as vectors have lanes are in a cache together."""

SIDE_BY_SIDE, EXCHANGE_COST = 8, 0.75
"""Lines that are sorted at a time, and what an exchange takes in nanoseconds."""


class Words(NamedTuple):
    """Lines of words in order, and the integers that were their keys."""

    node: UOp
    keys: DType

    def positions(self) -> UOp:
        """Where each element was in its line, as int64."""
        places = build.with_number(Op.AND, self.node, (1 << self.node.dtype.bits // 2) - 1)
        return build.cast(build.with_number(Op.SHR, places, 1), dtypes.int64)

    def in_front(self) -> UOp:
        """The keys."""
        front = build.with_number(Op.SHR, self.node, self.node.dtype.bits // 2)
        signed = build.cast(front, signed_dtype(self.keys))
        return _unsigned(signed) if self.keys.kind == "uint" else signed

    def marks(self) -> UOp:
        """Which ones were marked."""
        last = build.with_number(Op.AND, self.node, 1)
        return make(Op.CMPNE, dtypes.bool_, (last, build.constant(last.dtype, 0)))


def order_by_exchanges(keys: Tensor) -> Tensor:
    """The positions at which integers along the last axis are found in ascending order, as int64.

    Shapes: (..., n) → (..., n), for n from 2 up to `LONGEST`. Equal ones keep their order.
    """
    with graph_lock:
        node = keys.node
        order = _order_by_halves(node) if node.dtype.bits == 64 else sorted_words(node).positions()
        return wrap(order, keys.device)


def exchanging_cost(shape: Shape, bits: int) -> float:
    """About how long it takes to order lines (..., n) of keys of so many bits, in nanoseconds."""
    *lines, length = map(greatest, shape)
    if length > LONGEST:
        return math.inf
    layers = (length - 1).bit_length()
    exchanges = length * layers * (layers + 1) / 4
    turns = -(-math.prod(lines) // SIDE_BY_SIDE)
    return turns * (2 if bits == 64 else 1) * exchanges * EXCHANGE_COST


def sorted_words(keys: UOp, marks: UOp | None = None) -> Words:
    """Keys of up to 32 bits in order, with their positions, and with a bit for each that is marked.

    Shapes: (..., n), for n from 2 up to `LONGEST`.
    """
    word = dtypes.int32 if keys.dtype.bits <= 16 else dtypes.int64
    behind = _counted(keys, word)
    if marks is not None:
        behind = make(Op.OR, word, (behind, build.cast(marks, word)))
    return Words(_sorted_with(build.cast(_signed(keys), word), behind), keys.dtype)


def _order_by_halves(keys: UOp) -> UOp:
    signed, count = _signed(keys), _counted(keys, dtypes.int64)
    # The second half is an unsigned number: its first bit is turned into a sign that counts down.
    second = build.with_number(Op.XOR, signed, 1 << 31)
    by_second = Words(_sorted_with(second, count), keys.dtype).positions()
    first = build.with_number(Op.SHR, build.take_along(signed, by_second), 32)
    ranks = Words(_sorted_with(first, count), keys.dtype).positions()
    return build.take_along(by_second, ranks)


def signed_dtype(dtype: DType) -> DType:
    """The signed integers of the same size."""
    return dtypes.BY_NAME[f"int{dtype.bits}"]


def _signed(keys: UOp) -> UOp:
    """Integers as signed ones in the same order."""
    if keys.dtype.kind != "uint":
        return keys
    signed = make(Op.BITCAST, signed_dtype(keys.dtype), (keys,))
    return build.with_number(Op.XOR, signed, -1 << (keys.dtype.bits - 1))


def _unsigned(keys: UOp) -> UOp:
    """The other way round."""
    turned = build.with_number(Op.XOR, keys, -1 << (keys.dtype.bits - 1))
    return make(Op.BITCAST, dtypes.BY_NAME[f"uint{keys.dtype.bits}"], (turned,))


def _counted(keys: UOp, word: DType) -> UOp:
    """The position of each key, in front of the bit for its mark."""
    count = build.cast(build.count_along(len(keys.shape) - 1, keys.shape), word)
    return build.with_number(Op.SHL, count, 1)


def _sorted_with(front: UOp, behind: UOp) -> UOp:
    """Words in order: of each the second half of one number in front, and of another behind."""
    moved = build.with_number(Op.SHL, front, front.dtype.bits // 2)
    return build.sort(make(Op.OR, front.dtype, (moved, behind)))
