"""A placement says where each axis of a kernel goes; `place_axes.py` carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ogive.named import record


@record(frozen=True)
class Placement:
    """The choice for one kernel, by axis number; `order` nests the output loops.

    Axes in `threads` are spread over the threads of a block, all over as many.
    """

    lanes: Mapping[int, int] = field(default_factory=dict)
    upcast: Mapping[int, int] = field(default_factory=dict)
    order: tuple[int, ...] = ()
    parallel: int = 0
    threads: Mapping[int, int] = field(default_factory=dict)
