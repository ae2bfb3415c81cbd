"""How long each step of a plan takes, run by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import Fault, KernelStep, Pool, Program
from ogive.compiler.engine.caches.kernels import Kernel
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, Launch
from ogive.compiler.passes.regions.slots import CallStep, CopyStep
from ogive.named import NamedTuple


class StepTime(NamedTuple):
    """The least time that a kernel, a copy or a call took."""

    step: Kernel | CopyStep | CallStep
    seconds: float

    @property
    def name(self) -> str:
        """The name of the step."""
        return "copy" if isinstance(self.step, CopyStep) else self.step.name


class StepTimer:
    """The steps of a native plan as plans of their own, over the memory that it has now."""

    def __init__(self, graph: CompiledGraph, native: Program, pool: Pool) -> None:
        self._steps = [s.kernel if isinstance(s, Launch) else s for s in graph.steps]
        self._plans: list[Program] = []
        self._devices = [graph.device_of(step) for step in graph.steps]
        for number, step in enumerate(graph.native_steps(pool.threads)):
            first = native.offsets[number]
            given = native.words[first : first + len(step.arguments)].tolist()
            if isinstance(step, KernelStep):
                tiles, threads = int(native.tiles[number]), int(native.threads[number])
                step = step._replace(tiles=tiles, threads=threads, joins=False)
            self._plans.append(host().bind([step._replace(arguments=given)], pool))
        self._best = [float("inf")] * len(self._plans)

    def run(self, times: int = 1) -> Fault | None:
        """Run all steps so many times, in order. Returns the fault that stopped it, if one did."""
        for _ in range(times):
            self.rewind()
            fault = self._run_once()
            if fault is not None:
                return fault
        return None

    def _run_once(self) -> Fault | None:
        for number, plan in enumerate(self._plans):
            start = time.perf_counter()
            fault = plan.execute()
            self._devices[number].record().wait()
            self._best[number] = min(self._best[number], time.perf_counter() - start)
            if fault is not None:
                return fault._replace(step=number)
        return None

    def rewind(self) -> None:
        """Forget how far the last run came."""
        for plan in self._plans:
            plan.rewind()

    def outcome(self, may_end: Callable[[int], bool]) -> Fault | None:
        """How the last run ended: see `Program.outcome`."""
        for number, plan in enumerate(self._plans):
            fault = plan.outcome(partial(_at, may_end, number))
            if fault is not None:
                return fault._replace(step=number)
        return None

    def times(self) -> list[StepTime]:
        """The least time of each step so far."""
        return [StepTime(*pair) for pair in zip(self._steps, self._best, strict=True)]


def _at(may_end: Callable[[int], bool], number: int, _: int) -> bool:
    """Whether all may end before the only step of the plan with that number."""
    return may_end(number)
