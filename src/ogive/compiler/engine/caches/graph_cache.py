"""Compiled graphs, each compiled once: kept in memory by parametric graph, then on disk."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

from ogive.after_fork import Locked
from ogive.compiler.devices.known_devices import find_device, host
from ogive.compiler.engine.caches.kernels import stored_kernel
from ogive.compiler.engine.execution import Executions
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, Launch
from ogive.compiler.ir.memory import devices_of_graph
from ogive.compiler.ir.node import UOp
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.store.code_records import CodeRecord
from ogive.compiler.store.content_keys import Key
from ogive.compiler.store.disk_cache import Disk, TargetKeys, disk_for
from ogive.compiler.store.records import GraphRecord, LaunchRecord
from ogive.config import Config
from ogive.counters import count
from ogive.errors import LoadError
from ogive.journal import log, show_bytes, since


def _target_keys(sink: UOp, config: Config) -> TargetKeys:
    """The keys of the targets of a parametric graph."""
    return {name: find_device(name).target_key(config) for name in devices_of_graph(sink)}


def load_graph(sink: UOp, config: Config, disk: Disk) -> CompiledGraph | None:
    """The compiled form of a parametric graph, if the disk has it with all its code.

    The code is linked at once, while it could still be compiled instead. Raises `LoadError`.
    """
    stored = disk.find_graph(sink, _target_keys(sink, config), config)
    return None if stored is None else _link(*stored, disk)


def load_graph_at(
    key: Key, fits: Callable[[GraphRecord], bool], config: Config
) -> CompiledGraph | None:
    """The compiled graph that the disk has under a key, if it `fits`."""
    disk = disk_for(config)
    stored = None if disk is None else disk.find_graph_at(key, fits)
    if disk is None or stored is None:
        return None
    try:
        graph = _link(*stored, disk)
    except LoadError:
        return None
    count("schedule_disk_hits")
    return graph


def key_on_disk(sink: UOp, config: Config) -> Key | None:
    """The key under which the disk keeps the compiled form of a parametric graph."""
    disk = disk_for(config)
    return None if disk is None else disk.graph_key(sink, _target_keys(sink, config), config)


def _link(record: GraphRecord, codes: Mapping[Key, CodeRecord], disk: Disk) -> CompiledGraph:
    """A compiled graph out of its record and the code of its kernels. Raises `LoadError`."""
    devices = {
        step.kernel: find_device(record.slots[step.slots[0]].device)
        for step in record.steps
        if isinstance(step, LaunchRecord)
    }
    kernels = [
        stored_kernel(kernel, codes[kernel.code], disk, devices[number])
        for number, kernel in enumerate(record.kernels)
    ]
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


class _Making:
    """The lock of a graph that is being made, for as long as a thread has to do with it.

    Reentrant: what is compiled may, for its part, realize constants.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()


def _key(sink: UOp, config: Config) -> tuple[Any, ...]:
    """The key of a compiled graph: the graph, and all that its code depends on."""
    devices = sink.arg if len(sink.arg) == 1 else dict.fromkeys(sink.arg)
    return (sink, *[find_device(device).target_key(config) for device in devices], config.code_key)


class GraphCache(Locked):
    """Compiled graphs: in memory by parametric graph (interned, so by identity), then on disk."""

    def __init__(self, limit: int = 1024) -> None:
        self._limit = limit
        self._graphs: dict[Any, Executions] = {}
        super().__init__()

    @contextlib.contextmanager
    def bounded_to(self, limit: int) -> Iterator[None]:
        """Inside, no more than `limit` graphs are kept in memory."""
        before, self._limit = self._limit, limit
        try:
            yield
        finally:
            self._limit = before

    def renew_lock(self) -> None:
        """Forget the locks that threads of the parent process held when it forked."""
        super().renew_lock()
        self._making: WeakValueDictionary[Any, _Making] = WeakValueDictionary()

    def has(self, sink: UOp, config: Config) -> bool:
        """Whether a graph is in memory as it is."""
        return _key(sink, config) in self._graphs

    def find(self, sink: UOp, config: Config) -> Executions:
        """The executions of a graph, which is compiled at most once unless the cache is off."""
        start = time.perf_counter()
        key = _key(sink, config)
        if config.schedule_cache:
            executions = self._graphs.get(key)
            if executions is not None:
                count("schedule_hits")
                _log_origin(executions.graph, "found in memory", start, config)
                return executions
            # Of threads that ask for the same new graph, the first makes it.
            with self._lock:
                making = self._making.setdefault(key, _Making())
            with making.lock:
                executions = self._graphs.get(key)
                if executions is None:
                    executions = self._keep(key, self._make(sink, config, start))
                else:
                    count("schedule_hits")
                return executions
        return self._make(sink, config, start)

    def find_known(
        self, sink: UOp, config: Config, in_memory: bool = False
    ) -> Executions | None:
        """The executions of a graph that need not be compiled, or that are `in_memory`; it may
        contain calls."""
        if not config.schedule_cache:
            return None
        start = time.perf_counter()
        key = _key(sink, config)
        executions = self._graphs.get(key)
        if executions is not None:
            count("schedule_hits")
            _log_origin(executions.graph, "found in memory", start, config)
            return executions
        graph = None if in_memory else _load(sink, config)[0]
        if graph is None:
            return None
        _log_origin(graph, "found on disk", start, config)
        return self._keep(key, Executions(graph))

    def keep_under(self, sink: UOp, executions: Executions, config: Config) -> None:
        """Let a compiled graph also be found by another graph that it computes."""
        if not config.schedule_cache:
            return
        self._keep(_key(sink, config), executions)
        disk = disk_for(config)
        if disk is not None:
            from ogive.compiler.engine.caches.compile_graph import graph_entries

            keys = _target_keys(sink, config)
            disk.write(graph_entries(sink, executions.graph, keys, config, disk), config)

    def _make(self, sink: UOp, config: Config, start: float) -> Executions:
        graph, how = self._load_or_compile(sink, config)
        _log_origin(graph, how, start, config)
        return Executions(graph)

    def _keep(self, key: Any, executions: Executions) -> Executions:
        with self._lock:
            executions = self._graphs.setdefault(key, executions)
            while len(self._graphs) > self._limit:
                del self._graphs[next(iter(self._graphs))]
        return executions

    def clear(self) -> None:
        """Forget all compiled graphs in memory. Plans keep theirs."""
        with self._lock:
            self._graphs.clear()
        kept_graphs.clear()

    def _load_or_compile(self, sink: UOp, config: Config) -> tuple[CompiledGraph, str]:
        """A graph, and where it is from."""
        graph, disk = _load(sink, config)
        if graph is not None:
            return graph, "found on disk"
        from ogive.compiler.engine.caches.compile_graph import compile_graph, confirmed_targets

        host().prepare(config)
        graph = compile_graph(sink, confirmed_targets(sink, config), config, disk)
        count("schedules_created")
        return graph, "made"


def _load(sink: UOp, config: Config) -> tuple[CompiledGraph | None, Disk | None]:
    """A graph that is on disk, and the disk, if it can be used."""
    disk = disk_for(config)
    if disk is None:
        return None, None
    try:
        graph = load_graph(sink, config, disk)
    except LoadError:
        return None, None
    if graph is not None:
        count("schedule_disk_hits")
    return graph, disk


def _log_origin(graph: CompiledGraph, how: str, start: float, config: Config) -> None:
    """Log where a compiled graph is from, and what sharing memory saves."""
    if config.logs("schedule"):
        memory = graph.memory(config.planner)
        log(
            "schedule",
            f"{len(graph.steps)} steps {how} in {since(start)}; intermediates share "
            f"{show_bytes(memory.planned)} instead of {show_bytes(memory.logical)}",
        )


graph_cache = GraphCache()
