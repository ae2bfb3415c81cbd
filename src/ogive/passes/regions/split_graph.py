"""Stage 4: the parametric graph becomes an ordered list of regions over numbered slots.

Slots are the buffers of a run: first the graph's own parameters, then one for every kept value.
A region runs after those whose values it reads; and whoever reads a version of a buffer runs before
the store that makes the next one. Where that cannot be (a kernel reads a buffer both before and
after an assignment), the old version is copied first.

Before that, the graph is rewritten, by passes that each say what they do: complex numbers become
pairs, sums that are too long for one thread become sums of sums, operands become panels, and so on.
After it, regions forget their shapes (`flatten.py`), become one (`merge.py`), or share one graph
(`reroll.py`).
"""

from __future__ import annotations

from ogive.config import Config
from ogive.errors import ScheduleError
from ogive.ir.memory import is_memory, upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.named import NamedTuple
from ogive.passes.fuse.choose_kept import choose
from ogive.passes.graph.keep_computed_shapes import keep_computed_shapes
from ogive.passes.graph.pack_operands import PANELS, pack_operands
from ogive.passes.graph.pick_terms import pick_terms
from ogive.passes.graph.place_scatters import place_scatters
from ogive.passes.graph.reduce_once import reduce_once
from ogive.passes.graph.simplify_values import simplify_values
from ogive.passes.graph.split_complex import split_complex
from ogive.passes.graph.split_reductions import split_reductions
from ogive.passes.graph.split_scans import split_scans
from ogive.passes.regions.cut_regions import HostRegion, Region, cut_region, host_region, storage
from ogive.passes.regions.flatten_regions import flatten
from ogive.passes.regions.merge_regions import merge
from ogive.passes.regions.order_assignments import (
    keep_old_versions,
    order_regions,
    separate_targets,
    separate_versions,
    stage_overlaps,
)
from ogive.passes.regions.reroll_regions import reroll
from ogive.passes.regions.slots import CallStep, CopyStep, Slot
from ogive.targets.target import Target


class Step(NamedTuple):
    """One region and the run's slots that stand for its own."""

    region: Region
    slots: tuple[int, ...]


class Schedule(NamedTuple):
    """What to run, in order, over which memory; `outputs[i]` is the slot of the i-th root."""

    steps: tuple[Step | CopyStep | CallStep, ...]
    slots: tuple[Slot, ...]
    outputs: tuple[int, ...]

    @property
    def kernels(self) -> tuple[Step, ...]:
        """The steps that kernels do."""
        return tuple([step for step in self.steps if isinstance(step, Step)])


def split(sink: UOp, target: Target, config: Config) -> Schedule:
    """Cut a parametric graph into steps."""
    sink = keep_computed_shapes(place_scatters(simplify_values(split_complex(sink))))
    sink = split_reductions(reduce_once(pick_terms(sink), target), target)
    sink = split_scans(sink, target)
    if config.pack_operands:
        sink = pack_operands(sink, target)
    sink = keep_old_versions(separate_versions(separate_targets(sink)))
    staged = stage_overlaps(sink)
    regions = _cut(staged, target, config)
    if regions is None:
        staged = stage_overlaps(sink, everything=True)
        regions = _cut(staged, target, config)
    if regions is None:
        raise ScheduleError("the assignments of this graph cannot be put into an order")
    if config.search is None:
        # What is searched for is one shape's kernel: it is timed over memory of that size.
        flat = [flatten(region, target) for region in regions]
        regions = reroll(merge(flat, staged.src, config.kernel_node_limit))
    table = _SlotTable(staged, target)
    steps: list[Step | CopyStep | CallStep] = []
    for region in regions:
        slots = tuple([table.slot_of(value) for value in region.values])
        if isinstance(region, HostRegion):
            steps.append(_host_step(region, slots))
        elif all(0 not in source.shape for source in region.graph.src[0].src):
            steps.append(Step(region, slots))
    outputs = tuple([table.slot_of(root) for root in staged.src])
    return Schedule(tuple(steps), tuple(table.slots), outputs)


def _host_step(region: HostRegion, slots: tuple[int, ...]) -> CopyStep | CallStep:
    root = region.root
    if root.op is Op.COPY:
        return CopyStep(slots)
    name, outputs, _ = root.arg
    writes = tuple([shape for shape, _ in outputs])
    reads = tuple([source.shape for source in root.src[1:]])
    return CallStep(name, slots, writes, reads)


def _cut(sink: UOp, target: Target, config: Config) -> list[Region | HostRegion] | None:
    choice = choose(sink, target, config)
    kept_set = set(choice.kept)
    regions: list[Region | HostRegion] = []
    called: set[UOp] = set()
    for node in choice.kept:
        if node.op not in (Op.COPY, Op.CUSTOM):
            regions.append(cut_region(node, kept_set, choice.staged, choice.orders.get(node)))
        elif node not in called:
            region = host_region(node)
            called.update(region.roots)
            regions.append(region)
    if any(node.op is Op.ASSIGN for node in choice.kept):
        return order_regions(regions)
    return regions


class _SlotTable:
    """Numbers the memory of a run."""

    def __init__(self, sink: UOp, target: Target) -> None:
        self.kept_bytes = target.costs.packing.kept_bytes
        parameters = sorted(
            [node for node in sink.walk() if node.op is Op.PARAM], key=lambda node: node.arg[0]
        )
        self.slots: list[Slot] = []
        self.numbers: dict[UOp, int] = {}
        for node in parameters:
            self.numbers[node] = len(self.slots)
            self.slots.append(Slot(node.dtype, node.arg[1], node.arg[0]))

    def slot_of(self, value: UOp) -> int:
        """The slot where a value lies: its own, or that of the buffer it is a version of."""
        base = value
        while base not in self.numbers and is_memory(base):
            base = storage(base.src[0])
        if base not in self.numbers:
            self.numbers[base] = len(self.slots)
            count = upper_count(base.shape)
            is_panel = base.op is Op.CONTIGUOUS and base.arg == PANELS
            is_kept = is_panel and count * base.dtype.itemsize >= self.kept_bytes
            self.slots.append(Slot(base.dtype, count, None, is_kept))
        self.numbers[value] = self.numbers[base]
        return self.numbers[value]
