"""Findings: values that are computed in another way, which the cost model says is faster."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.named import NamedTuple


class Finding(NamedTuple):
    """The result of the search for a part of a graph, a window, that occurs in it `times` times.

    `before` and `after` are roots. Times are nanoseconds by the model. `rules` are those that found
    the forms used, and `applied` counts all matches. `roundings` are those on the longest path,
    before and after. `place` are the values of the graph that the first such window computes, the
    last one first.
    """

    before: tuple[UOp, ...]
    after: tuple[UOp, ...]
    time_before: float
    time_after: float
    kernels_before: int
    kernels_after: int
    rules: tuple[str, ...]
    applied: dict[str, int]
    roundings: tuple[int, int] = (0, 0)
    place: tuple[UOp, ...] = ()
    times: int = 1

    @property
    def is_taken(self) -> bool:
        """Whether the window is computed in a new way."""
        return self.after != self.before
