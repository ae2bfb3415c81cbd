"""The target that describes a GPU to the compiler."""

from __future__ import annotations

import dataclasses

from ogive.devices.cuda.gpu import GpuFacts
from ogive.targets.costs import Costs
from ogive.targets.target import Grid, Target, describe_gpu

TRIPLE = "nvptx64-nvidia-cuda"
PTX = "+ptx86"
"""The version of PTX that LLVM writes."""

WARP = 32
BLOCK_THREADS = 256


def target_of(facts: GpuFacts) -> Target:
    """The target of a GPU. The code of one generation runs on all of its members."""
    grid = Grid(
        WARP,
        min(BLOCK_THREADS, facts.most_threads),
        facts.most_threads,
        facts.shared_bytes,
        facts.multiprocessors,
        facts.tensor_cores,
    )
    exact = "a" if facts.major >= 9 else ""
    architecture = f"sm_{facts.major}{facts.minor}{exact}"
    return describe_gpu(TRIPLE, architecture, PTX, grid, facts.l2_bytes)


def with_costs(target: Target, costs: Costs) -> Target:
    """The target under another cost model."""
    return dataclasses.replace(target, costs=costs)
