"""`python -m benchmarks sizes`: programs whose sizes change with every call.

Models are called with random sizes, one after the other, without and with `jit`, in a process with
an empty cache: a row says how many graphs were compiled, how many of them after the second size,
and how many by a second process that finds the cache of the first. Families of operations are
called with `jit`. Beside that stands another process, in which every size gets kernels of its own
(`generalize=False`): the two take turns, and the row has the time of the second over that of the
first. Then texts are generated token by token, beside PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy

from benchmarks.process import WorkerProcess
from benchmarks.rows import matches
from benchmarks.size_models import FAMILIES, MODELS, Program
from benchmarks.size_programs import GENERATED

Row = dict[str, float]

CALLS = 10
"""Calls a size in a row, of which the best counts."""

TURNS = 2
"""How often the processes take turns at one size."""

COMPARED = 10
"""How many sizes get kernels of their own."""

BEGINNING = 2
"""Sizes of a family that come first: afterwards it has kernels for all."""

TEXTS = 4
"""Texts that are generated: at first by NumPy, then, as that takes its time, by kernels."""

PATIENCE = 300.0
"""Seconds that one size may take."""


class Processes:
    """The processes that take turns: with general kernels, with own ones, and PyTorch's."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.general = self._start("general")
        self.own = self._start("own", OGIVE_GENERALIZE="0")
        self.torch = self._start("torch")

    def _start(self, name: str, **environment: str) -> WorkerProcess:
        command = [sys.executable, "-m", "benchmarks.size_programs", name]
        process = WorkerProcess(name, 1, self.scratch, command)
        process.environment.update(environment)
        return process

    def second(self) -> WorkerProcess:
        """A new process that finds what the first one left on disk."""
        return self._start("general")

    def close(self) -> None:
        """End all of them."""
        for process in (self.general, self.own, self.torch):
            process.close()


@contextmanager
def processes() -> Iterator[Processes]:
    """New processes, with empty caches."""
    with TemporaryDirectory(prefix="ogive-sizes-") as folder:
        made = Processes(Path(folder))
        try:
            yield made
        finally:
            made.close()


def ask(process: WorkerProcess, program: str, size: int, captured: bool, calls: int) -> Row:
    """What a process needs for one size; raises `RuntimeError` where it fails."""
    reply = process.ask(PATIENCE, program=program, captured=captured, size=size, calls=calls)
    if "seconds" not in reply:
        raise RuntimeError(f"{program} of size {size}: {reply}")
    return reply


def random_sizes(program: Program, count: int) -> list[int]:
    """So many sizes, small ones as likely as large ones; each once."""
    generator = numpy.random.default_rng(0)
    low, high = numpy.log(program.least), numpy.log(program.greatest)
    drawn = numpy.exp(generator.uniform(low, high, count))
    return list(dict.fromkeys([round(float(size)) for size in drawn]))


def measure_sizes(count: int, tell: Callable[[str], None], rows: list[str]) -> dict[str, Row]:
    """By program: what was compiled, and the speed beside that of kernels of a size's own."""
    found: dict[str, Row] = {}

    def is_wanted(name: str) -> bool:
        return not rows or any(matches(name, pattern) for pattern in rows)

    for name, program in MODELS.items():
        for captured in (False, True):
            row = f"{name}, ogive.jit" if captured else name
            if is_wanted(row):
                tell(row)
                found[row] = _measure_model(name, program, captured, count)
    families = {name: each for name, each in FAMILIES.items() if is_wanted(name)}
    if families:
        with processes() as made:
            for name, program in families.items():
                tell(name)
                found[name] = _measure_family(made, name, program)
    if is_wanted(GENERATED):
        tell(GENERATED)
        found |= _measure_tokens()
    return found


def _measure_model(name: str, program: Program, captured: bool, count: int) -> Row:
    sizes = random_sizes(program, count)
    with processes() as made:
        first = [int(ask(made.general, name, size, captured, 1)["made"]) for size in sizes]
        second = made.second()
        again = sum([int(ask(second, name, size, captured, 1)["made"]) for size in sizes])
        second.close()
        compared = sizes[BEGINNING : BEGINNING + COMPARED]
        return {
            "sizes": len(sizes),
            "compiled": sum(first),
            "after the second": sum(first[2:]),
            "in a second process": again,
            **_compared(made, name, compared, captured),
        }


def _measure_family(made: Processes, name: str, program: Program) -> Row:
    sizes = random_sizes(program, BEGINNING + COMPARED)
    first = [int(ask(made.general, name, size, True, 1)["made"]) for size in sizes]
    return {
        "sizes": len(sizes),
        "compiled": sum(first),
        "after the second": sum(first[2:]),
        **_compared(made, name, sizes[BEGINNING:], True),
    }


def _compared(made: Processes, name: str, sizes: list[int], captured: bool) -> Row:
    """The speed of general kernels, as a share of that of the sizes' own."""
    speeds = []
    for size in sizes:
        least = {made.general: float("inf"), made.own: float("inf")}
        for _ in range(TURNS):
            for process in least:
                seconds = ask(process, name, size, captured, CALLS)["seconds"]
                least[process] = min(least[process], seconds)
        speeds.append(least[made.own] / least[made.general])
    return {"mean": float(numpy.exp(numpy.log(speeds).mean())), "worst": min(speeds)}


def _measure_tokens() -> dict[str, Row]:
    """The time of PyTorch for a token over ours, text by text."""
    found = {}
    with processes() as made:
        for number in range(TEXTS):
            ours = ask(made.general, GENERATED, number, False, 1)
            theirs = ask(made.torch, GENERATED, number, False, 1)
            found[f"{GENERATED}, text {number + 1}, beside PyTorch"] = {
                "sizes": 200,
                "compiled": ours["made"],
                "mean": theirs["seconds"] / ours["seconds"],
            }
    return found


def sizes_lines(found: dict[str, Row]) -> tuple[list[str], list[list[str]]]:
    """A table: compilations, and the speed of a call beside that with kernels of its own."""
    heads = ["sizes", "compiled", "after the second", "in a second process"]
    lines = [
        [name]
        + [f"{row[head]:.0f}" if head in row else "–" for head in heads]
        + [f"{row[head]:.2f}" if head in row else "–" for head in ("mean", "worst")]
        for name, row in found.items()
    ]
    return ["random sizes", *heads, "speed", "worst"], lines
