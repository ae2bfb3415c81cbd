"""From tensors to values: normalize, compile or find, run, and let every live graph know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.config import Config, current_config
from ogive.device.buffer import Buffer
from ogive.device.target import host_target
from ogive.engine.faults import explain_fault
from ogive.engine.graph import Replay, graph_cache, pool_for
from ogive.engine.plan import Plan, execute_plan_of, unexecuted
from ogive.engine.versions import effects_of, versions_to_keep
from ogive.errors import ArgumentError
from ogive.ir import registry
from ogive.ir.memory import memory_leaf, shaped
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.runtime.native import Fault
from ogive.schedule.normalize import Normalized, normalize

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def realize(tensors: Sequence[Tensor], config: Config | None = None) -> None:
    """Compute the values of `tensors`, in one graph; afterwards each is memory."""
    config = config or current_config()
    roots = _pending(tensors)
    if not roots:
        _execute_pending(tensors)
        return
    effects = effects_of(roots)
    if not effects:
        _realize(roots, (), config)
        return
    with registry.effect_lock:
        # Another thread may have run the same effects while we waited.
        roots = _pending(tensors)
        if roots:
            _realize(roots, effects_of(roots), config)


def prepare(tensors: Sequence[Tensor], config: Config | None = None) -> Plan:
    """Compile and allocate for `tensors` without running anything.

    Only these tensors are rebound, to the plan's memory; reading one runs the plan first if it
    has not been executed yet.
    """
    config = config or current_config()
    if not tensors:
        raise ArgumentError("prepare needs at least one tensor")
    roots = _pending(tensors)
    run = _Run(roots, effects_of(roots), config)
    graph, variables = run.replay.graph, run.normalized.variables
    plan = Plan(graph, run.buffers, variables, tensors, run.explain, pool_for(config))
    run.rebind_only(tensors, plan)
    return plan


def _realize(roots: tuple[UOp, ...], effects: Sequence[UOp], config: Config) -> None:
    run = _Run(roots, effects, config)
    addresses = [buffer.address for buffer in run.buffers]
    fault = run.replay.run(addresses, run.normalized.variables, pool_for(config))
    if fault is not None:
        raise run.explain(fault)
    run.rebind()


def _execute_pending(tensors: Sequence[Tensor]) -> None:
    """Run the plans whose outputs are about to be read for the first time."""
    if unexecuted:
        for tensor in tensors:
            if is_realized(tensor.node):
                execute_plan_of(registry.buffer_of(memory_leaf(tensor.node)))


def _pending(tensors: Sequence[Tensor]) -> tuple[UOp, ...]:
    """The nodes that still have to be computed, each once."""
    return tuple(
        dict.fromkeys([t.node for t in tensors if not is_realized(t.node) and 0 not in t.shape])
    )


def is_realized(node: UOp) -> bool:
    """Whether a node is a buffer as it stands."""
    return memory_leaf(node).op is Op.BUFFER


class _Run:
    """One realization: its compiled graph, its memory, and what it replaces."""

    def __init__(self, roots: tuple[UOp, ...], effects: Sequence[UOp], config: Config) -> None:
        self.roots = roots
        self.effects = effects
        self.kept = versions_to_keep(roots, effects) if effects else ()
        self.config = config
        asked = [_computed(root) for root in (*roots, *self.kept)]
        self.normalized: Normalized = normalize(tuple(asked))
        self.replay: Replay = graph_cache.replay_for(self.normalized.sink, host_target(), config)
        graph = self.replay.graph
        self.buffers: list[Buffer] = []
        for slot in graph.slots:
            if slot.parameter is None:
                self.buffers.append(Buffer(slot.nbytes))
            else:
                buffer = registry.buffer_of(self.normalized.buffers[slot.parameter])
                if unexecuted:
                    execute_plan_of(buffer)
                self.buffers.append(buffer)

    def replacements(self) -> dict[UOp, UOp]:
        """For each node computed, the memory it is in."""
        graph = self.replay.graph
        mapping = {effect: _memory_below(effect) for effect in self.effects}
        for root, slot in zip((*self.roots, *self.kept), graph.outputs, strict=True):
            if graph.slots[slot].parameter is None:
                mapping[root] = _memory_node(self.buffers[slot], root)
        return mapping

    def rebind(self) -> None:
        """Replace what was computed by its memory, in every live tensor at once."""
        registry.substitute(self.replacements(), walk=True)

    def rebind_only(self, tensors: Sequence[Tensor], plan: Plan) -> None:
        """Replace what a plan will compute by its memory, in these tensors."""
        mapping = self.replacements()
        with registry.graph_lock:
            for tensor in tensors:
                if tensor.node in mapping:
                    registry.move_tensor(tensor, mapping[tensor.node])
                    plan.announce(registry.buffer_of(memory_leaf(tensor.node)))

    def explain(self, fault: Fault) -> Exception:
        return explain_fault(self.normalized, self.config, fault)


def _computed(root: UOp) -> UOp:
    """A root that a kernel computes: constants are written out."""
    if root.op in (Op.CONST, Op.IOTA, Op.BIND) or is_realized(root):
        return UOp(Op.CONTIGUOUS, root.dtype, (root,), ())
    if root.op is Op.DETACH:
        return UOp(Op.CONTIGUOUS, root.dtype, root.src, ())
    return root


def _memory_below(effect: UOp) -> UOp:
    """The buffer that an AFTER is a version of, in its shape."""
    node = effect
    while node.op is Op.AFTER:
        node = node.src[0]
    return node


def _memory_node(buffer: Buffer, value: UOp) -> UOp:
    count = buffer.nbytes // value.dtype.itemsize
    node = UOp(Op.BUFFER, value.dtype, (UOp.unique(),), (buffer.device, count))
    node.origin = value.origin
    registry.set_buffer(node, buffer)
    return shaped(node, value.shape)
