"""The search of one prepare: its budget, its results, what it prints."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ogive import Beam, Config
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.region_passes import placement_for
from ogive.compiler.passes.place.place_axes import place_axes
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.beam import BeamSearch, Limits, Outcome
from ogive.compiler.search.kernel_search import Means, search_placements
from ogive.compiler.search.placement_encoding import placement_key
from ogive.compiler.search.search_report import Report, describe
from ogive.compiler.search.search_result import Result, pack_result, unpack_result
from tests.compiler.search.kernels import CONFIG, TARGET, data, faulty_command, loops, region_of

LIMITS = Limits(run_seconds=0.3, compile_seconds=2.0)


def beam(seconds: float = 8.0, **changes: Any) -> Config:
    return Config(pack_operands=False, search=Beam(2, seconds), **changes)


class Memory:
    """A store of results that remembers what was asked."""

    def __init__(self) -> None:
        self.rows: dict[UOp, bytes] = {}

    def get(self, region: UOp) -> bytes | None:
        return self.rows.get(region)

    def put(self, region: UOp, result: bytes) -> None:
        self.rows[region] = result


class Recorded:
    """Stands for the search of one kernel; its budget is spent as told."""

    def __init__(self, spend: Callable[[float], float] = lambda budget: budget) -> None:
        self.now = 0.0
        self.spend = spend
        self.budgets: list[float] = []
        self.starts: list[Placement] = []

    def clock(self) -> float:
        return self.now

    def search(self, beam: BeamSearch, start: Placement) -> Outcome:
        budget = beam.deadline - self.now
        self.budgets.append(budget)
        self.starts.append(start)
        self.now += self.spend(budget)
        return Outcome(start, 1.0, True, 1)

    def means(self, **changes: Any) -> Means:
        return Means(clock=self.clock, search_kernel=self.search, **changes)


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def regions(*lengths: int) -> dict[UOp, int]:
    return {region_of(data(length).exp()): 1 for length in lengths}


def search(
    what: dict[UOp, int], config: Config, store: Memory, recorded: Recorded
) -> tuple[dict[UOp, Result], int]:
    return search_placements(what, TARGET, config, store, recorded.means())


def test_the_whole_budget_is_shared_by_cost_and_the_most_costly_comes_first(
    recorded: Recorded,
) -> None:
    search(regions(100, 10_000, 900), beam(11.0), Memory(), recorded)
    assert recorded.budgets == pytest.approx([10.0, 0.9, 0.1])
    assert recorded.now == pytest.approx(11.0)


def test_what_a_kernel_does_not_need_is_left_to_the_others(recorded: Recorded) -> None:
    recorded.spend = lambda budget: min(budget, 0.5)
    search(regions(1000, 10_000), beam(11.0), Memory(), recorded)
    assert recorded.budgets == pytest.approx([10.0, 10.5])


def test_a_kernel_that_runs_often_counts_as_often(recorded: Recorded) -> None:
    small, large = regions(1000, 2000)
    search({small: 8, large: 1}, beam(10.0), Memory(), recorded)
    assert recorded.budgets == pytest.approx([8.0, 2.0])


def test_kernels_that_come_too_late_get_the_heuristics_placement(recorded: Recorded) -> None:
    recorded.spend = lambda budget: 100.0
    what, store = regions(1000, 2000), Memory()
    found, searched = search(what, beam(10.0), store, recorded)
    assert len(recorded.budgets) == 1 and searched == 2
    late = next(iter(what))
    wanted = placement_for(loops(data(1000).exp()), TARGET, CONFIG)
    assert placement_key(found[late].placement) == placement_key(wanted)
    assert not unpack_result(store.rows[late]).complete


def test_regions_with_equal_loops_are_one_search(recorded: Recorded) -> None:
    flat, square = region_of(data(64, 64).sum(1)), region_of(data(64, 8, 8).sum((1, 2)))
    assert flat is not square
    found, searched = search({flat: 1, square: 1}, beam(), Memory(), recorded)
    assert searched == 1 and set(found) == {flat, square}


def test_a_stored_result_is_not_searched_for_again(recorded: Recorded) -> None:
    what, store = regions(1000), Memory()
    first = search(what, beam(), store, recorded)
    again = search(what, beam(), store, recorded)
    assert first[1] == 1 and again[1] == 0
    assert first[0] == again[0]


@pytest.mark.parametrize(("seconds", "searched"), [(2.0, 0), (1.0, 0), (5.0, 1)])
def test_a_result_cut_short_is_good_for_as_many_seconds(
    recorded: Recorded, seconds: float, searched: int
) -> None:
    what, store = regions(1000), Memory()
    store.rows[next(iter(what))] = pack_result(Result(Placement({0: 8}), 2.0, False))
    assert search(what, beam(seconds), store, recorded)[1] == searched


@pytest.mark.parametrize("row", [b"", b"{}", bytes(40)])
def test_a_damaged_result_is_searched_for_again(recorded: Recorded, row: bytes) -> None:
    what, store = regions(1000), Memory()
    store.rows[next(iter(what))] = row
    assert search(what, beam(), store, recorded)[1] == 1


def test_what_another_process_found_meanwhile_counts(recorded: Recorded) -> None:
    what, store = regions(1000), Memory()
    theirs = Placement({0: 8}, {}, (0,), 1)

    def spend(budget: float) -> float:
        store.rows[next(iter(what))] = pack_result(Result(theirs, 8.0, True))
        return budget

    recorded.spend = spend
    found, _ = search(what, beam(), store, recorded)
    assert found[next(iter(what))].placement == theirs


def test_buffers_too_large_to_have_twice_are_not_searched_for(recorded: Recorded) -> None:
    means = recorded.means(memory=lambda: 1000)
    found, _ = search_placements(regions(1000), TARGET, beam(), Memory(), means)
    assert not recorded.budgets and len(found) == 1


KERNELS = {
    "product": lambda: data(60, 48) @ data(48, 70),
    "softmax": lambda: data(50, 70).softmax(-1),
    "sum of columns": lambda: data(90, 70).sum(0),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_real_search_ends_with_a_possible_placement(name: str) -> None:
    region = region_of(KERNELS[name]())
    found, searched = search_placements({region: 1}, TARGET, beam(20.0), Memory())
    assert searched == 1
    place_axes(loops(KERNELS[name]()), found[region].placement)
    assert (found[region].taken or 0) > 0


def test_a_search_with_a_compiler_gone_bad_survives(capsys: pytest.CaptureFixture[str]) -> None:
    region = region_of(data(30_000) + 1)
    found, _ = search_placements(
        {region: 1}, TARGET, beam(20.0, log="search"), Memory(),
        Means(command=faulty_command(), limits=LIMITS),
    )  # fmt: skip
    lines = capsys.readouterr().err.splitlines()
    assert any("timed out" in line and "upcast 0:2" in line for line in lines)
    assert any("SIGSEGV" in line and "upcast 0:3" in line for line in lines)
    assert any("LLVM refused" in line and "upcast 0:6" in line for line in lines)
    assert region in found


def test_without_processes_the_heuristics_placement_is_used() -> None:
    region, store = region_of(data(5000).exp()), Memory()
    means = Means(command=["/nonexistent/python"])
    found, _ = search_placements({region: 1}, TARGET, beam(1.0), store, means)
    wanted = placement_for(loops(data(5000).exp()), TARGET, CONFIG)
    assert placement_key(found[region].placement) == placement_key(wanted)
    assert not store.rows, "another time there may be a worker"


def test_nothing_is_printed_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    search_placements(regions(3000), TARGET, beam(0.5), Memory())
    assert capsys.readouterr() == ("", "")


def test_drops_and_choices_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    search_placements(regions(30_000), TARGET, beam(30.0, log="search"), Memory())
    *drops, choice = capsys.readouterr().err.splitlines()
    assert drops
    for line in drops:
        assert line.startswith("ogive: search: elementwise_loop30000 dropped: ")
        assert "parallel" in line
    assert choice.startswith("ogive: search: elementwise_loop30000 chosen: ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def report(stream: io.StringIO, log: bool = False, times: Sequence[float] = ()) -> Report:
    moments = iter([*times, *range(100, 200)])
    made = Report(3, log, lambda: next(moments), stream)
    made.begin("kernel")
    return made


def test_a_terminal_shows_one_line_that_goes_away() -> None:
    stream = Terminal()
    shown = report(stream)
    shown.measured(tiled := Placement(), 0.5, 0.5, 1.0)
    shown.drop(tiled, "reason", ())
    shown.close()
    text = stream.getvalue()
    assert "kernel 1 of 3, 1 candidates, best 2.00 times as fast" in text
    assert "\n" not in text and text.endswith("\r\x1b[K")


def test_a_file_gets_no_progress() -> None:
    stream = io.StringIO()
    shown = report(stream)
    shown.measured(Placement(), 0.5, 0.5, 1.0)
    shown.close()
    assert stream.getvalue() == ""


def test_a_terminal_that_is_gone_is_no_error() -> None:
    stream = Terminal()
    shown = report(stream, log=True)
    stream.close()
    shown.drop(Placement(), "reason", ())
    shown.chosen(Outcome(Placement(), 1.0, True, 1))
    shown.close()


def test_a_drop_tells_reason_options_and_commonest_operations() -> None:
    stream = io.StringIO()
    shown = report(stream, log=True)
    shown.drop(Placement({1: 16}, {0: 4, 1: 2}, (1, 0), 1), "crashed", (("ADD", 31), ("MUL", 4)))
    assert stream.getvalue() == (
        "ogive: search: kernel dropped: crashed; "
        "lanes 1:16, upcast 0:4 1:2, order 1 0, parallel 1; ADD 31, MUL 4\n"
    )


def test_a_placement_describes_itself() -> None:
    assert describe(Placement()) == "parallel 0"
