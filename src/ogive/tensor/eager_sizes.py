"""How large tensors are that are computed with at once, and for how long.

Small ones always are. Larger ones are at first: what a program does once or a few times is done by
NumPy before a kernel for it is compiled or loaded. A program that goes on with large tensors has
them compiled: the process has an *allowance* of elements that operations on large tensors may read,
and when it is used up, these are left to the compiler. If it turns out that sizes change and that
little is computed with each (`live/small_graphs.py`), the allowance is renewed.

    count ≤ SMALL            at once
    SMALL < count ≤ LARGE    at once, while the allowance lasts
    LARGE < count            compiled

What is counted is the work of an operation, in elements of `exp` that take as long. That of a
product of one row with large weights is little, as is that of rows taken from a large table or of
parts joined to one tensor. A kernel could not do such work faster, and its call alone takes longer.
"""

from __future__ import annotations

from ogive.live.small_graphs import small_graphs

SMALL = 1 << 16
"""At 65536 floats `exp` takes NumPy about 20 µs, an addition 5, and a compiled graph, found again,
100 µs in all (AMD EPYC, one thread)."""

LARGE = 1 << 23
"""32 MB of float32: beyond, NumPy waits for memory at every operation."""

ALLOWANCE = 1 << 30
"""Elements that operations on large tensors read at once, in all: NumPy takes about a second for
them, as long as it takes to compile the kernels of a training step."""

PRODUCTS_PER_ELEMENT = 32
"""How many products of numbers are added up in the time in which an element is read."""


COPIES_PER_ELEMENT = 4
"""How many elements are copied in that time."""


class Allowance:
    """The elements that may still be read, counted."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def may_hold(self, count: int) -> bool:
        """Whether a tensor of so many elements may be one that is computed with at once."""
        return count <= SMALL or (count <= LARGE and self._is_there())

    def may_show(self, count: int, is_recorded: bool) -> bool:
        """Whether a part of a tensor of so many elements is shown at once. It reads none of them;
        where gradients flow, the way back writes all."""
        return self.may_hold(count) if is_recorded else count <= LARGE

    def is_beyond(self, count: int, most: int = LARGE) -> bool:
        """Whether an operation that reads so many elements is left to the compiler, as one of more
        than `most` is; they are taken from the allowance if not."""
        if count <= SMALL:
            return False
        if count > most or not self._is_there():
            return True
        self.left -= count
        return False

    def _is_there(self) -> bool:
        """Whether something is left. There is an allowance again when a graph that was compiled
        took longer to build than to compute."""
        if self.left <= 0 and small_graphs.take():
            self.left = ALLOWANCE
        return self.left > 0


allowance = Allowance(ALLOWANCE)
"""That of this process."""
