"""The steady call: fill in addresses, run, wrap the results.

An entry belongs to one kind of call. Each thread that is inside one uses a native plan of its own,
with its own scratch memory, so that nobody waits and nothing is shared.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.at_once import Change, at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.engine.caches.general_graphs import OFTEN
from ogive.compiler.engine.execution import Execution
from ogive.compiler.engine.plan_memory import execute_plans_of
from ogive.compiler.engine.writes.announced_writes import make_way
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import registry
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.waiting_plans import unexecuted
from ogive.config import Config
from ogive.errors import VariableError
from ogive.jit.argument_trees import DISTURBED, Call
from ogive.jit.calls.captured_tensors import CapturedTensors
from ogive.jit.calls.instance import Instance
from ogive.jit.calls.overwriting import Overwriting
from ogive.jit.calls.result_memory import Cell
from ogive.jit.calls.results import CallResults, donated_node
from ogive.jit.calls.whereabouts import Whereabouts
from ogive.jit.calls.wiring import wire
from ogive.jit.capturing import Captured
from ogive.jit.guards.guard_set import Guards
from ogive.jit.guards.places import Record
from ogive.jit.memories import leaf_at
from ogive.jit.tracing.prepare import Owner
from ogive.tensor.core import wrap
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.profile import StepTime, StepTimer


class Entry:
    """All that a call of one kind needs."""

    def __init__(
        self,
        captured: Captured,
        config: Config,
        call: Call,
        donated: Sequence[int],
        name: str,
        token: object,
        forget: Callable[[Any], None],
    ) -> None:
        trace, prepared, self._is_recalled = captured
        graph = prepared.graph
        self.config = config
        self.prepared = prepared
        self.name = name
        self.token = token
        self._has_faulted = False
        self.input_paths = trace.inputs
        self.records: list[Record] = trace.records
        self._guards = Guards(trace.records)
        self._wiring = wire(trace, prepared)
        self._suppliers = [supplier for _, supplier in trace.supplies]
        gone: dict[int, UOp] = {
            at: donated_node(call.inputs[at], name, trace.inputs[at])
            for at in dict.fromkeys(donated)
        }
        self.writes = bool(prepared.written or prepared.moved or gone)
        self._input_numbers = trace.numbers
        self._captured = CapturedTensors(trace, forget)
        tensors = self._captured.references
        self._overwriting = Overwriting(trace, prepared, tensors, gone)
        self._results = CallResults(trace, prepared, self._wiring, tensors, gone)
        self.identities = [_reference(value, forget) for value in call.identities]
        fixed = prepared.normalized.variables
        self._fixed = {name: fixed[name] for name in fixed if name not in call.variables}
        nodes = [memory.whole for memory in trace.captured]
        seen = walk((*nodes, *[view.seen for view in trace.views]))
        bound = {node.variable.name for node in seen if node.op is Op.BIND}
        self._shared = bound & call.variables.keys()
        self.is_general = prepared.normalized.is_general
        self._calls = 0  # counted where kernels are general
        # The variables of a general graph have one value for all calls of a kind.
        self._symbolic = bool(graph.variables) and not self.is_general
        self._instances: list[Instance] = []
        # The steady call of a small function: nothing but a new tensor.
        self._simple = (
            self._results.is_one_new_tensor() and not self._symbolic and not self.writes
        )

    def comes_often(self) -> bool:
        """Count a call by kernels for all sizes; whether there were so many by now that kernels for
        these sizes, which are faster, are worth their time."""
        self._calls += 1
        return self._calls >= OFTEN

    # Guards

    def holds(self, call: Call) -> bool:
        """Whether this entry serves a call with its key as it stands."""
        return self._is_for(call) and self._captured.are_in_place()

    def claims(self, call: Call, traced: bool = False) -> bool:
        """Whether this entry serves a call as it stands, and what it writes to is its own by now.

        `effect_lock` is held until the call is over. What the function itself replaced while it was
        `traced` for this call does not matter yet.
        """
        make_way(*self._overwriting.uses(call, self._captured.now))
        if not traced and not self._is_for(call):
            return False
        if unexecuted:
            self._execute_plans(call)
        with registry.graph_lock:  # no tensor moves between the look and the copies
            in_place = self._captured.are_in_place() and self._is_current(call)
            return in_place and self._isolate(call)

    def is_shared(self, call: Call) -> bool:
        """Whether something changes that the function has by two names in this call."""
        return self.writes and self._overwriting.is_shared(call)

    def _is_for(self, call: Call) -> bool:
        for reference, value in zip(self.identities, call.identities, strict=True):
            if reference() is not value:
                return False
        return self._guards.hold()

    def _is_current(self, call: Call) -> bool:
        """Whether arguments are still where they were when the call was read.

        If nobody has written to memory since, that matters for those that change.
        """
        quiet = clock.now == call.moment
        for at in self._overwriting.changed if quiet else range(len(call.inputs)):
            if isinstance(call.inputs[at], Tensor):
                node = call.inputs[at].node
                memory = registry.buffer_of(leaf_at(node, self._input_numbers[at]))
                if memory is not call.memories[at] and 0 not in node.shape:
                    return False
        return True

    def why_not(self, call: Call) -> str | None:
        """Why a call with this key has to be traced again; None after all is put right.

        `trace_lock` is held, so that no tensor is on the move.
        """
        if self._has_faulted:
            return "a fault is to be explained by the function's own lines"
        for reference, value in zip(self.identities, call.identities, strict=True):
            if reference() is not value:
                return "an object argument is another one"
        changes = [change for record in self.records if (change := record.change()) is not None]
        if changes:
            return "; ".join(changes[:3])
        if not self._guards.hold():
            self.records = [record.renewed() for record in self.records]
            self._guards = Guards(self.records)
        return self.find_again()

    def find_again(self) -> str | None:
        """Look up the captured tensors; why the trace does not serve, or None."""
        return self._captured.find_again(self.config)

    # Running

    def profile(self, call: Call, times: int) -> list[StepTime]:
        """Run it step by step, `times` times: the least time of each step."""
        timers: list[StepTimer] = []

        def by_steps(execution: Execution) -> Execution:
            timed, timer = execution.step_by_step(times)
            timers.append(timer)
            return timed

        while self.run(call, by_steps) is DISTURBED:
            pass
        return timers[-1].times()

    def run(
        self,
        call: Call,
        through: Callable[[Execution], Execution] | None = None,
        alone: bool = True,
    ) -> Any:
        """Run it, or what `through` makes of its execution.

        It `claims` the call and is `alone`: `effect_lock` is held. Otherwise it `holds` the call
        and only reads. What it gives is `DISTURBED` if another thread wrote to that meanwhile;
        alone, that is while a step of it calls a function of the user's. So it is for a recalled
        trace in which a kernel has faulted.
        """
        if unexecuted:
            self._execute_plans(call)
        if alone:
            call.moment = clock.now  # nobody writes to what it uses
        try:
            instance = self._instances.pop()
        except IndexError:
            instance = self._new_instance()
        captured = self._captured.now
        instance.fill_in(call.memories, captured)
        for at, supplier in enumerate(self._suppliers):
            instance.supplied[at] = supplier.take()
        variables: dict[str, int] = {}
        execution = instance.execution
        if self._symbolic:
            variables = self._variables(call)
            execution.set_variables(variables)
        cells = instance.cells(recycle=not variables)
        if execution.panels is not None:
            self._show_sources(execution, call, captured)
        if through is not None:
            execution = through(execution)
        if self.writes:
            return self._write(execution, call, instance, cells, variables)
        fault = execution.run()
        if self._results.dropped:
            at_once(self._results.drops())
        if clock.now != call.moment and _is_disturbed(call, captured):
            self._instances.append(instance)
            return DISTURBED
        if fault is not None:
            self._instances.append(instance)
            if self._is_recalled and fault.error is None:
                self._has_faulted = True  # nobody knows its nodes: it is traced, and faults again
                return DISTURBED
            raise self._explain(fault)
        with registry.graph_lock:
            if self._simple:
                result: Any = wrap(cells[0].node, self._wiring.fresh[0].device)
            else:
                result = self._results.make(call, cells, variables)
        # Only now: a cell is free while no tensor holds its node.
        self._instances.append(instance)
        return result

    def _new_instance(self) -> Instance:
        """A plan for a thread that finds none to use again."""
        supplies = len(self._suppliers)
        return Instance(self.prepared, self._wiring, supplies, self.config, self.name)

    def _show_sources(
        self, execution: Execution, call: Call, captured: Whereabouts | None
    ) -> None:
        """Let an execution know the memory that panels are made from in this call."""
        for slot, owner in self._wiring.sources:
            given = _memory_of(owner, call, captured)
            execution.memories[slot] = given if isinstance(given, Buffer) else None

    def _write(
        self,
        execution: Execution,
        call: Call,
        instance: Instance,
        cells: list[Cell],
        variables: dict[str, int],
    ) -> Any:
        """Run what writes to memory of tensors, or lets them have other memory, or uses them up."""
        results: list[Any] = []

        def conclude(fault: Fault | None, together: list[Change]) -> None:
            together = [*together, *self._overwriting.seen(call)]
            if fault is None:
                results.append(self._results.make(call, cells, variables))
                together += [*self._results.moves(call, cells, variables), *self._results.drops()]
            if fault is None or not fault.stopped:
                together = [*together, *self._results.donations(call)]
            at_once(together)

        uses = self._overwriting.uses(call, self._captured.now)
        fault = execution.write(*uses, conclude)
        self._instances.append(instance)
        if fault is not None:
            raise self._explain(fault)
        if self.prepared.moved:
            owners = [owner for owner, _ in self.prepared.moved]
            self._captured.follow([owner.position for owner in owners if owner.kind == "captured"])
        return results[-1]

    def _variables(self, call: Call) -> dict[str, int]:
        fixed = self.prepared.normalized.variables
        for name in self._shared:
            if call.variables[name] != fixed[name]:
                raise VariableError(
                    f"variable {name!r} is bound to {call.variables[name]} in an argument and to "
                    f"{fixed[name]} in a tensor that {self.name} uses"
                )
        return {**self._fixed, **call.variables}

    def _explain(self, fault: Fault) -> BaseException:
        from ogive.compiler.engine.faults import explain_fault  # which runs do without

        prepared = self.prepared
        return explain_fault(prepared.graph, prepared.normalized, self.config, fault)

    def _execute_plans(self, call: Call) -> None:
        execute_plans_of([*call.memories, *self._captured.buffers])

    # In place

    def _isolate(self, call: Call) -> bool:
        """Whoever else reads memory that is about to be overwritten gets a copy of it.

        False where an argument is to be computed first: another thread has assigned to it.
        """
        kept_graphs.pass_by()  # each look goes through those that read what is written
        moved = self._overwriting.copy_for_others(call, self._captured.now)
        if self._captured.now is None or not self.prepared.written:
            return True
        if moved and not self._captured.look_up_all():
            return False
        return self._overwriting.separate(call, self._captured.now)


def _is_disturbed(call: Call, captured: Whereabouts | None) -> bool:
    """Whether memory that a call reads was written to since."""
    memories = (*call.memories, *(() if captured is None else captured.buffers))
    return is_disturbed(call.moment, [m for m in memories if isinstance(m, Buffer)])


def _memory_of(owner: Owner, call: Call, captured: Whereabouts | None) -> Any:
    """The memory of an argument or of a captured tensor, as they are used now."""
    memories = call.memories if owner.kind == "input" or captured is None else captured.buffers
    return memories[owner.position]


def _reference(value: Any, forget: Callable[[Any], None]) -> Callable[[], Any]:
    try:
        return weakref.ref(value, forget)
    except TypeError:
        return functools.partial(lambda held: held, value)
