"""A compiled graph bound to memory, and run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from ogive.config import Config
from ogive.devices.buffer import Buffer
from ogive.devices.cpu.native.native_plan import Fault, NativePlan
from ogive.devices.cpu.native.pool import Pool
from ogive.engine.caches.kept_panels import Keeper
from ogive.engine.steps.compiled_graph import CompiledGraph, pool_for

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
