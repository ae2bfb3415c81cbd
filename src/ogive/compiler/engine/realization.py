"""One realization: what is computed, where it lies, and what that replaces in live graphs.

    before   w ── mul ── sum ── t        mul is not held by anyone
    after    buffer ── t                 rebound in every live graph, in one step
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ogive.at_once import Change
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.engine.caches.find_executions import find_executions
from ogive.compiler.engine.execution import Execution, Executions
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.engine.plan_memory import execute_plans_of, note_values
from ogive.compiler.engine.routes import Route, keep_route
from ogive.compiler.engine.writes.missing_values import OVERTAKEN, flat_without_memory
from ogive.compiler.engine.writes.old_versions import split_effects, version_below
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.memory import memory_leaf, shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute, walk
from ogive.compiler.live import history, registry
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.small_graphs import small_graphs
from ogive.compiler.live.substitution import forget_detached, move_holders, substitute_everywhere
from ogive.compiler.passes.capture.contiguous_parts import Window, is_whole
from ogive.compiler.passes.capture.inline_calls import is_outlined
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.config import Config
from ogive.counters import count
from ogive.errors import ExecuteError

if TYPE_CHECKING:
    from ogive.compiler.engine.plan import Plan
    from ogive.tensor.tensor import Tensor


class Realization:
    """One realization: its compiled graph, its memory, and what it replaces."""

    def __init__(
        self,
        roots: tuple[UOp, ...],
        effects: Sequence[UOp],
        kept: Sequence[UOp],
        config: Config,
        route: Route | None = None,
        tensors: Sequence[Tensor] = (),
        recorded: Sequence[UOp] = (),
    ) -> None:
        self.roots = roots
        self.tensors = tensors
        self.effects = effects
        self.kept = kept
        self.recorded = recorded
        self.config = config
        self.route = route
        if route is None or route.executions is None or route.normalized is None or kept:
            asked = self._nodes_asked_for()
            order = route.order if route is not None and asked == roots else None
            parametric = to_parametric(asked, config, order=order, calls=True)
            self.normalized: Normalized
            self.executions: Executions
            self.normalized, self.executions = find_executions(parametric, config, route is None)
            self.mentioned = parametric.buffers
            if small_graphs.is_asked and self.normalized.is_general:
                small_graphs.note(order or walk(asked))
        else:
            self.normalized, self.executions = route.normalized, route.executions
            self.mentioned = self.normalized.buffers
            count("schedule_hits")
        self.graph = self.executions.graph
        self.inputs: list[Buffer] = [registry.buffer_of(node) for node in self.normalized.buffers]
        execute_plans_of(self.inputs)
        windows = zip(self.normalized.windows, self.inputs, strict=True)
        given = [_part_of(buffer, window) for window, buffer in windows]
        self.buffers = self.graph.allocate(given, config)
        self.shorter = self._fit_results() if self.normalized.is_general else {}

    def _fit_results(self) -> dict[int, Buffer]:
        """The memory of results, by slot, that are shorter than a general graph could make them.

        One that steps read stays as long as they take it to be: the result is its front.
        """
        graph, shorter = self.graph, {}
        nodes = (*self.roots, *self.effects, *self.kept)
        for node, slot in zip(nodes, graph.outputs, strict=True):
            length = upper_count(node.shape) * node.dtype.itemsize
            longest = self.buffers[slot]
            if graph.slots[slot].parameter is None and length < longest.nbytes:
                needed = graph.result_bytes(slot, length)
                if needed < longest.nbytes:
                    longest = self.buffers[slot] = Buffer(needed, longest.device)
                shorter[slot] = longest.view(0, length)
        return shorter

    def bind(self) -> Execution:
        """An execution over its memory, for this thread alone."""
        execution = self.executions.take(self.config)
        execution.bind(self.buffers)
        if self.normalized.variables:
            execution.set_variables(self.normalized.variables)
        return execution

    def read(self) -> None:
        """Run it once, where it assigns nothing."""
        execution = self.bind()
        self._end(execution, execution.run())

    def write(self) -> None:
        """Run it once where it assigns, and let everybody know. After a fault every tensor can be
        read."""
        execution = self.bind()
        self._end(
            execution, execution.write(self.written(), self.inputs, self._conclude, self._may_end)
        )

    def _end(self, execution: Execution, fault: Fault | None) -> None:
        self.executions.give_back(execution)
        if fault is not None:
            raise self.explain(fault)

    def _conclude(self, fault: Fault | None, together: list[Change]) -> None:
        if fault is None:
            self.rebind(together)
        else:
            self.settle_fault(fault, together)

    def written(self) -> list[Buffer]:
        """The buffers that assignments write to."""
        slots = self.graph.outputs[len(self.roots) :][: len(self.effects)]
        return [self.buffers[slot] for slot in dict.fromkeys(slots)]

    def replacements(
        self, late: Collection[int] = (), reuse: bool = False
    ) -> dict[UOp, UOp]:
        """For each node computed, the memory it is in; what is in `late` slots is not there.

        A buffer that was written to gets a new node for its new version, since others may go on
        reading the old node, which then stands for a copy. With `reuse` it keeps its node where
        nobody can tell: the same expressions of the new version are the same nodes then.
        """
        graph, number = self.graph, self.executions.number
        mapping: dict[UOp, UOp] = {}
        nodes = (*self.roots, *self.effects, *self.kept)
        for at, (node, slot) in enumerate(zip(nodes, graph.outputs, strict=True)):
            if slot in late and graph.slots[slot].parameter is None:
                continue
            if node.op is Op.AFTER:
                if node not in mapping or node in self.kept:
                    own = self._own_node(node, self.buffers[slot]) if reuse else None
                    mapping[node] = own or _memory_node(self.buffers[slot], node)
            elif graph.slots[slot].parameter is None:
                buffer = self.shorter.get(slot, self.buffers[slot])
                mapping[node] = _memory_node(buffer, node, (number, at, buffer.nbytes))
        return mapping

    def _own_node(self, effect: UOp, memory: Buffer) -> UOp | None:
        """The node that memory had before it was written to, if nobody reads that version."""
        base = version_below(effect)
        while base.op is Op.AFTER:
            base = version_below(base)
        same = base.op is Op.BUFFER and registry.buffer_of(base) is memory
        if same and not history.has_record(base) and effect not in self.recorded:
            return shaped(base, effect.shape)
        return None

    def _may_end(self, step: int) -> bool:
        """Whether all that is left before a step can still be computed, from what there will be."""
        there, overwritten, _ = self._so_far(Fault(step, 0, stopped=True))
        asked = (*self.roots, *self.effects)
        left = walk(tuple([node for node in asked if node not in there]))
        return overwritten.isdisjoint(left)

    def _so_far(self, fault: Fault) -> tuple[set[UOp], set[UOp], set[UOp]]:
        """Of a run that ended early: what is there, the versions that are gone, and the assignments
        that are lost."""
        graph = self.graph
        slots = graph.outputs[len(self.roots) :]
        done, lost = split_effects(graph, self.effects, slots, fault)
        late = self._late(fault)
        there = {
            root
            for root, slot in zip(self.roots, graph.outputs, strict=False)
            if graph.slots[slot].parameter is None and slot not in late
        }
        below = {version_below(effect) for effect in done}
        return there | done, below.difference(self.kept), lost

    def _late(self, fault: Fault) -> set[int]:
        """The slots that a run which ended early has not written, or not for the last time."""
        return {slot for step in self.graph.steps[fault.step :] for slot in step.written}

    def settle_fault(self, fault: Fault, together: list[Change]) -> None:
        """Settle the assignments of a run that ended with a fault.

        Those carried out stay so. Those that follow from what faulted are taken back: tensors that
        hold such a version hold the one below it again. The others are still to be carried out.
        What was to be computed from a version that is gone is an error when it is read.
        """
        there, overwritten, lost = self._so_far(fault)
        below = {version_below(effect) for effect in there.intersection(self.effects)}
        # The copy of a version is made just before that is overwritten, which may not have been.
        computed = self.replacements(self._late(fault))
        settled = {node: computed[node] for node in there | below.intersection(self.kept)}
        settled |= {version: _unknown_value(version) for version in overwritten}
        with registry.graph_lock:
            for effect in lost:
                under = effect.operand
                while (version := memory_leaf(under)) in lost:
                    (under,) = substitute((under,), {version: version.operand}, revisit=False)
                if version not in overwritten:
                    move_holders(effect, under)
            self.remember(settled)
            substitute_everywhere(settled, walk=True, together=together)

    def rebind(self, together: Sequence[Change] = ()) -> None:
        """Replace what was computed by its memory, in every live tensor at once."""
        mapping = self.replacements(reuse=not self.kept)
        self.remember(mapping)
        if self.normalized.variables:
            for node, memory in mapping.items():
                if node.op is not Op.AFTER:
                    note_values(memory, self.buffers)
        substitute_everywhere(mapping, walk=True, together=together)

    def keep_route(self, asked: tuple[UOp, ...]) -> None:
        """Remember the way to what was `asked` for, for the next time. `graph_lock` is held."""
        if self.route is not None and not self.kept:
            keep_route(asked, self.route, self.normalized, self.executions, self.inputs)

    def remember(self, mapping: dict[UOp, UOp], stored: Collection[Buffer] = ()) -> None:
        """Note what was computed from leaves, before they are replaced by other versions.

        What is `stored` will be written to later, when a plan is executed.
        """
        if history.is_tracking():
            overwritten = {version_below(effect) for effect in self.effects}
            moved = {
                node: memory
                for node, memory in mapping.items()
                if node in self.kept or (node.op is Op.AFTER and node not in overwritten)
            }
            counting = functools.partial(count_writes, stored)
            history.remember(mapping, moved, self._mentioned(), counting)
            forget_detached(self.mentioned)

    def _mentioned(self) -> Sequence[UOp]:
        """The memory that values came from, and what lies in memory of several devices: also what
        no value was read of, and gradients flow to. A general graph has no slots for that."""
        buffers = self.mentioned
        if len({buffer.device for buffer in buffers}) < 2:
            return buffers
        nodes = walk((*self.roots, *self.effects))
        return (*buffers, *[node for node in nodes if node.op is Op.MULTI])

    def rebind_only(
        self, tensors: Sequence[Tensor], plan: Plan, copies: dict[UOp, UOp]
    ) -> None:
        """Replace what a plan will compute by its memory, in these tensors.

        Assignments are another matter: everybody sees the new version, or the copy of the old.
        """
        with registry.graph_lock:
            mapping = self.replacements()
            self.remember(mapping | copies, plan.stored)
            everywhere = {effect: mapping[effect] for effect in self.effects} | copies
            before = [tensor.node for tensor in tensors]
            substitute_everywhere(everywhere, walk=True)
            for tensor, node in zip(tensors, before, strict=True):
                if node in mapping:
                    registry.move_tensor(tensor, mapping[node])
            for memory in mapping.values():
                plan.announce(registry.buffer_of(memory_leaf(memory)))

    def explain(self, fault: Fault) -> BaseException:
        """The error that tells the user what happened."""
        from ogive.compiler.engine.faults import explain_fault  # which runs do without

        normalized = self.normalized
        if not normalized.parametric or is_outlined(normalized.sink):
            normalized = to_parametric(self._nodes_asked_for(), self.config)
        return explain_fault(self.graph, normalized, self.config, fault, self.tensors)

    def _nodes_asked_for(self) -> tuple[UOp, ...]:
        """The nodes to compute: the roots, the assignments and copies of versions, in this
        order."""
        copies = [UOp(Op.CONTIGUOUS, version.dtype, (version,), ()) for version in self.kept]
        return (*[_into_memory(root) for root in self.roots], *self.effects, *copies)


def _into_memory(root: UOp) -> UOp:
    """A root that a kernel computes: constants are written out, detached memory is copied. What is
    scattered lies in memory of its own as it is (`passes/graph/place_scatters.py`)."""
    node, detached = root, False
    while node.op in (Op.RESHAPE, Op.DETACH, Op.GRADIENT):
        detached |= node.op is not Op.RESHAPE
        node = node.operand
    if node.op is Op.SCATTER:
        return root
    if detached or root.op in (Op.CONST, Op.IOTA, Op.BIND) or is_in_memory(root):
        return UOp(Op.CONTIGUOUS, root.dtype, (root,), ())
    return root


def _part_of(buffer: Buffer, window: Window) -> Buffer:
    """The memory of a window of `buffer`."""
    if is_whole(window):
        return buffer
    size = window.buffer.dtype.itemsize
    return buffer.view(window.start * size, window.length * size)


def count_writes(stored: Collection[Buffer], node: UOp) -> tuple[int, int]:
    """How often a buffer had been written to before this run, and will have been after it."""
    buffer: Buffer = registry.buffer_of(node)
    writes = buffer.writes
    return writes - (writes & 1), writes + (writes & 1) + 2 * (buffer in stored)


def _unknown_value(value: UOp) -> UOp:
    """A value that cannot be known any more."""
    device = memory_leaf(value).device if is_in_memory(value) else DEFAULT_DEVICE
    flat = flat_without_memory(value.shape, value.dtype, device, ExecuteError, OVERTAKEN)
    return shaped(flat, value.shape)


def _memory_node(buffer: Buffer, value: UOp, role: Any = None) -> UOp:
    """`buffer` as the memory of `value`, behind a node of that role which nobody reads any more."""
    length = buffer.nbytes // value.dtype.itemsize
    node = None if role is None else kept_graphs.take(role)
    if node is None:
        source = (UOp.unique(),)
        node = registry.make(Op.BUFFER, value.dtype, source, (buffer.device, length), (length,))
        node.origin = value.origin
        node.live.role = role
    registry.set_buffer(node, buffer)
    return shaped(node, value.shape)


def is_in_memory(node: UOp) -> bool:
    """Whether a node is a buffer as it stands."""
    return memory_leaf(node).op is Op.BUFFER
