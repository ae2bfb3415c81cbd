"""Joins the schedules of several devices over one table of slots.

    before   CPU: f, slots (1, 0)     CPU:1: copy, slots (1, 0), whose parameter 0 is kept by f
    after    f, slots (1, 0); copy, slots (2, 1)

A value that one part keeps for a later one (`passes/graph/divide_by_device.py`) is a parameter of
the later schedule. It becomes the slot that holds it in the earlier schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.divide_by_device import Part
from ogive.compiler.passes.regions.number_slots import Schedule, Step
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot


def join_schedules(schedules: Sequence[Schedule], parts: Sequence[Part], sink: UOp) -> Schedule:
    """The schedule of a parametric graph, from those of its parts. Slots name their devices."""
    devices = {
        node.slot: node.device or DEFAULT_DEVICE
        for node in sink.walk()
        if node.op is Op.PARAM
    }
    joined = _Joining(devices, len(sink.src))
    for part, schedule in zip(parts, schedules, strict=True):
        joined.add(part, schedule)
    return Schedule(tuple(joined.steps), tuple(joined.slots), tuple(joined.outputs))


class _Joining:
    """The joined schedule in the making. `numbers` has the slot of each parameter."""

    def __init__(self, devices: Mapping[int, str], roots: int) -> None:
        self.devices = devices
        self.steps: list[Step | CopyStep | CallStep] = []
        self.slots: list[Slot] = []
        self.outputs = [-1] * roots
        self.numbers: dict[int, int] = {}

    def add(self, part: Part, schedule: Schedule) -> None:
        """Join the schedule of the next part."""
        places = [self._slot(slot, part.device) for slot in schedule.slots]
        for step in schedule.steps:
            slots = tuple([places[slot] for slot in step.slots])
            self.steps.append(step._replace(slots=slots))
        outputs = [places[slot] for slot in schedule.outputs]
        for root, output in zip(part.roots, outputs, strict=False):
            self.outputs[root] = output
        kept: Sequence[int] = outputs[len(part.roots) :]
        self.numbers.update(zip(part.kept, kept, strict=False))

    def _slot(self, slot: Slot, device: str) -> int:
        """The number of a slot in the joined table."""
        parameter = slot.parameter
        if parameter is not None and parameter in self.numbers:
            return self.numbers[parameter]
        number = len(self.slots)
        if parameter is not None:
            self.numbers[parameter] = number
            device = self.devices[parameter]
        self.slots.append(slot._replace(device=device))
        return number
