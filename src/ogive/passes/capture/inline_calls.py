"""Calls of the library's functions become what they stand for.

    before   SINK(CALL softmax(PARAM 0))       after   SINK(DIV(EXP(SUB(PARAM 0, …)), …))

A graph whose compiled form is known is never inlined: it is found by its calls. What the functions
say of gradients has no meaning here and goes, as in `normalize`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.ir.calls import Expansions
from ogive.ir.node import UOp
from ogive.ir.ops import OUTLINED, Op
from ogive.passes.capture.normalize import Normalized

_WITHOUT_MEANING = frozenset({Op.DETACH, Op.GRADIENT})


_OUTLINED = frozenset([op for op in Op if op.stages == OUTLINED])


def is_outlined(sink: UOp) -> bool:
    """Whether a graph has calls in it, or values over several devices, which stand for others."""
    return not _OUTLINED.isdisjoint([node.op for node in sink.walk()])


def inline_calls(normalized: Normalized) -> Normalized:
    """The same graph without calls."""
    inlining = _Inlining(normalized.sources)
    sink = inlining.run(normalized.sink)
    done = inlining.done
    known = normalized.parametric.items()
    parametric = {node: done[old] for node, old in known if old in done}
    return normalized._replace(sink=sink, parametric=parametric, within=inlining.within)


class _Inlining:
    """The inlined form of each node (`done`), and the call of the user's that it comes from
    (`callers`).

    A call is expanded over its operands as they are, calls among them: a gradient asks what those
    say of gradients, which is gone where they are inlined.
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
        """The nodes that are inlined before a node."""
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
            sources = (sources[0].operand,)  # as if it had been written there
        return node if sources == node.src else node.replace(src=sources)

    def _note_caller(self, call: UOp) -> None:
        """Put down that what a call stands for is within it, but for its operands."""
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
