"""Which steps of a compiled graph may run side by side.

Steps run level by level. A step that is large enough to be shared out over threads by itself, or
that Python does, has a level to itself; small kernels that do not depend on each other share one,
as far as that is worth waking threads and costs no memory:

    before   a1 b1 a2 b2 a3 b3          each bi reads its ai
    after    a1 a2 a3 │ b1 b2 b3        two levels

A step depends on another if one of them writes what the other reads or writes. Memory is planned
over levels (`devices/memory_planner.py`), so values that are needed in one level never share any of
it: that two steps of a level touch different slots is enough for them to touch different bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.memory_planner import Life, largest_live_set
from ogive.compiler.engine.steps.step_order import order_for_memory
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.compiled_graph import Step
    from ogive.compiler.targets.thread_costs import Sharing


class Arrangement(NamedTuple):
    """Steps in the order in which they run: `order` has their positions, `levels` their levels."""

    order: tuple[int, ...]
    levels: tuple[int, ...]


def arrange(
    steps: Sequence[Step], slots: Sequence[Slot], outputs: Sequence[int], costs: Sharing
) -> Arrangement:
    """Levels for `steps`, which are in an order that is right when each is a level."""
    one_by_one = _order(steps, slots, outputs)
    ordered = [steps[position] for position in one_by_one.order]
    groups = _group(ordered, slots, costs)
    if all(len(group.members) == 1 or group.work < costs.level_work for group in groups):
        return one_by_one
    order, levels = _levels(groups, costs)
    in_levels = Arrangement(tuple([one_by_one.order[position] for position in order]), levels)
    allowed = _most_memory(steps, slots, outputs, one_by_one) + costs.level_memory
    return in_levels if _most_memory(steps, slots, outputs, in_levels) <= allowed else one_by_one


def _order(steps: Sequence[Step], slots: Sequence[Slot], outputs: Sequence[int]) -> Arrangement:
    """Steps one by one: as they are, unless another order takes less memory."""
    numbers = tuple(range(len(steps)))
    given = Arrangement(numbers, numbers)
    frugal = Arrangement(order_for_memory(steps, slots, left_out_of(slots, outputs)), numbers)
    if frugal.order == given.order:
        return given
    needed = [_most_memory(steps, slots, outputs, each) for each in (given, frugal)]
    return frugal if needed[1] < needed[0] else given


def lives_of(
    steps: Sequence[Step], levels: Sequence[int], slots: Sequence[Slot], left_out: Mapping[int, str]
) -> dict[int, Life]:
    """The lives of all slots that are not left out. `steps` are in the order of their `levels`."""
    needed: dict[int, tuple[int, int]] = {}
    for level, step in zip(levels, steps, strict=True):
        for slot in step.slots:
            needed[slot] = (needed.get(slot, (level, level))[0], level)
    return {
        number: Life(slot.nbytes, *needed.get(number, (0, 0)))
        for number, slot in enumerate(slots)
        if number not in left_out
    }


def left_out_of(slots: Sequence[Slot], outputs: Sequence[int]) -> dict[int, str]:
    """The slots that are not the planner's, with the reason."""
    given = set(outputs)
    return {
        number: "an input" if slot.parameter is not None else "an output"
        for number, slot in enumerate(slots)
        if slot.parameter is not None or number in given
    }


class _Group:
    """Steps that may run side by side. `kind` is None for one that runs alone."""

    def __init__(self, kind: str | None) -> None:
        self.kind = kind
        self.members: list[int] = []
        self.work = 0


def _group(steps: Sequence[Step], slots: Sequence[Slot], costs: Sharing) -> list[_Group]:
    """Each small kernel in the first group that it may join."""
    groups: list[_Group] = []
    written: dict[int, int] = {}  # the last group that writes a slot, or uses it
    used: dict[int, int] = {}
    barrier = 0
    for position, step in enumerate(steps):
        own = step.written
        first = max(
            barrier,
            *[written.get(slot, -1) + 1 for slot in step.slots],
            *[used.get(slot, -1) + 1 for slot in own],
        )
        kind, work = _kind(step, slots, costs)
        if kind is None:
            number = len(groups)
            groups.append(_Group(None))
            if isinstance(step, CopyStep | CallStep):
                barrier = len(groups)
        else:
            number = _find(groups, first, kind, work, costs)
        groups[number].members.append(position)
        groups[number].work += work
        for slot in step.slots:
            used[slot] = max(used.get(slot, -1), number)
        for slot in own:
            written[slot] = number
    return groups


def _kind(step: Step, slots: Sequence[Slot], costs: Sharing) -> tuple[str | None, int]:
    """Which steps may run beside this one, and how many operations it takes.

    What a fault leaves behind must not depend on threads: a kernel that writes to an input cannot
    fault, and runs beside others of its kind alone.
    """
    if isinstance(step, CopyStep | CallStep) or not isinstance(step.tiles, int):
        return None, 0
    if not find_device(slots[step.slots[0]].device).is_native:
        return None, 0
    work = step.tiles * step.kernel.record.work
    written = [slots[slot] for slot in step.written]
    if step.tiles > costs.level_calls * step.grain or work > costs.most_level_work:
        return None, 0
    if any(slot.nbytes > costs.level_bytes for slot in written):
        return None, 0
    is_store = any(slot.parameter is not None for slot in written)
    return "store" if is_store else "value", work


def _find(groups: list[_Group], first: int, kind: str, work: int, costs: Sharing) -> int:
    """The first group from `first` on that takes a step, or a new one."""
    for number in range(first, len(groups)):
        group = groups[number]
        if group.kind == kind and group.work + work <= costs.most_level_work:
            return number
    groups.append(_Group(kind))
    return len(groups) - 1


def _levels(groups: Sequence[_Group], costs: Sharing) -> Arrangement:
    """A level for each group; for each step of one that is not worth it."""
    order: list[int] = []
    levels: list[int] = []
    for group in groups:
        together = group.work >= costs.level_work
        for count, position in enumerate(group.members):
            level = levels[-1] + (count == 0 or not together) if levels else 0
            order.append(position)
            levels.append(level)
    return Arrangement(tuple(order), tuple(levels))


def _most_memory(
    steps: Sequence[Step], slots: Sequence[Slot], outputs: Sequence[int], arranged: Arrangement
) -> int:
    ordered = [steps[position] for position in arranged.order]
    lives = lives_of(ordered, arranged.levels, slots, left_out_of(slots, outputs))
    return largest_live_set(list(lives.values()))
