"""The speed of a machine, from which the number of threads for some work follows.

The model is small. Work takes as long as its instructions or its memory traffic, whichever takes
longer. Several threads divide the instructions, and the traffic as far as its level of memory
allows. Sharing the work and waiting for the last thread take time, too. The figures are measured
(`speed_measurement.py`) or, before that, assumed (`usual_speeds`). They decide which threads
compute, never what is computed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ogive.compiler.devices.protocol import Work
from ogive.compiler.store.encoding import DamagedRecord, Reader, Writer
from ogive.named import record

if TYPE_CHECKING:
    from ogive.compiler.targets.target import Target

WORTH_A_THREAD = 1.1
"""How much faster more threads must be than fewer, since other work may need them."""

LEVELS = ("L1", "L2", "L3", "memory")

MOST_SPEED = 10**15
MOST_NANOSECONDS = 10**9
MOST_THREADS = 1 << 12


@record(frozen=True)
class Speeds:
    """The speed of a machine with one thread and with several.

    `threads` are the numbers of threads for which the tables have columns, from 1 up. `read` and
    `write` are bytes per second by level (L1, L2, L3, memory), of all threads together.
    `instructions` are the vector instructions of one thread per second. `launch` is the cost of a
    step of a plan and `sharing` the cost of sharing one, in nanoseconds.
    """

    caches: tuple[int, ...]
    threads: tuple[int, ...]
    read: tuple[tuple[int, ...], ...]
    write: tuple[tuple[int, ...], ...]
    instructions: int
    launch: int
    sharing: tuple[int, ...]

    def nanoseconds(self, work: Work, column: int) -> float:
        """The time of `work` with `threads[column]` threads."""
        threads = self.threads[column]
        level = self._level(work.read + work.written, threads)
        computing = work.instructions / (self.instructions * threads)
        moving = work.read / self.read[level][column] + work.written / self.write[level][column]
        return 1e9 * max(computing, moving) + self.launch + self.sharing[column]

    def thread_count(self, work: Work, most: int) -> int:
        """The number of threads, up to `most`, that `work` is worth."""
        return thread_count(self, work, most)

    def describe(self) -> Iterator[tuple[str, str]]:
        """The speed in words, as pairs of a label and a text.

        >>> rates = ((10**9, 2 * 10**9),) * 4
        >>> two = Speeds((1, 2, 3), (1, 2), rates, rates, 10**9, 30, (0, 2000))
        >>> dict(two.describe())["reads"]
        'L1 1.0 → 2.0, L2 1.0 → 2.0, L3 1.0 → 2.0, memory 1.0 → 2.0 GB/s'
        """
        yield "threads", f"1 → {self.threads[-1]}"
        for label, table in (("reads", self.read), ("writes", self.write)):
            rates = [
                f"{name} {row[0] / 1e9:.1f} → {row[-1] / 1e9:.1f}"
                for name, row in zip(LEVELS, table, strict=True)
            ]
            yield label, ", ".join(rates) + " GB/s"
        billions = self.instructions / 1e9
        yield "computes", f"{billions:.1f} G vector instructions a second, each thread"
        yield "a step", f"{self.launch} ns"
        shared = zip(self.threads[1:], self.sharing[1:], strict=True)
        costs = [f"{count}: {nanoseconds / 1000:.1f}" for count, nanoseconds in shared]
        yield "sharing it", (", ".join(costs) + " µs") if costs else "one thread, nothing to share"

    def _level(self, nbytes: int, threads: int) -> int:
        """The level that holds memory of that size. Each thread has its own L1 and L2."""
        first, second, third = self.caches
        if nbytes <= first * threads:
            return 0
        return 1 if nbytes <= second * threads else 2 if nbytes <= third else 3


@functools.lru_cache(maxsize=4096)
def thread_count(speeds: Speeds, work: Work, most: int) -> int:
    """The number of threads, up to `most`, that `work` is worth: the fewest that are about best.

    >>> from ogive.compiler.targets.target import describe_cpu
    >>> speeds = usual_speeds(describe_cpu("x86_64-linux-gnu", cores=16))
    >>> [thread_count(speeds, Work(n, 8 * n, 4 * n), 16) for n in (1_000, 1_000_000, 100_000_000)]
    [1, 16, 4]
    """
    columns = [column for column, threads in enumerate(speeds.threads) if threads <= most]
    times = [speeds.nanoseconds(work, column) for column in columns]
    enough = WORTH_A_THREAD * min(times)
    chosen = next(column for column in columns if times[column] <= enough)
    # The greatest column up to `most` stands for all numbers of threads up to the next one.
    return most if chosen == columns[-1] and chosen > 0 else speeds.threads[chosen]


def thread_counts(cores: int) -> tuple[int, ...]:
    """The numbers of threads with columns in tables: powers of two, and all cores.

    >>> thread_counts(12)
    (1, 2, 4, 8, 12)
    """
    return (*[1 << power for power in range(cores.bit_length()) if 1 << power < cores], cores)


def usual_speeds(target: Target) -> Speeds:
    """The speeds assumed for a machine that was not measured, from the costs of its target.

    One thread is assumed to be fast, sharing slow, and memory to serve few threads, so that in
    doubt work stays on one thread.
    """
    threads = thread_counts(target.cores)
    costs = target.costs.memory
    served = (target.cores, target.cores, target.cores, costs.memory_threads)
    speeds = tuple(
        [
            tuple([int(rate * 10**9) * min(count, most) for count in threads])
            for rate, most in zip(costs.rates, served, strict=True)
        ]
    )
    return Speeds(
        caches=(target.l1_bytes, target.l2_bytes, target.l3_bytes),
        threads=threads,
        read=speeds,
        write=speeds,
        instructions=round(1e9 / target.costs.operations.least_nanoseconds),
        launch=round(costs.launch),
        sharing=tuple([0 if n == 1 else _sharing(target, n) for n in threads]),
    )


def _sharing(target: Target, threads: int) -> int:
    costs = target.costs.memory
    return round(costs.sharing + costs.sharing_thread * threads)


def pack_speeds(speeds: Speeds) -> bytes:
    """The figures as bytes."""
    writer = Writer()
    writer.numbers(speeds.caches)
    writer.numbers(speeds.threads)
    for row in (*speeds.read, *speeds.write):
        writer.numbers(row)
    writer.number(speeds.instructions)
    writer.number(speeds.launch)
    writer.numbers(speeds.sharing)
    return writer.finish()


def unpack_speeds(data: bytes) -> Speeds:
    """The figures from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    speeds = Speeds(
        caches=reader.numbers(1, MOST_SPEED),
        threads=(threads := reader.numbers(1, MOST_THREADS)),
        read=tuple([reader.numbers(1, MOST_SPEED) for _ in LEVELS]),
        write=tuple([reader.numbers(1, MOST_SPEED) for _ in LEVELS]),
        instructions=reader.number(1, MOST_SPEED),
        launch=reader.number(0, MOST_NANOSECONDS),
        sharing=reader.numbers(0, MOST_NANOSECONDS),
    )
    reader.finish()
    if len(speeds.caches) != 3 or threads != tuple(sorted({1, *threads})):
        raise DamagedRecord("the figures are not those of a machine")
    if any(len(row) != len(threads) for row in (*speeds.read, *speeds.write, speeds.sharing)):
        raise DamagedRecord("the figures are not for the same numbers of threads")
    return speeds
