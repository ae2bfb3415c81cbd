"""Calls of library functions are replaced by their expansion.

    before   SINK(CALL softmax(PARAM 0))       after   SINK(DIV(EXP(SUB(PARAM 0, …)), …))

A graph is looked up in the caches with its calls, so one that is found there is never inlined.
`DETACH` and `GRADIENT` nodes in expansions have no meaning here and are dropped, as in `normalize`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.ir.calls import Expansions
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import OUTLINED, Op
from ogive.compiler.passes.capture.normalize import Normalized

_WITHOUT_MEANING = frozenset({Op.DETACH, Op.GRADIENT})


_OUTLINED = frozenset([op for op in Op if op.stages == OUTLINED])


def is_outlined(sink: UOp) -> bool:
    """Whether a graph has nodes that this stage replaces: calls, or values over several devices."""
    return not _OUTLINED.isdisjoint([node.op for node in sink.walk()])


def inline_calls(normalized: Normalized) -> Normalized:
    """The graph with its calls expanded."""
    inlining = _Inlining(normalized.sources)
    sink = inlining.run(normalized.sink)
    done = inlining.done
    known = normalized.parametric.items()
    parametric = {node: done[old] for node, old in known if old in done}
    return normalized._replace(sink=sink, parametric=parametric, within=inlining.within)


class _Inlining:
    """The inlining of one graph.

    `done` has the inlined form of each node, `within` the user's call that an inlined node was
    expanded from, and `callers` the user's node of each parametric node.

    A call is expanded over its operands before they are inlined. An expansion that computes a
    gradient needs the `GRADIENT` nodes in them, which inlining drops.
    """

    def __init__(self, callers: Mapping[UOp, UOp]) -> None:
        self.callers = callers
        self.expansions = Expansions()
        self.done: dict[UOp, UOp] = {}
        self.within: dict[UOp, UOp] = {}

    def run(self, root: UOp) -> UOp:
        """The inlined form of a graph."""
        done, stack = self.done, [root]
        while stack:
            node = stack[-1]
            sources = self._sources(node)
            missing = [source for source in sources if source not in done]
            if missing:
                stack += missing
                continue
            stack.pop()
            if node not in done:
                done[node] = self._inlined(node, tuple([done[source] for source in sources]))
        return done[root]

    def _sources(self, node: UOp) -> tuple[UOp, ...]:
        """The nodes that must be inlined before a node."""
        if node.op is Op.CALL:
            return (self.expansions.of(node),)
        return node.src[:1] if node.op in _WITHOUT_MEANING else node.src

    def _inlined(self, node: UOp, sources: tuple[UOp, ...]) -> UOp:
        if node.op is Op.CALL:
            self._note_caller(node)
            return sources[0]
        if node.op in _WITHOUT_MEANING:
            return sources[0]
        if node.op is Op.RESHAPE and len(sources) == 1 and sources[0].op is Op.RESHAPE:
            sources = (sources[0].operand,)  # two reshapes are one, as where no call is between
        return node if sources == node.src else node.replace(src=sources)

    def _note_caller(self, call: UOp) -> None:
        """Record in `within` the call of all nodes of its expansion, without its operands."""
        caller = self.callers.get(call, call)
        stack, seen = [self.expansions.of(call)], set(call.src)
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            inlined = self.done[node]
            if inlined not in self.within:
                self.within[inlined] = caller
                stack += self._sources(node)
