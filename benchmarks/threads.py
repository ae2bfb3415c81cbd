"""`python -m benchmarks threads`: what threads gain, and that they never lose.

An addition of every size from one element to 10⁸, and rows that compute more than they move, with
1, 2, 4, … threads that take turns; and whether results are the same to the last bit for any number
of threads. Only Ogive is measured, in this process, after the machine's speeds were.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.runner import Settings

SIZES = sorted({1, 10**8, *[round(10 ** (half / 2)) for half in range(2, 16)]})
BIT_THREADS = (1, 2, 3, 7, 16)
ROUNDS = 5
LEAST_TURNS = 12
"""Turns that a long call gets at least."""
SLOWER = 1.05
"""Beyond this, and beyond the resolution of the clock, a time is longer than another."""

RESOLUTION = 100e-9


def measure_threads(
    settings: Settings, tell: Callable[[str], None], sizes: list[int] | None = None
) -> dict[str, Any]:
    """Everything this part finds out, as plain data."""
    from ogive.compiler.devices.cpu.host import host_cores
    from ogive.compiler.devices.cpu.machine_speeds import machine_speeds
    from ogive.compiler.devices.cpu.speeds import thread_counts
    from ogive.compiler.engine.steps.compiled_graph import pool_for
    from ogive.config import current_config

    pool_for(current_config())
    start = perf_counter()
    measured = machine_speeds.measure(current_config())
    seconds = perf_counter() - start
    counts = thread_counts(host_cores())
    report: dict[str, Any] = {
        "measured": seconds if measured else None,
        "speeds": dataclasses.asdict(machine_speeds.current()),
        "add": {},
        "rows": {},
    }
    for size in SIZES if sizes is None else sizes:
        tell(f"add {size}")
        report["add"][str(size)] = take_turns(partial(addition, size), counts, settings)
    for name, make in compute_rows(host_cores()).items():
        tell(name)
        report["rows"][name] = take_turns(make, counts, settings)
    tell("bits")
    report["bits"] = {name: same_bits(make) for name, make in bit_rows().items()}
    return report


def take_turns(
    make: Callable[[], Any], counts: tuple[int, ...], settings: Settings
) -> dict[str, Any]:
    """Best and median seconds of one expression by number of threads; what the model chose."""
    from ogive import Config

    plans = {str(count): make().prepare(config=Config(threads=count)) for count in counts}
    return {
        count: {
            "best": min(times),
            "median": statistics.median(times),
            "threads": int(max(plans[count]._native.threads)),
        }
        for count, times in alternate(plans, settings.seconds).items()
    }


def alternate(plans: dict[str, Any], seconds: float) -> dict[str, list[float]]:
    """The times of plans that take turns, for so many seconds in all."""
    samples: dict[str, list[float]] = {name: [] for name in plans}
    for _ in range(ROUNDS):
        for name, plan in plans.items():
            plan.execute()
            end = perf_counter() + seconds / (ROUNDS * len(plans))
            while True:
                start = perf_counter()
                plan.execute()
                samples[name].append(perf_counter() - start)
                if perf_counter() > end:
                    break
    return samples


def call_in_turns(runs: dict[str, Callable[[], Any]], seconds: float) -> dict[str, list[float]]:
    """The times of calls that take turns, one call each."""
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
        run()
    end = perf_counter() + seconds * len(runs)
    while perf_counter() < end or len(samples[next(iter(runs))]) < LEAST_TURNS:
        for name, run in runs.items():
            start = perf_counter()
            run()
            samples[name].append(perf_counter() - start)
    return samples


def slower(cells: dict[str, Any]) -> float:
    """The worst time with several threads over that with one; 1 where none is longer."""
    alone = cells["1"]["best"]
    worst = max(cell["best"] for cell in cells.values())
    return float(worst / alone) if worst > SLOWER * alone + RESOLUTION else 1.0


def gain(cells: dict[str, Any], count: str) -> float:
    """One thread's time over that of `count`."""
    return float(cells["1"]["best"] / cells[count]["best"])


def numbers(*shape: int) -> Any:
    """A tensor of random numbers, the same in every run."""
    from ogive import Tensor

    return Tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))


def addition(size: int) -> Any:
    """The sum of two vectors."""
    return numbers(size) + numbers(size)


def compute_rows(cores: int) -> dict[str, Callable[[], Any]]:
    """Rows that are bound by arithmetic."""
    large = 4096 if cores >= 8 else 2048

    def chain() -> Any:
        value = numbers(1 << 22)
        for _ in range(24):
            value = value * 1.0001 + 0.5
        return value

    return {
        "matmul 512": lambda: numbers(512, 512) @ numbers(512, 512),
        "matmul 1024": lambda: numbers(1024, 1024) @ numbers(1024, 1024),
        f"matmul {large}": lambda: numbers(large, large) @ numbers(large, large),
        "24 multiply-adds, 4M": chain,
        "exp 4M": lambda: numbers(1 << 22).exp(),
        "conv 3×3 64→64 56², batch 8": lambda: numbers(8, 64, 56, 56).conv2d(numbers(64, 64, 3, 3)),
    }


def bit_rows() -> dict[str, Callable[[], Any]]:
    """Rows whose sums could come in another order."""
    return {
        "sum": lambda: numbers(3_000_001).sum(),
        "column sum": lambda: numbers(3001, 777).sum(0),
        "matmul": lambda: numbers(333, 1111) @ numbers(1111, 257),
        "softmax": lambda: numbers(801, 1203).softmax(-1),
        "cumsum": lambda: numbers(333, 2001).cumsum(1),
        "conv": lambda: numbers(2, 16, 61, 57).conv2d(numbers(24, 16, 3, 3)),
    }


def same_bits(make: Callable[[], Any]) -> bool:
    """Whether a result is the same to the last bit for all numbers of threads."""
    from ogive import Config

    results = [make().realize(config=Config(threads=count)).numpy() for count in BIT_THREADS]
    return all(each.tobytes() == results[0].tobytes() for each in results)
