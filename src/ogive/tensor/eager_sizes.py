"""The sizes of tensors with which operations are computed eagerly, and for how long.

Small tensors always are. Large ones are at first, because NumPy does work that happens once or a
few times before a kernel for it is compiled or loaded. Repeated work on large tensors is compiled:
the process has an *allowance* of elements that operations on large tensors may read eagerly, and
when it is used up, these operations are left to the compiler. If sizes keep changing and little is
computed with each (`live/small_graphs.py`), the allowance is renewed.

    count ≤ SMALL            eager
    SMALL < count ≤ LARGE    eager, while the allowance lasts
    LARGE < count            compiled

What is counted is the work of an operation, in elements of `exp` that take as long. That of a
product of one row with large weights is little, as is that of rows taken from a large table or of
parts joined to one tensor. A kernel could not do such work faster, and its call alone takes longer.
"""

from __future__ import annotations

from ogive.compiler.live.small_graphs import small_graphs

SMALL = 1 << 16
"""At 65536 floats `exp` takes NumPy about 20 µs, an addition 5, and a compiled graph, found again,
100 µs in all (AMD EPYC, one thread)."""

LARGE = 1 << 23
"""32 MB of float32. With more, NumPy waits for memory in every operation."""

ALLOWANCE = 1 << 30
"""The elements that operations on large tensors may read eagerly. NumPy takes about a second for
them, as long as compiling the kernels of a training step."""

PRODUCTS_PER_ELEMENT = 32
"""The multiply-adds that take as long as reading an element."""


COPIES_PER_ELEMENT = 4
"""How many elements are copied in that time."""


class Allowance:
    """The number of elements that may still be read eagerly."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def may_hold(self, count: int) -> bool:
        """Whether a tensor of `count` elements may be computed with eagerly."""
        return count <= SMALL or (count <= LARGE and self._is_there())

    def may_show(self, count: int, is_recorded: bool) -> bool:
        """Whether a part of a tensor of so many elements is shown at once. It reads none of them;
        where gradients flow, the way back writes all."""
        return self.may_hold(count) if is_recorded else count <= LARGE

    def is_beyond(self, count: int, most: int = LARGE) -> bool:
        """Whether an operation that reads `count` elements is left to the compiler.

        It is if they are more than `most`. Otherwise they are taken from the allowance.
        """
        if count <= SMALL:
            return False
        if count > most or not self._is_there():
            return True
        self.left -= count
        return False

    def _is_there(self) -> bool:
        """Whether some of the allowance is left. It is renewed after a graph that took longer to
        build than to compute."""
        if self.left <= 0 and small_graphs.take():
            self.left = ALLOWANCE
        return self.left > 0


allowance = Allowance(ALLOWANCE)
"""The allowance of this process."""
