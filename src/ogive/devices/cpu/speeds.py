"""How fast a machine is, and what follows: how many threads some work is worth.

The model is small. Work takes as long as its instructions take or as its bytes take to come and go,
whichever is longer; several threads divide the instructions, and the bytes as far as the level of
the memory they are in lets them; and it takes time to share the work out and to wait for the last.
Figures come from measuring (`devices/cpu/speed_measurement.py`) or, before that, from
`usual_speeds`. Nothing here has a say in what is computed, only in who computes it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ogive.devices.protocol import Work
from ogive.named import record
from ogive.store.encoding import DamagedRecord, Reader, Writer

if TYPE_CHECKING:
    from ogive.targets.target import Target

WORTH_A_THREAD = 1.1
"""More threads must be so many times as fast as fewer: the others may have better things to do."""

LEVELS = ("L1", "L2", "L3", "memory")

MOST_SPEED = 10**15
MOST_NANOSECONDS = 10**9
MOST_THREADS = 1 << 12


@record(frozen=True)
class Speeds:
    """How fast a machine is, with one thread and with several.

    `threads` are the numbers of threads that the tables have columns for, from 1 up. `read` and
    `write` have bytes a second by level (L1, L2, L3, memory), all threads together; `instructions`
    is how many vector instructions one thread does in a second. `launch` is what a step of a plan
    costs and `sharing` what it costs to share one out, in nanoseconds.
    """

    caches: tuple[int, ...]
    threads: tuple[int, ...]
    read: tuple[tuple[int, ...], ...]
    write: tuple[tuple[int, ...], ...]
    instructions: int
    launch: int
    sharing: tuple[int, ...]

    def nanoseconds(self, work: Work, column: int) -> float:
        """How long `work` takes with `threads[column]` threads."""
        threads = self.threads[column]
        level = self._level(work.read + work.written, threads)
        computing = work.instructions / (self.instructions * threads)
        moving = work.read / self.read[level][column] + work.written / self.write[level][column]
        return 1e9 * max(computing, moving) + self.launch + self.sharing[column]

    def thread_count(self, work: Work, most: int) -> int:
        """How many threads `work` is worth, of `most`."""
        return thread_count(self, work, most)

    def describe(self) -> Iterator[tuple[str, str]]:
        """The speed in words: labels and texts.

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
        """Where data of that size is when it is used again and again; L1 and L2 are a thread's."""
        first, second, third = self.caches
        if nbytes <= first * threads:
            return 0
        return 1 if nbytes <= second * threads else 2 if nbytes <= third else 3


@functools.lru_cache(maxsize=4096)
def thread_count(speeds: Speeds, work: Work, most: int) -> int:
    """How many threads `work` is worth, of `most`: the fewest that are about as fast as any.

    >>> from ogive.targets.target import describe_cpu
    >>> speeds = usual_speeds(describe_cpu("x86_64-linux-gnu", cores=16))
    >>> [thread_count(speeds, Work(n, 8 * n, 4 * n), 16) for n in (1_000, 1_000_000, 100_000_000)]
    [1, 16, 4]
    """
    columns = [column for column, threads in enumerate(speeds.threads) if threads <= most]
    times = [speeds.nanoseconds(work, column) for column in columns]
    enough = WORTH_A_THREAD * min(times)
    chosen = next(column for column in columns if times[column] <= enough)
    # The greatest number there is a column for stands for all that lies between it and the next.
    return most if chosen == columns[-1] and chosen > 0 else speeds.threads[chosen]


def thread_counts(cores: int) -> tuple[int, ...]:
    """The numbers of threads that are told apart: powers of two, and all.

    >>> thread_counts(12)
    (1, 2, 4, 8, 12)
    """
    return (*[1 << power for power in range(cores.bit_length()) if 1 << power < cores], cores)


def usual_speeds(target: Target) -> Speeds:
    """The speeds assumed of a machine that has not been measured: the costs of the target.

    One thread is taken to be fast, sharing to be slow and memory to serve few: so work is rather
    left to one thread than shared in vain.
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
