"""A prepared plan: compiled and allocated once, executed many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ogive.device.buffer import Buffer
from ogive.engine.graph import CompiledGraph
from ogive.engine.kernels import Kernel
from ogive.errors import ExecuteError, VariableError, nearest
from ogive.ir import registry
from ogive.ir.variable import check_binding, rebind
from ogive.runtime.native import Fault, NativePlan
from ogive.runtime.pool import Pool

if TYPE_CHECKING:
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
        graph: CompiledGraph,
        buffers: Sequence[Buffer],
        variables: Mapping[str, int],
        outputs: Sequence[Tensor],
        explain: Callable[[Fault], Exception],
        pool: Pool,
    ) -> None:
        self.outputs = tuple(outputs)
        self._graph = graph
        self._buffers = tuple(buffers)
        self._variables = dict(variables)
        self._explain = explain
        self._native = NativePlan(graph.steps(), pool)
        graph.set_addresses(self._native, [buffer.address for buffer in buffers])
        graph.set_variables(self._native, variables)
        self._execute: Callable[[], Fault | None] = self._native.execute
        self._announced = False

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels, in the order in which they run."""
        return tuple([launch.kernel for launch in self._graph.launches])

    def execute(self) -> None:
        """Run the plan. Raises `DivisionByZeroError` and the like if a kernel faults."""
        if self._announced:
            self._withdraw()
        fault = self._execute()
        if fault is not None:
            raise self._explain(fault)

    def execute_with_vars(self, **values: int) -> None:
        """Run the plan with other values of its symbolic variables.

        Names left out keep their value; the shapes of the outputs follow. Raises `VariableError`
        for an unknown name or a value outside the variable's bounds, before anything runs.
        """
        known = self._graph.variables
        for name, value in values.items():
            if name not in known:
                raise VariableError(
                    f"the plan has no variable {name!r}{nearest(name, known)}; "
                    f"it has {', '.join(known) or 'none'}"
                )
            check_binding(name, *known[name], value)
        self._variables.update(values)
        self._graph.set_variables(self._native, self._variables)
        for tensor in self.outputs:
            registry.move_tensor(tensor, rebind(tensor.node, self._variables))
        self.execute()

    def release(self) -> None:
        """Give up the plan's own memory. It cannot be executed any more; its outputs remain."""
        self._withdraw()
        self._execute = _refuse
        self._buffers = ()

    def announce(self, buffer: Buffer) -> None:
        """Let whoever reads `buffer` before the first execution run the plan first."""
        unexecuted[buffer] = self
        self._announced = True

    def _withdraw(self) -> None:
        self._announced = False
        for buffer in self._buffers:
            unexecuted.pop(buffer, None)

    def __repr__(self) -> str:
        names = ", ".join(kernel.name for kernel in self.kernels)
        return f"<plan of {len(self.kernels)} kernels: {names}>"


def _refuse() -> Fault | None:
    raise ExecuteError("the plan has been released; prepare a new one")


unexecuted: WeakKeyDictionary[Buffer, Plan] = WeakKeyDictionary()
"""The outputs of prepared plans that have not been executed yet."""


def execute_plan_of(buffer: Buffer) -> None:
    """Run the plan that is to fill `buffer`, if there is one that has not run."""
    plan = unexecuted.get(buffer)
    if plan is not None:
        plan.execute()
