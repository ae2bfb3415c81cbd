"""A compiled graph bound to memory, and run.

Three faces use it. `realize` runs one once, over new memory, and lets live graphs know; a `Plan`
runs one many times over the same memory; a captured function fills in its arguments at each call.

    compiled graph ── native plan ── bind slots, set variables ── run ── explain a fault

They have the same steps by the same names. Plans that are to fill their memory run first
(`execute_plans_of`); they `read`, or `write` where they assign, and `conclude` that in one step; a
fault is made an error by `explain`.

A run that only reads notes `clock.quiet` before it looks at memory. If the clock went on meanwhile
and somebody wrote to memory that it read (`is_disturbed`), its results count for nothing. A run
that writes to memory of tensors is announced, and concluded in one step (`writes/`).
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.engine.caches.kept_panels import Keeper
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, pool_for
from ogive.compiler.engine.writes.announced_writes import Conclude, Runnable, anywhere, write
from ogive.config import Config
from ogive.journal import logging_time

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.profile import StepTimer


class Execution:
    """A native plan of a compiled graph, for one thread at a time.

    `memories` has the memory of each slot; None for what a captured function fills in by itself.
    `run()` runs it once, and gives the fault that stopped it, if one did. It leaves out the panels
    of operands that have not changed.
    """

    __slots__ = ("_bound", "_plan", "config", "graph", "memories", "native", "panels", "run")

    def __init__(self, graph: CompiledGraph, config: Config, name: str = "") -> None:
        self.graph = graph
        self.config = config
        self.native = graph.native_plan(pool_for(config))
        self.panels = Keeper.of(graph, self.native, config)
        self.memories: list[Buffer | None] = [None] * len(graph.slots)
        self._plan: Runnable = self.native
        self._bound = graph.word_slots
        # No method of ours among these: a cycle would keep the memory until the collector comes.
        run: Callable[[], Fault | None] = self.native.execute
        if self.panels is not None:
            prepare = functools.partial(self.panels.prepare, self.memories)
            run = functools.partial(self.native.execute_between, prepare, self.panels.finish)
            own = {panel.slot for panel in graph.panels}  # their words are the keeper's
            self._bound = tuple([entry for entry in graph.word_slots if entry[1] not in own])
        self.run = logging_time(run, config, f"{name}{len(graph.steps)} steps")

    def bind(self, buffers: Sequence[Buffer]) -> None:
        """Let it use `buffers`, one per slot."""
        self.memories[:] = buffers
        addresses = [buffer.address for buffer in buffers]
        words = self.native.words
        for position, slot in self._bound:
            words[position] = addresses[slot]

    def unbind(self) -> None:
        """Let go of the memory."""
        self.memories[:] = [None] * len(self.memories)

    def set_variables(self, values: Mapping[str, int]) -> None:
        """Give the variables their values."""
        self.graph.set_variables(self.native, values)

    def write(
        self,
        stored: Iterable[Buffer],
        read: Iterable[Buffer],
        conclude: Conclude,
        may_end: Callable[[int], bool] = anywhere,
    ) -> Fault | None:
        """Run it where it writes to `stored`, memory of tensors, and `conclude`.

        `effect_lock` is held, and there was way for it (`make_way`).
        """
        return write(self._plan, stored, read, self.run, conclude, may_end)

    def step_by_step(self, times: int = 1) -> tuple[Execution, StepTimer]:
        """The same over the same memory, each step `times` times by itself, and who takes the time.

        Panels that it made for others to read would not be what those ask for: none is kept.
        """
        from ogive.compiler.engine.steps.profile import StepTimer

        if self.panels is not None:
            self.panels.prepare(self.memories)
        timer = StepTimer(self.graph, self.native, pool_for(self.config))
        timed = copy.copy(self)
        timed._plan = timer
        timed.run = functools.partial(timer.run, times)
        return timed, timer


_next_number = itertools.count(1).__next__


class Executions:
    """The executions of one compiled graph, kept to be used by its next runs.

    `number` is its own. It counts its runs, how many graphs that lead to it were `kept`, and how
    often one was `found`.
    """

    def __init__(self, graph: CompiledGraph) -> None:
        self.graph = graph
        self.number = _next_number()
        self.runs = self.kept = self.found = 0
        self._idle: list[Execution] = []

    def take(self, config: Config) -> Execution:
        """An execution for this thread alone: an idle one, or a new one.

        That is cheaper than to wait for another thread's kernels. One that is not given back is
        gone, and nobody misses it.
        """
        while self._idle:
            try:
                execution = self._idle.pop()
            except IndexError:
                break  # another thread was faster
            if execution.config is config or execution.config == config:
                return execution
        return Execution(self.graph, config)

    def give_back(self, execution: Execution) -> None:
        """Let the next run use an execution that has ended, if there is none idle yet."""
        if not self._idle:
            execution.unbind()
            self._idle.append(execution)
