"""The compiled graph: a replay program over buffer slots, without any run's memory in it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ogive.config import Config
from ogive.device.target import Target
from ogive.engine.kernels import Kernel, kernel_cache
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.runtime.native import Fault, KernelStep, NativePlan
from ogive.runtime.pool import Pool, default_pool
from ogive.schedule.split import Schedule, Slot, split

GRAIN_WORK = 1 << 15
"""Operations worth handing to another thread."""


@dataclass(frozen=True)
class Launch:
    """One kernel call: which of the graph's slots are its buffers, and how it is shared out."""

    kernel: Kernel
    slots: tuple[int, ...]
    tiles: int
    grain: int


@dataclass(frozen=True, eq=False)
class CompiledGraph:
    """Launches in order, the memory they need, and where the results are."""

    launches: tuple[Launch, ...]
    slots: tuple[Slot, ...]
    outputs: tuple[int, ...]

    def steps(self) -> list[KernelStep]:
        """The native steps, their buffer addresses still zero."""
        return [
            KernelStep(
                launch.kernel.loaded,
                [0] * len(launch.slots),
                launch.tiles,
                launch.grain,
                parallel=launch.tiles > launch.grain,
            )
            for launch in self.launches
        ]

    def word_slots(self) -> list[int]:
        """For each argument word of the native plan, the slot whose address it takes."""
        return [slot for launch in self.launches for slot in launch.slots]


class Replay:
    """A native plan of a compiled graph that runs with other memory each time."""

    def __init__(self, graph: CompiledGraph) -> None:
        self.graph = graph
        self._slots = numpy.array(graph.word_slots(), numpy.int64)
        self._native: NativePlan | None = None
        self._pool: Pool | None = None
        self._lock = threading.Lock()

    def run(self, addresses: Sequence[int], pool: Pool) -> Fault | None:
        """Run over the memory at `addresses`, one per slot."""
        if not self._lock.acquire(blocking=False):
            # Another thread is inside: a plan of our own is cheaper than waiting for its kernels.
            return self._run(NativePlan(self.graph.steps(), pool), addresses)
        try:
            if self._native is None or self._pool is not pool:
                self._native = NativePlan(self.graph.steps(), pool)
                self._pool = pool
            return self._run(self._native, addresses)
        finally:
            self._lock.release()

    def _run(self, native: NativePlan, addresses: Sequence[int]) -> Fault | None:
        if len(self._slots) < 16:
            words = native.words
            for position, slot in enumerate(self._slots.tolist()):
                words[position] = addresses[slot]
        else:
            native.words[:] = numpy.array(addresses, numpy.int64)[self._slots]
        return native.execute()


@functools.lru_cache(maxsize=16)
def _pool_of(threads: int) -> Pool:
    return Pool(threads) if threads else default_pool()


def pool_for(config: Config) -> Pool:
    """The threads that run kernels under a configuration."""
    return _pool_of(config.threads)


def compile_graph(sink: UOp, target: Target, config: Config) -> CompiledGraph:
    """Schedule a parametric graph and compile its kernels."""
    return compile_schedule(split(sink, config), target, config)


def compile_schedule(schedule: Schedule, target: Target, config: Config) -> CompiledGraph:
    """Compile the kernels of a schedule, each distinct region once."""
    launches = []
    for step in schedule.steps:
        kernel = kernel_cache.kernel_for(step.region.graph, target, config)
        slots = tuple([step.slots[slot] for slot in kernel.slots])
        tiles = _constant(kernel.compiled.tiles)
        grain = max(1, GRAIN_WORK // kernel.compiled.work)
        launches.append(Launch(kernel, slots, tiles, grain))
    return CompiledGraph(tuple(launches), schedule.slots, schedule.outputs)


def _constant(node: UOp) -> int:
    assert node.op is Op.CONST
    value: int = node.arg
    return value


class GraphCache:
    """Compiled graphs by parametric graph (interned, so by identity), target and configuration."""

    LIMIT = 1024

    def __init__(self) -> None:
        self._graphs: dict[Any, Replay] = {}
        self._lock = threading.Lock()
        self.created = 0
        self.hits = 0

    def replay_for(self, sink: UOp, target: Target, config: Config) -> Replay:
        """The replay of a graph, compiled at most once unless the cache is off."""
        key = (sink, target.key, config.code_key)
        if config.schedule_cache:
            found = self._graphs.get(key)
            if found is not None:
                self.hits += 1
                return found
        made = Replay(compile_graph(sink, target, config))
        with self._lock:
            self.created += 1
            if config.schedule_cache:
                made = self._graphs.setdefault(key, made)
                while len(self._graphs) > self.LIMIT:
                    del self._graphs[next(iter(self._graphs))]
        return made


graph_cache = GraphCache()
