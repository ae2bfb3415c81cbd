"""Threefry-2x32 with 20 rounds: 64 random bits from a 64-bit counter under a 64-bit key.

    words (x0, x1) = counter + key
    a round:  x0 += x1;  x1 = rotate(x1, r) ^ x0      r from two rows of four, in turn
    after every fourth round the key is added again, rotated by a word, and the number of the group

The low word of counter, key and result is the first word of the cipher's block.
"""

from __future__ import annotations

from ogive.devices.llvm.ir_text import Vectors

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
"""The exclusive or of the three words of the extended key."""

GROUPS = 5


def threefry(f: Vectors, counter: str, key: str) -> str:
    """The body: `f` has 64-bit integers."""
    w = f.of("i32")
    first, second = _words(f, key)
    keys = (first, second, w.xor(w.xor(first, second), PARITY))
    x0, x1 = _words(f, counter)
    x0, x1 = w.add(x0, keys[0]), w.add(x1, keys[1])
    for group in range(GROUPS):
        for amount in ROTATIONS[group % 2]:
            x0 = w.add(x0, x1)
            x1 = w.xor(w.intrinsic("fshl", x1, x1, amount), x0)
        # Key and number first: their sum is the same for all counters.
        x0 = w.add(x0, keys[(group + 1) % 3])
        x1 = w.add(x1, w.add(keys[(group + 2) % 3], group + 1))
    return f.or_(f.zext(x0, w), f.shl(f.zext(x1, w), 32))


def _words(f: Vectors, value: str) -> tuple[str, str]:
    w = f.of("i32")
    return w.trunc(value, f), w.trunc(f.lshr(value, 32), f)
