"""Notices whether a program computes small graphs that are rebuilt each time.

A graph whose sizes change is not found by its nodes. It is built, walked and compared with the
general graph in each iteration, which takes some 10 µs for each node. If that takes longer than
reading the elements of its values, the program is better run eagerly. Code that decides on that
asks (`take`); from then on, graphs that are built anew are examined (`note`) until a small one is
found.
"""

from __future__ import annotations

from collections.abc import Iterable

from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op

ELEMENTS_PER_NODE = 10_000
"""Elements that are read in the time to build and walk a node (10 µs, at 4 GB/s, AMD EPYC)."""


_READ = ELEMENTWISE | {Op.BUFFER, Op.CALL, Op.REDUCE_AXES}
"""Ops of values that are in memory or are computed, which movements are not."""


class SmallGraphs:
    """Whether anyone has asked for small graphs, and whether one has run since."""

    __slots__ = ("_is_found", "is_asked")

    def __init__(self) -> None:
        self.is_asked = False
        self._is_found = False

    def note(self, order: Iterable[UOp]) -> None:
        """Examine a rebuilt graph, given its nodes."""
        count = elements = 0
        for node in order:
            count += 1
            if node.op in _READ:
                elements += upper_count(node.shape)
        if elements < ELEMENTS_PER_NODE * count:
            self.is_asked, self._is_found = False, True

    def take(self) -> bool:
        """Whether a small graph was found since the last call; if not, ask for one."""
        was_found, self._is_found = self._is_found, False
        self.is_asked = not was_found
        return was_found


small_graphs = SmallGraphs()
"""The small graphs of this process."""
