"""The search for one `prepare`: all its new kernels within one budget, the most costly first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.lower.kernel_names import kernel_name
from ogive.compiler.passes.lower.tile_work import work_per_tile
from ogive.compiler.passes.pipeline.region_passes import loops_of, placement_for
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.beam import BeamSearch, Limits, Outcome
from ogive.compiler.search.placement_actions import Actions
from ogive.compiler.search.search_report import Report
from ogive.compiler.search.search_result import Result, pack_result, unpack_result
from ogive.compiler.search.timing_bench import scratch_bytes
from ogive.compiler.search.worker_process import NoWorker, RemoteBench, WorkerProcess
from ogive.compiler.store.encoding import CannotEncode, DamagedRecord
from ogive.compiler.targets.target import Target
from ogive.config import Config
from ogive.named import record

SCRATCH_SHARE = 4
"""A kernel is searched if its buffers take at most one part in this many of the memory."""


class ResultStore(Protocol):
    """The storage of results, by region. It returns only results of the same compiler."""

    def get(self, region: UOp) -> bytes | None: ...
    def put(self, region: UOp, result: bytes) -> None: ...


@record(eq=False)
class _Case:
    """A kernel to search: the regions that become the same loops, and their total work."""

    loops: UOp
    regions: list[UOp]
    cost: int


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 1 << 33


@record(frozen=True)
class Means:
    """The means of a search: the `command` that starts a worker, a clock, the bytes of `memory` of
    the machine, and the search of a single kernel."""

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
    """The result for each region, and the number of kernels that were searched.

    `regions` has how often each region runs. Results in `store` are not searched again. The search
    ends `config.beam.seconds` after it began; kernels that it did not reach get the heuristic
    placement.
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
    left = sum(case.cost for case in cases)
    try:
        with WorkerProcess(means.command) as worker:
            for case in cases:
                # Its share of the remaining time. What it does not need goes to the others.
                now = means.clock()
                end = now + (deadline - now) * case.cost / left
                left -= case.cost
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
    assert config.beam is not None
    clock = means.clock
    start = placement_for(case.loops, target, config)
    report.begin(kernel_name(case.loops))
    if clock() >= deadline:
        return Outcome(start, 1.0, False, 0)
    if scratch_bytes(case.loops) > means.memory() // SCRATCH_SHARE:
        report.note("the buffers of a kernel are too large to have a second time")
        return Outcome(start, 1.0, True, 0)
    try:
        bench = RemoteBench(
            worker, case.loops, target, config.threads, lambda: deadline - clock()
        )
    except CannotEncode as error:
        report.note(f"a kernel cannot be sent to a worker: {error}")
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
    """Store a result, unless another process has stored one as good meanwhile.

    Then that one is used, so that all processes agree on the order of every sum.
    """
    chosen: dict[UOp, Result] = {}
    for region in case.regions:
        theirs = _stored(store, region)
        if theirs is not None and theirs.suffices(result.seconds):
            chosen[region] = theirs
        else:
            store.put(region, pack_result(result))
            chosen[region] = result
    return chosen
