"""How many threads the steps of a graph are worth: decided when a plan is bound to a pool.

What a kernel does is part of its record and the same on every machine; how fast the machine is, is
known to the process. So what is kept on disk never depends on what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import HostSpeeds, Work
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.compiled_graph import Launch, Step


def is_symbolic(step: Launch) -> bool:
    """Whether the tiles of a launch, or the work in one, depend on a variable of the graph."""
    costs = step.kernel.record.costs
    if isinstance(step.tiles, int) and all(isinstance(cost, int) for cost in costs):
        return False
    return not isinstance(step.tiles, int) or len(step.fixed) < len(step.variables)


def launch_work(
    step: Launch, tiles: int, slots: Sequence[Slot], values: Mapping[str, int]
) -> Work:
    """The instructions and bytes of a launch; each byte of a slot counts once."""
    record = step.kernel.record
    given = {**values, **dict(step.fixed)}
    instructions, read, written = [tiles * evaluate(cost, given) for cost in record.costs]
    sizes = [slots[slot].nbytes for slot in step.slots]
    return Work(instructions, min(read, sum(sizes)), min(written, sum(sizes[: record.writes])))


class SymbolicThreads:
    """How many threads launches are worth, by the values of variables.

    It is asked at every run, so lengths between two powers of two are not told apart.
    """

    LIMIT = 1024

    def __init__(
        self,
        launches: Sequence[tuple[int, Launch]],
        slots: Sequence[Slot],
        bounds: Mapping[str, tuple[int, int]],
    ) -> None:
        self._launches = launches
        self._slots = slots
        self._lows = {name: low for name, (low, _) in bounds.items()}
        self._positions = [position for position, _ in launches]
        self._counts: dict[tuple[HostSpeeds, int, tuple[int, ...]], list[int]] = {}

    def at(self, values: Mapping[str, int], most: int) -> tuple[list[int], list[int]]:
        """The positions of the launches, and how many threads each is worth, of `most`."""
        speeds = host().speeds()
        near = {name: max(1 << values[name].bit_length() >> 1, self._lows[name]) for name in values}
        key = (speeds, most, tuple(near.values()))
        counts = self._counts.get(key)
        if counts is None:
            if len(self._counts) >= self.LIMIT:
                self._counts.clear()
            counts = [self._count(step, near, most) for _, step in self._launches]
            self._counts[key] = counts
        return self._positions, counts

    def _count(self, step: Launch, values: Mapping[str, int], most: int) -> int:
        work = launch_work(step, evaluate(step.tiles, values), self._slots, values)
        return host().speeds().thread_count(work, most)


def level_threads(
    steps: Sequence[Step],
    levels: Sequence[int],
    slots: Sequence[Slot],
    bounds: Mapping[str, tuple[int, int]],
    most: int,
) -> dict[int, int]:
    """How many threads each level is worth, of `most`: its steps run side by side.

    Variables have their greatest values here; `SymbolicThreads` knows better once they have others.
    """
    if most == 1:
        return dict.fromkeys(levels, 1)
    greatest = {name: high for name, (_, high) in bounds.items()}
    work: dict[int, Work] = {}
    for level, step in zip(levels, steps, strict=True):
        if isinstance(step, CopyStep | CallStep):
            continue
        own = launch_work(step, evaluate(step.tiles, greatest), slots, greatest)
        before = work.get(level, Work(0, 0, 0))
        work[level] = Work(*map(sum, zip(before, own, strict=True)))
    speeds = host().speeds()
    return {level: speeds.thread_count(own, most) for level, own in work.items()}
