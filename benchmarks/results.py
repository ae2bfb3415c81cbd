"""What a run finds out, as plain data that goes into the JSON file as it is."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.libraries import ENTRIES, NO_PEERS

HALF_UNIT = 2.0**-24
Status = Literal["ok", "wrong", "not there", "failed", "over"]


@dataclass
class Cell:
    """One row in one library; times are in seconds a call.

    `first` is the time from the inputs to the first result, compilation and all; `others` is how
    many processors the rest of the machine kept busy in the quietest slice of measuring; `error` is
    the largest difference from the result in float64, relative to the largest value.
    """

    status: Status
    reason: str = ""
    best: float | None = None
    median: float | None = None
    p95: float | None = None
    samples: int = 0
    others: float | None = None
    first: float | None = None
    error: float | None = None
    compile: dict[str, Any] | None = None

    @classmethod
    def measured(cls, samples: list[float], **more: Any) -> Cell:
        """A cell of good samples."""
        median, p95 = np.percentile(samples, [50, 95])
        best = min(samples)
        return cls("ok", "", best, float(median), float(p95), samples=len(samples), **more)


@dataclass
class RowResult:
    """One row in every library."""

    name: str
    cells: dict[str, Cell]

    def seconds(self, library: str, statistic: str = "best") -> float | None:
        """The best or the median time of a right result; None for no or a wrong one."""
        cell = self.cells.get(library)
        if cell is None or cell.status != "ok":
            return None
        value = getattr(cell, statistic)
        return None if value is None else float(value)

    def best_peer(self, statistic: str = "best") -> tuple[str, float] | None:
        """The fastest library that is neither Ogive, of now or before, nor the limit."""
        times = {
            name: seconds
            for name in self.cells
            if name not in NO_PEERS
            and (seconds := self.seconds(name, statistic)) is not None
        }
        return min(times.items(), key=lambda item: item[1]) if times else None

    def ratio(self, statistic: str = "best") -> float | None:
        """The best peer's time over Ogive's: above 1, Ogive is faster."""
        peer, own = self.best_peer(statistic), self.seconds("ogive", statistic)
        return None if peer is None or own is None else peer[1] / own

    def share(self, library: str) -> float | None:
        """The time of another checkout, or of the limit, over Ogive's: above 1, Ogive is faster."""
        other, own = self.seconds(library), self.seconds("ogive")
        return None if other is None or own is None else other / own

    def error_ratio(self) -> float | None:
        """Ogive's error over the best peer's, both taken to be at least half a unit in the last
        place of float32: a scalar that happens to be exact is no feat."""
        own = self.cells["ogive"].error if "ogive" in self.cells else None
        errors = {
            name: cell.error
            for name, cell in self.cells.items()
            if name not in NO_PEERS and cell.error is not None
        }
        if own is None or not errors:
            return None
        return max(own, HALF_UNIT) / max(min(errors.values()), HALF_UNIT)


@dataclass
class Results:
    """Everything about one run."""

    settings: dict[str, Any]
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    machine: dict[str, Any] = field(default_factory=lambda: machine())
    versions: dict[str, str] = field(default_factory=lambda: versions())
    rows: list[RowResult] = field(default_factory=list)
    startup: list[RowResult] = field(default_factory=list)
    training: list[RowResult] = field(default_factory=list)
    shapes: list[RowResult] = field(default_factory=list)
    compile: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)
    threads: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    graphs: dict[str, Any] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)
    gpu: dict[str, Any] = field(default_factory=dict)
    programs: dict[str, dict[str, float]] = field(default_factory=dict)
    sizes: dict[str, dict[str, float]] = field(default_factory=dict)
    ranks: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries and lists, with the ratios spelled out."""
        data = asdict(self)
        for part in ("rows", "startup", "training", "shapes"):
            for row, entry in zip(getattr(self, part), data[part], strict=True):
                entry["ratio"] = {name: row.ratio(name) for name in ("best", "median")}
        return data


def machine() -> dict[str, Any]:
    """The processor, its count, the memory and the Python."""
    return {
        "processor": processor_name(),
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def processor_name() -> str:
    """As the kernel names it, where it does."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def versions() -> dict[str, str]:
    """The version of every library there is an adapter for."""
    found = {}
    for entry in ENTRIES.values():
        try:
            found[entry.package] = version(entry.package)
        except PackageNotFoundError:
            found[entry.package] = "not installed"
    return found
