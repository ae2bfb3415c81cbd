"""The steps of a graph that read nothing but constants: they are run once, and not exported.

    before   w → panel;  x, panel → y         after   x, panel → y      panel is a constant
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.execution import Execution
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, Launch, Step
from ogive.compiler.passes.regions.slots import CallStep
from ogive.config import Config
from ogive.errors import ExecuteError

MOST_GROWTH = 2
"""How much larger than what it was made from a value may be and still be written to the file."""

SMALL = 1 << 16
"""Bytes that are written whatever they were made from."""


def constant_slots(graph: CompiledGraph, given: Mapping[int, Buffer]) -> frozenset[int]:
    """The slots of `given` constants, and of what follows from them and is not much larger."""
    known = {slot: graph.slots[slot].nbytes for slot in given}
    writers: dict[int, list[Step]] = {}
    for step in graph.steps:
        for slot in step.written:
            writers.setdefault(slot, []).append(step)
    for step in graph.steps:
        read = set(step.slots).difference(step.written)
        if not _is_fixed(step) or not read <= known.keys():
            continue
        size = sum([graph.slots[slot].nbytes for slot in step.written])
        sources = sum([known[slot] for slot in read])
        own = [slot for slot in step.written if len(writers[slot]) == 1]
        is_ours = len(own) == len(step.written) and not set(own) & set(graph.outputs)
        if is_ours and size <= max(SMALL, MOST_GROWTH * sources):
            known |= dict.fromkeys(own, size)
    return frozenset(known)


def _is_fixed(step: Step) -> bool:
    """Whether a step does the same whatever the variables of its graph are."""
    if isinstance(step, CallStep):
        return False
    if isinstance(step, Launch):
        return isinstance(step.tiles, int) and len(step.fixed) == len(step.variables)
    return True


def compute_constants(
    graph: CompiledGraph, given: Mapping[int, Buffer], known: frozenset[int], config: Config
) -> dict[int, Buffer]:
    """The memory of all constant slots, once the steps that fill them have run."""
    steps = [
        (level, position, step)
        for level, position, step in zip(graph.levels, graph.order, graph.steps, strict=True)
        if set(step.written) <= known
    ]
    part = CompiledGraph(
        tuple([step for _, _, step in steps]), graph.slots, graph.outputs, graph.variables,
        tuple([level for level, _, _ in steps]), tuple([position for _, position, _ in steps]),
    )  # fmt: skip
    nothing = Buffer(0)
    buffers = [
        given[slot]
        if slot in given
        else Buffer(memory.nbytes, memory.device)
        if slot in known
        else nothing
        for slot, memory in enumerate(graph.slots)
    ]
    if steps:
        execution = Execution(part, dataclasses.replace(config, pack_constants=False))
        execution.bind(buffers)
        fault = execution.run()
        if fault is not None:
            raise ExecuteError("export: a value that follows from constants cannot be computed")
    return {slot: buffers[slot] for slot in known}
