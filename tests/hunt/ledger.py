"""What was run: a file of JSON lines, one for each range of seeds."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.hunt.makers import Outcome

FIRST_SEED = 50_000_000
"""Where a new ledger begins: beyond the seeds of the suite, and of ledgers before."""


class Counts(NamedTuple):
    """Sums over a maker and a target."""

    programs: int = 0
    cases: int = 0
    differences: int = 0
    by_rounding: int = 0
    seconds: float = 0.0


class Ledger:
    """A file that ranges are added to, one line each, and that tells where to go on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, maker: str, target: str, seeds: range) -> None:
        """Note a range before it is run: should the process die, it is known in which."""
        self._write({"begun": True, "maker": maker, "target": target, **_bounds(seeds)})

    def add(
        self, maker: str, target: str, seeds: range, outcome: Outcome, seconds: float
    ) -> None:
        """Note what a range gave."""
        self._write({
            "maker": maker, "target": target, **_bounds(seeds), "programs": outcome.programs,
            "cases": outcome.cases, "seconds": round(seconds, 3),
            "by_rounding": outcome.by_rounding,
            "differences": [each._asdict() for each in outcome.differences],
        })  # fmt: skip

    def next_seed(self, maker: str, target: str) -> int:
        """The first seed that was not begun."""
        ends = [
            line["end"]
            for line in self._lines()
            if (line["maker"], line["target"]) == (maker, target)
        ]
        return max(ends, default=FIRST_SEED)

    def counts(self) -> dict[tuple[str, str], Counts]:
        """By maker and target."""
        found: dict[tuple[str, str], Counts] = defaultdict(Counts)
        for line in self._lines():
            if "begun" not in line:
                key = line["maker"], line["target"]
                new = (
                    line["programs"], line["cases"], len(line["differences"]),
                    line["by_rounding"], line["seconds"],
                )  # fmt: skip
                found[key] = Counts(*map(sum, zip(found[key], new, strict=True)))
        return dict(found)

    def died(self) -> list[dict[str, Any]]:
        """The ranges that were begun and have no end, but for the last, which may be under way."""
        lines = list(self._lines())
        ended = {_key(line) for line in lines if "begun" not in line}
        return [line for line in lines[:-1] if "begun" in line and _key(line) not in ended]

    def _lines(self) -> Iterator[dict[str, Any]]:
        if self.path.exists():
            with self.path.open() as file:
                yield from map(json.loads, file)

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _bounds(seeds: range) -> dict[str, int]:
    return {"first": seeds.start, "end": seeds.stop}


def _key(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["maker"], line["target"], line["first"], line["end"]
