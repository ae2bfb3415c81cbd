"""Placements from searches: in memory, then on disk, then by searching now.

A search chooses placements of axes, kernel by kernel, and between schedules with and without
operands packed into panels, by the times of their kernels.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ogive.config import Config
from ogive.counters import count
from ogive.ir.node import UOp
from ogive.journal import log
from ogive.store.content_keys import Key, make_key
from ogive.store.rows import Kind

if TYPE_CHECKING:
    from ogive.passes.place.placement import Placement
    from ogive.passes.regions.number_slots import Schedule
    from ogive.search.graph.search_graph import Finding
    from ogive.search.search_result import Result
    from ogive.store.disk_cache import Disk
    from ogive.targets.target import Target

    Search = Callable[
        [Mapping[UOp, int], Target, Config, "_Results"], tuple[dict[UOp, Result], int]
    ]


def placed_key(key: Key, placement: Placement | None) -> Key:
    """The key of a kernel, with its placement if that was searched for.

    Another placement may add in another order and so give other bits.
    """
    if placement is None:
        return key
    from ogive.search.placement_encoding import pack_placement

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
        kernel = disk.kernel_key(region, self._target, self._plain)
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


class PlacementCache:
    """Results by region, bounded like kernels, first in first out."""

    def __init__(self) -> None:
        self._results: dict[Any, Result] = {}
        self._search: Search | None = None
        self.renew_lock()

    @contextlib.contextmanager
    def searching_by(self, search: Search) -> Iterator[None]:
        """Inside, `search` searches instead of `search_placements`."""
        before, self._search = self._search, search
        try:
            yield
        finally:
            self._search = before

    def renew_lock(self) -> None:
        """Forget a lock that a thread of the parent process held when it forked."""
        self._lock = threading.Lock()

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
            from ogive.search.kernel_search import search_placements

            search = self._search or search_placements
            found, searched = search(times, target, config, _Results(disk, target, config))
            count("kernels_searched", searched)
            for region, result in found.items():
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

    A search also tries the schedule in which no operand is packed.
    """
    from ogive.passes.pipeline.graph_passes import schedule_graph

    findings: list[Finding] = []
    usual = schedule_graph(sink, target, config, findings=findings)
    if config.logs("search"):
        from ogive.search.graph.explanation import explain_findings

        for line in explain_findings(findings, config.exactness, lambda _: ()).splitlines():
            log("search", line)
    if config.beam is None:
        return usual
    schedules = [usual]
    if config.pack_operands:
        plain = schedule_graph(sink, target, dataclasses.replace(config, pack_operands=False))
        if _regions(plain) != _regions(usual):
            schedules.append(plain)
    regions = [region for schedule in schedules for region in _regions(schedule)]
    placement_cache.search(regions, target, config, disk)
    times = [placement_cache.time(_regions(schedule), target, config) for schedule in schedules]
    best = schedules[-1] if times[-1] < MARGIN * times[0] < math.inf else usual
    if len(schedules) > 1 and config.logs("search"):
        how = "packed" if best is usual else "read where they are"
        log("search", f"operands are {how}: {times[0]:.3g} s packed, {times[-1]:.3g} s not")
    return best


def _regions(schedule: Schedule) -> list[UOp]:
    return [step.region.graph for step in schedule.kernels]


os.register_at_fork(after_in_child=placement_cache.renew_lock)
