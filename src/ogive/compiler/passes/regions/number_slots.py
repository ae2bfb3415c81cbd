"""Numbers the memory of a run: ordered regions become steps over slots.

    before   x ← f(PARAM 1, PARAM 0)     y ← g(x)                    values in the graph
    after    f: slots (2, 1, 0)          g: slots (3, 2)             outputs (3,)

Slots are the buffers of a run: first the parameters of the graph, then one for every kept value.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.memory import is_kept_once, is_memory, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot
from ogive.compiler.passes.versions.storage import storage
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


class Step(NamedTuple):
    """One region, and the slots of the run that its own slots stand for.

    `when` is a condition on variables under which the step runs; None means always.
    """

    region: Region
    slots: tuple[int, ...]
    when: UOp | None = None

    @property
    def written(self) -> tuple[int, ...]:
        """The slots that the kernel writes."""
        return self.slots[: len(self.region.roots)]

    @property
    def read(self) -> tuple[int, ...]:
        """The slots that the kernel only reads."""
        return self.slots[len(self.region.roots) :]


class Schedule(NamedTuple):
    """The steps to run, in order, and their memory; `outputs[i]` is the slot of the i-th root."""

    steps: tuple[Step | CopyStep | CallStep, ...]
    slots: tuple[Slot, ...]
    outputs: tuple[int, ...]

    @property
    def kernels(self) -> tuple[Step, ...]:
        """The steps that launch kernels."""
        return tuple([step for step in self.steps if isinstance(step, Step)])


def number_slots(
    regions: Sequence[Region | HostRegion], sink: UOp, target: Target
) -> Schedule:
    """The steps that compute the roots of `sink`. A value without elements needs no step."""
    table = _SlotTable(sink, target)
    steps: list[Step | CopyStep | CallStep] = []
    for region in regions:
        slots = tuple([table.slot_of(value) for value in region.values])
        if isinstance(region, HostRegion):
            steps.append(_host_step(region, slots))
        elif all(0 not in source.shape for source in region.graph.roots[0].src):
            steps.append(Step(region, slots))
    outputs = tuple([table.slot_of(root) for root in sink.src])
    return Schedule(tuple(steps), tuple(table.slots), outputs)


def _host_step(region: HostRegion, slots: tuple[int, ...]) -> CopyStep | CallStep:
    root = region.root
    if root.op is Op.COPY:
        return CopyStep(slots)
    writes = tuple([shape for shape, _ in root.outputs])
    reads = tuple([source.shape for source in root.inputs])
    return CallStep(root.name, slots, writes, reads)


class _SlotTable:
    """The table of a run's slots."""

    def __init__(self, sink: UOp, target: Target) -> None:
        self.kept_bytes = target.costs.packing.kept_bytes
        parameters = sorted(
            [node for node in sink.walk() if node.op is Op.PARAM], key=lambda node: node.slot
        )
        self.slots: list[Slot] = []
        self.numbers: dict[UOp, int] = {}
        for node in parameters:
            self.numbers[node] = len(self.slots)
            self.slots.append(Slot(node.dtype, node.size, node.slot))

    def slot_of(self, value: UOp) -> int:
        """The slot of a value: its own, or that of the buffer of which it is a version."""
        base = value
        while base not in self.numbers and is_memory(base):
            base = storage(base.operand)
        if base not in self.numbers:
            self.numbers[base] = len(self.slots)
            count = upper_count(base.shape)
            is_kept = is_kept_once(base) and count * base.dtype.itemsize >= self.kept_bytes
            self.slots.append(Slot(base.dtype, count, None, is_kept))
        self.numbers[value] = self.numbers[base]
        return self.numbers[value]
