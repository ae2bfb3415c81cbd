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
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock
from ogive.ir.shape import Dim, greatest
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


def order_of(keys: Tensor) -> Tensor:
    """The positions at which integers along the last axis are found in ascending order, as int64.

    Shapes: (..., n) → (..., n), for n from 2 on. Equal ones keep their order.
    """
    length = greatest(keys.shape[-1])
    chunks = _chunk_count(keys.shape)
    rest = -length % chunks
    if rest:
        keys = keys.pad((0, rest), value=keys.dtype.limits[1])
    keys = keys.reshape(*keys.shape[:-1], chunks, (length + rest) // chunks)
    with graph_lock:
        place = wrap(build.count(length + rest), keys.device).reshape(*keys.shape[-2:])
    bits = keys.dtype.bits
    top = 1 << (bits - 1) if keys.dtype.kind == "int" else 0
    if bits <= POSITION_BITS:
        front = keys.cast(dtypes.int64).bitwise_xor(top)
        words = _arrange_words(front.bitwise_left_shift(POSITION_BITS).bitwise_or(place), bits)
    else:
        wide = keys.bitcast(dtypes.int64)
        words = wide.bitwise_left_shift(POSITION_BITS).bitwise_or(place)
        places = _places(_arrange_words(words, POSITION_BITS))
        flat = wide.reshape(*keys.shape[:-2], length + rest)
        front = flat.gather(-1, places.reshape(*flat.shape)).reshape(*keys.shape)
        front = front.bitwise_xor(-top).bitwise_and(-1 << POSITION_BITS)
        words = _arrange_words(front.bitwise_or(places), POSITION_BITS)
    order = _places(words).reshape(*keys.shape[:-2], length + rest)
    return order.narrow(-1, 0, length) if rest else order


def _chunk_count(shape: tuple[Dim, ...]) -> int:
    *lines, length = map(greatest, shape)
    return CHUNKS if length >= LONG and math.prod(lines) < MANY_LINES else 1


def _places(words: Tensor) -> Tensor:
    return words.bitwise_and((1 << POSITION_BITS) - 1)


def _arrange_words(words: Tensor, bits: int) -> Tensor:
    """Words (..., chunks, n) in the order of the `bits` bits above the position."""
    base, count = _choose_digits(math.prod(map(greatest, words.shape[-2:])), bits)
    words = words.contiguous()
    for number in reversed(range(count)):
        words = _arrange_by_digit(words, bits, base, number)
    return words


def _choose_digits(length: int, bits: int) -> tuple[int, int]:
    """How many values a digit has, and of how many digits a key consists: few, unless it takes
    longer to count them than to arrange elements."""

    def cost(choice: tuple[int, int]) -> float:
        base, count = choice
        return count * (length * ELEMENT_COST + base * VALUE_COST)

    most = MOST_VALUES if length < MANY_ELEMENTS else MOST_STREAMS
    choices = [(_least_base(bits, count), count) for count in range(1, bits + 1)]
    return min([choice for choice in choices if choice[0] <= most], key=cost)


def _least_base(bits: int, count: int) -> int:
    """The least odd base in which `count` digits tell numbers of so many bits apart.

    An odd one, because the places of equal digits that are a power of two apart would push each
    other out of the caches.
    """
    base = int(2 ** (bits / count)) | 1
    return base if base**count >= 1 << bits else base + 2


def _digit(words: Tensor, bits: int, base: int, number: int) -> Tensor:
    """The digits of keys, as fractions of 2^bits: `number` 0 is the first one behind the point."""
    numerator = words.bitwise_right_shift(POSITION_BITS)
    if number:
        numerator = numerator * base**number
    rest = numerator.bitwise_and((1 << bits) - 1)
    return (rest * base).bitwise_right_shift(bits)


def _arrange_by_digit(words: Tensor, bits: int, base: int, number: int) -> Tensor:
    digit = _digit(words, bits, base, number)
    *lines, chunks, _ = words.shape
    with graph_lock:
        which = [build.count_along(axis, words.node.shape) for axis in range(words.ndim - 1)]
        none = build.filled(dtypes.int32, 0, (*lines, chunks, base))
        one = build.constant(dtypes.int32, 1)
        counts = wrap(build.scatter(none, one, [*which, digit.node], Op.ADD), words.device)
        # A digit's elements follow those of lesser digits, and those of the chunks before.
        by_digit = counts.transpose(-1, -2).reshape(*lines, chunks * base)
        until = wrap(build.scan(by_digit.node, Op.ADD, by_digit.ndim - 1), words.device)
        starts = until.reshape(*lines, base, chunks).transpose(-1, -2) - counts
        arranged = wrap(build.arrange(words.node, starts.node, digit.node), words.device)
    return arranged.reshape(*words.shape)
