"""A parametric graph is compiled: scheduled, its kernels compiled, its steps put in levels.

    before   SINK(ADD(PARAM 0, 1))
    after    CompiledGraph(steps = [launch elementwise_6: slots (1, 0)], ...)
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import find_device, host
from ogive.compiler.engine.caches.found_placements import schedule_for
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.compiler.engine.caches.kernels import Kernel
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, Launch, Step
from ogive.compiler.engine.steps.execution_levels import arrange
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import devices_of_graph
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.positions import index_node
from ogive.compiler.ir.shape import Dim
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.ir.symbolic.variable import names_in
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.lower.tile_work import grain_of
from ogive.compiler.passes.pipeline.graph_passes import schedule_devices
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot
from ogive.compiler.store.encoding import CannotEncode
from ogive.compiler.store.records import GraphRecord, LaunchRecord, pack_graph
from ogive.compiler.store.rows import Entry, Kind
from ogive.compiler.targets.target import Target
from ogive.compiler.targets.thread_costs import Sharing
from ogive.config import Config
from ogive.errors import AllocateError

if TYPE_CHECKING:
    from ogive.compiler.passes.regions.number_slots import Schedule
    from ogive.compiler.passes.regions.number_slots import Step as ScheduledStep
    from ogive.compiler.store.disk_cache import Disk, TargetKeys

Targets = Mapping[str, Target]
"""The targets that code depends on, for each device that computes some of a graph."""


def confirmed_targets(sink: UOp, config: Config) -> Targets:
    """The targets of a parametric graph that is about to be compiled."""
    devices = [find_device(name) for name in devices_of_graph(sink)]
    return {device.name: device.confirmed_target(config) for device in devices}


def compile_graph(
    sink: UOp, targets: Targets, config: Config, disk: Disk | None = None
) -> CompiledGraph:
    """Schedule a parametric graph and compile its kernels, each distinct region once."""
    def schedule_part(part: UOp, device: str) -> Schedule:
        # Only kernels that the host calls are timed against each other.
        is_plain = config.beam is None or find_device(device).is_native
        chosen = config if is_plain else dataclasses.replace(config, search=None)
        return schedule_for(part, targets[device], chosen, disk)

    schedule = schedule_devices(sink, config, schedule_part)
    entries: list[Entry] = []
    kernels = {
        name: iter(
            kernel_cache.kernels_for(
                [step.region.graph for step in schedule.kernels if _device(step, schedule) == name],
                find_device(name), target, config, disk, entries,
            )
        )
        for name, target in targets.items()
    }  # fmt: skip
    steps: list[Step] = []
    for step in schedule.steps:
        if isinstance(step, CopyStep | CallStep):
            steps.append(step)
        else:
            device = _device(step, schedule)
            kernel = next(kernels[device])
            slots, fixed = kernel.arguments(step.slots), step.region.fixed
            steps.append(_launch(kernel, slots, fixed, targets[device], step.when))
    variables = {n.name: (n.low, n.high) for n in sink.walk() if n.op is Op.VARIABLE}
    # The host's threads share the steps of a level.
    costs = host().target(config).costs.sharing
    graph = _arranged(steps, schedule.slots, schedule.outputs, variables, costs)
    _check_memory(graph)
    if disk is not None:
        keys = {name: target.key for name, target in targets.items()}
        disk.write(entries + graph_entries(sink, graph, keys, config, disk), config)
    return graph


def _launch(
    kernel: Kernel,
    slots: tuple[int, ...],
    fixed: tuple[tuple[str, int], ...],
    target: Target,
    when: UOp | None,
) -> Launch:
    """The launch of a kernel over `slots`, with tiles that follow from the `fixed` variables, and
    without any where a condition does not hold."""
    given = dict(fixed)
    own = {name: given[name] for name in kernel.variables if name in given}
    tiles = kernel.tiles
    if not isinstance(tiles, int) and names_in(tiles) <= own.keys():
        tiles = evaluate(tiles, own)
    if when is not None:
        tiles = _tiles_when(when, tiles)
    grain = grain_of(kernel.record.work, target)
    return Launch(kernel, slots, tiles, grain, tuple(own.items()))


def _tiles_when(condition: UOp, tiles: Dim) -> UOp:
    """As many tiles as a kernel has where a condition holds. What it takes for the bounds of its
    variables is what the condition leaves of those of the graph's."""
    lengths = {node.name: node for node in condition.walk() if node.op is Op.VARIABLE}
    counted = index_node(tiles)
    own = {
        node: lengths[node.name]
        for node in counted.walk()
        if node.op is Op.VARIABLE and node.name in lengths
    }
    (counted,) = substitute((counted,), own, revisit=False)
    return UOp(Op.WHERE, dtypes.index, (condition, counted, index_node(0)))


def _arranged(
    scheduled: Sequence[Step],
    slots: tuple[Slot, ...],
    outputs: tuple[int, ...],
    variables: dict[str, tuple[int, int]],
    costs: Sharing,
) -> CompiledGraph:
    """The compiled graph of a schedule: its steps in levels."""
    order, levels = arrange(scheduled, slots, outputs, costs)
    steps = tuple([scheduled[position] for position in order])
    return CompiledGraph(steps, slots, outputs, variables, levels, order)


def _device(step: ScheduledStep, schedule: Schedule) -> str:
    """The device that a step of a schedule writes to, and runs on."""
    return schedule.slots[step.slots[0]].device


def _check_memory(graph: CompiledGraph) -> None:
    """Raise `AllocateError` for memory that cannot be addressed, and so not be asked for either."""
    needed = max([slot.nbytes for slot in graph.slots] + [*graph.places("arena").blocks], default=0)
    if needed > sys.maxsize:
        raise AllocateError(
            f"computing this takes a block of {needed:,} bytes, and no more than {sys.maxsize:,} "
            "can be addressed; work on smaller pieces"
        )


def graph_entries(
    sink: UOp, graph: CompiledGraph, targets: TargetKeys, config: Config, disk: Disk
) -> list[Entry]:
    """The line of a compiled graph on a disk, which refers to its kernels."""
    try:
        payload = pack_graph(_record(graph))
    except CannotEncode:
        return []  # its kernels are kept all the same
    key = disk.graph_key(sink, targets, config)
    return [] if key is None else [(Kind.GRAPH, key, payload)]


def _record(graph: CompiledGraph) -> GraphRecord:
    kernels = list(dict.fromkeys(launch.kernel for launch in graph.launches))
    numbers = {kernel: number for number, kernel in enumerate(kernels)}
    steps = [
        LaunchRecord(numbers[step.kernel], step.slots, step.tiles, step.grain, step.fixed)
        if isinstance(step, Launch)
        else step
        for step in graph.steps
    ]
    return GraphRecord(
        tuple([kernel.record for kernel in kernels]),
        tuple(steps),
        graph.slots,
        graph.outputs,
        graph.variables,
        graph.order,
        graph.levels,
        graph.offsets,
    )
