"""Kernels timed, for the search: on scratch memory, with threads of its own, in cold caches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ogive.devices.buffer import Buffer
from ogive.devices.cpu.native.layout import Status
from ogive.devices.cpu.native.native_plan import NativePlan, copy_step
from ogive.devices.cpu.native.pool import Pool
from ogive.devices.protocol import Executable, KernelFault, KernelStep
from ogive.targets.target import Target


class CpuTimer:
    """Threads to run kernels on, and memory to sweep the caches with."""

    def __init__(self, target: Target, threads: int) -> None:
        self._pool = Pool(threads or None)
        self._cache_bytes = target.l2_bytes * self._pool.threads
        self._swept: tuple[Buffer, ...] = ()
        self._sweep: NativePlan | None = None

    @property
    def threads(self) -> int:
        """How many threads run a kernel."""
        return self._pool.threads

    def sweep_between(self, nbytes: int) -> None:
        """From now on, leave nothing of a kernel over `nbytes` in the cores' own caches.

        What fits there is likely to be there when the kernel runs for real, too.
        """
        if nbytes <= self._cache_bytes:
            return
        there, here = self._swept = Buffer(self._cache_bytes), Buffer(self._cache_bytes)
        step = copy_step(there.address, here.address, self._cache_bytes)
        self._sweep = NativePlan([step], self._pool)

    def step(
        self, kernel: Executable, arguments: Sequence[int], tiles: int, grain: int
    ) -> KernelStep:
        """A run of a kernel over some of its tiles."""
        return KernelStep(kernel, arguments, tiles, grain, parallel=tiles > grain)

    def program(self, step: KernelStep, limit: int) -> NativePlan:
        """Something to `run`, which is cut after `limit` nanoseconds."""
        return NativePlan([step], self._pool, limit)

    def run(
        self, program: NativePlan, clock: Callable[[], int] = time.perf_counter_ns
    ) -> int | None:
        """The nanoseconds that a run takes; None if it was cut. Raises `KernelFault`."""
        if self._sweep is not None:
            self._sweep.execute()
        start = clock()
        status = program.execute_once()
        taken = clock() - start
        if status is Status.FAULTED:
            raise KernelFault(0)
        return taken if status is Status.FINISHED else None
