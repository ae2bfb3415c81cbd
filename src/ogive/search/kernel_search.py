"""Search placements for all new kernels of one `prepare`, within one time limit.

The most expensive kernels come first. Each has a share of the time by its cost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from ogive.config import Config
from ogive.ir.node import UOp
from ogive.named import record
from ogive.passes.lower.kernel_names import kernel_name
from ogive.passes.lower.tile_work import work_per_tile
from ogive.passes.pipeline.region_passes import loops_of, placement_for
from ogive.passes.place.placement import Placement
from ogive.search.beam import BeamSearch, Limits, Outcome
from ogive.search.placement_actions import Actions
from ogive.search.search_report import Report
from ogive.search.search_result import Result, pack_result, unpack_result
from ogive.search.timing_bench import scratch_bytes
from ogive.search.worker_process import NoWorker, RemoteBench, WorkerProcess
from ogive.store.encoding import CannotEncode, DamagedRecord
from ogive.targets.target import Target

SCRATCH_SHARE = 4
"""A kernel is searched if its buffers take at most 1 / `SCRATCH_SHARE` of the machine's memory,
because the worker allocates them a second time."""


class ResultStore(Protocol):
    """Keeps results by region. It gives only results of this version of the compiler."""

    def get(self, region: UOp) -> bytes | None: ...
    def put(self, region: UOp, result: bytes) -> None: ...


@record(eq=False)
class _Case:
    """A kernel to search: its loops, the regions that lower to them, and their cost together."""

    loops: UOp
    regions: list[UOp]
    cost: int


def _memory() -> int:
    """The bytes of memory of the machine; 8 GiB if the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 1 << 33


@record(frozen=True)
class Means:
    """The means of a search, which tests replace.

    `command` starts a worker, `clock` gives seconds, `memory` gives the machine's memory in bytes,
    and `search_kernel` searches one kernel.
    """

    command: Sequence[str] | None = None
    clock: Callable[[], float] = time.monotonic
    limits: Limits = field(default_factory=Limits)
    memory: Callable[[], int] = _memory
    search_kernel: Callable[[BeamSearch, Placement], Outcome] = BeamSearch.run


def search_placements(
    regions: Mapping[UOp, int],
    target: Target,
    config: Config,
    store: ResultStore,
    means: Means | None = None,
) -> tuple[dict[UOp, Result], int]:
    """The placement of each region, and the number of kernels that were searched.

    `regions` maps each region to how often it runs. Regions with a result in `store` are not
    searched again. The search takes at most `config.beam.seconds`; kernels that it has no time for
    get the heuristics' placement.
    """
    beam = config.beam
    assert beam is not None
    results: dict[UOp, Result] = {}
    for region in regions:
        known = _stored(store, region)
        if known is not None and known.suffices(beam.seconds):
            results[region] = known
    missing = {region: times for region, times in regions.items() if region not in results}
    if not missing:
        return results, 0
    cases = _cases(missing, target, config)
    means = means or Means()
    report = Report(len(cases), config.logs("search"), means.clock)
    deadline = means.clock() + beam.seconds
    remaining_cost = sum(case.cost for case in cases)
    try:
        with WorkerProcess(means.command) as worker:
            for case in cases:
                # Each kernel gets a share of the time left. Later kernels get what it leaves.
                now = means.clock()
                end = now + (deadline - now) * case.cost / remaining_cost
                remaining_cost -= case.cost
                try:
                    outcome = _search(case, target, config, worker, end, report, means)
                except NoWorker as error:
                    report.note(str(error))
                    start = placement_for(case.loops, target, config)
                    results |= dict.fromkeys(case.regions, Result(start, beam.seconds, False))
                    continue
                report.chosen(outcome)
                result = Result(outcome.placement, beam.seconds, outcome.complete, outcome.taken)
                results |= _keep(store, case, result)
    finally:
        report.close()
    return results, len(cases)


def _cases(
    regions: Mapping[UOp, int], target: Target, config: Config
) -> list[_Case]:
    """The distinct kernels of these regions, the most expensive first."""
    cases: dict[UOp, _Case] = {}
    for region, times in regions.items():
        loops = loops_of(region, target, config)
        case = cases.setdefault(loops, _Case(loops, [], 0))
        case.regions.append(region)
        case.cost += times * work_per_tile(loops, target)
    return sorted(cases.values(), key=lambda case: -case.cost)


def _search(
    case: _Case,
    target: Target,
    config: Config,
    worker: WorkerProcess,
    deadline: float,
    report: Report,
    means: Means,
) -> Outcome:
    """Search one kernel until `deadline`. Gives the heuristics' placement if it cannot be measured.
    """
    assert config.beam is not None
    clock = means.clock
    start = placement_for(case.loops, target, config)
    report.begin(kernel_name(case.loops))
    if clock() >= deadline:
        return Outcome(start, 1.0, False, 0)
    if scratch_bytes(case.loops) > means.memory() // SCRATCH_SHARE:
        report.note("the buffers of a kernel are too large to allocate a second time")
        return Outcome(start, 1.0, True, 0)
    try:
        bench = RemoteBench(
            worker, case.loops, target, config.threads, lambda: deadline - clock()
        )
    except CannotEncode as error:
        report.note(f"a kernel cannot be sent to the worker: {error}")
        return Outcome(start, 1.0, True, 0)
    neighbours = Actions.of(case.loops, target).neighbours
    search = BeamSearch(
        bench, neighbours, config.beam.width, deadline, clock, report, means.limits
    )
    return means.search_kernel(search, start)


def _stored(store: ResultStore, region: UOp) -> Result | None:
    data = store.get(region)
    if data is None:
        return None
    try:
        return unpack_result(data)
    except DamagedRecord:
        return None


def _keep(store: ResultStore, case: _Case, result: Result) -> dict[UOp, Result]:
    """Store a result for the regions of a case, and give the result that each region gets.

    If another process stored a sufficient result meanwhile, the region gets that one, so that all
    processes add every sum in the same order.
    """
    chosen: dict[UOp, Result] = {}
    for region in case.regions:
        other = _stored(store, region)
        if other is not None and other.suffices(result.seconds):
            chosen[region] = other
        else:
            store.put(region, pack_result(result))
            chosen[region] = result
    return chosen
