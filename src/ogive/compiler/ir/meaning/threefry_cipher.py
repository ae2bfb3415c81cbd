"""Threefry-2x32 with 20 rounds: 64 random bits from a 64-bit counter under a 64-bit key.

    words (x0, x1) = counter + key
    a round:  x0 += x1;  x1 = rotate(x1, r) ^ x0      r from two rows of four, in turn
    after every fourth round the key is added again, rotated by a word, and the number of the group

The low word of counter, key and result is the first word of the cipher's block.
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

Words = NDArray[numpy.uint64]

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""By how many bits the rounds rotate, for even and odd groups of four rounds."""

GROUPS = 5
"""How many groups of four rounds there are."""

PARITY = 0x1BD11BDA
"""The exclusive or of the three words of the extended key."""

_SHIFTS = [[(numpy.uint32(n), numpy.uint32(32 - n)) for n in row] for row in ROTATIONS]
"""The same rotations as shifts to the left and to the right."""


def threefry(counters: Words, key: Words) -> Words:
    """64 random bits for each counter and key, which broadcast."""
    first, second = _words(key)
    keys = (first, second, first ^ second ^ numpy.uint32(PARITY))
    with numpy.errstate(over="ignore"):  # words wrap around
        x0, x1 = [numpy.asarray(x + k) for x, k in zip(_words(counters), keys, strict=False)]
        shifted = numpy.empty_like(x1)
        for group in range(GROUPS):
            for left, right in _SHIFTS[group % 2]:
                x0 += x1
                numpy.left_shift(x1, left, out=shifted)
                numpy.right_shift(x1, right, out=x1)
                x1 |= shifted
                x1 ^= x0
            x0 += keys[(group + 1) % 3]
            x1 += keys[(group + 2) % 3] + numpy.uint32(group + 1)
    words: Words = x0.astype(numpy.uint64) | x1.astype(numpy.uint64) << numpy.uint64(32)
    return words


def _words(value: Words) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32]]:
    # A conversion keeps the low word.
    return value.astype(numpy.uint32), (value >> numpy.uint64(32)).astype(numpy.uint32)
