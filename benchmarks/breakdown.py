"""Where Ogive's compile time goes: by stage, and per unique kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np


def spread(values: list[float]) -> dict[str, float]:
    """Total, median and 95th percentile."""
    return {
        "total": float(sum(values)),
        "median": float(np.median(values)),
        "p95": float(np.percentile(values, 95)),
    }


def summarize(kernels: Iterable[Any]) -> dict[str, object]:
    """Count the kernels of a plan, and sum their timings stage by stage.

    A kernel counts once however often it runs; equal code is one kernel. `stages` maps each
    stage, and "all" for their sum, to total, median and 95th percentile in seconds a kernel.
    """
    every = list(kernels)
    unique = list({kernel.ir: kernel for kernel in every}.values())
    timed = [timings for kernel in unique if (timings := getattr(kernel, "timings", None))]
    by_stage: dict[str, list[float]] = defaultdict(list)
    for timings in timed:
        for stage, seconds in timings.items():
            by_stage[stage].append(float(seconds))
        by_stage["all"].append(float(sum(timings.values())))
    return {
        "kernels": len(every),
        "unique": len(unique),
        "timed": len(timed),
        "names": [kernel.name for kernel in every],
        "stages": {stage: spread(values) for stage, values in by_stage.items()},
    }
