"""A prepared plan: compiled and allocated once, executed many times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from ogive.at_once import Change, at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.memory_planner import MemoryPlan
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.engine.execution import Execution
from ogive.compiler.engine.plan_memory import note_values, values_in
from ogive.compiler.engine.writes.announced_writes import make_way
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.symbolic.variable import check_binding, rebind
from ogive.compiler.live import registry
from ogive.compiler.live.waiting_plans import unexecuted
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.errors import ArgumentError, ExecuteError, VariableError, nearest

if TYPE_CHECKING:
    from ogive.compiler.engine.caches.kernels import Kernel
    from ogive.compiler.engine.steps.compiled_graph import Step
    from ogive.compiler.engine.steps.profile import StepTime
    from ogive.tensor.tensor import Tensor


class Plan:
    """Kernels over memory of their own; `execute()` is one foreign call.

    >>> import ogive
    >>> x = ogive.Tensor([1.0, 2.0, 3.0])
    >>> y = x * 2
    >>> plan = y.prepare()
    >>> plan.execute()
    >>> y.tolist()
    [2.0, 4.0, 6.0]
    """

    def __init__(
        self,
        execution: Execution,
        normalized: Normalized,
        outputs: Sequence[Tensor],
        explain: Callable[[Fault], BaseException],
    ) -> None:
        self.outputs = tuple(outputs)
        self._execution: Execution | None = execution
        self._graph = graph = execution.graph
        self._config = execution.config
        self._buffers = tuple([buffer for buffer in execution.memories if buffer is not None])
        self._variables = dict(normalized.variables)
        self._normalized = normalized
        self._explain = explain
        self._outputs = [n for n in set(graph.outputs) if graph.slots[n].parameter is None]
        self._mark_outputs(volatile=True)
        self.stored = [self._buffers[slot] for slot in sorted(graph.stored)]
        execution.set_variables(self._variables)
        self._announced = self._assigned_in_part = False
        self._given: list[tuple[Tensor, UOp]] = []

    def _mark_outputs(self, volatile: bool) -> None:
        for slot in self._outputs:
            self._buffers[slot].volatile = volatile

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels, in the order in which they run."""
        return tuple([launch.kernel for launch in self._graph.launches])

    @property
    def steps(self) -> tuple[Step, ...]:
        """All that is done, in order: launches of kernels, copies from files, calls of functions.

        >>> import ogive
        >>> (ogive.Tensor([1.0, 2.0]) * 2).prepare().steps
        (<launch ...: slots (1, 0)>,)
        """
        return self._graph.steps

    def explain(self) -> str:
        """The findings of graph search for this plan: rules, kernels and times by the cost model.

        >>> import ogive
        >>> print((ogive.Tensor([1.0, 2.0]) * 2).prepare().explain())
        graph search (exactness='exact') found nothing faster.
        exactness="rounding" also allows what changes rounding.
        """
        from ogive.compiler.engine.explain_search import explain_search

        return explain_search(self._normalized, self._config)

    @property
    def memory(self) -> MemoryPlan:
        """Logical, planned and peak bytes of the intermediates, and what was not planned.

        `kept` are the panels of operands that have not changed, which other plans may use as well.
        """
        planned = self._graph.memory(self._config.planner)
        panels = None if self._execution is None else self._execution.panels
        return planned if panels is None else planned._replace(kept=panels.nbytes)

    def execute(self) -> None:
        """Run the plan. Raises `DivisionByZeroError` and the like if a kernel faults."""
        if self._announced and self.execute_first():
            return
        execution = self._execution or self._refuse()
        fault = self._write(execution) if self.stored else self._read(execution)
        if fault is not None:
            raise self._explain(fault)

    def execute_first(self, reading: bool = False) -> bool:
        """Run the plan unless it has run, or wait for the thread in which it does; whether it did.

        Until then whoever reads an output finds it announced, and comes here. So it is after an
        interrupt; but what was assigned in part is not begun again by just `reading`.
        """
        with registry.effect_lock:
            make_way(self.stored, self._buffers)
            if not self._announced:
                return False
            if reading and self._assigned_in_part:
                raise ExecuteError(
                    "an execution of the plan was interrupted, and some of its assignments are "
                    "done; its other results are not there until it is executed again"
                )
            execution = self._execution or self._refuse()
            fault = self._write(execution) if self.stored else self._read(execution)
            self._withdraw()
            if fault is not None:
                raise self._explain(fault)
            return True

    def profile(self, times: int = 10) -> list[StepTime]:
        """Run the plan `times` times, step by step; the least time of each step, in seconds.

        >>> import ogive
        >>> plan = (ogive.Tensor([1.0, 2.0]) * 2).prepare()
        >>> [(entry.name.split("_")[0], entry.seconds > 0) for entry in plan.profile()]
        [('elementwise', True)]

        Kernels that may run side by side take turns here. What the plan assigns, it assigns every
        time. Raises `ArgumentError` for a number of times below 1, and what `execute` raises.
        """
        if times < 1:
            raise ArgumentError(f"profile: times must be at least 1, got {times}")
        if self._execution is None:
            self._refuse()
        if self._announced:
            self._withdraw()
        execution = Execution(self._graph, self._config)  # others may run the plan meanwhile
        execution.bind(self._buffers)
        execution.set_variables(self._variables)
        timed, timer = execution.step_by_step()
        for _ in range(times):
            fault = self._write(timed) if self.stored else timed.run()
            if fault is not None:
                raise self._explain(fault)
        return timer.times()

    def _write(self, execution: Execution) -> Fault | None:
        """Run a plan that writes to its inputs, while no other thread reads or writes them."""
        with registry.effect_lock:
            make_way(self.stored, self._buffers)
            return execution.write(self.stored, self._buffers, self._conclude)

    def _conclude(self, fault: Fault | None, together: list[Change]) -> None:
        """Note what became of an execution that assigns."""
        in_part = fault is not None and fault.stopped and fault.step > 0
        if in_part:
            for buffer in self.stored:
                unexecuted.pop(buffer, None)
            self._announce_outputs()
        at_once([*together, (self, "_assigned_in_part", in_part)])

    def _read(self, execution: Execution) -> Fault | None:
        """Run a plan that only reads its inputs; again if another thread wrote to them."""
        moment = clock.quiet
        try:
            fault = execution.run()
        except BaseException:
            self._announce_outputs()
            raise
        while clock.now != moment and is_disturbed(moment, self._buffers):
            with registry.effect_lock:
                make_way((), self._buffers)
                moment = clock.now
                fault = execution.run()
        return fault

    def execute_with_vars(self, /, **values: int) -> None:
        """Run the plan with other values of its symbolic variables.

        Names left out keep their value; the shapes of the outputs follow.

        >>> import ogive
        >>> rows = ogive.Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> total = rows[: ogive.Variable("n", 0, 3).bind(1)].sum(0)
        >>> plan = total.prepare()
        >>> plan.execute_with_vars(n=3)
        >>> total.tolist()
        [9.0, 12.0]

        Raises `VariableError` for an unknown name, for a value outside the variable's bounds, and
        where an input was computed with another value; nothing runs or changes then.
        """
        execution = self._execution or self._refuse()
        known = self._graph.variables
        checked = dict(self._variables)
        for name, value in values.items():
            if name not in known:
                raise VariableError(
                    f"the plan has no variable {name!r}{nearest(name, known)}; "
                    f"it has {', '.join(known) or 'none'}"
                )
            checked[name] = check_binding(name, *known[name], value)
        self._check_inputs(checked)
        self._variables = checked
        execution.set_variables(checked)
        with registry.graph_lock:
            for position, (tensor, node) in enumerate(self._given):
                # A tensor that has been assigned to since is no longer the plan's.
                if tensor.node is node:
                    registry.move_tensor(tensor, rebind(node, checked))
                    self._given[position] = (tensor, tensor.node)
            self._note_outputs()
        self.execute()

    def _refuse(self) -> NoReturn:
        raise ExecuteError("the plan has been released; prepare a new one")

    def hold_outputs(self) -> None:
        """Remember what the output tensors stand for now, which is what the plan computes."""
        self._given = [(tensor, tensor.node) for tensor in self.outputs]
        self._note_outputs()

    def _note_outputs(self) -> None:
        if self._variables:
            own = [s.parameter is None for s in self._graph.slots]
            computed = set(itertools.compress(self._buffers, own))
            for _, node in self._given:
                note_values(node, computed)

    def _check_inputs(self, values: Mapping[str, int]) -> None:
        for slot, buffer in zip(self._graph.slots, self._buffers, strict=True):
            if slot.parameter is None:
                continue
            for name, value in values_in.get(buffer.base, {}).items():
                if values.get(name, value) != value:
                    raise VariableError(
                        f"an input of the plan was computed with {name}={value} and has no values "
                        f"for {name}={values[name]}; let the plan compute it, or run its own first"
                    )

    def release(self) -> None:
        """Give up the plan's own memory. It cannot be executed any more; its outputs remain."""
        self._withdraw()
        self._execution = None
        self._mark_outputs(volatile=False)
        self._outputs = []
        self._buffers = ()
        self.stored = []

    def __del__(self) -> None:
        self._mark_outputs(volatile=False)

    def announce(self, buffer: Buffer) -> None:
        """Let whoever reads `buffer` before the first execution run the plan first."""
        unexecuted[buffer] = self
        self._announced = True

    def _announce_outputs(self) -> None:
        """Let whoever reads what an interrupted execution has left half done come back for it."""
        for slot in self._outputs:
            self.announce(self._buffers[slot])

    def _withdraw(self) -> None:
        self._announced = False
        for buffer in self._buffers:
            unexecuted.pop(buffer, None)

    def __repr__(self) -> str:
        names = ", ".join(kernel.name for kernel in self.kernels)
        return f"<plan of {len(self.kernels)} kernels: {names}>"
