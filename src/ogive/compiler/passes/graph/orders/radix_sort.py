"""Radix sort: elements are ordered by one digit of their keys after another, from the last digit.

Each arrangement is stable, so that in the end elements are in the order of their whole keys, and
equal ones keep their order. It makes no comparisons: it counts how often each digit occurs, and so
knows where the elements with each digit begin:

    words    30 12 31 11              after the last digit    30 31 11 12
    counts   of 0: 1, 1: 2, 2: 1      after the first         11 12 30 31
    begin    at 0: 0, 1: 1, 2: 3

A word of 64 bits holds a key of up to 32 bits in its high half and the position of the element in
its low half. Longer keys are sorted by their low half first, and then by their high half.
"""

from __future__ import annotations

import math

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import (
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
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, greatest
from ogive.compiler.targets.graph_costs import Sorting

POSITION_BITS = 32
"""The number of bits of a word that hold a position."""


def counting_time(shape: Shape, bits: int, costs: Sorting) -> float:
    """The estimated nanoseconds to order lines (..., n) of keys of `bits` bits."""
    *lines, length = map(greatest, shape)
    halves = -(-bits // POSITION_BITS)
    digits = _choose_digits(length, min(bits, POSITION_BITS), costs)
    return math.prod(lines) * halves * _digits_time(length, digits, costs)


def order_by_digits(keys: UOp, costs: Sorting) -> UOp:
    """The positions of integers along the last axis in ascending order, as int64, stably.

    Shapes: (..., n) → (..., n), n ≥ 2.
    """
    *lines, length = keys.shape
    chunks = _chunk_count(keys.shape, costs)
    padding = -length % chunks
    keys = pad_axis(keys, len(lines), (0, padding), keys.dtype.limits[1])
    shape = (*lines, chunks, (length + padding) // chunks)
    keys = reshape(keys, shape)
    place = reshape(count(length + padding), (*[1] * len(lines), *shape[-2:]))
    words = _arrange_keys(keys, expand(place, shape), costs)
    order = reshape(_places(words), (*lines, length + padding))
    return shrink_axis(order, len(lines), length)


def _arrange_keys(keys: UOp, place: UOp, costs: Sorting) -> UOp:
    """Words sorted by their keys, with the position of each key in the low half."""
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
    """The keys at `places`, which count through the chunks (..., chunks, n) of a line."""
    *lines, chunks, length = keys.shape
    return take_along(reshape(keys, (*lines, chunks * length)), places)


def _arrange_words(words: UOp, bits: int, costs: Sorting) -> UOp:
    """Words (..., chunks, n) sorted by the `bits` bits above the position."""
    base, digits = _choose_digits(math.prod(words.shape[-2:]), bits, costs)
    words = UOp(Op.CONTIGUOUS, words.dtype, (words,), ())
    for number in reversed(range(digits)):
        words = _arrange_by_digit(words, bits, base, number)
    return words


def _choose_digits(length: int, bits: int, costs: Sorting) -> tuple[int, int]:
    """The base of the digits, and the number of digits of a key, that take the least time.

    Fewer digits are fewer arrangements, but have more values to count.
    """
    most = costs.most_values if length < costs.many_elements else costs.most_streams
    choices = [(_least_base(bits, digits), digits) for digits in range(1, bits + 1)]
    possible = [choice for choice in choices if choice[0] <= most]
    return min(possible, key=lambda choice: _digits_time(length, choice, costs))


def _digits_time(length: int, choice: tuple[int, int], costs: Sorting) -> float:
    base, digits = choice
    return digits * (length * costs.arranged_element + base * costs.digit_value)


def _least_base(bits: int, digits: int) -> int:
    """The least odd base in which `digits` digits represent all numbers of `bits` bits.

    It is odd because places that are a power of two apart would evict each other from the caches.
    """
    base = int(2 ** (bits / digits)) | 1
    return base if base**digits >= 1 << bits else base + 2


def _digit(words: UOp, bits: int, base: int, number: int) -> UOp:
    """A digit of each key, read as a fraction of 2^bits: 0 is the number of the first digit."""
    numerator = apply_number(Op.SHR, words, POSITION_BITS)
    if number:
        numerator = apply_number(Op.MUL, numerator, base**number)
    fraction = apply_number(Op.AND, numerator, (1 << bits) - 1)
    return apply_number(Op.SHR, apply_number(Op.MUL, fraction, base), bits)


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
