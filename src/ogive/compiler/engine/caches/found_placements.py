"""Placements from searches: in memory, then on disk, then by searching now.

A search chooses placements of axes, kernel by kernel, and between schedules with and without
operands packed into panels, by the times of their kernels.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ogive.after_fork import Locked
from ogive.compiler.ir.node import UOp
from ogive.compiler.store.content_keys import Key, make_key
from ogive.compiler.store.rows import Kind
from ogive.config import Config
from ogive.counters import count
from ogive.journal import log

if TYPE_CHECKING:
    from ogive.compiler.passes.place.placement import Placement
    from ogive.compiler.passes.regions.number_slots import Schedule
    from ogive.compiler.search.search_result import Result
    from ogive.compiler.store.disk_cache import Disk
    from ogive.compiler.targets.findings import Finding
    from ogive.compiler.targets.target import Target

    Search = Callable[
        [Mapping[UOp, int], Target, Config, "_Results"], tuple[dict[UOp, Result], int]
    ]


def placed_key(key: Key, placement: Placement | None) -> Key:
    """The key of a kernel, with its placement if that was searched for.

    Another placement may add in another order and so give other bits.
    """
    if placement is None:
        return key
    from ogive.compiler.search.placement_encoding import pack_placement

    return make_key(b"placed", *key, pack_placement(placement))


class _Results:
    """The results on a disk, by the kernel's key without the search, and by the beam's width."""

    def __init__(self, disk: Disk | None, target: Target, config: Config) -> None:
        assert config.beam is not None
        self._disk = disk
        self._target = target
        self._config = config
        self._plain = dataclasses.replace(config, search=None)
        self._width = b"%d" % config.beam.width

    def _key(self, disk: Disk, region: UOp) -> Key:
        kernel = disk.kernel_key(region, self._target.key, self._plain)
        return make_key(b"search", *kernel, self._width)

    def get(self, region: UOp) -> bytes | None:
        if self._disk is None:
            return None
        key = self._key(self._disk, region)
        return self._disk.store.read(Kind.NOTE, [key]).get(key)

    def put(self, region: UOp, result: bytes) -> None:
        if self._disk is not None:
            # At once: a search takes long, and the process may not come to its end.
            self._disk.write([(Kind.NOTE, self._key(self._disk, region), result)], self._config)


MARGIN = 0.97
"""Another schedule must bring the time of the usual one down to this share of it."""

MORE_KEPT, LESS_KEPT = -0.5, 2.0
"""Other shares for `Fusion.keep_gain`, whose schedules are measured: what the model finds level is
kept, or computed again."""


class PlacementCache(Locked):
    """Results by region, bounded like kernels, first in first out."""

    def __init__(self) -> None:
        self._results: dict[Any, Result] = {}
        self._search: Search | None = None
        super().__init__()

    @contextlib.contextmanager
    def searching_by(self, search: Search) -> Iterator[None]:
        """Inside, `search` searches instead of `search_placements`."""
        before, self._search = self._search, search
        try:
            yield
        finally:
            self._search = before

    def get(self, region: UOp, target: Target, config: Config) -> Placement | None:
        """The placement that a search chose for a region; None for the heuristics' own."""
        result = self._results.get((region, target.key, config.code_key))
        return None if result is None else result.placement

    def time(self, regions: Iterable[UOp], target: Target, config: Config) -> float:
        """The seconds that the kernels of these regions take; infinite if they are not known."""
        total = 0.0
        for region in regions:
            result = self._results.get((region, target.key, config.code_key))
            if result is None or result.taken is None:
                return math.inf
            total += result.taken
        return total

    def search(
        self, regions: Iterable[UOp], target: Target, config: Config, disk: Disk | None
    ) -> None:
        """Make sure of a placement for each region, which stands there as often as it runs."""
        if config.beam is None:
            return
        times = Counter(regions)
        with self._lock:
            for region in list(times):
                if self.get(region, target, config) is not None:
                    del times[region]
            if not times:
                return
            from ogive.compiler.search.kernel_search import search_placements

            search = self._search or search_placements
            results, searched = search(times, target, config, _Results(disk, target, config))
            count("kernels_searched", searched)
            for region, result in results.items():
                self._results[region, target.key, config.code_key] = result
            while len(self._results) > config.kernel_cache_size:
                del self._results[next(iter(self._results))]

    def clear(self) -> None:
        """Forget all results in memory."""
        with self._lock:
            self._results.clear()


placement_cache = PlacementCache()


def schedule_for(sink: UOp, target: Target, config: Config, disk: Disk | None) -> Schedule:
    """The schedule of a graph, and a placement for each of its kernels if they are searched for.

    A search also tries other schedules (`_others`), and takes the one whose kernels take the least
    time.
    """
    from ogive.compiler.passes.pipeline.graph_passes import schedule_graph

    findings: list[Finding] = []
    usual = schedule_graph(sink, target, config, findings=findings)
    if config.logs("search"):
        from ogive.compiler.search.graph.explanation import explain_findings

        for line in explain_findings(findings, config.exactness, lambda _: ()).splitlines():
            log("search", line)
    if config.beam is None:
        return usual
    schedules = {"as the model says": usual}
    for name, other in _others(sink, target, config):
        if _regions(other) not in [_regions(each) for each in schedules.values()]:
            schedules[name] = other
    regions = [region for schedule in schedules.values() for region in _regions(schedule)]
    placement_cache.search(regions, target, config, disk)
    times = {
        name: placement_cache.time(_timed(schedule, target, config), target, config)
        for name, schedule in schedules.items()
    }
    first, *_ = times.values()
    best = min(times, key=lambda name: times[name])
    best = best if times[best] < MARGIN * first < math.inf else next(iter(times))
    if len(schedules) > 1 and config.logs("search"):
        measured = ", ".join([f"{name} {seconds:.3g} s" for name, seconds in times.items()])
        log("search", f"computed {best}; {measured}")
    return schedules[best]


def _others(sink: UOp, target: Target, config: Config) -> Iterator[tuple[str, Schedule]]:
    """Other schedules of a graph, each with its name, that are measured beside the usual one: with
    no operand packed; and, where the graph is searched by measuring, without that search, and with
    more or less kept in memory."""
    from ogive.compiler.passes.pipeline.graph_passes import schedule_graph

    if config.pack_operands:
        plain = dataclasses.replace(config, pack_operands=False)
        yield "with operands where they are", schedule_graph(sink, target, plain)
    if not config.graph_search.measure:
        return
    bounds = dataclasses.replace(config.graph_search, rounds=0)
    greedy = dataclasses.replace(config, search=bounds, exactness="exact")
    yield "without graph search", schedule_graph(sink, target, greedy)
    for name, share in (("with more kept", MORE_KEPT), ("with less kept", LESS_KEPT)):
        costs = target.costs.with_changes(fusion={"keep_gain": share})
        other = dataclasses.replace(target, costs=costs)
        yield name, schedule_graph(sink, other, config)


def _timed(schedule: Schedule, target: Target, config: Config) -> list[UOp]:
    """The kernels of a schedule that every run launches: no panels that are kept."""
    from ogive.compiler.passes.pipeline.graph_passes import is_kept_panel

    return [
        step.region.graph
        for step in schedule.kernels
        if not (config.pack_constants and is_kept_panel(step.region, target))
    ]


def _regions(schedule: Schedule) -> list[UOp]:
    return [step.region.graph for step in schedule.kernels]
