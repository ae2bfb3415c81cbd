"""`python -m benchmarks search`: that searching for a kernel never makes it slower.

A few kernels, placed by the heuristics and by a short search, take turns in this process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.runner import Settings
from benchmarks.threads import RESOLUTION, SLOWER, alternate, numbers

WIDTH, SECONDS = 2, 4.0


def measure_search(settings: Settings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Best seconds of each kernel, by who placed it."""
    from ogive import Beam, Config

    report: dict[str, Any] = {}
    for name, make in kernels().items():
        tell(f"search: {name}")
        plans = {
            "heuristics": make().prepare(),
            "search": make().prepare(config=Config(search=Beam(WIDTH, SECONDS))),
        }
        samples = alternate(plans, settings.seconds)
        report[name] = {who: min(times) for who, times in samples.items()}
    return report


def kernels() -> dict[str, Callable[[], Any]]:
    """One of each kind, in sizes that fit no tile."""
    return {
        "product 200×300×250": lambda: numbers(200, 300) @ numbers(300, 250),
        "row times matrix 777×1500": lambda: numbers(1, 777) @ numbers(777, 1500),
        "softmax 300×1003": lambda: numbers(300, 1003).softmax(-1),
        "sum of columns 1000×333": lambda: numbers(1000, 333).sum(0),
        "transpose 700×900": lambda: numbers(700, 900).T.contiguous(),
        "conv 3×3 20→40 30²": lambda: numbers(1, 20, 30, 30).conv2d(numbers(40, 20, 3, 3)),
    }


def slowdown(cells: dict[str, float]) -> float:
    """The searched kernel's time over the other's; 1 where it is not longer."""
    before, after = cells["heuristics"], cells["search"]
    return after / before if after > SLOWER * before + RESOLUTION else 1.0
