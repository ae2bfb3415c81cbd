"""Beam search over the placements of one kernel.

It starts from the heuristic placement. Each round measures all placements that are one change away
from those in the beam and keeps the fastest few, until a round finds nothing better or the time is
over. A candidate with any problem is dropped, and the search goes on.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol

from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.placement_encoding import PlacementKey, placement_key
from ogive.compiler.search.worker_messages import Inspection
from ogive.compiler.search.worker_process import Dropped
from ogive.named import record


@record(frozen=True)
class Limits:
    """When a candidate is dropped, and when a search ends. Times are in seconds."""

    compile_seconds: float = 10.0
    run_seconds: float = 1.0  # a run may take this long plus ten times the best time
    first_seconds: float = 10.0  # the run of the heuristic placement
    instructions: int = 20_000
    arithmetic: int = 1000  # times the least arithmetic seen
    tiles: int = 8  # a candidate needs this many tiles, if the heuristic placement has them
    early_stop: float = 2.0  # times the best time
    progress: float = 0.99  # a round must reduce the best time to this share of it
    margin: float = 0.97  # the search must reduce the heuristic time to this share of it
    work: int = 1 << 29  # operations of a grid that are run for timing
    final_work: int = 1 << 32
    final_share: float = 0.2  # share of the time for the last comparison


class Measuring(Protocol):
    """The measurements that the search needs; see `RemoteBench`."""

    def inspect(self, placement: Placement, most: int, limit: float) -> Inspection: ...
    def compile(self, placement: Placement, most: int, limit: float) -> None: ...
    def time(
        self, placement: Placement, most: int, work: int, cut: float | None, limit: float
    ) -> float: ...
    def compare(
        self, first: Placement, second: Placement, most: int, work: int, limit: float
    ) -> Sequence[tuple[float, float]]: ...


class Listener(Protocol):
    """An object that is told about the progress of a search."""

    def drop(
        self, placement: Placement, reason: str, operations: Sequence[tuple[str, int]]
    ) -> None: ...
    def measured(self, placement: Placement, seconds: float, best: float, first: float) -> None: ...


@record(frozen=True)
class Outcome:
    """The result of a search. `gain` is the speedup of the choice over the heuristic placement."""

    placement: Placement
    gain: float
    complete: bool  # whether it ended by itself, before the time was over
    measured: int
    taken: float | None = None  # seconds of a run, if known


@record(eq=False)
class BeamSearch:
    """The search for one kernel, until `deadline` on `clock`.

    `neighbours` gives the placements that are one change away from a placement.
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
        """The best placement found, or `start` unless another one is clearly better.

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
        return self.deadline - self.clock()

    def _candidates(
        self, beam: list[tuple[float, Placement]], seen: set[PlacementKey]
    ) -> list[Placement]:
        """The placements one change away from the beam that were not seen before, best first."""
        fresh = []
        for _, placement in beam:
            for candidate in self.neighbours(placement):
                key = placement_key(candidate)
                if key not in seen:
                    seen.add(key)
                    fresh.append(candidate)
        return fresh

    def _try(self, placement: Placement, best: float | None) -> float | None:
        """The time of a placement; None if it is dropped."""
        operations: Sequence[tuple[str, int]] = ()
        limits, bench = self.limits, self.bench
        try:
            most = limits.instructions
            inspection = bench.inspect(placement, most, self._limit(limits.compile_seconds))
            operations = inspection.operations
            self._judge(inspection)
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
        left = self._left()
        if left <= 0:
            raise Dropped("the time for the search is over")
        return min(seconds, left)

    def _judge(self, inspection: Inspection) -> None:
        limits = self.limits
        if inspection.instructions > limits.instructions:
            raise Dropped(f"{inspection.instructions} instructions, over {limits.instructions}")
        if inspection.digest in self._codes:
            raise Dropped("the code of an earlier candidate")
        self._codes.add(inspection.digest)
        if self._first_tiles is None:
            self._first_tiles = inspection.tiles
        if inspection.tiles < min(self._first_tiles, limits.tiles):
            # Even if it is fast now: the machine may be busy, or the result used with more cores.
            raise Dropped(f"only {inspection.tiles} tiles to share out")
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
        timed: list[tuple[float, Placement]],
        complete: bool,
    ) -> Outcome:
        """Compare the best placement once more with the heuristic one, in alternating runs."""
        _, best = min(timed, key=lambda entry: entry[0])
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
        before = min([theirs for theirs, _ in pairs])
        after = min([ours for _, ours in pairs])
        ratio = max(after / before, statistics.median([ours / theirs for theirs, ours in pairs]))
        if ratio > limits.margin:
            return Outcome(start, 1.0, complete, self._measured, before)
        return Outcome(best, 1 / ratio, complete, self._measured, after)
