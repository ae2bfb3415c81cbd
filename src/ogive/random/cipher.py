"""The cipher that makes all random numbers, and how its counters are allotted to purposes.

A draw of n elements is THREEFRY(counter, key) for the counters 0 to n - 1. Under one key, different
counters give different words. The two highest bits of a counter are its purpose:

    00  the first 64 bits of an element      10  a key of `split`
    01  the second                           11  a key of `fold_in`, and of a generator
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Dim
from ogive.live.registry import make
from ogive.tensor import build
from ogive.tensor.build import count

FIRST, SECOND, SPLIT, FOLD = [purpose << 62 for purpose in range(4)]
COUNTERS = 1 << 62
"""How many counters each purpose has."""

Words = NDArray[numpy.uint64]

_AMOUNTS = ((13, 15, 26, 6), (17, 29, 16, 24))
_ROTATIONS = [
    [(numpy.uint32(amount), numpy.uint32(32 - amount)) for amount in group] for group in _AMOUNTS
]
"""The shifts of words to the left and to the right, in bits, in rounds of four."""

_PARITY = numpy.uint32(0x1BD11BDA)


def enciphered(key: UOp, length: Dim, purpose: int) -> UOp:
    """Return 64 bits for each of `length` counters. `key` has the shape (1,).

    The caller holds `graph_lock`.
    """
    counter = build.cast(count(length), dtypes.uint64)
    if purpose:
        counter = make(Op.OR, dtypes.uint64, (counter, build.constant(dtypes.uint64, purpose)))
    return encipher(counter, build.expand(key, (length,)))


def encipher(counter: UOp, key: UOp) -> UOp:
    """Return 64 bits for each counter and key. The caller holds `graph_lock`."""
    return make(Op.THREEFRY, dtypes.uint64, (counter, key))


def encipher_on_host(counters: Words, key: int | Words) -> Words:
    """Compute THREEFRY by NumPy, with the bits of the node. Counters and keys broadcast."""
    given = numpy.asarray(key, numpy.uint64)
    low, high = given.astype(numpy.uint32), (given >> numpy.uint64(32)).astype(numpy.uint32)
    keys = (low, high, low ^ high ^ _PARITY)
    with numpy.errstate(over="ignore"):
        x0 = counters.astype(numpy.uint32) + keys[0]
        x1 = (counters >> numpy.uint64(32)).astype(numpy.uint32) + keys[1]
        shifted = numpy.empty_like(x1)
        for group in range(5):
            for left, right in _ROTATIONS[group % 2]:
                x0 += x1
                numpy.left_shift(x1, left, out=shifted)
                numpy.right_shift(x1, right, out=x1)
                x1 |= shifted
                x1 ^= x0
            x0 += keys[(group + 1) % 3]
            x1 += keys[(group + 2) % 3] + numpy.uint32(group + 1)
    words: Words = x0.astype(numpy.uint64) | x1.astype(numpy.uint64) << numpy.uint64(32)
    return words
