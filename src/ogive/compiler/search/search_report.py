"""The report of a search to the user: a changing line on a terminal, and log lines on request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.beam import Outcome

INTERVAL = 0.1


class Report:
    """Writes to the terminal. With `log`, one line for each dropped candidate and each choice."""

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
        """Begin the next kernel."""
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
        """Report that a candidate was dropped."""
        self._tried += 1
        self._progress("")
        if self._log:
            commonest = ", ".join(f"{name} {times}" for name, times in operations)
            ending = f"; {commonest}" if commonest else ""
            self._line(f"{self._kernel} dropped: {reason}; {describe(placement)}{ending}")

    def chosen(self, outcome: Outcome) -> None:
        """Report that the search of a kernel is done."""
        if self._log:
            how = f"{outcome.gain:.2f} times as fast" if outcome.gain > 1 else "the heuristics'"
            rest = "" if outcome.complete else ", time over"
            self._line(
                f"{self._kernel} chosen: {describe(outcome.placement)}; "
                f"{how}, of {outcome.measured} measured{rest}"
            )

    def note(self, text: str) -> None:
        """Log a line about the search as a whole."""
        if self._log:
            self._line(text)

    def close(self) -> None:
        """Leave the terminal as it was."""
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
            self._interactive = self._log = False  # the stream is gone


def describe(placement: Placement) -> str:
    """A placement in words: `lanes 1:16, upcast 0:4 1:2, order 1 0, parallel 1`."""
    parts = []
    for name, counts in (("lanes", placement.lanes), ("upcast", placement.upcast)):
        if counts:
            pairs = " ".join(f"{axis}:{count}" for axis, count in sorted(counts.items()))
            parts.append(f"{name} {pairs}")
    if placement.order:
        parts.append(f"order {' '.join(map(str, placement.order))}")
    return ", ".join([*parts, f"parallel {placement.parallel}"])
