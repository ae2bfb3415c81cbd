"""The tensors that a function captured, and where they are by now."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine import realize
from ogive.compiler.live import registry
from ogive.jit.argument_trees import is_pending
from ogive.jit.calls.whereabouts import Whereabouts, facts_of, look_up, pattern, show_facts

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp
    from ogive.config import Config
    from ogive.jit.tracing.traced_function import Trace


class CapturedTensors:
    """Tensors by weak reference, as a trace captured them.

    references: one for each memory, that of a tensor over several devices once for each part.
    now: where they were when somebody last looked; None where the function captured nothing.
    """

    __slots__ = ("_facts", "_numbers", "now", "references")

    def __init__(self, trace: Trace, forget: Callable[[Any], None]) -> None:
        tensors = [memory.tensor for memory in trace.captured]
        nodes = [memory.whole for memory in trace.captured]
        self.references = [weakref.ref(tensor, forget) for tensor in tensors]
        self._numbers = [memory.number for memory in trace.captured]
        self._facts = list(map(facts_of, tensors, nodes, self._numbers))
        self.now: Whereabouts | None = look_up(nodes, self._numbers) if nodes else None

    @property
    def buffers(self) -> Sequence[Buffer | None]:
        """The memory that they are in."""
        return () if self.now is None else self.now.buffers

    def are_in_place(self) -> bool:
        """Whether all of them are where they were."""
        if self.now is not None:
            for reference, node in zip(self.references, self.now.nodes, strict=True):
                tensor = reference()
                if tensor is None or tensor.node is not node:
                    return False
        return True

    def find_again(self, config: Config) -> str | None:
        """Look all of them up, which may be in other memory now.

        Gives why the trace does not serve for them as they are, or None.
        """
        before = self.now
        if before is None:
            return None
        tensors = self._alive()
        if tensors is None:
            return "a tensor that it used is gone"
        while True:
            nodes = [tensor.node for tensor in tensors]
            if any(map(is_pending, tensors, nodes)):
                realize(tensors, config)
                continue
            for at, (facts, number) in enumerate(zip(self._facts, self._numbers, strict=True)):
                now = facts_of(tensors[at], nodes[at], number)
                if now != facts:
                    return f"a tensor that it uses: {show_facts(facts)} → {show_facts(now)}"
            after = look_up(nodes, self._numbers)
            if pattern(after.buffers) != pattern(before.buffers):
                return "tensors that it uses share their memory in another way"
            with registry.graph_lock:
                # Never older than what another thread has looked up meanwhile.
                if all(map(_is_on, tensors, nodes)):
                    self.now = after
                    return None

    def follow(self, positions: Iterable[int]) -> None:
        """Note where tensors are that a call has moved."""
        if self.now is None:
            return
        nodes = list(self.now.nodes)
        with registry.graph_lock:
            for position in positions:
                tensor = self.references[position]()
                if tensor is not None and not is_pending(tensor, tensor.node):
                    nodes[position] = tensor.node
            self.now = look_up(nodes, self._numbers)

    def look_up_all(self) -> bool:
        """Note where all of them are; False if one is gone."""
        tensors = self._alive()
        if tensors is None:
            return False
        self.now = look_up([tensor.node for tensor in tensors], self._numbers)
        return True

    def _alive(self) -> list[Any] | None:
        tensors = [tensor for reference in self.references if (tensor := reference()) is not None]
        return tensors if len(tensors) == len(self.references) else None


def _is_on(tensor: Any, node: UOp) -> bool:
    return tensor.node is node
