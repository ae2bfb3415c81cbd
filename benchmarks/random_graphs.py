"""Random graphs of products, sums, functions and movement, and what a search gains of them.

A search must not make a graph slower by the clock, either. So graphs that it changes are measured
as they were and as they became, one call after the other, and the best times are compared. What
looks slower is measured again, for longer and in other memory: others may have disturbed it, and
times depend on where memory lies.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy

from benchmarks.runner import Settings
from benchmarks.threads import call_in_turns

SHORT = (1, 4, 16, 48)
LONG = (16, 48, 128, 512)
MEASURED = 300
SLOWER = 0.95
"""The gain below which a graph counts as slower than it was."""
REPEATS = 3
"""How often a graph that looks slower is measured again."""


def random_tensor(
    random: Random, steps: int = 10, lengths: Sequence[int] = SHORT, is_kept: bool = False
) -> Any:
    """A tensor of two axes, computed in some random steps from random matrices. Those that are kept
    in memory of the library's own are known to stay as they are."""
    import ogive
    from ogive import Tensor

    drawn = numpy.random.default_rng(random.getrandbits(32))

    def matrix(rows: int, columns: int) -> Tensor:
        made = Tensor(drawn.uniform(0.5, 1.5, (rows, columns)).astype(numpy.float32))
        return (made + 0).realize() if is_kept else made

    made = [matrix(random.choice(lengths), random.choice(lengths)) for _ in range(3)]
    for _ in range(steps):
        x = random.choice(made[-4:])
        rows, columns = x.shape
        kind = random.randrange(12)
        if kind < 3:
            made.append(x @ matrix(columns, random.choice(lengths)) / columns)
        elif kind == 3:
            made.append(x * matrix(1, columns) + matrix(rows, 1))
        elif kind == 4:
            made.append((x - matrix(1, columns)) * matrix(1, columns))
        elif kind == 5:
            made.append(random.choice([Tensor.tanh, Tensor.sigmoid, Tensor.relu])(x))
        elif kind == 6:
            made.append(x.softmax(-1))
        elif kind == 7:
            made.append(x.T)
        elif kind == 8:
            same = [other for other in made if other.shape == x.shape]
            made.append(x * random.choice(same) + x * random.choice(same))
        elif kind == 9:
            made.append(x / x.abs().sum(1, keepdim=True))
        elif kind == 10:
            joined = ogive.cat([x, matrix(rows, 4)], dim=1)
            made.append(joined[:, :columns])
        else:
            weight = matrix(columns, 4)
            made.append(x @ weight + x @ matrix(columns, 4))
    return made[-1]


def measure_random_graphs(
    settings: Settings, tell: Callable[[str], None], count: int = MEASURED
) -> dict[str, dict[str, float]]:
    """Best seconds without a search and with `rounding` of so many graphs that it changes."""
    found: dict[str, dict[str, float]] = {}
    seed = 0
    while len(found) < count:
        tell(f"graphs: {len(found)} of {count} random ones")
        measured = _measure_one(seed, settings)
        if measured is not None:
            found[str(seed)] = measured
        seed += 1
    return found


def _measure_one(seed: int, settings: Settings) -> dict[str, float] | None:
    plans = _prepare(seed, settings.threads)
    names = [[kernel.name for kernel in plan.kernels] for plan in plans.values()]
    if names[0] == names[1]:
        return None
    best = _best(plans, settings.seconds / 4)
    for _ in range(REPEATS):
        if best["greedy"] >= SLOWER * best["rounding"]:
            break
        more = _best(_prepare(seed, settings.threads), settings.seconds)
        best = {who: min(seconds, more[who]) for who, seconds in best.items()}
    return best


def _prepare(seed: int, threads: int) -> dict[str, Any]:
    from ogive import Config, Graph

    plain = Config(threads=threads, disk_cache=False)
    configs = {
        "greedy": dataclasses.replace(plain, search=Graph(rounds=0)),
        "rounding": dataclasses.replace(plain, exactness="rounding"),
    }
    return {
        who: random_tensor(Random(seed), lengths=LONG, is_kept=True).prepare(config=config)
        for who, config in configs.items()
    }


def _best(plans: dict[str, Any], seconds: float) -> dict[str, float]:
    calls = {who: plan.execute for who, plan in plans.items()}
    return {who: min(times) for who, times in call_in_turns(calls, seconds).items()}


def summarize(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """How many were measured, how many are slower, and what they gain."""
    gains = [best["greedy"] / best["rounding"] for best in found.values()]
    return {
        "measured": len(gains),
        "slower": sum(gain < SLOWER for gain in gains),
        "least": min(gains),
        "mean": math.exp(sum(map(math.log, gains)) / len(gains)),
    }
