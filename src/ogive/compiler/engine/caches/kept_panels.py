"""Panels that outlive their run: an operand that has not changed is laid out once.

A step of its own makes a panel (`passes/graph/products/pack_operands.py`). If that step reads
nothing but inputs, the panel follows from what they hold, and can be kept:

    first run                     pack w into memory of the plan    product
    second, w as it was           pack w into memory to keep        product
    later, in other plans too                                       product

What is kept is known by the memory it was made from, the versions that this had, and the kernel
that made it. It is never written to again: an operand that changes gets another panel, so whoever
reads one needs no lock but has to hold it. It goes with the memory that it was made from, with the
next version of that, or when others are used more and there is no room for all.

Memory without a version (borrowed, lent, being written to, an output of a prepared plan) has its
panels made anew in every run, and so has an operand that is another one at each run.
"""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from ogive.after_fork import Locked
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.passes.regions.slots import CallStep, CopyStep
from ogive.config import Config
from ogive.counters import count
from ogive.errors import AllocateError
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.devices.protocol import Fault, Program
    from ogive.compiler.engine.steps.compiled_graph import CompiledGraph

Memories = Sequence[Buffer | None]
"""The memory of a run by slot; None for what is no memory of ours."""


class Panel(NamedTuple):
    """A step of a compiled graph that makes a panel from inputs alone.

    `slot` is the panel's and `words` are those that take its address; `sources` are the slots of
    the inputs, and `layout` stands for what is made of them.
    """

    step: int
    tiles: int
    slot: int
    nbytes: int
    device: str
    sources: tuple[int, ...]
    layout: Hashable
    words: tuple[int, ...]


def find_panels(graph: CompiledGraph) -> tuple[Panel, ...]:
    """The panels of a graph that can be kept.

    A step that runs beside others cannot be left out by itself; one that is worth it never does.
    """
    written = Counter([slot for step in graph.steps for slot in step.written])
    crowd = Counter(graph.levels)
    places: dict[int, list[int]] = {}
    for position, slot in graph.word_slots:
        places.setdefault(slot, []).append(position)
    panels = []
    for number, (level, step) in enumerate(zip(graph.levels, graph.steps, strict=True)):
        if isinstance(step, CopyStep | CallStep) or not isinstance(step.tiles, int):
            continue
        if not graph.device_of(step).is_native:
            continue
        slot, *sources = step.slots
        memory = graph.slots[slot]
        if not memory.panel or slot in graph.outputs:
            continue
        if len(step.written) > 1 or written[slot] > 1 or crowd[level] > 1:
            continue
        if any(graph.slots[source].parameter is None for source in sources):
            continue
        if not graph.stored.isdisjoint(sources) or len(step.fixed) < len(step.variables):
            continue
        layout = (memory.device, step.kernel.record.code, step.tiles, step.fixed)
        words = tuple(places[slot])
        panels.append(
            Panel(
                step=number,
                tiles=step.tiles,
                slot=slot,
                nbytes=memory.nbytes,
                device=memory.device,
                sources=tuple(sources),
                layout=layout,
                words=words,
            )
        )
    return tuple(panels)


class _Origin(NamedTuple):
    """Memory that a panel was made from, as it was then. It is not kept alive."""

    base: weakref.ref[Buffer]
    address: int
    version: int | None


class Kept:
    """A panel, once it has `memory`; before that, an operand that was seen so many times."""

    __slots__ = ("__weakref__", "key", "memory", "origins", "sightings", "used")

    def __init__(self, key: Hashable, origins: Sequence[_Origin]) -> None:
        self.key = key
        self.origins = tuple(origins)
        self.memory: Buffer | None = None
        self.sightings = 0
        self.used = 0

    def is_current(self, sources: Memories) -> bool:
        """Whether it is, or will be, the panel of what `sources` hold now."""
        for (reference, address, version), source in zip(self.origins, sources, strict=True):
            base = reference()
            if source is None or base is None or base.version != version:
                return False
            # What is no view is where it always was.
            if source is not base and (source.base is not base or source.address != address):
                return False
        return True


class PanelCache(Locked):
    """Panels by what they were made from. It alone keeps them, and those who read them just now.

    A panel that is taken out is freed at once, or after the runs that read it. Memory that dies
    takes its panels out without the lock: the collector may come at any time.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, Kept] = {}
        self.ticks = itertools.count(1)
        super().__init__()

    def find(self, layout: Hashable, sources: Memories) -> Kept | None:
        """The panel of what `sources` hold now; None if nobody can tell whether that changes."""
        versions = [None if source is None else source.version for source in sources]
        if None in versions:
            return None
        held = [source for source in sources if source is not None]
        key = (layout, *[source.address for source in held])

        def forget(_: object) -> None:
            self._entries.pop(key, None)

        origins = [
            _Origin(weakref.ref(source.base, forget), source.address, version)
            for source, version in zip(held, versions, strict=True)
        ]
        with self._lock:
            kept = self._entries.get(key)
            if kept is None or not kept.is_current(sources):
                kept = self._entries[key] = Kept(key, origins)
        if kept.memory is not None:
            count("panels_reused")
        return kept

    def keep(self, kept: Kept, memory: Buffer, sources: Memories, most_bytes: int) -> None:
        """Keep what has been made from `sources`, if those are still as they were before.

        What has been used least recently goes until no more than `most_bytes` are kept.
        """
        with self._lock:
            if self._entries.get(kept.key) is not kept or kept.memory is not None:
                return
            if not kept.is_current(sources):
                return
            kept.memory = memory
            kept.used = next(self.ticks)
            others = [other for other in list(self._entries.values()) if other.memory is not None]
            excess = sum(_size(other) for other in others) - most_bytes
            for other in sorted(others, key=lambda other: other.used):
                if excess <= 0:
                    break
                excess -= _size(other)
                self._entries.pop(other.key, None)
        count("panels_kept")

    def clear(self) -> None:
        """Forget all panels."""
        with self._lock:
            self._entries.clear()


def _size(kept: Kept) -> int:
    return 0 if kept.memory is None else kept.memory.nbytes


panel_cache = PanelCache()



class _Made(NamedTuple):
    """A panel that a run makes, to be kept."""

    kept: Kept
    memory: Buffer
    sources: Memories


def _nothing() -> Kept | None:
    return None


class _Place:
    """Where a panel of one native plan lies: `address` is 0 while nobody knows.

    It is made there if it `runs`. What is `kept` is not kept alive.
    """

    __slots__ = ("address", "kept", "panel", "runs")

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.kept: Callable[[], Kept | None] = _nothing
        self.address = 0
        self.runs = True


class Keeper:
    """Lets the runs of one native plan leave out the panels that are kept.

    A run is between `prepare` and `finish`, and no other run of the plan comes in between.
    """

    def __init__(self, panels: Sequence[Panel], native: Program, most_bytes: int) -> None:
        self._native = native
        self._most_bytes = most_bytes
        self._places = [_Place(panel) for panel in panels]
        self._held: list[Kept] = []
        self._made: list[_Made] = []

    @classmethod
    def of(cls, graph: CompiledGraph, native: Program, config: Config) -> Keeper | None:
        """The keeper of a plan of `graph`, if there is anything to keep."""
        if not config.pack_constants or not graph.panels:
            return None
        return cls(graph.panels, native, config.panel_bytes)

    @property
    def nbytes(self) -> int:
        """The bytes of the panels that the last run found or made."""
        kept_now = [kept for place in self._places if (kept := place.kept()) is not None]
        return sum(_size(kept) for kept in kept_now)

    def run(self, execute: Callable[[], Fault | None], memories: Memories) -> Fault | None:
        """Execute the plan, which uses `memories`."""
        self.prepare(memories)
        fault = execute()
        self.finish(fault)
        return fault

    def prepare(self, memories: Memories) -> None:
        """Say for each panel where it lies in this run, and whether it has to be made."""
        held: list[Kept] = []
        self._held, self._made = held, []
        tick = next(panel_cache.ticks)
        for place in self._places:
            sources = [memories[slot] for slot in place.panel.sources]
            kept = place.kept()
            if kept is None or not kept.is_current(sources):
                kept = self._look_up(place, sources)
            memory = None if kept is None else kept.memory
            if kept is None or memory is None:
                own = memories[place.panel.slot]
                memory = self._memory_for(place.panel, kept, sources) or own
                assert memory is not None, "a plan has memory of its own for its panels"
                self._move(place, memory.address, runs=True)
            else:
                kept.used = tick
                held.append(kept)
                if place.runs or place.address != memory.address:
                    self._move(place, memory.address, runs=False)

    def finish(self, fault: Fault | None) -> None:
        """Keep what was made, if the run came to its end."""
        if fault is None:
            for panel in self._made:
                panel_cache.keep(*panel, self._most_bytes)
        self._held, self._made = [], []

    def _look_up(self, place: _Place, sources: Memories) -> Kept | None:
        kept = panel_cache.find(place.panel.layout, sources)
        place.kept = _nothing if kept is None else weakref.ref(kept)
        return kept

    def _memory_for(self, panel: Panel, kept: Kept | None, sources: Memories) -> Buffer | None:
        """Memory for a panel that is worth keeping: the operand was the same before."""
        if kept is None:
            return None
        kept.sightings += 1
        if kept.sightings < 2 or panel.nbytes > self._most_bytes:
            return None
        memory = Buffer(panel.nbytes, panel.device)
        try:
            _ = memory.address
        except AllocateError:
            return None
        self._made.append(_Made(kept, memory, sources))
        return memory

    def _move(self, place: _Place, address: int, runs: bool) -> None:
        place.address = 0  # until all is written: Ctrl-C may come at any line
        for word in place.panel.words:
            self._native.words[word] = address
        self._native.tiles[place.panel.step] = place.panel.tiles if runs else 0
        place.runs = runs
        place.address = address
