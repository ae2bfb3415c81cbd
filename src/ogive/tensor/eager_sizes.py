"""Which sizes of tensors are eager, and for how long.

An operation on small tensors is always done at once. On larger ones it is done at once at first:
NumPy finishes a few operations sooner than kernels for them are compiled or loaded. To notice a
program that goes on with large tensors, the process has an *allowance* of elements that operations
on large tensors may read. When it is used up, such operations are left to the compiler. If sizes
turn out to change, with little computed at each (`live/small_graphs.py`), the allowance is renewed.

    count ≤ SMALL            at once
    SMALL < count ≤ LARGE    at once, while the allowance lasts
    LARGE < count            compiled
"""

from __future__ import annotations

from ogive.live.small_graphs import small_graphs

SMALL = 1 << 16
"""At 65536 floats an operation takes NumPy about 20 µs; a graph that is found compiled takes 100 µs
in all (AMD EPYC, one thread)."""

LARGE = 1 << 23
"""32 MB of float32. Beyond that, every operation of NumPy waits for memory."""

ALLOWANCE = 1 << 30
"""How many elements operations on large tensors may read in all. NumPy takes about a second for
them, as long as the compiler takes for the kernels of a training step."""

PRODUCTS_PER_ELEMENT = 32
"""How many products of a matrix product are added up in the time of reading one element."""


class Allowance:
    """How many elements may still be read."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def may_hold(self, count: int) -> bool:
        """Whether a tensor of `count` elements may be eager."""
        return count <= SMALL or (count <= LARGE and self._is_there())

    def is_beyond(self, count: int, most: int = LARGE) -> bool:
        """Whether an operation that reads `count` elements is left to the compiler.

        It is if `count` is greater than `most`, or if the allowance is used up. Otherwise `count`
        is taken from the allowance.
        """
        if count <= SMALL:
            return False
        if count > most or not self._is_there():
            return True
        self.left -= count
        return False

    def _is_there(self) -> bool:
        """Whether something is left. The allowance is renewed after a compiled graph that took
        longer to build than to compute."""
        if self.left <= 0 and small_graphs.take():
            self.left = ALLOWANCE
        return self.left > 0


allowance = Allowance(ALLOWANCE)
"""The allowance of this process."""
