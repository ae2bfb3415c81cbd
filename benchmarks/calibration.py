"""`python -m benchmarks calibration`: what the cost model says beside what is measured.

Random schedules of random graphs, on one thread. The model need not know how long something takes,
but which of two takes longer: so what counts is the correlation of ranks, and the worst factor
between two schedules beside what the model says it is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks.runner import Settings
from benchmarks.threads import numbers

COUNT = 500
LENGTHS = (8, 31, 64, 200, 512, 1000)
LEAST_SECONDS = 2e-6
"""Shorter runs are measured by the clock more than by what they do."""


def measure_calibration(
    settings: Settings, tell: Callable[[str], None], count: int = COUNT
) -> dict[str, Any]:
    """Predicted and measured nanoseconds of each schedule, and how they agree."""
    pairs = []
    for seed in range(count):
        tell(f"calibration: {seed} of {count}")
        pair = measure_one(seed)
        if pair[1] >= LEAST_SECONDS * 1e9:
            pairs.append(pair)
    return {"schedules": len(pairs), **agreement(pairs)}


def measure_one(seed: int) -> tuple[float, float]:
    """What the model says of a random schedule, and the best of some runs."""
    from ogive import Config
    from ogive.compiler.devices.known_devices import host
    from ogive.compiler.engine.parametric import to_parametric
    from ogive.compiler.passes.pipeline.graph_passes import cut_kernels
    from ogive.compiler.search.graph.schedule_times import schedule_time

    config = Config(threads=1, disk_cache=False, pack_constants=False)
    tensor = draw(random.Random(seed))
    target = host().confirmed_target(config)
    kernels = cut_kernels(to_parametric((tensor.node,), config).sink, target, config)
    predicted = schedule_time(kernels, target, {})
    plan = tensor.prepare(config=config)
    return predicted, min(_time(plan) for _ in range(7)) * 1e9


def _time(plan: Any) -> float:
    import time

    start = time.perf_counter()
    plan.execute()
    return time.perf_counter() - start


def draw(chance: random.Random) -> Any:
    """A tensor that takes a few kernels."""
    rows, columns = chance.choice(LENGTHS), chance.choice(LENGTHS)
    x = numbers(rows, columns)
    for _ in range(chance.randrange(1, 4)):
        kind = chance.randrange(8)
        if kind == 0:
            x = x @ numbers(x.shape[1], chance.choice(LENGTHS))
        elif kind == 1:
            x = x.softmax(-1)
        elif kind == 2:
            x = x.T.contiguous()
        elif kind == 3:
            x = (x - x.mean(1, keepdim=True)) * numbers(1, x.shape[1])
        elif kind == 4:
            x = x.tanh().exp()
        elif kind == 5:
            x = x * numbers(*x.shape) + numbers(*x.shape)
        elif kind == 6:
            x = x.sum(0, keepdim=True) + x
        else:
            x = x[1:, :].sigmoid() if x.shape[0] > 8 else x.sqrt()
    return x + 1


def agreement(pairs: list[tuple[float, float]]) -> dict[str, float]:
    """The correlation of ranks, and by how much the ratio of both is off at the worst."""
    predicted, measured = numpy.array(pairs).T
    ranks = [values.argsort().argsort() for values in (predicted, measured)]
    ratios = measured / predicted
    ratios /= numpy.median(ratios)
    within = numpy.maximum(ratios, 1 / ratios)
    return {
        "rank_correlation": float(numpy.corrcoef(*ranks)[0, 1]),
        "worst_factor": float(within.max()),
        "factor_95": float(numpy.quantile(within, 0.95)),
    }
