"""The compiled graph: a replay program over buffer slots, without any run's memory in it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ogive.config import Config
from ogive.device.target import Target
from ogive.engine.kernels import Kernel, kernel_cache
from ogive.ir.evaluate import evaluate
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.runtime.native import Fault, KernelStep, NativePlan
from ogive.runtime.pool import Pool, default_pool
from ogive.schedule.split import Slot, split

GRAIN_WORK = 1 << 15
"""Operations worth handing to another thread."""


@dataclass(frozen=True)
class Launch:
    """One kernel call: which of the graph's slots are its buffers, and how it is shared out.

    `tiles` is an index expression of the graph's variables where the parallel axis is symbolic.
    """

    kernel: Kernel
    slots: tuple[int, ...]
    tiles: int | UOp
    grain: int


@dataclass(frozen=True, eq=False)
class CompiledGraph:
    """Launches in order, the memory they need, and where the results are.

    `variables` has the bounds of each variable by name.
    """

    launches: tuple[Launch, ...]
    slots: tuple[Slot, ...]
    outputs: tuple[int, ...]
    variables: dict[str, tuple[int, int]]

    def steps(self) -> list[KernelStep]:
        """The native steps; addresses, variables and symbolic tile counts are filled in later."""
        return [
            KernelStep(
                launch.kernel.loaded,
                [0] * (len(launch.slots) + len(launch.kernel.variables)),
                launch.tiles if isinstance(launch.tiles, int) else 0,
                launch.grain,
                parallel=not isinstance(launch.tiles, int) or launch.tiles > launch.grain,
            )
            for launch in self.launches
        ]

    @functools.cached_property
    def word_slots(self) -> tuple[tuple[int, int], ...]:
        """The argument words that take an address: (position, slot)."""
        found = []
        position = 0
        for launch in self.launches:
            for slot in launch.slots:
                found.append((position, slot))
                position += 1
            position += len(launch.kernel.variables)
        return tuple(found)

    @functools.cached_property
    def word_variables(self) -> tuple[tuple[int, str], ...]:
        """The argument words that take the value of a variable: (position, name)."""
        found = []
        position = 0
        for launch in self.launches:
            position += len(launch.slots)
            for name in launch.kernel.variables:
                found.append((position, name))
                position += 1
        return tuple(found)

    @functools.cached_property
    def symbolic_tiles(self) -> tuple[tuple[int, UOp], ...]:
        """The launches whose tile count depends on a variable: (position, expression)."""
        return tuple(
            [
                (position, launch.tiles)
                for position, launch in enumerate(self.launches)
                if not isinstance(launch.tiles, int)
            ]
        )

    def set_addresses(self, native: NativePlan, addresses: Sequence[int]) -> None:
        """Let a native plan of this graph use the memory at `addresses`, one per slot."""
        words = native.words
        for position, slot in self.word_slots:
            words[position] = addresses[slot]

    def set_variables(self, native: NativePlan, values: Mapping[str, int]) -> None:
        """Give the variables of a native plan of this graph their values."""
        for position, name in self.word_variables:
            native.words[position] = values[name]
        for position, expression in self.symbolic_tiles:
            native.tiles[position] = evaluate(expression, values)


class Replay:
    """A native plan of a compiled graph that runs with other memory each time."""

    def __init__(self, graph: CompiledGraph) -> None:
        self.graph = graph
        self._native: NativePlan | None = None
        self._pool: Pool | None = None
        self._lock = threading.Lock()

    def run(
        self, addresses: Sequence[int], variables: Mapping[str, int], pool: Pool
    ) -> Fault | None:
        """Run over the memory at `addresses`, one per slot, with these values of variables."""
        if not self._lock.acquire(blocking=False):
            # Another thread is inside: a plan of our own is cheaper than waiting for its kernels.
            return self._run(NativePlan(self.graph.steps(), pool), addresses, variables)
        try:
            if self._native is None or self._pool is not pool:
                self._native = NativePlan(self.graph.steps(), pool)
                self._pool = pool
            return self._run(self._native, addresses, variables)
        finally:
            self._lock.release()

    def _run(
        self, native: NativePlan, addresses: Sequence[int], variables: Mapping[str, int]
    ) -> Fault | None:
        self.graph.set_addresses(native, addresses)
        if variables:
            self.graph.set_variables(native, variables)
        return native.execute()


@functools.lru_cache(maxsize=16)
def _pool_of(threads: int) -> Pool:
    return Pool(threads) if threads else default_pool()


def pool_for(config: Config) -> Pool:
    """The threads that run kernels under a configuration."""
    return _pool_of(config.threads)


def compile_graph(sink: UOp, target: Target, config: Config) -> CompiledGraph:
    """Schedule a parametric graph and compile its kernels, each distinct region once."""
    schedule = split(sink, target, config)
    launches = []
    for step in schedule.steps:
        kernel = kernel_cache.kernel_for(step.region.graph, target, config)
        slots = tuple([step.slots[slot] for slot in kernel.slots])
        tiles = kernel.compiled.tiles
        grain = max(1, GRAIN_WORK // kernel.compiled.work)
        launches.append(
            Launch(kernel, slots, tiles.arg if tiles.op is Op.CONST else tiles, grain)
        )
    variables = {n.arg[0]: n.arg[1:] for n in sink.walk() if n.op is Op.VARIABLE}
    return CompiledGraph(tuple(launches), schedule.slots, schedule.outputs, variables)


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
