"""Whether a program computes graphs that are built anew each time, and do little.

A graph whose sizes change is not found by its nodes: it is built, walked and compared with the
general one at each turn, some 10 µs for each node. Where that takes longer than to read what its
nodes hold, it is better computed at once, as it is written. Who decides on that *asks*; runs of
such graphs are looked at from then on, until one is *found*.
"""

from __future__ import annotations

from collections.abc import Iterable

from ogive.ir.memory import upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op

ELEMENTS_PER_NODE = 10_000
"""Elements of memory that are read in the time in which a node is built and walked (10 µs, at
4 GB/s, AMD EPYC)."""


_READ = ELEMENTWISE | {Op.BUFFER, Op.CALL, Op.REDUCE_AXES}
"""Ops of values that are memory, or are computed: all but movements."""


class SmallGraphs:
    """What is asked, and whether there was such a graph since."""

    __slots__ = ("_is_found", "is_asked")

    def __init__(self) -> None:
        self.is_asked = False
        self._is_found = False

    def note(self, order: Iterable[UOp]) -> None:
        """Look at a graph that was built anew, given its nodes."""
        count = elements = 0
        for node in order:
            count += 1
            if node.op in _READ:
                elements += upper_count(node.shape)
        if elements < ELEMENTS_PER_NODE * count:
            self.is_asked, self._is_found = False, True

    def take(self) -> bool:
        """Whether one was found since the last time; if not, it is asked for."""
        found, self._is_found = self._is_found, False
        self.is_asked = not found
        return found


small_graphs = SmallGraphs()
"""Those of this process."""
