"""The targets that describe GPUs to the compiler."""

from __future__ import annotations

import dataclasses

from ogive.compiler.devices.cuda.gpu import GpuFacts
from ogive.compiler.targets.costs import Costs
from ogive.compiler.targets.target import Grid, Target, describe_gpu

TRIPLE = "nvptx64-nvidia-cuda"
PTX = "+ptx86"
"""The PTX version that LLVM writes."""

WARP = 32
BLOCK_THREADS = 256


def target_of(facts: GpuFacts) -> Target:
    """The target of a GPU. GPUs of one generation run the same code."""
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
    """The target with another cost model."""
    return dataclasses.replace(target, costs=costs)
