"""Beam search over the placements of one kernel.

The search starts from the heuristics' placement. Each round measures all placements one change away
from those in the beam, and the fastest few form the next beam. The search ends when a round finds
nothing better or when the time is over. A candidate that fails in any way is dropped, and the
search goes on.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol

from ogive.named import record
from ogive.passes.place.placement import Placement
from ogive.search.placement_encoding import PlacementKey, placement_key
from ogive.search.worker_messages import Inspection
from ogive.search.worker_process import Dropped


@record(frozen=True)
class Limits:
    """The limits that drop a candidate or end a search. Times are in seconds."""

    compile_seconds: float = 10.0
    run_seconds: float = 1.0  # for timing a candidate, besides ten times the best time
    first_seconds: float = 10.0  # for timing the heuristics' placement
    instructions: int = 20_000
    arithmetic: int = 1000  # times the least arithmetic of a candidate so far
    tiles: int = 8  # the least tiles of a candidate, if the heuristics' kernel has as many
    early_stop: float = 2.0  # a run is cut after this many times the best time
    progress: float = 0.99  # the search ends unless a round brings the best time below this share
    margin: float = 0.97  # a placement wins if it takes at most this share of the heuristics' time
    work: int = 1 << 29  # the most operations of a grid that are run to time it
    final_work: int = 1 << 32  # the same for the final comparison
    final_share: float = 0.2  # the share of the time that is kept for the final comparison


class Measuring(Protocol):
    """The measurements that a search needs; see `RemoteBench`."""

    def inspect(self, placement: Placement, most: int, limit: float) -> Inspection: ...
    def compile(self, placement: Placement, most: int, limit: float) -> None: ...
    def time(
        self, placement: Placement, most: int, work: int, cut: float | None, limit: float
    ) -> float: ...
    def compare(
        self, first: Placement, second: Placement, most: int, work: int, limit: float
    ) -> Sequence[tuple[float, float]]: ...


class Listener(Protocol):
    """Is told of each candidate of a search; see `Report`."""

    def drop(
        self, placement: Placement, reason: str, operations: Sequence[tuple[str, int]]
    ) -> None: ...
    def measured(self, placement: Placement, seconds: float, best: float, first: float) -> None: ...


@record(frozen=True)
class Outcome:
    """The result of a search. `gain`: how many times as fast as the heuristics' placement."""

    placement: Placement
    gain: float
    complete: bool  # the search ended before its time was over
    measured: int  # candidates
    taken: float | None = None  # seconds of a run, if known


@record(eq=False)
class BeamSearch:
    """The search of one kernel, until `deadline` on `clock`.

    `neighbours` gives the placements one change away from a placement.
    """

    bench: Measuring
    neighbours: Callable[[Placement], list[Placement]]
    width: int
    deadline: float
    clock: Callable[[], float]
    listener: Listener
    limits: Limits
    _codes: set[str] = field(default_factory=set)
    _least_arithmetic: int | None = None
    _first_tiles: int | None = None
    _measured: int = 0

    def run(self, start: Placement) -> Outcome:
        """Search from `start`, and choose the best placement: `start`, unless another is faster by
        `limits.margin`.

        Raises `NoWorker` if nothing can be measured.
        """
        began = self.clock()
        reserve = (self.deadline - began) * self.limits.final_share
        first = self._try(start, None)
        if first is None:
            return Outcome(start, 1.0, self._left() > 0, self._measured)
        beam = [(first, start)]
        seen = {placement_key(start)}
        complete = False
        while not complete:
            before = beam[0][0]
            measured: list[tuple[float, Placement]] = []
            for candidate in self._candidates(beam, seen):
                if self._left() <= reserve:
                    return self._decide(start, first, beam + measured, complete=False)
                best = min([before, *[seconds for seconds, _ in measured]])
                seconds = self._try(candidate, best)
                if seconds is not None:
                    measured.append((seconds, candidate))
                    self.listener.measured(candidate, seconds, min(best, seconds), first)
            beam = sorted(beam + measured, key=lambda entry: entry[0])[: self.width]
            complete = beam[0][0] > before * self.limits.progress
        return self._decide(start, first, beam, complete=True)

    def _left(self) -> float:
        """The seconds left for the search."""
        return self.deadline - self.clock()

    def _candidates(
        self, beam: list[tuple[float, Placement]], seen: set[PlacementKey]
    ) -> list[Placement]:
        """The placements one change away from the beam that are not in `seen`, to which they are
        added. Those next to the fastest placement come first."""
        candidates = []
        for _, placement in beam:
            for candidate in self.neighbours(placement):
                key = placement_key(candidate)
                if key not in seen:
                    seen.add(key)
                    candidates.append(candidate)
        return candidates

    def _try(self, placement: Placement, best: float | None) -> float | None:
        """Measure a placement: the seconds of a run, or None if the placement is dropped.

        `best` is the best time so far; None for the heuristics' placement.
        """
        operations: Sequence[tuple[str, int]] = ()
        limits, bench = self.limits, self.bench
        try:
            most = limits.instructions
            inspection = bench.inspect(placement, most, self._limit(limits.compile_seconds))
            operations = inspection.operations
            self._check(inspection)
            bench.compile(placement, most, self._limit(limits.compile_seconds))
            cut = None if best is None else best * limits.early_stop
            patience = limits.first_seconds
            if best is not None:
                patience = limits.run_seconds + 10 * best
            seconds = bench.time(placement, most, limits.work, cut, self._limit(patience))
        except Dropped as dropped:
            self.listener.drop(placement, str(dropped), operations)
            return None
        self._measured += 1
        return seconds

    def _limit(self, seconds: float) -> float:
        """A time limit of at most `seconds`, within the time left for the search."""
        left = self._left()
        if left <= 0:
            raise Dropped("the time for the search is over")
        return min(seconds, left)

    def _check(self, inspection: Inspection) -> None:
        """Raise `Dropped` if a candidate exceeds a limit or has the code of an earlier one."""
        limits = self.limits
        if inspection.instructions > limits.instructions:
            raise Dropped(f"{inspection.instructions} instructions, over {limits.instructions}")
        if inspection.digest in self._codes:
            raise Dropped("same code as an earlier candidate")
        self._codes.add(inspection.digest)
        if self._first_tiles is None:
            self._first_tiles = inspection.tiles
        if inspection.tiles < min(self._first_tiles, limits.tiles):
            # On a busy machine one thread looks best, and the result may serve one with more cores.
            raise Dropped(f"only {inspection.tiles} tiles to distribute among threads")
        least = self._least_arithmetic
        if least is not None and inspection.arithmetic > limits.arithmetic * least:
            raise Dropped(
                f"{inspection.arithmetic} operations, over {limits.arithmetic} times {least}"
            )
        self._least_arithmetic = min(least or inspection.arithmetic, inspection.arithmetic)

    def _decide(
        self,
        start: Placement,
        first: float,
        measured: list[tuple[float, Placement]],
        complete: bool,
    ) -> Outcome:
        """Run the best placement and the heuristics' one in turns, and choose one of them."""
        _, best = min(measured, key=lambda entry: entry[0])
        if placement_key(best) == placement_key(start):
            return Outcome(start, 1.0, complete, self._measured, first)
        limits = self.limits
        try:
            pairs = self.bench.compare(
                start, best, limits.instructions, limits.final_work,
                self._limit(limits.compile_seconds + limits.first_seconds),
            )  # fmt: skip
        except Dropped as dropped:
            self.listener.drop(best, str(dropped), ())
            return Outcome(start, 1.0, complete and self._left() > 0, self._measured, first)
        start_time = min([seconds for seconds, _ in pairs])
        best_time = min([seconds for _, seconds in pairs])
        median = statistics.median([after / before for before, after in pairs])
        ratio = max(best_time / start_time, median)
        if ratio > limits.margin:
            return Outcome(start, 1.0, complete, self._measured, start_time)
        return Outcome(best, 1 / ratio, complete, self._measured, best_time)
