"""Show the user the progress of a search: one changing line on a terminal, log lines on request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from ogive.passes.place.placement import Placement
from ogive.search.beam import Outcome

INTERVAL = 0.1
"""Seconds between two updates of the line on a terminal."""


class Report:
    """The report of one search, written to `stream` (the standard error stream by default).

    `kernels` is how many kernels are searched. `log` asks for a line per dropped candidate and per
    choice.
    """

    def __init__(
        self, kernels: int, log: bool, clock: Callable[[], float], stream: TextIO | None = None
    ) -> None:
        self._kernels = kernels
        self._log = log
        self._clock = clock
        self._stream = sys.stderr if stream is None else stream
        self._interactive = self._stream is not None and self._stream.isatty()
        self._number = 0
        self._tried = 0
        self._shown_at = -INTERVAL
        self._showing = False
        self._kernel = ""

    def begin(self, kernel: str) -> None:
        """Begin with the next kernel."""
        self._kernel = kernel
        self._number += 1
        self._tried = 0

    def measured(self, placement: Placement, seconds: float, best: float, first: float) -> None:
        """Report that a candidate was timed."""
        self._tried += 1
        self._progress(f"best {first / best if best else 1.0:.2f} times as fast")

    def drop(
        self, placement: Placement, reason: str, operations: Sequence[tuple[str, int]]
    ) -> None:
        """Report that a candidate was dropped, with its commonest operations."""
        self._tried += 1
        self._progress("")
        if self._log:
            commonest = ", ".join(f"{name} {times}" for name, times in operations)
            ending = f"; {commonest}" if commonest else ""
            self._line(f"{self._kernel} dropped: {reason}; {describe(placement)}{ending}")

    def chosen(self, outcome: Outcome) -> None:
        """Report the placement chosen for the kernel."""
        if self._log:
            gain = f"{outcome.gain:.2f} times as fast" if outcome.gain > 1 else "the heuristics'"
            ending = "" if outcome.complete else ", time over"
            self._line(
                f"{self._kernel} chosen: {describe(outcome.placement)}; "
                f"{gain}, of {outcome.measured} measured{ending}"
            )

    def note(self, text: str) -> None:
        """Log a line about the search as a whole."""
        if self._log:
            self._line(text)

    def close(self) -> None:
        """Remove the line from the terminal."""
        self._erase()

    def _progress(self, text: str) -> None:
        if not self._interactive or self._clock() - self._shown_at < INTERVAL:
            return
        self._shown_at = self._clock()
        self._write(
            f"\r\x1b[Kogive: searching, kernel {self._number} of {self._kernels}, "
            f"{self._tried} candidates{', ' + text if text else ''}"
        )
        self._showing = True

    def _erase(self) -> None:
        if self._showing:
            self._write("\r\x1b[K")
            self._showing = False

    def _line(self, text: str) -> None:
        self._erase()
        self._write(f"ogive: search: {text}\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._interactive = self._log = False  # the stream is closed: nobody reads it


def describe(placement: Placement) -> str:
    """Describe a placement in a line, such as `lanes 1:16, upcast 0:4 1:2, order 1 0, parallel 1`.
    """
    parts = []
    for name, counts in (("lanes", placement.lanes), ("upcast", placement.upcast)):
        if counts:
            pairs = " ".join(f"{axis}:{count}" for axis, count in sorted(counts.items()))
            parts.append(f"{name} {pairs}")
    if placement.order:
        parts.append(f"order {' '.join(map(str, placement.order))}")
    return ", ".join([*parts, f"parallel {placement.parallel}"])
