"""Assignments that a program repeats, to memory, from memory: the step of an optimizer.

The first time they are nodes like any other. Their run reads and writes memory of the operands, and
each slot is known by its place among these. The next time the same compiled graph runs over the
memory that the operands have then, and no node is built.

    before   p = AFTER(P, ASSIGN(P, P - G·rate)), of 40 parameters, normalized, found, rebound
    after    slots 0, 1, 2, … of the compiled graph are P, G, rate, …; p stays what it is

Nobody can tell the difference if all operands are memory as it stands, each its own, and no other
tensor reads the memory that is written. Otherwise the assignments are built as nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.at_once import Change, at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.engine.execution import Executions
from ogive.compiler.engine.plan_memory import execute_plans_of
from ogive.compiler.engine.realization import Realization
from ogive.compiler.engine.realize import realize
from ogive.compiler.engine.waiting.live_values import may_fault
from ogive.compiler.engine.writes.announced_writes import settle
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import registry
from ogive.compiler.live.readers import read_outside
from ogive.compiler.passes.capture.contiguous_parts import is_whole
from ogive.config import Config, current_config
from ogive.counters import count

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class RepeatedAssignments:
    """A compiled graph whose inputs are operands, by their places, and which writes to some."""

    def __init__(
        self,
        executions: Executions,
        config: Config,
        forms: Sequence[tuple[Any, ...]],
        read: Sequence[int],
        written: Sequence[int],
    ) -> None:
        self._executions = executions
        self._config = config
        self._forms = tuple(forms)
        self._read = tuple(read)
        self._written = tuple(written)

    def carry_out(self, operands: Sequence[Tensor]) -> bool:
        """Make the assignments over the memory of `operands`; False if that cannot be done."""
        if current_config() is not self._config:
            return False
        with registry.effect_lock:
            settle()
            leaves = _memory_of(operands, self._forms)
            if leaves is None or clock.writers:
                return False
            memories = [registry.buffer_of(leaf) for leaf in leaves]
            execute_plans_of(memories)
            written = [memories[place] for place in self._written]
            if any(memory.borrowed for memory in written):
                return False
            own = [tensor.id for tensor in operands]
            if read_outside([leaves[place] for place in self._written], besides=own):
                return False
            self._run([memories[place] for place in self._read], written)
        return True

    def _run(self, read: Sequence[Buffer], written: Sequence[Buffer]) -> None:
        count("schedule_hits")
        execution = self._executions.take(self._config)
        execution.bind(self._executions.graph.allocate(read, self._config))
        execution.write(written, read, _conclude, _nowhere)
        self._executions.give_back(execution)


def carry_out_noting(
    changed: Sequence[Tensor], operands: Sequence[Tensor]
) -> RepeatedAssignments | None:
    """Compute what is pending of `changed`; gives how to do it again, if it is of such a kind.

    `operands` are all tensors that it follows from, or assigns to. All are memory before.
    """
    runs: list[Realization] = []
    places = {
        id(registry.buffer_of(leaf)): place
        for place, leaf in enumerate([_leaf_below(tensor.node) for tensor in operands])
    }
    realize(changed, notice=runs.append)
    forms = [form for tensor in operands if (form := _form_of(tensor.node)) is not None]
    if len(runs) != 1 or not len(places) == len(forms) == len(operands):
        return None
    if any(registry.buffer_of(memory_leaf(tensor.node)).is_shown for tensor in operands):
        return None  # what an array shows was assigned at once, before this run
    (run,) = runs
    read = [places.get(id(memory), -1) for memory in run.inputs]
    graph, normalized = run.graph, run.normalized
    is_plain = not (run.kept or run.recorded or normalized.variables or -1 in read)
    if not is_plain or not all(map(is_whole, normalized.windows)):
        return None
    slots = [graph.slots[slot].parameter for slot in dict.fromkeys(graph.outputs)]
    written = [read[slot] for slot in slots if slot is not None]
    if len(written) < len(slots) or any(map(may_fault, walk(tuple(run.effects)))):
        return None
    return RepeatedAssignments(run.executions, run.config, forms, read, written)


def _leaf_below(node: UOp) -> UOp:
    """The memory below a pending version, or memory as it stands."""
    while node.op in (Op.RESHAPE, Op.AFTER):
        node = node.operand
    return node


def _form_of(node: UOp) -> tuple[Any, ...] | None:
    """The dtype, shape and size of memory; None for a node that is no memory as it stands."""
    leaf = memory_leaf(node)
    return (leaf.dtype, node.shape, leaf.arg) if leaf.op is Op.BUFFER else None


def _memory_of(
    operands: Sequence[Tensor], forms: Sequence[tuple[Any, ...]]
) -> list[UOp] | None:
    """The buffers of operands of these forms, each its own; None if they are not of that kind."""
    nodes = [tensor.node for tensor in operands]
    if tuple(map(_form_of, nodes)) != forms:
        return None
    leaves = list(map(memory_leaf, nodes))
    return leaves if len(set(leaves)) == len(leaves) else None


def _conclude(fault: Fault | None, together: list[Change]) -> None:
    assert fault is None, "a step that cannot fault, in a run that ends nowhere else"
    at_once(together)


def _nowhere(_: int) -> bool:
    """A run comes to its end once it has begun."""
    return False
