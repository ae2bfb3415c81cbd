"""`python -m benchmarks steps`: what a step of a plan costs.

A chain of kernels that cannot fuse, each over 16 numbers that it turns round: a value that is read
in another order must be in memory first. In Ogive it is one plan; in JAX as many
calls of one jitted function. The cost of a further step is the slope between plans of 50 and of
500: it contains the step's kernel, and so is more than what the step adds to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.process import answer_parent, report_of_child
from benchmarks.runner import Settings

SHORT, LONG = 50, 500
NUMBERS = np.arange(16, dtype=np.float32)


def measure_steps(settings: Settings) -> dict[str, Any]:
    """Seconds by number of steps, for Ogive and for JAX."""
    return {
        library: report_of_child(
            "benchmarks.steps",
            [library, str(settings.threads), str(settings.seconds)],
            settings.threads,
            settings.timeout,
        )
        for library in ("ogive", "jax")
    }


def step_cost(reports: dict[str, Any]) -> float | None:
    """Seconds that one more step of a plan takes, its kernel included."""
    report = reports.get("ogive", {})
    if report.get("status") != "ok":
        return None
    return float((report[str(LONG)] - report[str(SHORT)]) / (LONG - SHORT))


def advantage(reports: dict[str, Any]) -> float | None:
    """JAX's time for the shorter chain over Ogive's."""
    own, other = reports.get("ogive", {}), reports.get("jax", {})
    if own.get("status") != "ok" or other.get("status") != "ok":
        return None
    return float(other[str(SHORT)] / own[str(SHORT)])


def ogive_chain(count: int) -> Callable[[], object]:
    """A plan of so many kernels."""
    from ogive import Tensor

    value = Tensor(NUMBERS)
    for _ in range(count):
        value = (value.flip(0) + 1).contiguous()
    plan = value.prepare()
    assert len(plan.kernels) == count, "the kernels must not fuse"
    plan.execute()
    turned = count % 2
    assert value.numpy()[3] == (NUMBERS[-4] if turned else NUMBERS[3]) + count
    return plan.execute


def jax_chain(count: int) -> Callable[[], object]:
    """So many calls of one jitted function."""
    import jax

    function = jax.jit(lambda value: value[::-1] + 1)
    given = jax.numpy.asarray(NUMBERS)

    def call() -> object:
        value = given
        for _ in range(count):
            value = function(value)
        return value.block_until_ready()

    return call


def best_times(chain: Callable[[int], Callable[[], object]], seconds: float) -> dict[str, Any]:
    """The least time of each length, the lengths taking turns."""
    calls = {count: chain(count) for count in (SHORT, LONG)}
    best = dict.fromkeys(calls, float("inf"))
    end = perf_counter() + seconds
    while perf_counter() < end:
        for count, call in calls.items():
            for _ in range(20):
                start = perf_counter()
                call()
                best[count] = min(best[count], perf_counter() - start)
    return {str(count): time for count, time in best.items()}


if __name__ == "__main__":
    chains = {"ogive": ogive_chain, "jax": jax_chain}
    library, threads, seconds = sys.argv[1:]
    answer_parent(int(threads), lambda: best_times(chains[library], float(seconds)))
