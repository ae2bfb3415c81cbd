"""Orders by counting the digits of keys, from the last digit to the first.

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

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.node_building import (
    apply,
    apply_number,
    cast,
    count,
    count_along,
    expand,
    filled,
    pad_axis,
    permute,
    reshape,
    shrink_axis,
    take_along,
)
from ogive.ir.ops import Op
from ogive.ir.shape import Shape, greatest
from ogive.targets.graph_costs import Sorting

POSITION_BITS = 32
"""The bits of a word that hold a position."""


def counting_time(shape: Shape, bits: int, costs: Sorting) -> float:
    """About how long it takes to order lines (..., n) of keys of `bits` bits, in nanoseconds."""
    *lines, length = map(greatest, shape)
    halves = -(-bits // POSITION_BITS)
    digits = _choose_digits(length, min(bits, POSITION_BITS), costs)
    return math.prod(lines) * halves * _digits_time(length, digits, costs)


def order_by_digits(keys: UOp, costs: Sorting) -> UOp:
    """The positions at which integers along the last axis are found in ascending order, as int64.

    Shapes: (..., n) → (..., n), for n from 2 on. Equal ones keep their order.
    """
    *lines, length = keys.shape
    chunks = _chunk_count(keys.shape, costs)
    rest = -length % chunks
    keys = pad_axis(keys, len(lines), (0, rest), keys.dtype.limits[1])
    shape = (*lines, chunks, (length + rest) // chunks)
    keys = reshape(keys, shape)
    place = reshape(count(length + rest), (*[1] * len(lines), *shape[-2:]))
    words = _arrange_keys(keys, expand(place, shape), costs)
    order = reshape(_places(words), (*lines, length + rest))
    return shrink_axis(order, len(lines), length)


def _arrange_keys(keys: UOp, place: UOp, costs: Sorting) -> UOp:
    """Words in the order of their keys, with the place of each behind."""
    bits = keys.dtype.bits
    top = 1 << (bits - 1) if keys.dtype.kind == "int" else 0
    if bits <= POSITION_BITS:
        front = apply_number(Op.XOR, cast(keys, dtypes.int64), top)
        words = apply(Op.OR, apply_number(Op.SHL, front, POSITION_BITS), place)
        return _arrange_words(words, bits, costs)
    wide = UOp(Op.BITCAST, dtypes.int64, (keys,))
    words = apply(Op.OR, apply_number(Op.SHL, wide, POSITION_BITS), place)
    place = _places(_arrange_words(words, POSITION_BITS, costs))
    front = apply_number(Op.XOR, _taken(wide, place), -top)
    words = apply(Op.OR, apply_number(Op.AND, front, -1 << POSITION_BITS), place)
    return _arrange_words(words, POSITION_BITS, costs)


def _chunk_count(shape: Shape, costs: Sorting) -> int:
    *lines, length = map(greatest, shape)
    is_cut = length >= costs.chunked_length and math.prod(lines) < costs.many_lines
    return costs.chunks if is_cut else 1


def _places(words: UOp) -> UOp:
    return apply_number(Op.AND, words, (1 << POSITION_BITS) - 1)


def _taken(keys: UOp, places: UOp) -> UOp:
    """Keys (..., chunks, n) at their places in lines of all chunks."""
    *lines, chunks, length = keys.shape
    return take_along(reshape(keys, (*lines, chunks * length)), places)


def _arrange_words(words: UOp, bits: int, costs: Sorting) -> UOp:
    """Words (..., chunks, n) in the order of the `bits` bits above the position."""
    base, digits = _choose_digits(math.prod(words.shape[-2:]), bits, costs)
    words = UOp(Op.CONTIGUOUS, words.dtype, (words,), ())
    for number in reversed(range(digits)):
        words = _arrange_by_digit(words, bits, base, number)
    return words


def _choose_digits(length: int, bits: int, costs: Sorting) -> tuple[int, int]:
    """How many values a digit has, and of how many digits a key consists: few, unless it takes
    longer to count them than to arrange elements."""
    most = costs.most_values if length < costs.many_elements else costs.most_streams
    choices = [(_least_base(bits, digits), digits) for digits in range(1, bits + 1)]
    possible = [choice for choice in choices if choice[0] <= most]
    return min(possible, key=lambda choice: _digits_time(length, choice, costs))


def _digits_time(length: int, choice: tuple[int, int], costs: Sorting) -> float:
    base, digits = choice
    return digits * (length * costs.arranged_element + base * costs.digit_value)


def _least_base(bits: int, digits: int) -> int:
    """The least odd base in which `digits` digits tell numbers of `bits` bits apart.

    An odd one, because the places of equal digits that are a power of two apart would push each
    other out of the caches.
    """
    base = int(2 ** (bits / digits)) | 1
    return base if base**digits >= 1 << bits else base + 2


def _digit(words: UOp, bits: int, base: int, number: int) -> UOp:
    """The digits of keys, as fractions of 2^bits: `number` 0 is the first one behind the point."""
    numerator = apply_number(Op.SHR, words, POSITION_BITS)
    if number:
        numerator = apply_number(Op.MUL, numerator, base**number)
    rest = apply_number(Op.AND, numerator, (1 << bits) - 1)
    return apply_number(Op.SHR, apply_number(Op.MUL, rest, base), bits)


def _arrange_by_digit(words: UOp, bits: int, base: int, number: int) -> UOp:
    digit = _digit(words, bits, base, number)
    *lines, chunks, _ = words.shape
    rank = len(lines)
    which = [count_along(axis, words.shape) for axis in range(rank + 1)]
    none = filled(dtypes.int32, 0, (*lines, chunks, base))
    one = UOp.const(dtypes.int32, 1)
    counts = UOp(Op.SCATTER, dtypes.int32, (none, one, *which, digit), Op.ADD)
    # A digit's elements follow those of lesser digits, and those of the chunks before.
    swapped = (*range(rank), rank + 1, rank)
    by_digit = reshape(permute(counts, swapped), (*lines, base * chunks))
    until = UOp(Op.SCAN_AXIS, dtypes.int32, (by_digit,), (Op.ADD, rank))
    until = permute(reshape(until, (*lines, base, chunks)), swapped)
    starts = apply(Op.SUB, until, counts)
    arranged = UOp(Op.ARRANGE, words.dtype, (words, starts, digit))
    return reshape(arranged, words.shape)
