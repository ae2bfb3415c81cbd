"""Tensors computed by the reference: their graph is cut into regions, as for any device, and these
are evaluated in order over NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive import Config, Tensor
from ogive.devices.cpu.host_machine import host_machine
from ogive.devices.reference.evaluate_region import evaluate_region
from ogive.devices.reference.number_formats import Array
from ogive.ir.dialects.verify import verify
from ogive.ir.memory import upper_shape
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.evaluate import evaluate
from ogive.live import registry
from ogive.passes.graph.normalize import Normalized, normalize
from ogive.passes.pipeline.graph_passes import schedule_graph
from ogive.passes.regions.number_slots import Step
from ogive.passes.regions.slots import Slot


class Fault(Exception):
    """An op of a region failed: which step, and the number of the op in it."""


def evaluate_tensors(tensors: Sequence[Tensor], config: Config | None = None) -> list[Array]:
    """What tensors hold, by the reference. Nothing is realized or assigned."""
    config = config or Config()
    roots = [UOp(Op.CONTIGUOUS, t.dtype, (t.node,), ()) for t in tensors]  # memory of their own
    normalized = normalize(tuple(roots))
    schedule = schedule_graph(normalized.sink, host_machine.target_for(config), config)
    memory = [_allocate(slot, normalized) for slot in schedule.slots]
    for number, step in enumerate(schedule.steps):
        assert isinstance(step, Step), "a step that is no region"
        verify(step.region.graph, "region")
        variables = normalized.variables | dict(step.region.fixed)
        arrays = [memory[slot] for slot in step.slots]
        site = evaluate_region(step.region.graph, arrays, variables)
        if site is not None:
            raise Fault(number, site)
    return [
        _shaped(memory[slot], tensor, normalized.variables)
        for slot, tensor in zip(schedule.outputs, tensors, strict=True)
    ]


def _allocate(slot: Slot, normalized: Normalized) -> Array:
    """The memory of a slot: a copy of what a buffer holds, or what shows that nobody wrote it."""
    if slot.parameter is None:
        return np.full(slot.count * slot.dtype.itemsize, 0xA5, np.uint8).view(slot.dtype.numpy)
    node, start, length = normalized.windows[slot.parameter]
    buffer = registry.buffer_of(node)
    array: Array = buffer.as_numpy(node.dtype.numpy, (node.arg[1],))
    return array[start : start + length].copy().view(slot.dtype.numpy)


def _shaped(memory: Array, tensor: Tensor, variables: dict[str, int]) -> Array:
    shape = tensor.node.shape
    whole = memory.view(tensor.dtype.numpy).reshape(upper_shape(shape))
    return whole[tuple([slice(evaluate(size, variables)) for size in shape])]
