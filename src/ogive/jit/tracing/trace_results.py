"""From a run on placeholders to a trace: results to compute and memory to update."""

from __future__ import annotations

from collections.abc import Iterator

from ogive.compiler.engine.spread_values import layout_of
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import is_group
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.jit.argument_trees import rebuild, refuse_empty
from ogive.jit.memories import Number, layout_of_memory, part_node, select_part
from ogive.jit.tracing.placeholder_run import PlaceholderRun, memories_of
from ogive.jit.tracing.refusals import refuse_other_results
from ogive.jit.tracing.traced_function import Fresh, Memory, Result, Spread, Trace, Update
from ogive.tensor.core import memory_device
from ogive.tensor.tensor import Tensor


def trace_of(run: PlaceholderRun) -> Trace:
    """The trace of a run, once everything that the function captured is memory."""
    memories = [memory for each in run.captured for memory in memories_of(each)]
    refuse_other_results(run.function, run.returned)
    results = _Results(run, memories)
    tree = rebuild(run.returned, results.add)
    updates = [*_updated_inputs(run), *_updated_captured(run, memories)]
    for placeholder in run.watch.placeholders.values():
        history.forget(placeholder)
    return Trace(
        run.flats, run.numbers, memories, run.views, tree, results.fresh, results.spreads,
        updates, run.records, run.reads.unwatched, run.dropped, run.input_paths, run.supplies,
    )  # fmt: skip


class _Results:
    """The tensors that a function returned: arguments, captured tensors, and new ones."""

    def __init__(self, run: PlaceholderRun, memories: list[Memory]) -> None:
        self.fresh: list[Fresh] = []
        self.spreads: list[Spread] = []
        self._views = run.views
        self._positions = {
            id(memory.tensor): Result("captured", at)
            for at, memory in reversed(list(enumerate(memories)))
        }
        for at, tensor in reversed(list(enumerate(run.placeholders))):
            if isinstance(run.call.inputs[at], Tensor):
                self._positions[id(tensor)] = Result("input", at)

    def add(self, leaf: Tensor | None) -> Result | None:
        """Where a tensor that was returned comes from; None for None."""
        if leaf is None:
            return None
        known = self._positions.get(id(leaf))
        if known is None:
            node = next((view.final for view in self._views if view.tensor is leaf), leaf.node)
            known = self._positions[id(leaf)] = self._new(leaf, node)
        return known

    def _new(self, leaf: Tensor, node: UOp) -> Result:
        first = len(self.fresh)
        if not is_group(leaf.device):
            self.fresh.append(Fresh(node, memory_device(leaf), leaf.requires_grad))
            return Result("fresh", first)
        refuse_empty(leaf)
        layout = layout_of(node)
        assert layout is not None, "a tensor over several devices"
        for number, device in enumerate(layout.devices):
            with registry.graph_lock:
                part = select_part(node, layout, number)
                # A part may turn out to be memory of something else.
                part = registry.make(Op.CONTIGUOUS, node.dtype, (part,), ())
            self.fresh.append(Fresh(part, device, leaf.requires_grad))
        self.spreads.append(Spread(layout, tuple(range(first, len(self.fresh)))))
        return Result("spread", len(self.spreads) - 1)


def _updated_inputs(run: PlaceholderRun) -> Iterator[Update]:
    last = {
        (id(tensor), number): at
        for at, (tensor, number) in enumerate(zip(run.placeholders, run.numbers, strict=True))
    }
    for at in last.values():
        before, after = run.nodes_before[at], run.placeholders[at].node
        if after is not before and isinstance(run.call.inputs[at], Tensor):
            yield Update("input", at, _written(run.numbers[at], before, after))


def _updated_captured(run: PlaceholderRun, memories: list[Memory]) -> Iterator[Update]:
    by_tensor = {id(each.tensor): each for each in run.captured}
    for at, memory in enumerate(memories):
        captured = by_tensor[id(memory.tensor)]
        if captured.final is not captured.given:
            yield Update("captured", at, _written(memory.number, captured.given, captured.final))


def _written(number: Number, before: UOp, after: UOp) -> UOp:
    """The new value of one memory of a tensor that stood for `before`.

    That of a tensor over several devices is written to the part, as an assignment to it would be:

        MULTI(b0, b1)  →  v     AFTER(b0, ASSIGN(b0, MSELECT 0(v)))
    """
    layout = layout_of_memory(before)
    if layout is None or number is None:
        return after
    with registry.graph_lock:
        target = part_node(before, number)
        part = select_part(after, layout, number)
        store = registry.make(Op.ASSIGN, dtypes.void, (target, part))
        return registry.make(Op.AFTER, target.dtype, (target, store))
