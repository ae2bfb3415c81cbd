"""The decisions of the search, over a bench that answers as told, on a clock that we move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.beam import BeamSearch, Limits, Outcome
from ogive.compiler.search.worker_messages import Inspection
from ogive.compiler.search.worker_process import Dropped, NoWorker, WorkerLost


def tiled(tile: int) -> Placement:
    return Placement(upcast={0: tile})


def tile_of(placement: Placement) -> int:
    return placement.upcast.get(0, 1)


def neighbours(placement: Placement) -> list[Placement]:
    tile = tile_of(placement)
    return [tiled(tile + 1), tiled(tile - 1)] if tile > 1 else [tiled(tile + 1)]


@dataclass
class FakeBench:
    """Placements by their tile: how long each takes, and what is wrong with it."""

    times: dict[int, float]
    final: dict[int, float] = field(default_factory=dict)
    problems: dict[tuple[str, int], Exception] = field(default_factory=dict)
    inspections: dict[int, Inspection] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    now: float = 0.0
    calls: list[tuple[str, int]] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    cuts: list[float | None] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def _call(self, verb: str, placement: Placement, limit: float) -> int:
        tile = tile_of(placement)
        self.calls.append((verb, tile))
        self.limits.append(limit)
        self.now += self.costs.get(verb, 0.0)
        if (verb, tile) in self.problems:
            raise self.problems[verb, tile]
        return tile

    def inspect(self, placement: Placement, most: int, limit: float) -> Inspection:
        tile = self._call("inspect", placement, limit)
        usual = Inspection(100, 1000, 64, f"code {tile}", (("ADD", 3),))
        return self.inspections.get(tile, usual)

    def compile(self, placement: Placement, most: int, limit: float) -> None:
        self._call("compile", placement, limit)

    def time(
        self, placement: Placement, most: int, work: int, cut: float | None, limit: float
    ) -> float:
        tile = self._call("time", placement, limit)
        self.cuts.append(cut)
        seconds = self.times.get(tile, 100.0)
        if cut is not None and seconds > cut:
            raise Dropped("slower than the best")
        return seconds

    def compare(
        self, first: Placement, second: Placement, most: int, work: int, limit: float
    ) -> list[tuple[float, float]]:
        self._call("compare", second, limit)
        times = {**self.times, **self.final}
        return [(times[tile_of(first)], times[tile_of(second)])] * 3

    def timed(self) -> list[int]:
        return [tile for verb, tile in self.calls if verb == "time"]


@dataclass
class Notes:
    """What a search told."""

    dropped: dict[int, str] = field(default_factory=dict)
    operations: Sequence[tuple[str, int]] = ()

    def drop(
        self, placement: Placement, reason: str, operations: Sequence[tuple[str, int]]
    ) -> None:
        self.dropped[tile_of(placement)] = reason
        self.operations = operations

    def measured(self, placement: Placement, seconds: float, best: float, first: float) -> None:
        assert best <= seconds and best <= first


def search(
    bench: FakeBench,
    start: int = 4,
    width: int = 2,
    seconds: float = 100.0,
    limits: Limits | None = None,
) -> tuple[Outcome, Notes]:
    notes = Notes()
    beam = BeamSearch(
        bench, neighbours, width, bench.now + seconds, bench.clock, notes, limits or Limits()
    )
    return beam.run(tiled(start)), notes


def test_the_heuristics_placement_is_the_first_candidate() -> None:
    bench = FakeBench({4: 1.0})
    search(bench)
    assert bench.timed()[0] == 4


def test_it_follows_improvements_to_the_best() -> None:
    bench = FakeBench({4: 1.0, 5: 0.8, 6: 0.6, 7: 0.4, 8: 0.5, 3: 1.1})
    outcome, _ = search(bench)
    assert outcome == Outcome(tiled(7), 2.5, complete=True, measured=6, taken=0.4)


def test_it_ends_with_a_round_that_brings_nothing() -> None:
    bench = FakeBench({4: 1.0, 5: 1.0, 3: 1.2})
    outcome, _ = search(bench)
    assert bench.timed() == [4, 5, 3]
    assert outcome.placement == tiled(4) and outcome.complete


def test_a_wider_beam_passes_over_a_ridge() -> None:
    times = {4: 1.0, 3: 0.9, 5: 0.95, 6: 0.5, 7: 1.9, 2: 0.93}
    narrow, _ = search(FakeBench(times), width=1)
    wide, _ = search(FakeBench(times), width=2)
    assert narrow.placement == tiled(3)
    assert wide.placement == tiled(6)


def test_no_placement_is_measured_twice() -> None:
    bench = FakeBench({n: 1.0 / n for n in range(1, 12)} | {12: 5.0})
    search(bench, width=4)
    assert len(set(bench.timed())) == len(bench.timed())


@pytest.mark.parametrize(("final", "kept"), [(0.98, 4), (0.96, 5), (1.2, 4)])
def test_the_heuristics_stay_unless_beaten_by_three_percent_again(final: float, kept: int) -> None:
    bench = FakeBench({4: 1.0, 5: 0.5}, final={4: 1.0, 5: final})
    outcome, _ = search(bench)
    assert outcome.placement == tiled(kept)


def test_a_lucky_run_is_not_enough() -> None:
    class Lucky(FakeBench):
        def compare(self, *_: object) -> list[tuple[float, float]]:
            return [(1.0, 1.1), (1.0, 0.5), (1.0, 1.2)]

    outcome, _ = search(Lucky({4: 1.0, 5: 0.5}))
    assert outcome.placement == tiled(4)


@pytest.mark.parametrize("verb", ["inspect", "compile", "time"])
@pytest.mark.parametrize("problem", [Dropped("refused"), WorkerLost("crashed (SIGSEGV)")])
def test_a_candidate_that_fails_is_dropped_and_the_others_go_on(
    verb: str, problem: Exception
) -> None:
    bench = FakeBench({4: 1.0, 5: 0.1, 3: 0.5}, problems={(verb, 5): problem})
    outcome, notes = search(bench)
    assert outcome.placement == tiled(3)
    assert notes.dropped[5] == str(problem)


def test_code_already_seen_is_not_compiled_again() -> None:
    twin = Inspection(100, 1000, 64, "code 4", ())
    bench = FakeBench({4: 1.0}, inspections={5: twin})
    _, notes = search(bench)
    assert ("compile", 5) not in bench.calls
    assert "earlier" in notes.dropped[5]


def test_too_many_instructions_are_not_compiled() -> None:
    bench = FakeBench({4: 1.0}, inspections={5: Inspection(20_001, 1000, 64, "", (("MUL", 9),))})
    _, notes = search(bench)
    assert ("compile", 5) not in bench.calls
    assert "20001 instructions" in notes.dropped[5]


def test_a_thousand_times_the_least_arithmetic_is_too_much() -> None:
    bench = FakeBench(
        {4: 1.0, 5: 0.9},
        inspections={
            5: Inspection(1, 1_000_000, 64, "a", ()), 3: Inspection(1, 1_000_001, 64, "b", ()),
        },
    )  # fmt: skip
    _, notes = search(bench)
    assert ("compile", 5) in bench.calls
    assert ("compile", 3) not in bench.calls
    assert "operations" in notes.dropped[3]


def test_a_kernel_stays_one_that_many_threads_can_share() -> None:
    bench = FakeBench({4: 1.0, 5: 0.1}, inspections={5: Inspection(1, 1000, 1, "a", ())})
    outcome, notes = search(bench)
    assert outcome.placement == tiled(4)
    assert "tiles" in notes.dropped[5]


def test_runs_are_cut_at_twice_the_best_so_far() -> None:
    bench = FakeBench({4: 1.0, 5: 0.5, 3: 0.9, 6: 3.0})
    search(bench)
    assert bench.cuts[:3] == [None, 2.0, 1.0]


def test_the_limits_on_compiling_and_running_are_their_own() -> None:
    bench = FakeBench({4: 0.01, 5: 0.02})
    search(bench, seconds=1000)
    by_verb = dict(zip([verb for verb, _ in bench.calls][3:6], bench.limits[3:6], strict=True))
    assert by_verb == pytest.approx({"inspect": 10.0, "compile": 10.0, "time": 1.1})


def test_the_whole_search_stays_within_its_seconds() -> None:
    bench = FakeBench(
        {n: 100.0 / n for n in range(1, 500)},
        costs={"inspect": 0.1, "compile": 0.3, "time": 0.1, "compare": 0.5},
    )
    outcome, _ = search(bench, seconds=10.0)
    assert not outcome.complete
    assert tile_of(outcome.placement) > 4
    assert bench.now <= 10.0
    assert all(limit <= 10.0 for limit in bench.limits)


def test_no_call_may_take_longer_than_what_is_left() -> None:
    bench = FakeBench({n: 100.0 / n for n in range(1, 500)}, costs={"compile": 0.7})
    search(bench, seconds=5.0)
    spent = 0.0
    for (verb, _), limit in zip(bench.calls, bench.limits, strict=True):
        assert limit <= 5.0 - spent + 1e-9
        spent += bench.costs.get(verb, 0.0)


def test_without_time_for_the_last_comparison_the_heuristics_stay() -> None:
    bench = FakeBench({4: 1.0, 5: 0.5}, problems={("compare", 5): WorkerLost("timed out")})
    outcome, _ = search(bench)
    assert outcome.placement == tiled(4)


def test_a_heuristic_that_cannot_be_measured_is_kept_all_the_same() -> None:
    bench = FakeBench({}, problems={("time", 4): Dropped("it faults on the scratch data")})
    outcome, _ = search(bench)
    assert outcome.placement == tiled(4) and outcome.measured == 0
    assert bench.timed() == [4]


def test_without_a_worker_there_is_no_outcome() -> None:
    bench = FakeBench({}, problems={("inspect", 4): NoWorker("no processes here")})
    with pytest.raises(NoWorker):
        search(bench)
