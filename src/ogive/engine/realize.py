"""From tensors to values: normalize, compile or find, run, and let every live graph know."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.config import Config, current_config
from ogive.device.buffer import Buffer
from ogive.engine.absent import OVERTAKEN, TORN, flat_without_memory
from ogive.engine.again import recurring
from ogive.engine.graph import Replay, graph_cache, pool_for
from ogive.engine.parametric import to_parametric
from ogive.engine.plan import Plan, execute_plan_of, note_values, unexecuted
from ogive.engine.versions import (
    being_written,
    effects_among,
    effects_of,
    split_effects,
    version_below,
    versions_to_keep,
    without_effects,
)
from ogive.errors import ArgumentError, ArgumentTypeError, ExecuteError
from ogive.ir import history, registry
from ogive.ir.memory import memory_leaf, shaped
from ogive.ir.node import UOp, substitute, walk
from ogive.ir.ops import Op
from ogive.journal import log, logging_time, since
from ogive.runtime.native import Fault
from ogive.schedule.normalize import Normalized
from ogive.schedule.windows import Window, is_whole

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def realize(tensors: Sequence[Tensor], config: Config | None = None) -> None:
    """Compute the values of `tensors`, in one graph; afterwards each is memory."""
    config = _checked(config)
    # Again if another thread changed the graphs of these tensors, or what they read, meanwhile.
    while roots := _pending(tensors):
        order = walk(roots)
        if effects_among(order):
            with registry.effect_lock:
                # Another thread may have run the same effects while we waited.
                roots = _pending(tensors)
                if roots:
                    _carry_out(roots, effects_of(roots), config)
        elif not _realize_keeping(roots, order, config):
            with registry.effect_lock:
                pass  # The thread that was writing has finished.
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


def _realize_keeping(roots: tuple[UOp, ...], order: list[UOp], config: Config) -> bool:
    """Compute values as `_realize` does, and what would be computed again with them."""
    kept = recurring(roots, order)
    if kept:
        try:
            return _realize((*roots, *kept), order, config)
        except Exception:
            pass  # A part that nobody asked for may fault; if what was asked for does, it is below.
    return _realize(roots, order, config)


def _realize(roots: tuple[UOp, ...], order: list[UOp], config: Config) -> bool:
    """Compute values without effects; False if what they read was written to at the same time.

    `order` is the walk of the roots.
    """
    run = _Run(roots, (), (), config, order)
    before = run.writes()
    run.execute()
    with registry.graph_lock:
        if run.writes() != before or 1 in [count & 1 for count in before]:
            return False
        run.rebind()
    return True


def _carry_out(roots: tuple[UOp, ...], effects: Sequence[UOp], config: Config) -> None:
    """Compute values and carry out the assignments among them."""
    run = _Run(roots, effects, versions_to_keep(roots, effects), config)
    written = run.written()
    with being_written(written):
        run.execute()
        run.rebind()


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
        order: list[UOp] | None = None,
    ) -> None:
        self.roots = roots
        self.effects = effects
        self.kept = kept
        self.config = config
        copies = [UOp(Op.CONTIGUOUS, version.dtype, (version,), ()) for version in kept]
        asked = (*[_computed(root) for root in roots], *effects, *copies)
        known = order if asked == roots else None
        self.normalized: Normalized = to_parametric(asked, config, order=known)
        self.replay: Replay = graph_cache.replay_for(self.normalized.sink, config)
        graph = self.replay.graph
        self.inputs: list[Buffer] = [registry.buffer_of(node) for node in self.normalized.buffers]
        if unexecuted:
            for buffer in self.inputs:
                execute_plan_of(buffer)
        windows = zip(self.normalized.windows, self.inputs, strict=True)
        given = [_part_of(buffer, window) for window, buffer in windows]
        self.buffers = graph.allocate(given, config.planner)

    def execute(self) -> None:
        """Run it once. After a fault every tensor can be read: see `settle`."""
        variables = self.normalized.variables
        run = logging_time(
            lambda: self.replay.run(self.buffers, variables, self.config),
            self.config,
            f"{len(self.replay.graph.steps)} steps",
        )
        fault = run()
        if fault is not None:
            self.settle(fault)
            raise self.explain(fault)

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
        graph = self.replay.graph
        mapping: dict[UOp, UOp] = {}
        for node, slot in zip((*self.roots, *self.effects, *self.kept), graph.outputs, strict=True):
            if node.op is Op.AFTER or graph.slots[slot].parameter is None:
                mapping[node] = _memory_node(self.buffers[slot], node)
        return mapping

    def settle(self, fault: Fault) -> None:
        """What remains of the assignments after a fault.

        Those carried out stay so. Those that follow from what faulted are taken back: tensors that
        hold such a version hold the one below it again. The others are still to be carried out.
        What can be known no more is an error when it is read: what was left half done, and what
        was to be computed from a version that is gone.
        """
        graph = self.replay.graph
        slots = graph.outputs[len(self.roots) :]
        done, lost, torn = split_effects(graph, self.effects, slots, fault)
        copies = self.replacements()
        found: dict[UOp, UOp] = {}
        overwritten: set[UOp] = set()
        for effect in self.effects:
            if effect in done:
                found[effect] = _memory_node(self.buffers[done[effect]], effect)
            elif effect in torn:
                found[effect] = _absent(effect, TORN)
            else:
                continue
            version = version_below(effect)
            if version in self.kept:
                found[version] = copies[version]
            else:
                overwritten.add(version)
                found[version] = _absent(version, OVERTAKEN)
        with registry.graph_lock:
            for effect in lost:
                below = effect.src[0]
                while (version := memory_leaf(below)) in lost:
                    (below,) = substitute((below,), {version: version.src[0]}, revisit=False)
                if version not in overwritten:
                    registry.move_holders(effect, below)
            self.remember(found)
            registry.substitute(found, walk=True)

    def rebind(self) -> None:
        """Replace what was computed by its memory, in every live tensor at once."""
        mapping = self.replacements()
        self.remember(mapping)
        registry.substitute(mapping, walk=True)
        if self.normalized.variables:
            for node, memory in mapping.items():
                if node.op is not Op.AFTER:
                    note_values(memory, self.buffers)

    def remember(self, mapping: dict[UOp, UOp]) -> None:
        """Note what was computed from leaves, before they are replaced by other versions."""
        if history.is_tracking():
            history.remember(
                mapping, self.normalized.buffers, lambda node: registry.buffer_of(node).writes
            )

    def rebind_only(
        self, tensors: Sequence[Tensor], plan: Plan, copies: dict[UOp, UOp]
    ) -> None:
        """Replace what a plan will compute by its memory, in these tensors.

        Assignments are another matter: everybody sees the new version, or the copy of the old.
        """
        mapping = self.replacements()
        with registry.graph_lock:
            self.remember(mapping | copies)
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

        return explain_fault(self.replay.graph, self.normalized, self.config, fault)


def _computed(root: UOp) -> UOp:
    """A root that a kernel computes: constants are written out, detached memory is copied. What is
    scattered lies in memory of its own as it is (`schedule/scatters.py`)."""
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


def _absent(value: UOp, message: str) -> UOp:
    """A value that cannot be known any more."""
    device = memory_leaf(value).arg[0] if is_realized(value) else "CPU"
    flat = flat_without_memory(value.shape, value.dtype, device, ExecuteError, message)
    return shaped(flat, value.shape)


def _memory_node(buffer: Buffer, value: UOp) -> UOp:
    count = buffer.nbytes // value.dtype.itemsize
    source = (UOp.unique(),)
    node = registry.make(Op.BUFFER, value.dtype, source, (buffer.device, count), (count,))
    node.origin = value.origin
    registry.set_buffer(node, buffer)
    return shaped(node, value.shape)
