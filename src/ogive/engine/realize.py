"""From tensors to values: normalize, compile or find, run, and let every live graph know."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ogive.at_once import Change
from ogive.config import Config, current_config
from ogive.counters import count
from ogive.devices.buffer import Buffer
from ogive.devices.cpu.native.native_plan import Fault, NativePlan
from ogive.engine.announced_writes import make_way, wait_for_writers, write
from ogive.engine.caches.graph_cache import graph_cache
from ogive.engine.execution import Replay
from ogive.engine.missing_values import OVERTAKEN, flat_without_memory
from ogive.engine.old_versions import (
    effects_of,
    split_effects,
    version_below,
    versions_to_keep,
    without_effects,
)
from ogive.engine.parametric import to_parametric
from ogive.engine.plan import Plan, execute_plan_of, note_values, unexecuted
from ogive.engine.recurring_values import recurring
from ogive.engine.routes import Route, find_route, keep_route
from ogive.engine.steps.compiled_graph import pool_for
from ogive.errors import ArgumentError, ArgumentTypeError, ExecuteError, OgiveError
from ogive.ir.memory import memory_leaf, shaped
from ogive.ir.node import UOp, substitute, walk
from ogive.ir.ops import Op
from ogive.journal import log, logging_time, since
from ogive.live import history, registry
from ogive.live.kept_graphs import kept_graphs
from ogive.passes.graph.contiguous_parts import Window, is_whole
from ogive.passes.graph.normalize import Normalized

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def realize(tensors: Sequence[Tensor], config: Config | None = None) -> None:
    """Compute the values of `tensors`, in one graph; afterwards each is memory."""
    config = _checked(config)
    # Again if another thread changed the graphs of these tensors, or what they read, meanwhile.
    while roots := _pending(tensors):
        found = find_route(roots, config)
        if found.effects:
            with registry.effect_lock:
                make_way(_written(found.effects), _memories(roots))
                # Another thread may have run the same effects while we waited.
                if _pending(tensors) == roots:
                    _carry_out(tensors, roots, found, config)
        elif not _realize_keeping(tensors, roots, found, config):
            wait_for_writers(_memories(roots))
    _execute_pending(tensors)


def prepare(tensors: Sequence[Tensor], config: Config | None = None) -> Plan:
    """Compile and allocate for `tensors` without running anything.

    Only these tensors are rebound, to the plan's memory; reading one runs the plan first if it
    has not been executed yet.
    """
    start = time.perf_counter()
    config = _checked(config)
    if not tensors:
        raise ArgumentError("prepare needs at least one tensor")
    with registry.effect_lock:
        roots = _pending(tensors)
        make_way(_written(effects_of(roots)), _memories(roots))
        roots = _pending(tensors)
        effects = effects_of(roots)
        # Old versions that others read are copied now: the plan may overwrite them many times.
        copies = _copy_versions(versions_to_keep(roots, effects, tensors), config)
        run = _Run(roots, effects, (), config)
        graph, variables = run.replay.graph, run.normalized.variables
        plan = Plan(graph, run.buffers, variables, tensors, run.explain, pool_for(config), config)
        run.rebind_only(tensors, plan, copies)
        plan.hold_outputs()
    if config.logs("schedule"):
        log("schedule", f"prepared {len(tensors)} tensors in {since(start)}")
    return plan


def _memories(roots: tuple[UOp, ...]) -> Iterator[Buffer]:
    """All memory that the graphs under `roots` read or write, if anybody asks."""
    for node in walk(roots):
        if node.op is Op.BUFFER:
            yield registry.buffer_of(node)


def _written(effects: Sequence[UOp]) -> Iterator[Buffer]:
    """The memory that assignments write to, if anybody asks."""
    for node in effects:
        while node.op is Op.AFTER:
            node = version_below(node)
        if node.op is Op.BUFFER:
            yield registry.buffer_of(node)


def _checked(config: Config | None) -> Config:
    """The configuration of one call. Raises `ArgumentTypeError`."""
    if config is None:
        return current_config()
    if not isinstance(config, Config):
        raise ArgumentTypeError(
            f"config is an ogive.Config or None, not {config!r} of type {type(config).__name__}"
        )
    return config


def _copy_versions(versions: tuple[UOp, ...], config: Config) -> dict[UOp, UOp]:
    """Memory with what each version holds, or will hold; the versions stay as they are.

    Each in a run of its own: in one, a later version would be made of an earlier one's copy.
    """
    copies = {}
    for version in versions:
        run = _Run((without_effects(version),), (), (), config)
        run.execute()
        (copies[version],) = run.replacements().values()
    return copies


def _realize_keeping(
    tensors: Sequence[Tensor], roots: tuple[UOp, ...], found: Route, config: Config
) -> bool:
    """Compute values as `_realize` does, and what would be computed again with them."""
    kept = () if found.order is None else recurring(roots, found.order)
    if kept:
        try:
            return _realize(tensors, (*roots, *kept), found, config)
        except OgiveError:
            pass  # A part that nobody asked for may fault; if what was asked for does, it is below.
    return _realize(tensors, roots, found, config)


def _realize(
    tensors: Sequence[Tensor], roots: tuple[UOp, ...], found: Route, config: Config
) -> bool:
    """Compute values without effects; False if what they read was written to at the same time."""
    run = _Run(roots, (), (), config, found, tensors)
    before = run.writes()
    run.execute()
    with registry.graph_lock:
        if run.writes() != before or 1 in [count & 1 for count in before]:
            return False
        run.rebind()
        run.keep_route()
    return True


def _carry_out(
    tensors: Sequence[Tensor], roots: tuple[UOp, ...], found: Route, config: Config
) -> None:
    """Compute values and carry out the assignments among them."""
    effects = found.effects
    recorded = _recorded(effects)
    kept = dict.fromkeys((*_versions_to_keep(roots, effects), *_versions_for_gradients(recorded)))
    run = _Run(roots, effects, tuple(kept), config, found, tensors, recorded)
    run.carry_out()
    with registry.graph_lock:
        run.keep_route()


def _versions_to_keep(roots: tuple[UOp, ...], effects: Sequence[UOp]) -> tuple[UOp, ...]:
    """`versions_to_keep`, without a look at graphs that are known not to be read by others."""
    with registry.graph_lock:
        inside = {*effects, *roots}
        overwritten = dict.fromkeys([version_below(effect) for effect in effects])
        if all(node in inside or kept_graphs.is_idle(node, inside) for node in overwritten):
            return ()
        return versions_to_keep(roots, effects)


def _recorded(effects: Sequence[UOp]) -> list[UOp]:
    """The assignments that gradients flow through, but for those to leaves."""
    if not history.is_tracking():
        return []
    return [effect for effect in effects if history.has_history(effect)]


def _versions_for_gradients(recorded: Sequence[UOp]) -> list[UOp]:
    """Versions that gradients of what overwrites them need: `y.mul_(x)` is computed from `y`."""
    return [
        version
        for effect in recorded
        if (version := version_below(effect)) in walk(tuple([s.src[1] for s in effect.src[1:]]))
    ]


def _execute_pending(tensors: Sequence[Tensor]) -> None:
    """Run the plans whose outputs are about to be read for the first time."""
    if unexecuted:
        for tensor in tensors:
            if is_realized(tensor.node):
                execute_plan_of(registry.buffer_of(memory_leaf(tensor.node)))


def _pending(tensors: Sequence[Tensor]) -> tuple[UOp, ...]:
    """The nodes that still have to be computed, each once. Views of files stay what they are."""
    return tuple(
        dict.fromkeys(
            [
                t.node
                for t in tensors
                if not is_realized(t.node) and 0 not in t.shape and t.device != "DISK"
            ]
        )
    )


def is_realized(node: UOp) -> bool:
    """Whether a node is a buffer as it stands."""
    return memory_leaf(node).op is Op.BUFFER


class _Run:
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
        if route is None or route.replay is None or route.normalized is None or kept:
            asked = self._asked()
            order = route.order if route is not None and asked == roots else None
            self.normalized: Normalized = to_parametric(asked, config, order=order)
            self.replay: Replay = graph_cache.replay_for(self.normalized.sink, config)
        else:
            self.normalized, self.replay = route.normalized, route.replay
            count("schedule_hits")
        graph = self.replay.graph
        self.inputs: list[Buffer] = [registry.buffer_of(node) for node in self.normalized.buffers]
        if unexecuted:
            for buffer in self.inputs:
                execute_plan_of(buffer)
        windows = zip(self.normalized.windows, self.inputs, strict=True)
        given = [_part_of(buffer, window) for window, buffer in windows]
        self.buffers = graph.allocate(given, config)

    def execute(self) -> None:
        """Run it once, where it assigns nothing."""
        native = self.replay.take(self.config)
        fault = self._on(native)()
        self.replay.give_back(native, self.config)
        if fault is not None:
            raise self.explain(fault)

    def carry_out(self) -> None:
        """Run it once, and let everybody know. After a fault every tensor can be read."""
        native = self.replay.take(self.config)
        run = self._on(native)
        fault = write(
            native, self.written(), self.inputs, run, self._conclude, self._may_end
        )
        self.replay.give_back(native, self.config)
        if fault is not None:
            raise self.explain(fault)

    def _on(self, native: NativePlan) -> Callable[[], Fault | None]:
        """What runs it on a native plan."""
        return logging_time(
            lambda: self.replay.run(
                native, self.buffers, self.normalized.variables, self.config
            ),
            self.config,
            f"{len(self.replay.graph.steps)} steps",
        )

    def _conclude(self, fault: Fault | None, together: list[Change]) -> None:
        if fault is None:
            self.rebind(together)
        else:
            self.settle(fault, together)

    def writes(self) -> list[int]:
        """How often writing to each of the inputs has begun or ended."""
        return [buffer.writes for buffer in self.inputs]

    def written(self) -> list[Buffer]:
        """The buffers that assignments write to."""
        slots = self.replay.graph.outputs[len(self.roots) :][: len(self.effects)]
        return [self.buffers[slot] for slot in dict.fromkeys(slots)]

    def replacements(self) -> dict[UOp, UOp]:
        """For each node computed, the memory it is in.

        A buffer that was written to gets a new node for its new version, since others may go on
        reading the old node, which then stands for a copy.
        """
        graph, number = self.replay.graph, self.replay.number
        mapping: dict[UOp, UOp] = {}
        nodes = (*self.roots, *self.effects, *self.kept)
        for at, (node, slot) in enumerate(zip(nodes, graph.outputs, strict=True)):
            if node.op is Op.AFTER:
                if node not in mapping or node in self.kept:
                    mapping[node] = _memory_node(self.buffers[slot], node)
            elif graph.slots[slot].parameter is None:
                mapping[node] = _memory_node(self.buffers[slot], node, (number, at))
        return mapping

    def reuse_versions(self, mapping: dict[UOp, UOp]) -> None:
        """Let buffers keep their nodes where nobody reads the version that was overwritten.

        The same expressions of the new version are the same nodes then.
        """
        if self.kept:
            return
        for node in self.effects:
            base = version_below(node)
            while base.op is Op.AFTER:
                base = version_below(base)
            same = base.op is Op.BUFFER and base.memory is memory_leaf(mapping[node]).memory
            if same and base.history is None and node not in self.recorded:
                mapping[node] = shaped(base, node.shape)

    def _may_end(self, step: int) -> bool:
        """Whether all that is left before a step can still be computed, from what there will be."""
        there, overwritten, _ = self._so_far(Fault(step, 0, stopped=True))
        asked = (*self.roots, *self.effects)
        left = walk(tuple([node for node in asked if node not in there]))
        return overwritten.isdisjoint(left)

    def _so_far(self, fault: Fault) -> tuple[set[UOp], set[UOp], set[UOp]]:
        """Of a run that ended early: what is there, the versions that are gone, and the assignments
        that are lost."""
        graph = self.replay.graph
        slots = graph.outputs[len(self.roots) :]
        done, lost = split_effects(graph, self.effects, slots, fault)
        late = {slot for step in graph.steps[fault.step :] for slot in step.written}
        there = {
            root
            for root, slot in zip(self.roots, graph.outputs, strict=False)
            if graph.slots[slot].parameter is None and slot not in late
        }
        below = {version_below(effect) for effect in done}
        return there | done, below.difference(self.kept), lost

    def settle(self, fault: Fault, together: list[Change]) -> None:
        """What remains of the assignments after a fault.

        Those carried out stay so. Those that follow from what faulted are taken back: tensors that
        hold such a version hold the one below it again. The others are still to be carried out.
        What was to be computed from a version that is gone is an error when it is read.
        """
        there, overwritten, lost = self._so_far(fault)
        below = {version_below(effect) for effect in there.intersection(self.effects)}
        computed = self.replacements()
        found = {node: computed[node] for node in there | below.intersection(self.kept)}
        found |= {version: _absent(version) for version in overwritten}
        with registry.graph_lock:
            for effect in lost:
                under = effect.src[0]
                while (version := memory_leaf(under)) in lost:
                    (under,) = substitute((under,), {version: version.src[0]}, revisit=False)
                if version not in overwritten:
                    registry.move_holders(effect, under)
            self.remember(found)
            registry.substitute(found, walk=True, together=together)

    def rebind(self, together: Sequence[Change] = ()) -> None:
        """Replace what was computed by its memory, in every live tensor at once."""
        mapping = self.replacements()
        self.reuse_versions(mapping)
        self.remember(mapping)
        if self.normalized.variables:
            for node, memory in mapping.items():
                if node.op is not Op.AFTER:
                    note_values(memory, self.buffers)
        registry.substitute(mapping, walk=True, together=together)

    def keep_route(self) -> None:
        """Remember the way that was gone, for the next time. `graph_lock` is held."""
        if self.route is not None and not self.kept:
            keep_route(self.roots, self.route, self.normalized, self.replay, self.inputs)

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
            count_writes = functools.partial(_count_writes, stored)
            history.remember(mapping, moved, self.normalized.buffers, count_writes)

    def rebind_only(
        self, tensors: Sequence[Tensor], plan: Plan, copies: dict[UOp, UOp]
    ) -> None:
        """Replace what a plan will compute by its memory, in these tensors.

        Assignments are another matter: everybody sees the new version, or the copy of the old.
        """
        mapping = self.replacements()
        with registry.graph_lock:
            self.remember(mapping | copies, plan.stored)
            everywhere = {effect: mapping[effect] for effect in self.effects} | copies
            before = [tensor.node for tensor in tensors]
            registry.substitute(everywhere, walk=True)
            for tensor, node in zip(tensors, before, strict=True):
                if node in mapping:
                    registry.move_tensor(tensor, mapping[node])
            for memory in mapping.values():
                plan.announce(registry.buffer_of(memory_leaf(memory)))

    def explain(self, fault: Fault) -> BaseException:
        from ogive.engine.faults import explain_fault

        normalized = self.normalized
        if not normalized.made:
            normalized = to_parametric(self._asked(), self.config)
        return explain_fault(self.replay.graph, normalized, self.config, fault, self.tensors)

    def _asked(self) -> tuple[UOp, ...]:
        """What is computed: the roots, the assignments and copies of versions, in this order."""
        copies = [UOp(Op.CONTIGUOUS, version.dtype, (version,), ()) for version in self.kept]
        return (*[_computed(root) for root in self.roots], *self.effects, *copies)


def _computed(root: UOp) -> UOp:
    """A root that a kernel computes: constants are written out, detached memory is copied. What is
    scattered lies in memory of its own as it is (`passes/graph/place_scatters.py`)."""
    node, detached = root, False
    while node.op in (Op.RESHAPE, Op.DETACH, Op.GRADIENT):
        detached |= node.op is not Op.RESHAPE
        node = node.src[0]
    if node.op is Op.SCATTER:
        return root
    if detached or root.op in (Op.CONST, Op.IOTA, Op.BIND) or is_realized(root):
        return UOp(Op.CONTIGUOUS, root.dtype, (root,), ())
    return root


def _part_of(buffer: Buffer, window: Window) -> Buffer:
    """The memory of a window of `buffer`."""
    if is_whole(window):
        return buffer
    size = window.buffer.dtype.itemsize
    return buffer.view(window.start * size, window.length * size)


def _count_writes(stored: Collection[Buffer], node: UOp) -> tuple[int, int]:
    """How often a buffer had been written to before this run, and will have been after it."""
    buffer: Buffer = registry.buffer_of(node)
    writes = buffer.writes
    return writes - (writes & 1), writes + (writes & 1) + 2 * (buffer in stored)


def _absent(value: UOp) -> UOp:
    """A value that cannot be known any more."""
    device = memory_leaf(value).arg[0] if is_realized(value) else "CPU"
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
        node.role = role
    registry.set_buffer(node, buffer)
    return shaped(node, value.shape)
