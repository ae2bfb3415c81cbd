"""The cipher that makes all random numbers, and how its counters are allotted to purposes.

A draw of n elements is THREEFRY(counter, key) for the counters 0 to n - 1. Under one key, different
counters give different words. The two highest bits of a counter are its purpose:

    00  the first 64 bits of an element      10  a key of `split`
    01  the second                           11  a key of `fold_in`, and of a generator
"""

from __future__ import annotations

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.meaning.threefry_cipher import Words, threefry
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim
from ogive.compiler.live.registry import make
from ogive.tensor import build
from ogive.tensor.build import count

FIRST, SECOND, SPLIT, FOLD = [purpose << 62 for purpose in range(4)]
COUNTERS = 1 << 62
"""How many counters each purpose has."""


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
    return threefry(counters, numpy.asarray(key, numpy.uint64))
