"""`python -m benchmarks programs`: what people write without `jit`, beside PyTorch eager.

Each row is one turn of a loop, written for `torch` and run by it and by `ogive.torch`, which take
turns in one process on one thread. A time is the best of some rounds, after turns enough for
everything to have been compiled.
"""

from __future__ import annotations

import importlib
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from benchmarks.calls import calls_for

LIBRARIES = {"ogive": "ogive.torch", "torch": "torch"}
WARM_TURNS, ROUNDS, SECONDS = 60, 7, 0.04

Turn = Callable[[], Any]


def measure_programs(tell: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Seconds a turn by row and library."""
    importlib.import_module("torch").set_num_threads(1)
    found: dict[str, dict[str, float]] = {}
    programs = {
        name: dict(rows_for(importlib.import_module(module))) for name, module in LIBRARIES.items()
    }
    for row in programs["torch"]:
        tell(row)
        turns = {name: rows[row] for name, rows in programs.items()}
        for turn in turns.values():
            for _ in range(WARM_TURNS):
                turn()
        found[row] = {name: float("inf") for name in turns}
        for _ in range(ROUNDS):
            for name, turn in turns.items():
                found[row][name] = min(found[row][name], _seconds(turn))
    return found


def _seconds(turn: Turn) -> float:
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS or not count:
        turn()
        count += 1
    return spent / count


def rows_for(library: Any) -> Iterator[tuple[str, Turn]]:
    """The rows of issue 14, and single calls, as turns for one library."""
    nn, functional = library.nn, library.nn.functional
    generator = numpy.random.default_rng(0)
    four = library.ones(4)
    yield "(x + 1).sum().item()", lambda: (four + 1).sum().item()

    def thirty() -> Any:
        y = four
        for _ in range(15):
            y = y * 1.01 + 0.5
        return y.sum().item()

    yield "30 operations, one item()", thirty
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )
    optimizer = library.optim.Adam(model.parameters(), lr=1e-3)
    x = library.tensor(generator.random((32, 64)).astype("float32"))
    labels = library.tensor(generator.integers(0, 10, 32))

    def step() -> Any:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    yield "MLP, one step of Adam", step

    def infer(batch: Any) -> Any:
        with library.no_grad():
            return model(batch).tolist()

    yield "MLP, inference and tolist()", lambda: infer(x)
    rows = itertools.cycle(range(5, 32))
    yield "MLP, a new batch size each time", lambda: infer(x[: next(rows)])
    long = library.tensor(generator.random((200, 64)).astype("float32"))
    sizes = itertools.cycle(range(40, 200, 7))

    def attend() -> Any:
        z = long[: next(sizes)]
        return (z @ z.T).softmax(-1).sum().item()

    yield "(z @ z.T).softmax(-1), new sizes", attend
    numbers = itertools.count(1)
    yield "another number each time", lambda: (four * (next(numbers) * 1e-3)).sum().item()
    hundred = library.arange(100)
    yield "perm[i].item()", lambda: hundred[7].item()
    floats = library.zeros(100)

    def assign() -> None:
        floats[3] = 1.5

    yield "x[i] = v", assign
    yield "[float(v) for v in x]", lambda: [float(value) for value in floats]
    cell = nn.LSTM(16, 32)
    states = [(library.zeros(1, 4, 32), library.zeros(1, 4, 32))]
    inputs = library.tensor(generator.random((5, 4, 16)).astype("float32"))

    def carry() -> Any:
        out, (hidden, memory) = cell(inputs, states[0])
        states[0] = hidden.detach(), memory.detach()
        return (out * out).mean().item()

    yield "LSTM, state carried by detach()", carry
    yield from calls_for(library)


def programs_lines(
    found: dict[str, dict[str, float]],
) -> tuple[list[str], list[list[str]]]:
    """A table: microseconds a turn, and how many times PyTorch's that is."""
    lines = [
        [
            row,
            f"{seconds['torch'] * 1e6:.1f}",
            f"{seconds['ogive'] * 1e6:.1f}",
            f"{seconds['ogive'] / seconds['torch']:.1f}",
        ]
        for row, seconds in found.items()
    ]
    return ["a turn of a loop, µs", "torch", "ogive", "ogive ÷ torch"], lines
