"""Timing of kernels for beam search: on scratch memory, with own threads, with cold caches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.cpu.native.layout import Status
from ogive.compiler.devices.cpu.native.native_plan import NativePlan, copy_step
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.protocol import Executable, KernelFault, KernelStep
from ogive.compiler.targets.target import Target


class CpuTimer:
    """Threads for running kernels, and memory for sweeping the caches."""

    def __init__(self, target: Target, threads: int) -> None:
        self._pool = Pool(threads or None)
        self._cache_bytes = target.l2_bytes * self._pool.threads
        self._swept: tuple[Buffer, ...] = ()
        self._sweep: NativePlan | None = None

    @property
    def threads(self) -> int:
        """The number of threads that run a kernel."""
        return self._pool.threads

    def sweep_between(self, nbytes: int) -> None:
        """From now on, clear the cores' own caches before each run, if they cannot hold `nbytes`.

        Memory that fits there is likely to be there when the kernel runs in a plan, too.
        """
        if nbytes <= self._cache_bytes:
            return
        destination, source = self._swept = Buffer(self._cache_bytes), Buffer(self._cache_bytes)
        step = copy_step(destination.address, source.address, self._cache_bytes)
        self._sweep = NativePlan([step], self._pool)

    def step(
        self, kernel: Executable, arguments: Sequence[int], tiles: int, grain: int
    ) -> KernelStep:
        """A run of a kernel over some of its tiles."""
        return KernelStep(kernel, arguments, tiles, grain, parallel=tiles > grain)

    def program(self, step: KernelStep, limit: int) -> NativePlan:
        """A program for `run` of one step, which is cut short after `limit` nanoseconds."""
        return NativePlan([step], self._pool, limit)

    def run(
        self, program: NativePlan, clock: Callable[[], int] = time.perf_counter_ns
    ) -> int | None:
        """The nanoseconds of a run; None if it was cut short. Raises `KernelFault`."""
        if self._sweep is not None:
            self._sweep.execute()
        start = clock()
        status = program.execute_once()
        taken = clock() - start
        if status is Status.FAULTED:
            raise KernelFault(0)
        return taken if status is Status.FINISHED else None
