"""Orders found by counting: the digits of keys, from the last to the first.

Elements are arranged by one digit after the other, each time in the order that they have, so that
in the end they are in the order of whole keys, and equal ones as they were. An arrangement needs no
comparisons; it counts how often each digit occurs, and so knows where those that have it begin:

    words    30 12 31 11              after the last digit    30 31 11 12
    counts   of 0: 1, 1: 2, 2: 1      after the first         11 12 30 31
    begin    at 0: 0, 1: 1, 2: 3

A word of 64 bits holds a key of up to 32 in front and the position of its element behind. A longer
key is two of them: the order by its second half is arranged by its first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape, greatest
from ogive.live.registry import graph_lock, make
from ogive.tensor import build
from ogive.tensor.core import wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

POSITION_BITS = 32
"""The bits of a word that hold a position."""

MOST_VALUES, MOST_STREAMS = 2048, 512
"""The most values of a digit: what is counted for each stays in a first-level cache. Of many
elements it has fewer, since each value is one more place at which memory is being written."""

MANY_ELEMENTS = 1 << 21
"""Elements of a line from which on these are many."""

ELEMENT_COST, VALUE_COST = 2.0, 0.6
"""What an arrangement takes for each element, and for each value of a digit, in nanoseconds."""

CHUNKS, LONG, MANY_LINES = 8, 1 << 18, 8
"""A line this long is counted and arranged in so many chunks, unless there are many lines."""


def order_by_digits(keys: Tensor) -> Tensor:
    """The positions at which integers along the last axis are found in ascending order, as int64.

    Shapes: (..., n) → (..., n), for n from 2 on. Equal ones keep their order.
    """
    with graph_lock:
        return wrap(_order(keys.node), keys.device)


def counting_cost(shape: Shape, bits: int) -> float:
    """About how long it takes to order lines (..., n) of keys of so many bits, in nanoseconds."""
    *lines, length = map(greatest, shape)
    halves = -(-bits // POSITION_BITS)
    digits = _choose_digits(length, min(bits, POSITION_BITS))
    return math.prod(lines) * halves * _digits_cost(length, *digits)


def _order(keys: UOp) -> UOp:
    *lines, length = keys.shape
    chunks = _chunk_count(keys.shape)
    rest = -length % chunks
    if rest:
        pads = (*[(0, 0)] * len(lines), (0, rest))
        keys = build.pad(keys, pads, keys.dtype.limits[1])
    shape = (*lines, chunks, (length + rest) // chunks)
    keys = build.reshape(keys, shape)
    place = build.reshape(build.count(length + rest), (*[1] * len(lines), *shape[-2:]))
    place = build.expand(place, shape)
    bits = keys.dtype.bits
    top = 1 << (bits - 1) if keys.dtype.kind == "int" else 0
    if bits <= POSITION_BITS:
        front = build.with_number(Op.XOR, build.cast(keys, dtypes.int64), top)
        words = _join(build.with_number(Op.SHL, front, POSITION_BITS), place)
        words = _arrange_words(words, bits)
    else:
        wide = make(Op.BITCAST, dtypes.int64, (keys,))
        words = _join(build.with_number(Op.SHL, wide, POSITION_BITS), place)
        place = _places(_arrange_words(words, POSITION_BITS))
        front = build.with_number(Op.XOR, _taken(wide, place), -top)
        words = _join(build.with_number(Op.AND, front, -1 << POSITION_BITS), place)
        words = _arrange_words(words, POSITION_BITS)
    order = build.reshape(_places(words), (*lines, length + rest))
    kept = (*[(0, size) for size in lines], (0, length))
    return build.shrink(order, kept) if rest else order


def _chunk_count(shape: Shape) -> int:
    *lines, length = map(greatest, shape)
    return CHUNKS if length >= LONG and math.prod(lines) < MANY_LINES else 1


def _join(front: UOp, place: UOp) -> UOp:
    return make(Op.OR, front.dtype, (front, place))


def _places(words: UOp) -> UOp:
    return build.with_number(Op.AND, words, (1 << POSITION_BITS) - 1)


def _taken(keys: UOp, places: UOp) -> UOp:
    """Keys (..., chunks, n) at their places in lines of all chunks."""
    *lines, chunks, length = keys.shape
    return build.take_along(build.reshape(keys, (*lines, chunks * length)), places)


def _arrange_words(words: UOp, bits: int) -> UOp:
    """Words (..., chunks, n) in the order of the `bits` bits above the position."""
    base, count = _choose_digits(math.prod(map(greatest, words.shape[-2:])), bits)
    words = make(Op.CONTIGUOUS, words.dtype, (words,))
    for number in reversed(range(count)):
        words = _arrange_by_digit(words, bits, base, number)
    return words


def _choose_digits(length: int, bits: int) -> tuple[int, int]:
    """How many values a digit has, and of how many digits a key consists: few, unless it takes
    longer to count them than to arrange elements."""

    most = MOST_VALUES if length < MANY_ELEMENTS else MOST_STREAMS
    choices = [(_least_base(bits, count), count) for count in range(1, bits + 1)]
    possible = [choice for choice in choices if choice[0] <= most]
    return min(possible, key=lambda choice: _digits_cost(length, *choice))


def _digits_cost(length: int, base: int, count: int) -> float:
    return count * (length * ELEMENT_COST + base * VALUE_COST)


def _least_base(bits: int, count: int) -> int:
    """The least odd base in which `count` digits tell numbers of so many bits apart.

    An odd one, because the places of equal digits that are a power of two apart would push each
    other out of the caches.
    """
    base = int(2 ** (bits / count)) | 1
    return base if base**count >= 1 << bits else base + 2


def _digit(words: UOp, bits: int, base: int, number: int) -> UOp:
    """The digits of keys, as fractions of 2^bits: `number` 0 is the first one behind the point."""
    numerator = build.with_number(Op.SHR, words, POSITION_BITS)
    if number:
        numerator = build.with_number(Op.MUL, numerator, base**number)
    rest = build.with_number(Op.AND, numerator, (1 << bits) - 1)
    return build.with_number(Op.SHR, build.with_number(Op.MUL, rest, base), bits)


def _arrange_by_digit(words: UOp, bits: int, base: int, number: int) -> UOp:
    digit = _digit(words, bits, base, number)
    *lines, chunks, _ = words.shape
    which = [build.count_along(axis, words.shape) for axis in range(len(lines) + 1)]
    none = build.filled(dtypes.int32, 0, (*lines, chunks, base))
    one = build.constant(dtypes.int32, 1)
    counts = build.scatter(none, one, [*which, digit], Op.ADD)
    # A digit's elements follow those of lesser digits, and those of the chunks before.
    turned = (*range(len(lines)), len(lines) + 1, len(lines))
    by_digit = build.reshape(build.permute(counts, turned), (*lines, base * chunks))
    until = build.scan(by_digit, Op.ADD, len(lines))
    until = build.permute(build.reshape(until, (*lines, base, chunks)), turned)
    starts = make(Op.SUB, dtypes.int32, (until, counts))
    return build.reshape(build.arrange(words, starts, digit), words.shape)
