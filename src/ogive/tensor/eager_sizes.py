"""How large tensors are that are computed with at once, and for how long.

Small ones always are. Larger ones are at first: what a program does once or a few times is done by
NumPy before a kernel for it is compiled or loaded. A program that goes on with large tensors has
them compiled: the process has an *allowance* of elements that operations on large tensors may read,
and when it is used up, these are left to the compiler.

    count ≤ SMALL            at once
    SMALL < count ≤ LARGE    at once, while the allowance lasts
    LARGE < count            compiled
"""

from __future__ import annotations

SMALL = 1 << 16
"""At 65536 floats an operation takes NumPy about 20 µs, and a compiled graph, found again, 100 µs
in all (AMD EPYC, one thread)."""

LARGE = 1 << 23
"""32 MB of float32: beyond, NumPy waits for memory at every operation."""

ALLOWANCE = 1 << 30
"""Elements that operations on large tensors read at once, in all: NumPy takes about a second for
them, as long as it takes to compile the kernels of a training step."""

PRODUCTS_PER_ELEMENT = 32
"""How many products of numbers are added up in the time in which an element is read."""


class Allowance:
    """What is left of the elements that may be read."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def may_hold(self, count: int) -> bool:
        """Whether a tensor of so many elements may be one that is computed with at once."""
        return count <= SMALL or (count <= LARGE and self.left > 0)

    def is_beyond(self, count: int, most: int = LARGE) -> bool:
        """Whether an operation that reads so many elements is left to the compiler, as one of more
        than `most` is; they are taken from the allowance if not."""
        if count <= SMALL:
            return False
        if count > most or self.left <= 0:
            return True
        self.left -= count
        return False


allowance = Allowance(ALLOWANCE)
"""That of this process."""
