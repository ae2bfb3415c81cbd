"""A prepared plan: compiled and allocated once, executed many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ogive.device.buffer import Buffer
from ogive.engine.graph import CompiledGraph
from ogive.engine.kernels import Kernel
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
        outputs: Sequence[Tensor],
        explain: Callable[[Fault], Exception],
        pool: Pool,
    ) -> None:
        self.outputs = tuple(outputs)
        self._graph = graph
        self._buffers = tuple(buffers)
        self._explain = explain
        self._native = NativePlan(graph.steps(), pool)
        addresses = [buffer.address for buffer in buffers]
        for position, slot in enumerate(graph.word_slots()):
            self._native.words[position] = addresses[slot]
        self._execute = self._native.execute
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


unexecuted: WeakKeyDictionary[Buffer, Plan] = WeakKeyDictionary()
"""The outputs of prepared plans that have not been executed yet."""


def execute_plan_of(buffer: Buffer) -> None:
    """Run the plan that is to fill `buffer`, if there is one that has not run."""
    plan = unexecuted.get(buffer)
    if plan is not None:
        plan.execute()
