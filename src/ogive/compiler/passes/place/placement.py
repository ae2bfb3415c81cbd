"""A placement says what each axis of a kernel becomes; `place_axes.py` applies it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ogive.named import record


@record(frozen=True)
class Placement:
    """The choice for one kernel, by axis number.

    `lanes`, `upcast` and `threads` have the counts of the axes that go there; all axes in `threads`
    have the same. `order` is the nest of the output loops, of which the first `parallel` run in
    parallel.
    """

    lanes: Mapping[int, int] = field(default_factory=dict)
    upcast: Mapping[int, int] = field(default_factory=dict)
    order: tuple[int, ...] = ()
    parallel: int = 0
    threads: Mapping[int, int] = field(default_factory=dict)
