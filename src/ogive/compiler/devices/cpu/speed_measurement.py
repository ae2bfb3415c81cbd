"""Measures a machine with kernels of our own, for `speeds.py`.

There are three kernels, compiled like any other: one adds up rows (it only reads), one fills memory
(it only writes), one computes in registers. The first tiles of a kernel access the first part of
its memory, so one kernel over much memory, run over some of its tiles, measures every cache.
"""

from __future__ import annotations

import math
import statistics
import time

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.cpu.speeds import Speeds, thread_counts
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import KernelStep
from ogive.compiler.ir.dtype import float32, void
from ogive.compiler.ir.memory import shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.lower.tile_work import grain_of
from ogive.compiler.targets.target import Target
from ogive.config import Config
from ogive.named import NamedTuple

ROW = 2048
"""Numbers that the reading kernel adds up in one tile: half of the smallest L1 cache."""

CHAIN = 24
"""Multiplications and additions for each number of the working kernel."""

TIMES = 3
"""The least number of measurements of each figure."""

LAUNCHES = 64
SHARED_NANOSECONDS = 40_000
"""The time on one thread of the work that is shared to measure the cost of sharing."""


class Care(NamedTuple):
    """How carefully to measure, and which measurements to believe.

    Each figure is measured for `seconds`, over at most `most_memory` bytes. If two threads take
    more than `least_gain` of the time of one, they did not both run. If a thread gets less than
    `least_cpu_share` of its core, it measures other processes, not the machine.
    """

    seconds: float = 0.008
    most_memory: int = 128 << 20
    least_gain: float = 0.9
    least_cpu_share: float = 0.8


def measure(target: Target, care: Care | None = None) -> Speeds | None:
    """The speeds of this machine; None if other processes take too much of it."""
    pool = Pool(target.cores)
    try:
        return _Bench(target, pool, care or Care()).measure()
    finally:
        pool.set_threads(1)


class _Bench:
    """The kernels, and the memory to run them over."""

    def __init__(self, target: Target, pool: Pool, care: Care) -> None:
        self.pool = pool
        self.care = care
        self.caches = (target.l1_bytes, target.l2_bytes, target.l3_bytes)
        self.threads = thread_counts(target.cores)
        memory = Buffer(min(max(2 * target.l3_bytes, 32 << 20), care.most_memory))
        count = memory.nbytes // float32.itemsize
        self.nbytes = memory.nbytes
        self.reading = _Specimen(_row_sums(count), target, memory)
        self.filling = _Specimen(_filling(count), target, memory)
        self.working = _Specimen(_arithmetic(1 << 16), target, Buffer(0))
        # The system provides memory only when it is first written.
        self.filling.plan(pool, self.filling.tiles).execute()

    def measure(self) -> Speeds | None:
        """All figures; None if the machine is too busy."""
        began = time.perf_counter(), time.thread_time()
        launch = self._launch()
        work = self._tile_nanoseconds()
        elapsed, own = time.perf_counter() - began[0], time.thread_time() - began[1]
        if own < self.care.least_cpu_share * elapsed:
            return None
        sharing = self._sharing(work)
        if sharing is None:
            return None
        return Speeds(
            caches=self.caches,
            threads=self.threads,
            read=self._rates(self.reading, sharing),
            write=self._rates(self.filling, sharing),
            instructions=round(1e9 * self.working.instructions / work),
            launch=launch,
            sharing=sharing,
        )

    def _times(self, plan: NativePlan) -> list[float]:
        """The nanoseconds of several runs of a plan, after one warm-up run."""
        plan.execute()
        times: list[float] = []
        end = time.perf_counter() + self.care.seconds
        while len(times) < TIMES or time.perf_counter() < end:
            start = time.perf_counter_ns()
            plan.execute()
            times.append(time.perf_counter_ns() - start)
        return times

    def _launch(self) -> int:
        """The nanoseconds of a step that does almost nothing."""
        plan = self.working.plan(self.pool, 1, repeats=LAUNCHES)
        return round(min(self._times(plan)) / LAUNCHES)

    def _tile_nanoseconds(self) -> float:
        """The nanoseconds of one tile of the computing kernel."""
        tiles = self.working.tiles
        return min(self._times(self.working.plan(self.pool, tiles))) / tiles

    def _sharing(self, tile: float) -> tuple[int, ...] | None:
        """The time that sharing adds to a thread's part of the work; None if threads did not run.

        It is the first quartile of the runs, since the best may be luck.
        """
        tiles = max(min(round(SHARED_NANOSECONDS / tile), self.working.tiles), 1)
        alone = tile * tiles
        sharing = [0]
        for threads in self.threads[1:]:
            times = self._times(self.working.plan(self.pool, tiles, threads))
            good = statistics.quantiles(times, n=4)[0]
            if threads == 2 and good > self.care.least_gain * alone:
                return None
            sharing.append(max(round(good - alone / threads), sharing[-1]))
        return tuple(sharing)

    def _rates(self, specimen: _Specimen, sharing: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Bytes per second by level and number of threads."""
        first, second, third = self.caches
        rows = []
        for level in range(4):
            row: list[int] = []
            for threads, overhead in zip(self.threads, sharing, strict=True):
                # Work within one thread's L1 is done before another thread begins.
                alone = first // 2 if threads == 1 else second * threads // 2
                nbytes = (alone, second * threads // 2, third // 2, self.nbytes)[level]
                row.append(self._rate(specimen, min(nbytes, self.nbytes), threads, overhead))
            rows.append(tuple(row))
        return tuple(rows)

    def _rate(self, specimen: _Specimen, nbytes: int, threads: int, overhead: int) -> int:
        """Bytes per second of repeated runs over memory of that size."""
        tiles = max(specimen.tiles * nbytes // specimen.nbytes, 1)
        repeats = LAUNCHES if threads == 1 and nbytes < 1 << 20 else 1
        best = min(self._times(specimen.plan(self.pool, tiles, threads, repeats))) / repeats
        touched = tiles * specimen.nbytes // specimen.tiles
        return max(round(1e9 * touched / max(best - overhead, best / 2)), 1)


class _Specimen:
    """A kernel and its buffers, of which `memory` is the largest."""

    def __init__(self, region: UOp, target: Target, memory: Buffer) -> None:
        kernel = compile_region(region, target, Config())
        assert kernel.tiles.op is Op.CONST
        self.loaded = link(assemble(kernel.ir, target), kernel.name)
        self.costs, self.grain = kernel.costs, grain_of(kernel.work, target)
        self.tiles, self.nbytes = int(kernel.tiles.arg), memory.nbytes
        sizes = {n.slot: n.size * n.dtype.itemsize for n in region.walk() if n.op is Op.PARAM}
        self.buffers = [
            memory if sizes[slot] == memory.nbytes else Buffer(sizes[slot])
            for slot in kernel.signature.slots
        ]

    @property
    def instructions(self) -> int:
        """The vector instructions of a tile."""
        count = self.costs[0]
        assert isinstance(count, int)
        return count

    def plan(self, pool: Pool, tiles: int, threads: int = 1, repeats: int = 1) -> NativePlan:
        """A plan that runs the first `tiles` of the kernel, `repeats` times."""
        arguments = [buffer.address for buffer in self.buffers]
        step = KernelStep(self.loaded, arguments, tiles, self.grain, threads)
        return NativePlan([step] * repeats, pool)


def _row_sums(count: int) -> UOp:
    """The sum of each row of `count` numbers."""
    rows = count // ROW
    matrix = UOp(Op.RESHAPE, float32, (_parameter(1, count),), (rows, ROW))
    return _region(UOp(Op.REDUCE_AXES, float32, (matrix,), (Op.ADD, (1,))), (rows, 1))


def _filling(count: int) -> UOp:
    """One number, repeated `count` times."""
    return _region(UOp(Op.EXPAND, float32, (_parameter(1, 1),), (count,)), (count,))


def _arithmetic(count: int) -> UOp:
    """`count` numbers, each multiplied and added to many times."""
    value = _parameter(1, count)
    factor, term = [
        UOp(Op.EXPAND, float32, (_parameter(number, 1),), (count,)) for number in (2, 3)
    ]
    for _ in range(CHAIN):
        value = UOp(Op.ADD, float32, (UOp(Op.MUL, float32, (value, factor)), term))
    return _region(value, (count,))


def _parameter(number: int, count: int) -> UOp:
    return UOp(Op.PARAM, float32, (), (number, count))


def _region(value: UOp, shape: tuple[int, ...]) -> UOp:
    """The region that stores a value."""
    target = shaped(_parameter(0, math.prod(shape)), shape)
    return UOp(Op.SINK, void, (UOp(Op.ASSIGN, void, (target, value)),))
