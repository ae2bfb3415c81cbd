"""The compiled graph: a replay program over buffer slots, without any run's memory in it."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from ogive.config import Config
from ogive.counters import count
from ogive.device.buffer import Buffer, poisoned_buffer
from ogive.device.target import Target
from ogive.engine.disk import Disk, disk_for
from ogive.engine.fields import UnknownExpression
from ogive.engine.kernels import Kernel, kernel_cache
from ogive.engine.levels import arrange, left_out_of, lives_of
from ogive.engine.machine import begin_driver, confirmed_target, ensure_driver, target_for
from ogive.engine.panels import Keeper, Panel, find_panels
from ogive.engine.records import GraphRecord, LaunchRecord, pack_graph
from ogive.engine.search import schedule_for
from ogive.engine.speeds import know_speeds
from ogive.engine.store import Entry, Kind
from ogive.engine.threads import SymbolicThreads, is_symbolic, level_threads
from ogive.errors import AllocateError, LoadError
from ogive.ir.evaluate import evaluate
from ogive.ir.kept import kept_graphs
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.variable import names_in
from ogive.journal import log, show_bytes, since
from ogive.named import NamedTuple
from ogive.runtime.native import Fault, HostStep, KernelStep, NativePlan
from ogive.runtime.planner import Life, MemoryPlan, Places, aligned, describe, place
from ogive.runtime.pool import Pool, default_pool
from ogive.schedule.slots import CallStep, CopyStep, Slot


class Launch(NamedTuple):
    """One kernel call: which of the graph's slots are its buffers, and how it is shared out.

    `tiles` is an index expression of the graph's variables where the parallel axis is symbolic.
    `fixed` has the values of the kernel's variables that are the scheduler's own.
    """

    kernel: Kernel
    slots: tuple[int, ...]
    tiles: int | UOp
    grain: int
    fixed: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(
        cls, kernel: Kernel, slots: tuple[int, ...], fixed: tuple[tuple[str, int], ...]
    ) -> Launch:
        """The call of a kernel over `slots`, with tiles that follow from the `fixed` variables."""
        from ogive.codegen.work import grain_of

        given = dict(fixed)
        own = {name: given[name] for name in kernel.variables if name in given}
        tiles = kernel.tiles
        if not isinstance(tiles, int) and names_in(tiles) <= own.keys():
            tiles = evaluate(tiles, own)
        return cls(kernel, slots, tiles, grain_of(kernel.record.work), tuple(own.items()))

    @property
    def variables(self) -> tuple[str, ...]:
        return self.kernel.variables

    @property
    def written(self) -> tuple[int, ...]:
        """The slots that the kernel writes to."""
        return self.slots[: self.kernel.record.writes]

    def __repr__(self) -> str:
        return f"<launch {self.kernel.name}: slots {self.slots}>"


Step = Launch | CopyStep | CallStep


class CompiledGraph:
    """Steps in order, the memory they need, and where the results are.

    `variables` has the bounds of each variable by name. Steps of equal `levels` may run side by
    side; `order` has their positions in the schedule. `offsets` say where slots lie in one block of
    memory, if that is known.
    """

    def __init__(
        self,
        steps: tuple[Step, ...],
        slots: tuple[Slot, ...],
        outputs: tuple[int, ...],
        variables: dict[str, tuple[int, int]],
        levels: tuple[int, ...],
        order: tuple[int, ...],
        offsets: tuple[int, ...] | None = None,
    ) -> None:
        self.steps = steps
        self.slots = slots
        self.outputs = outputs
        self.variables = variables
        self.levels = levels
        self.order = order
        self._places = {} if offsets is None else {"arena": _arena(slots, offsets)}

    @classmethod
    def of(
        cls,
        scheduled: Sequence[Step],
        slots: tuple[Slot, ...],
        outputs: tuple[int, ...],
        variables: dict[str, tuple[int, int]],
    ) -> CompiledGraph:
        """The compiled form of a schedule."""
        order, levels = arrange(scheduled, slots, outputs)
        steps = tuple([scheduled[position] for position in order])
        return cls(steps, slots, outputs, variables, levels, order)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that are kernels."""
        return tuple([step for step in self.steps if isinstance(step, Launch)])

    @functools.cached_property
    def stored(self) -> frozenset[int]:
        """The slots of inputs that steps write to: assignments."""
        written = {slot for step in self.steps for slot in step.written}
        return frozenset(n for n in written if self.slots[n].parameter is not None)

    @functools.cached_property
    def panels(self) -> tuple[Panel, ...]:
        """What need not be computed again while inputs do not change."""
        return find_panels(self)

    def native_plan(self, pool: Pool) -> NativePlan:
        """A native plan of this graph; addresses and variables are filled in later."""
        return NativePlan(self.native_steps(pool.threads), pool)

    def native_steps(self, threads: int) -> list[KernelStep | HostStep]:
        """The native steps for a pool of so many threads, as `native_plan` takes them."""
        made: list[KernelStep | HostStep] = []
        last = -1
        worth = level_threads(self.steps, self.levels, self.slots, self.variables, threads)
        for level, step in zip(self.levels, self.steps, strict=True):
            if isinstance(step, Launch):
                tiles = step.tiles if isinstance(step.tiles, int) else 0
                shared = not isinstance(step.tiles, int) or tiles > step.grain
                values = dict(step.fixed)
                arguments = [0] * len(step.slots)
                arguments += [values.get(name, 0) for name in step.variables]
                made.append(
                    KernelStep(
                        step.kernel.loaded,
                        arguments,
                        tiles,
                        step.grain,
                        worth[level],
                        parallel=shared,
                        joins=level == last,
                        whole=not self.stored.isdisjoint(step.written),
                    )
                )
            else:
                from ogive.engine.host import host_function

                made.append(HostStep(host_function(step, self.slots), [0] * len(step.slots)))
            last = level
        return made

    @functools.cached_property
    def word_slots(self) -> tuple[tuple[int, int], ...]:
        """The argument words that take an address: (position, slot)."""
        found = []
        position = 0
        for step in self.steps:
            for slot in step.slots:
                found.append((position, slot))
                position += 1
            if isinstance(step, Launch):
                position += len(step.variables)
        return tuple(found)

    @functools.cached_property
    def word_variables(self) -> tuple[tuple[int, str], ...]:
        """The argument words that take the value of a variable: (position, name)."""
        found = []
        position = 0
        for step in self.steps:
            position += len(step.slots)
            if isinstance(step, Launch):
                fixed = dict(step.fixed)
                for name in step.variables:
                    if name not in fixed:
                        found.append((position, name))
                    position += 1
        return tuple(found)

    @functools.cached_property
    def symbolic_launches(self) -> tuple[tuple[int, Launch], ...]:
        """The launches whose tiles, or whose work in one, depend on a variable: (position, it)."""
        return tuple(
            [
                (position, step)
                for position, step in enumerate(self.steps)
                if isinstance(step, Launch) and is_symbolic(step)
            ]
        )

    @functools.cached_property
    def _worth(self) -> SymbolicThreads:
        return SymbolicThreads(self.symbolic_launches, self.slots, self.variables)

    @functools.cached_property
    def _left_out(self) -> dict[int, str]:
        return left_out_of(self.slots, self.outputs)

    @functools.cached_property
    def _lives(self) -> dict[int, Life]:
        return lives_of(self.steps, self.levels, self.slots, self._left_out)

    def places(self, mode: str) -> Places:
        """Where the intermediates lie."""
        if mode not in self._places:
            self._places[mode] = place(self._lives, mode)
        return self._places[mode]

    def memory(self, mode: str) -> MemoryPlan:
        """Where the intermediates lie, and what that takes."""
        return describe(self.places(mode), self._lives, self._left_out)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each slot lies in the one block of the default mode; -1 for what does not."""
        places = self.places("arena").places
        return tuple([places.get(number, (0, -1))[1] for number in range(len(self.slots))])

    def allocate(self, inputs: Sequence[Buffer], config: Config) -> list[Buffer]:
        """The memory of one run by slot, given that of the parameters."""
        places, sizes = self.places(config.planner)
        new = poisoned_buffer if config.poison else Buffer
        blocks = [new(size) for size in sizes]
        buffers = []
        for number, slot in enumerate(self.slots):
            if slot.parameter is not None:
                buffers.append(inputs[slot.parameter])
            elif number in places:
                block, offset = places[number]
                buffers.append(blocks[block].view(offset, slot.nbytes))
            else:
                buffers.append(new(slot.nbytes))
        return buffers

    def set_addresses(self, native: NativePlan, addresses: Sequence[int]) -> None:
        """Let a native plan of this graph use the memory at `addresses`, one per slot."""
        words = native.words
        for position, slot in self.word_slots:
            words[position] = addresses[slot]

    def set_variables(self, native: NativePlan, values: Mapping[str, int]) -> None:
        """Give the variables of a native plan of this graph their values."""
        for position, name in self.word_variables:
            native.words[position] = values[name]
        if self.symbolic_launches:
            for position, step in self.symbolic_launches:
                native.tiles[position] = evaluate(step.tiles, values)
            positions, worth = self._worth.at(values, native.pool_threads)
            native.threads[positions] = worth


def _arena(slots: Sequence[Slot], offsets: Sequence[int]) -> Places:
    """The places of slots in one block."""
    places = {number: (0, offset) for number, offset in enumerate(offsets) if offset >= 0}
    ends = [offset + aligned(slots[number].nbytes) for number, (_, offset) in places.items()]
    return Places(places, (max(ends),) if ends else ())


_next_number = itertools.count(1).__next__


class Replay:
    """Native plans of a compiled graph that run with other memory each time.

    `number` is its own. It counts its runs, how many graphs that lead to it were `kept`, and how
    often one was `found`.
    """

    def __init__(self, graph: CompiledGraph) -> None:
        self.graph = graph
        self.number = _next_number()
        self.runs = self.kept = self.found = 0
        self._idle: list[tuple[Pool, NativePlan]] = []

    def take(self, config: Config) -> NativePlan:
        """A plan for this thread alone: an idle one, or a new one.

        That is cheaper than to wait for another thread's kernels. One that is not given back is
        gone, and nobody misses it.
        """
        pool = pool_for(config)
        while self._idle:
            try:
                known, native = self._idle.pop()
            except IndexError:
                break  # another thread was faster
            if known is pool:
                return native
        return self.graph.native_plan(pool)

    def give_back(self, native: NativePlan, config: Config) -> None:
        """Let the next run use a plan that has ended, if there is none idle yet."""
        if not self._idle:
            self._idle.append((pool_for(config), native))

    def run(
        self,
        native: NativePlan,
        buffers: Sequence[Buffer],
        variables: Mapping[str, int],
        config: Config,
    ) -> Fault | None:
        """Run a plan over `buffers`, one per slot, with these values of variables."""
        self.graph.set_addresses(native, [buffer.address for buffer in buffers])
        if variables:
            self.graph.set_variables(native, variables)
        for panel in self.graph.panels:
            native.tiles[panel.step] = panel.tiles  # an earlier run may have left it out
        keeper = Keeper.of(self.graph, native, config)
        return native.execute() if keeper is None else keeper.run(native.execute, buffers)


@functools.lru_cache(maxsize=16)
def _pool_of(threads: int) -> Pool:
    return Pool(threads) if threads else default_pool()


def pool_for(config: Config) -> Pool:
    """The threads that run kernels under a configuration."""
    ensure_driver(config)
    pool = _pool_of(config.threads)
    know_speeds(config, pool)
    return pool


def compile_graph(
    sink: UOp, target: Target, config: Config, disk: Disk | None = None
) -> CompiledGraph:
    """Schedule a parametric graph and compile its kernels, each distinct region once."""
    schedule = schedule_for(sink, target, config, disk)
    entries: list[Entry] = []
    regions = [step.region.graph for step in schedule.kernels]
    kernels = iter(kernel_cache.kernels_for(regions, target, config, disk, entries))
    steps: list[Step] = []
    for step in schedule.steps:
        if isinstance(step, CopyStep | CallStep):
            steps.append(step)
        else:
            kernel = next(kernels)
            steps.append(Launch.of(kernel, kernel.arguments(step.slots), step.region.fixed))
    variables = {n.arg[0]: n.arg[1:] for n in sink.walk() if n.op is Op.VARIABLE}
    graph = CompiledGraph.of(steps, schedule.slots, schedule.outputs, variables)
    _check_memory(graph)
    if disk is not None:
        try:
            payload = pack_graph(_record(graph))
            entries.append((Kind.GRAPH, disk.graph_key(sink, target, config), payload))
        except UnknownExpression:
            pass  # its kernels are kept all the same
        disk.write(entries, config)
    return graph


def _check_memory(graph: CompiledGraph) -> None:
    """Raise `AllocateError` for memory that cannot be addressed, and so not be asked for either."""
    needed = max([slot.nbytes for slot in graph.slots] + [*graph.places("arena").blocks], default=0)
    if needed > sys.maxsize:
        raise AllocateError(
            f"computing this takes a block of {needed:,} bytes, and no more than {sys.maxsize:,} "
            "can be addressed; work on smaller pieces"
        )


def load_graph(sink: UOp, target: Target, config: Config, disk: Disk) -> CompiledGraph | None:
    """The compiled form of a parametric graph, if the disk has it with all its code.

    The code is linked at once, while it could still be compiled instead. Raises `LoadError`.
    """
    found = disk.find_graph(sink, target, config)
    if found is None:
        return None
    record, codes = found
    kernels = [kernel_cache.kernel_of(k, codes[k.code], disk) for k in record.kernels]
    steps = tuple(
        [
            Launch(kernels[step.kernel], step.slots, step.tiles, step.grain, step.fixed)
            if isinstance(step, LaunchRecord)
            else step
            for step in record.steps
        ]
    )
    for kernel in kernels:
        _ = kernel.loaded
    count("kernel_disk_hits", len(kernels))
    rest = (record.outputs, record.variables, record.levels, record.order, record.offsets)
    return CompiledGraph(steps, record.slots, *rest)


def _record(graph: CompiledGraph) -> GraphRecord:
    kernels = list(dict.fromkeys(launch.kernel for launch in graph.launches))
    numbers = {kernel: number for number, kernel in enumerate(kernels)}
    steps = [
        LaunchRecord(numbers[step.kernel], step.slots, step.tiles, step.grain, step.fixed)
        if isinstance(step, Launch)
        else step
        for step in graph.steps
    ]
    return GraphRecord(
        tuple([kernel.record for kernel in kernels]),
        tuple(steps),
        graph.slots,
        graph.outputs,
        graph.variables,
        graph.order,
        graph.levels,
        graph.offsets,
    )


class _Making:
    """The lock of a graph that is being made, for as long as a thread has to do with it.

    Reentrant: what is compiled may, for its part, realize constants.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()


class GraphCache:
    """Compiled graphs: in memory by parametric graph (interned, so by identity), then on disk."""

    LIMIT = 1024

    def __init__(self) -> None:
        self._graphs: dict[Any, Replay] = {}
        self.renew_lock()

    def renew_lock(self) -> None:
        """Forget the locks that threads of the parent process held when it forked."""
        self._lock = threading.Lock()
        self._making: WeakValueDictionary[Any, _Making] = WeakValueDictionary()

    def replay_for(self, sink: UOp, config: Config) -> Replay:
        """The replay of a graph, compiled at most once unless the cache is off."""
        start = time.perf_counter()
        target = target_for(config)
        key = (sink, target.key, config.code_key)
        if config.schedule_cache:
            found = self._graphs.get(key)
            if found is not None:
                count("schedule_hits")
                _tell(found.graph, "found in memory", start, config)
                return found
            # Of threads that ask for the same new graph, the first makes it.
            with self._lock:
                making = self._making.setdefault(key, _Making())
            with making.lock:
                found = self._graphs.get(key)
                if found is None:
                    found = self._keep(key, self._make(sink, target, config, start))
                else:
                    count("schedule_hits")
                return found
        return self._make(sink, target, config, start)

    def _make(self, sink: UOp, target: Target, config: Config, start: float) -> Replay:
        graph, how = self._load_or_compile(sink, target, config)
        _tell(graph, how, start, config)
        return Replay(graph)

    def _keep(self, key: Any, made: Replay) -> Replay:
        with self._lock:
            made = self._graphs.setdefault(key, made)
            while len(self._graphs) > self.LIMIT:
                del self._graphs[next(iter(self._graphs))]
        return made

    def clear(self) -> None:
        """Forget all compiled graphs in memory. Plans keep theirs."""
        with self._lock:
            self._graphs.clear()
        kept_graphs.clear()

    def _load_or_compile(
        self, sink: UOp, target: Target, config: Config
    ) -> tuple[CompiledGraph, str]:
        """A graph, and where it is from."""
        disk = disk_for(config)
        try:
            graph = None if disk is None else load_graph(sink, target, config, disk)
        except LoadError:
            graph = disk = None
        if graph is not None:
            count("schedule_disk_hits")
            return graph, "found on disk"
        begin_driver(config)
        graph = compile_graph(sink, confirmed_target(config), config, disk)
        count("schedules_created")
        return graph, "made"


def _tell(graph: CompiledGraph, how: str, start: float, config: Config) -> None:
    """Log where a compiled graph is from, and what sharing memory saves."""
    if config.logs("schedule"):
        memory = graph.memory(config.planner)
        log(
            "schedule",
            f"{len(graph.steps)} steps {how} in {since(start)}; intermediates share "
            f"{show_bytes(memory.planned)} instead of {show_bytes(memory.logical)}",
        )


graph_cache = GraphCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=graph_cache.renew_lock)
