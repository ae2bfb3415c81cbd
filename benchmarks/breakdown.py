"""Where Ogive's compile time goes: by pass, by folder of passes, and per unique kernel."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def spread(values: list[float]) -> dict[str, float]:
    """Total, median and 95th percentile."""
    return {
        "total": float(sum(values)),
        "median": float(np.median(values)),
        "p95": float(np.percentile(values, 95)),
    }


def summarize(
    kernels: Iterable[Any], stages: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Count the kernels of a plan, and sum their timings pass by pass.

    A kernel counts once however often it runs; equal code is one kernel. `codes` tell whether two
    checkouts compile a plan to the same text. `passes` maps each pass,
    `stages` each folder of passes, and "all" for their sum, to total, median and 95th percentile in
    seconds a kernel. Kernels of other sources bring the `stages` of their passes; a pass that is
    not among them is one by itself.
    """
    every = list(kernels)
    unique = list({kernel.ir: kernel for kernel in every}.values())
    timed = [timings for kernel in unique if (timings := getattr(kernel, "timings", None))]
    stages = stages_of_passes() if stages is None else stages
    by_folder = [_sums({name: stages.get(name, name) for name in each}, each) for each in timed]
    return {
        "kernels": len(every),
        "unique": len(unique),
        "timed": len(timed),
        "names": [kernel.name for kernel in every],
        "codes": [hashlib.sha256(kernel.ir.encode()).hexdigest()[:16] for kernel in every],
        "passes": _spreads(timed),
        "stages": _spreads(by_folder),
    }


def stages_of_passes() -> dict[str, str]:
    """For each pass of kernels the folder it is in, as the table of passes has it."""
    from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES

    return {each.name: each.function.__module__.split(".")[-2] for each in REGION_PASSES}


def _sums(names: Mapping[str, str], timings: Mapping[str, float]) -> dict[str, float]:
    """Timings under other names, of which several may be one."""
    sums: dict[str, float] = defaultdict(float)
    for name, seconds in timings.items():
        sums[names[name]] += float(seconds)
    return sums


def _spreads(timed: Iterable[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    by_name: dict[str, list[float]] = defaultdict(list)
    for timings in timed:
        for name, seconds in timings.items():
            by_name[name].append(float(seconds))
        by_name["all"].append(float(sum(timings.values())))
    return {name: spread(values) for name, values in by_name.items()}
