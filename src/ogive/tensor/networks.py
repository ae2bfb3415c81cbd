"""Orders of lines found by comparing and exchanging, many lines side by side (`SORT`).

What is sorted are words, each with a key in front and the position of its element behind: so no two
are equal, and elements whose keys are stay as they were.

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
from ogive.ir.registry import graph_lock, make
from ogive.ir.shape import Shape, greatest
from ogive.tensor import build
from ogive.tensor.core import wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

LONGEST = 1 << 14
"""The longest line: as many as vectors have lanes are in a cache together."""

SIDE_BY_SIDE, EXCHANGE_COST = 8, 0.75
"""Lines that are sorted at a time, and what an exchange takes in nanoseconds."""


def order_by_exchanges(keys: Tensor) -> Tensor:
    """The positions at which integers along the last axis are found in ascending order, as int64.

    Shapes: (..., n) → (..., n), for n from 2 up to `LONGEST`. Equal ones keep their order.
    """
    with graph_lock:
        return wrap(_order(keys.node), keys.device)


def exchanging_cost(shape: Shape, bits: int) -> float:
    """About how long it takes to order lines (..., n) of keys of so many bits, in nanoseconds."""
    *lines, length = map(greatest, shape)
    if length > LONGEST:
        return math.inf
    layers = (length - 1).bit_length()
    exchanges = length * layers * (layers + 1) / 4
    turns = -(-math.prod(lines) // SIDE_BY_SIDE)
    return turns * (2 if bits == 64 else 1) * exchanges * EXCHANGE_COST


def _order(keys: UOp) -> UOp:
    if keys.dtype.kind == "uint":
        keys = _signed(keys)
    if keys.dtype.bits < 64:
        word = dtypes.int32 if keys.dtype.bits <= 16 else dtypes.int64
        return _positions(_sorted_with(build.cast(keys, word), _counted(keys, word)))
    # The second half is an unsigned number: its first bit is turned into a sign that counts down.
    second = build.with_number(Op.XOR, keys, 1 << 31)
    by_second = _positions(_sorted_with(second, _counted(keys, dtypes.int64)))
    first = build.with_number(Op.SHR, build.take_along(keys, by_second), 32)
    ranks = _positions(_sorted_with(first, _counted(keys, dtypes.int64)))
    return build.take_along(by_second, ranks)


def _signed(keys: UOp) -> UOp:
    """Unsigned integers as signed ones in the same order."""
    bits = keys.dtype.bits
    signed = make(Op.BITCAST, dtypes.BY_NAME[f"int{bits}"], (keys,))
    return build.with_number(Op.XOR, signed, -1 << (bits - 1))


def _counted(keys: UOp, word: DType) -> UOp:
    """The position of each key."""
    return build.cast(build.count_along(len(keys.shape) - 1, keys.shape), word)


def _sorted_with(front: UOp, behind: UOp) -> UOp:
    """Words in order: of each the second half of one number in front, and of another behind."""
    moved = build.with_number(Op.SHL, front, front.dtype.bits // 2)
    return build.sort(make(Op.OR, front.dtype, (moved, behind)))


def _positions(words: UOp) -> UOp:
    """What words have behind, as int64."""
    behind = build.with_number(Op.AND, words, (1 << words.dtype.bits // 2) - 1)
    return build.cast(behind, dtypes.int64)
