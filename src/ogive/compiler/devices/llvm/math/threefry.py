"""Threefry (`ir/meaning/threefry_cipher.py`) as vector instructions."""

from __future__ import annotations

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.ir.meaning.threefry_cipher import GROUPS, PARITY, ROTATIONS


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
