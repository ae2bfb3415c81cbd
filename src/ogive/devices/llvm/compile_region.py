"""Stages 5 to 9 for one region: from its graph to LLVM IR, with the time each stage took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from ogive.config import Config
from ogive.devices.llvm.emit import emit
from ogive.devices.protocol import CompiledKernel
from ogive.ir.dialects.verify import verify
from ogive.ir.dtype import index
from ogive.ir.node import UOp
from ogive.ir.ops import PARALLEL, Op
from ogive.named import NamedTuple
from ogive.passes.loops.add_up_rows import add_up_rows
from ogive.passes.loops.block_axes import block_axes
from ogive.passes.loops.join_axes import join_axes
from ogive.passes.loops.join_stages import join_stages
from ogive.passes.loops.join_words import join_words
from ogive.passes.loops.merge_axes import merge_axes
from ogive.passes.loops.rangeify import rangeify
from ogive.passes.loops.split_axes import split_axes
from ogive.passes.loops.tighten_loops import tighten_loops
from ogive.passes.lower.kernel_names import kernel_axes, kernel_name
from ogive.passes.lower.kernel_signature import kernel_signature
from ogive.passes.lower.linearize import Item, linearize
from ogive.passes.lower.lower_accesses import lower
from ogive.passes.lower.separate_loops import separate_loops
from ogive.passes.lower.tile_work import tile_costs, work_per_tile
from ogive.passes.place.choose_placement import choose_placement
from ogive.passes.place.placement import Placement, place
from ogive.targets.target import Target

Result = TypeVar("Result")


class _Clock:
    """Runs stages and notes how long each took."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}

    def run(self, stage: str, function: Callable[..., Result], *arguments: Any) -> Result:
        start = time.perf_counter()
        result = function(*arguments)
        elapsed = time.perf_counter() - start
        self.timings[stage] = self.timings.get(stage, 0.0) + elapsed
        return result


def compile_region(
    region: UOp,
    target: Target,
    config: Config,
    placement: Placement | None = None,
) -> CompiledKernel:
    """The kernel of one region, with the heuristics' placement unless another one is given."""
    clock = _Clock()
    axes = loops_of(region, target, config, clock)
    if placement is None:
        placement = clock.run("optimize", choose_placement, axes, target, config)
    return compile_placed(axes, placement, target, config, clock)


def loops_of(
    region: UOp, target: Target, config: Config, clock: _Clock | None = None
) -> UOp:
    """The loop graph of a region as placements speak of it: staged values computed by their first
    readers, axes merged, split and cut into blocks, loops ended where nothing more counts."""
    clock = clock or _Clock()
    loops = clock.run("rangeify", rangeify, region)
    if config.verify:
        verify(region, "region")
        verify(loops, "loops")
    for change in (join_words, join_stages, merge_axes):
        loops = clock.run("optimize", change, loops)
    for fit in (split_axes, join_axes, add_up_rows, block_axes, tighten_loops):
        loops = clock.run("optimize", fit, loops, target)
    return loops


class PlacedKernel(NamedTuple):
    """A kernel after stage 8: its name, its lowered graph and its instructions in order."""

    name: str
    root: UOp
    program: list[Item]

    @property
    def tiles(self) -> UOp:
        """How many tiles the parallel axis has: an index expression of variables."""
        return _tile_count(self.root)


def linearize_placed(
    loops: UOp, placement: Placement, config: Config, clock: _Clock | None = None
) -> PlacedKernel:
    """Stages 6 to 8 under a given placement. Raises `OptimizeError` if it cannot be."""
    clock = clock or _Clock()
    placed = clock.run("optimize", separate_loops, clock.run("optimize", place, loops, placement))
    if config.verify:
        verify(placed, "placed")
    lowered = clock.run("lower", lower, placed)
    if config.verify:
        verify(lowered, "lowered")
    program = clock.run("linearize", linearize, lowered)
    return PlacedKernel(kernel_name(loops, lowered), lowered, program)


def compile_placed(
    loops: UOp,
    placement: Placement,
    target: Target,
    config: Config,
    clock: _Clock | None = None,
) -> CompiledKernel:
    """The kernel of a loop graph under a given placement."""
    clock = clock or _Clock()
    kernel = linearize_placed(loops, placement, config, clock)
    lowered = kernel.root
    name = kernel.name
    text = clock.run("emit", emit, name, lowered, kernel.program, target, config.poison)
    return CompiledKernel(
        name=name,
        axes=kernel_axes(lowered),
        ir=text,
        signature=kernel_signature(lowered),
        tiles=kernel.tiles,
        work=work_per_tile(lowered, target),
        costs=tile_costs(lowered, target),
        timings=clock.timings,
    )


def _tile_count(root: UOp) -> UOp:
    for node in root.walk():
        if node.op is Op.RANGE and node.arg[1] == PARALLEL:
            return node.src[0]
    return UOp.const(index, 1)
