"""`python -m benchmarks sizes`: models whose sizes change with every call, without and with `jit`.

Each model is called with random sizes, one after the other; then, with `generalize` off, a few of
these sizes get kernels of their own. A row says how many graphs were compiled, how many of them
after the second size, and how fast the calls are beside those with kernels of their own.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy

Call = Callable[[Any], Any]
Row = dict[str, float]

CALLS = 8
"""Calls a size, of which the best counts: fewer than give a size kernels of its own."""

COMPARED = 12
"""How many of the sizes get kernels of their own."""


def measure_sizes(count: int, tell: Callable[[str], None]) -> dict[str, Row]:
    """By model: graphs compiled, compiled after the second size, geometric mean and worst speed."""
    ogive = importlib.import_module("ogive")
    library = importlib.import_module("ogive.torch")
    found: dict[str, Row] = {}
    for name, model, shape, bounds in models(library):
        for captured in (False, True):
            row = f"{name}, ogive.jit" if captured else name
            tell(row)
            call = _captured(ogive, library, model) if captured else _plain(library, model)
            found[row] = _measure(ogive, library, call, shape, bounds, count)
    return found


def models(
    library: Any,
) -> Iterator[tuple[str, Call, Callable[[int], tuple[int, ...]], tuple[int, int]]]:
    """Name, model, the shape of an input of some size, and the least and greatest size."""
    nn = library.nn
    yield (
        "MLP 256-1024-1024-10, rows",
        nn.Sequential(
            nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
        ),
        lambda size: (size, 256),
        (2, 512),
    )
    yield (
        "transformer block of 256, tokens",
        nn.TransformerEncoderLayer(256, 4, 1024, 0.0, "gelu", batch_first=True, norm_first=True),
        lambda size: (2, size, 256),
        (8, 512),
    )
    yield (
        "convnet, images",
        nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
        ),
        lambda size: (2, 3, size, size + 7),
        (64, 160),
    )  # fmt: skip


def _plain(library: Any, model: Call) -> Call:
    def call(x: Any) -> Any:
        with library.no_grad():
            return model(x).sum().item()

    return call


def _captured(ogive: Any, library: Any, model: Call) -> Call:
    inner = ogive.jit(lambda x: model(x).sum())

    def call(x: Any) -> Any:
        with library.no_grad():
            return inner(x).item()

    return call


def _measure(
    ogive: Any,
    library: Any,
    call: Call,
    shape: Callable[[int], tuple[int, ...]],
    bounds: tuple[int, int],
    count: int,
) -> Row:
    generator = numpy.random.default_rng(0)
    low, high = [float(numpy.log(bound)) for bound in bounds]
    drawn = numpy.exp(generator.uniform(low, high, count))
    sizes = list(dict.fromkeys([round(float(size)) for size in drawn]))

    def best(size: int) -> float:
        x = library.tensor(generator.random(shape(size)).astype("float32"))
        times = []
        for _ in range(CALLS + 1):
            start = time.perf_counter()
            call(x)
            times.append(time.perf_counter() - start)
        return min(times)

    made, seconds = [], {}
    for size in sizes:
        before = ogive.counters()["schedules_created"]
        seconds[size] = best(size)
        made.append(ogive.counters()["schedules_created"] - before)
    ogive.configure(generalize=False)
    try:
        speeds = [best(size) / seconds[size] for size in sizes[2 : 2 + COMPARED]]
    finally:
        ogive.configure(generalize=True)
    return {
        "sizes": len(sizes),
        "compiled": sum(made),
        "after the second": sum(made[2:]),
        "mean": float(numpy.exp(numpy.log(speeds).mean())),
        "worst": min(speeds),
    }


def sizes_lines(found: dict[str, Row]) -> tuple[list[str], list[list[str]]]:
    """A table: compilations, and the speed of a call beside that with kernels of its own."""
    lines = [
        [
            name,
            f"{row['sizes']:.0f}",
            f"{row['compiled']:.0f}",
            f"{row['after the second']:.0f}",
            f"{row['mean']:.2f}",
            f"{row['worst']:.2f}",
        ]
        for name, row in found.items()
    ]
    return ["random sizes", "sizes", "compiled", "after the second", "speed", "worst"], lines
