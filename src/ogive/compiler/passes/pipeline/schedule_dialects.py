"""Dialects between a graph and its steps: the choice of kept values, regions, the schedule."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.passes.fuse.choice import Choice
from ogive.compiler.passes.graph.divide_by_device import Part
from ogive.compiler.passes.pipeline.graph_dialects import PARAMETRIC, REGION
from ogive.compiler.passes.pipeline.pass_runner import Dialect, expect
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.passes.regions.number_slots import Schedule
from ogive.compiler.passes.regions.order_assignments import dependencies

Regions = Sequence[Region | HostRegion]


def _check_choice(choice: Choice) -> None:
    kept = set(choice.kept)
    order = [node for node in walk(tuple(choice.kept)) if node in kept]
    expect(KEPT, order == choice.kept, "each kept value once, after those it is computed from")
    expect(KEPT, kept.isdisjoint(choice.staged), "values that are kept or staged, not both")
    for node, axis in choice.staged.items():
        expect(KEPT, 0 <= axis < len(node.shape), "an axis of {} to stage, not {}", node, axis)
    for node, axes in choice.orders.items():
        is_order = sorted(axes) == list(range(len(node.shape)))
        expect(KEPT, is_order, "an order of the axes of {}, not {}", node, axes)


def _check_regions(regions: Regions) -> None:
    for region in regions:
        if isinstance(region, Region):
            _check_region(region)


def _check_region(region: Region) -> None:
    REGION.check(region.graph)
    nodes = region.graph.walk()
    slots = {node.slot for node in nodes if node.op is Op.PARAM}
    whole = slots == set(range(len(region.values)))
    expect(CUT, whole, "{} slots, each used, not {}", len(region.values), sorted(slots))
    written = [_slot(store.target) for store in region.graph.src]
    in_order = written == list(range(len(region.roots)))
    expect(CUT, in_order, "{} stores, to the first slots, not {}", len(region.roots), written)


def _slot(target: UOp) -> int:
    while target.op is not Op.PARAM:
        target = target.operand
    return target.slot


def _check_ordered(regions: Regions | None) -> None:
    if regions is None:
        return
    _check_regions(regions)
    for position, (reads, overwrites) in enumerate(dependencies(regions)):
        late = [later for later in reads | overwrites if later > position]
        expect(ORDERED, not late, "region {} after {}, whose values it needs", position, late)


def _check_schedule(schedule: Schedule) -> None:
    slots = schedule.slots
    ready = {n for n, slot in enumerate(slots) if slot.parameter is not None or not slot.count}
    for step in schedule.steps:
        there = max(step.slots) < len(slots)
        expect(SCHEDULE, there, "slots below {}, not {}", len(slots), step)
        missing = set(step.read) - ready
        expect(SCHEDULE, not missing, "slots {} to be written before {} reads them", missing, step)
        ready.update(step.written)
    lost = set(schedule.outputs) - ready
    expect(SCHEDULE, not lost, "outputs that a step writes, not slots {}", lost)


def _show_choice(choice: Choice) -> str:
    kept = [f"kept {node!r}" for node in choice.kept]
    staged = [f"staged along axis {axis} {node!r}" for node, axis in choice.staged.items()]
    return "\n".join([*kept, *staged])


def _show_regions(regions: Regions | None) -> str:
    if regions is None:
        return "there is no order"
    return "\n".join(
        [
            repr(region.root) if isinstance(region, HostRegion) else REGION.show(region.graph)
            for region in regions
        ]
    )


def _show_schedule(schedule: Schedule) -> str:
    return "\n".join(
        [f"{type(step).__name__}: slots {step.read} to {step.written}" for step in schedule.steps]
    )


def _check_parts(parts: Sequence[Part]) -> None:
    for part in parts:
        PARAMETRIC.check(part.sink)
        results = len(part.roots) + len(part.kept)
        expect(PARTS, len(part.sink.src) == results, "{} results on {}", results, part.device)


def _check_schedules(schedules: Sequence[Schedule]) -> None:
    for schedule in schedules:
        _check_schedule(schedule)


PARTS = Dialect(
    "parts",
    "parametric graphs of one device each, in the order they run",
    _check_parts,
    lambda parts: "\n".join([f"on {p.device}\n{PARAMETRIC.show(p.sink)}" for p in parts]),
)
KEPT = Dialect(
    "kept", "which values of the graph are kept, and which are staged", _check_choice, _show_choice
)
CUT = Dialect(
    "cut", "regions, and the values that their slots stand for", _check_regions, _show_regions
)
ORDERED = Dialect(
    "ordered", "regions in the order they run, if there is one", _check_ordered, _show_regions
)
SCHEDULES = Dialect(
    "schedules",
    "the schedule of each part",
    _check_schedules,
    lambda schedules: "\n".join([_show_schedule(schedule) for schedule in schedules]),
)
SCHEDULE = Dialect(
    "schedule", "steps over the numbered slots of a run", _check_schedule, _show_schedule
)
