"""A prepared plan: compiled and allocated once, executed many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ogive.device.buffer import Buffer
from ogive.engine.graph import CompiledGraph
from ogive.engine.kernels import Kernel
from ogive.runtime.native import Fault, NativePlan

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
    ) -> None:
        self.outputs = tuple(outputs)
        self._graph = graph
        self._buffers = tuple(buffers)
        self._explain = explain
        self._native = NativePlan(graph.steps())
        addresses = [buffer.address for buffer in buffers]
        for position, slot in enumerate(graph.word_slots()):
            self._native.words[position] = addresses[slot]
        self._execute = self._native.execute
        self.executed = False

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels, in the order in which they run."""
        return tuple([launch.kernel for launch in self._graph.launches])

    def execute(self) -> None:
        """Run the plan. Raises `DivisionByZeroError` and the like if a kernel faults."""
        fault = self._execute()
        self.executed = True
        if fault is not None:
            raise self._explain(fault)

    def __repr__(self) -> str:
        names = ", ".join(kernel.name for kernel in self.kernels)
        return f"<plan of {len(self.kernels)} kernels: {names}>"
