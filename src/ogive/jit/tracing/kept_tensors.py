"""Tensors that a function made while it was traced and left somewhere outside.

One that depends on the arguments is an error: later calls would not change it. Any other is what a
cache holds, and the next run of the function finds it.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping

from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute, walk
from ogive.compiler.live import registry
from ogive.jit.argument_trees import leaves
from ogive.jit.memories import layout_of_memory, select_part
from ogive.jit.tracing.placeholder_run import PlaceholderRun, memories_of
from ogive.jit.tracing.refusals import begun_twice_error, kept_outside_error
from ogive.jit.tracing.traced_function import Memory
from ogive.tensor import build
from ogive.tensor.tensor import Tensor


def kept_outside(run: PlaceholderRun) -> list[Tensor]:
    """The tensors that the function made and left somewhere, for later calls to find.

    Raises `TraceError` where it depends on the arguments: later calls would not change it.
    """
    if _made_besides(run):
        _release_rules(run)
        gc.collect()  # they may only be waiting for the collector
    kept = _made_besides(run)
    for tensor in kept:
        node = run.watch.begun.get(tensor.id, tensor.node)
        if not set(run.flats).isdisjoint(node.walk()):
            raise kept_outside_error(run.function, tensor)
    _fill_in(run, kept)
    return kept


def refuse_state_begun_twice(run: PlaceholderRun, kept_before: Mapping[int, Tensor]) -> None:
    """Raise `TraceError` if this run changes a tensor that an earlier run kept for later calls.

    Nobody can tell whether keeping it was this call's change of it.
    """
    for captured in run.captured:
        if captured.tensor.id in kept_before and captured.final is not captured.given:
            raise begun_twice_error(run.function, captured.tensor)


def _release_rules(run: PlaceholderRun) -> None:
    """Let go of what rules of gradients hold: the function has called backward() if it ever
    does, and nothing goes back through a function that was captured."""
    results = [leaf.node for _, leaf in leaves(run.returned, "") if isinstance(leaf, Tensor)]
    updated = [captured.final for captured in run.captured]
    for node in walk((*results, *updated, *[tensor.node for tensor in run.placeholders])):
        if node.op is Op.GRADIENT and hasattr(node.arg, "release"):
            node.arg.release()


def _made_besides(run: PlaceholderRun) -> list[Tensor]:
    returned = {id(leaf) for _, leaf in leaves(run.returned, "")}
    new_tensors = [reference() for reference in run.watch.made]
    return [tensor for tensor in new_tensors if tensor is not None and id(tensor) not in returned]


def _fill_in(run: PlaceholderRun, tensors: list[Tensor]) -> None:
    """Let tensors that remain read what the function captured, and no placeholders. State that was
    added is what it began as: the next run of the function changes it for this call."""
    begun = run.watch.begun
    with registry.graph_lock:
        memory = {
            memory_leaf(each.given): _flat(each, captured.tensor.node is captured.seen)
            for captured in run.captured if captured.given is not captured.seen
            for each in memories_of(captured)
        }  # fmt: skip
        for tensor in tensors:
            node = begun.get(tensor.id, tensor.node)
            registry.move_tensor(tensor, substitute((node,), memory, revisit=False)[0])


def _flat(memory: Memory, is_same: bool) -> UOp:
    """The elements of memory that the function captured, as they are now, in a row."""
    flat, node = memory_leaf(memory.seen), memory.tensor.node
    if is_same or not all(isinstance(size, int) for size in node.shape):
        return flat
    layout = layout_of_memory(memory.tensor.node)
    if layout is not None and memory.number is not None:
        node = select_part(node, layout, memory.number)
    return build.reshape(node, flat.shape)
