"""From a parametric graph to what runs it, by the shortest way that there is.

    with calls      known in memory or on disk: that is all
                    else, if it differs from another in constants alone, they become data in it
                    else it is inlined, and what is found for that is kept under both
                    one of a structure that runs as a general graph is not looked for on disk
    without calls   in memory, for its own sizes or for all; on disk; or it is compiled
"""

from __future__ import annotations

from typing import Any

from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.execution import Executions
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.capture.inline_calls import is_outlined
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.pipeline.capture_passes import inline_graph
from ogive.config import Config
from ogive.errors import OgiveError

Structure = tuple[object, ...]
"""A graph with calls, without its sizes and numbers."""


class CallStructures:
    """Facts about graphs with calls, by their structure; of many, the oldest go."""

    LIMIT = 512

    def __init__(self) -> None:
        self._general: dict[Structure, None] = {}
        self._first: dict[Structure, UOp] = {}

    def is_general(self, structure: Structure) -> bool:
        """Whether graphs of a structure run as a general one."""
        return structure in self._general

    def note_general(self, structure: Structure) -> None:
        """Note that a graph of a structure runs as a general one."""
        self._keep(self._general, structure, None)

    def note_found(self, structure: Structure, sink: UOp) -> None:
        """Note a graph that was found by its calls: nobody has looked into them. When one of other
        sizes comes, it is the second of its family, and not the first."""
        self._keep(self._first, structure, sink)

    def take_first(self, structure: Structure) -> UOp | None:
        """The first graph of a structure that was found by its calls; it is forgotten."""
        return self._first.pop(structure, None)

    def _keep(self, known: dict[Structure, Any], structure: Structure, value: Any) -> None:
        known.setdefault(structure, value)
        if len(known) > self.LIMIT:
            del known[next(iter(known))]


call_structures = CallStructures()


def find_executions(
    normalized: Normalized, config: Config, exact: bool = False
) -> tuple[Normalized, Executions]:
    """The executions of a graph, and the graph as they take it; `exact` is for its sizes only."""
    if not is_outlined(normalized.sink):
        return _find_inlined(normalized, config, exact)
    sink = normalized.sink
    known = graph_cache.find_known(sink, config, in_memory=True)
    if known is not None:
        return normalized, known
    structure = () if exact else _structure(sink)
    if not exact:
        general = _find_general(normalized, config)
        if general is not None:
            return general
    if not call_structures.is_general(structure):
        known = graph_cache.find_known(sink, config)
        if known is not None:
            if not exact:
                call_structures.note_found(structure, sink)
            return normalized, known
    if not exact:
        first = call_structures.take_first(structure)
        if first is not None:  # the general graphs have to know of it before this one comes
            first_inlined = inline_graph(Normalized(first, (), {}, {}), config)
            general_graphs.generalize(first_inlined, config)
    inlined = inline_graph(normalized, config)
    taken, executions = _find_inlined(inlined, config, exact)
    if taken.is_general:
        call_structures.note_general(structure)
        general_graphs.remember(sink, inlined.sink, taken, executions, config)
    else:
        graph_cache.keep_under(sink, executions, config)
    return taken, executions


def _find_general(
    normalized: Normalized, config: Config
) -> tuple[Normalized, Executions] | None:
    """How a graph with calls runs as a general one, without a look into the calls."""
    recalled = general_graphs.recall(normalized, config)
    if recalled is not None:
        return recalled
    general = general_graphs.generalize(normalized, config)
    if not general.is_general:
        return None
    known = graph_cache.find_known(general.sink, config)
    if known is None:
        try:
            inlined = inline_graph(general, config)
        except OgiveError as reason:  # of a function that takes only lengths that are numbers
            general_graphs.give_up(normalized, str(reason), config)
            return None
        known = graph_cache.find(inlined.sink, config)
        graph_cache.keep_under(general.sink, known, config)
    return (general, known) if _has_room(known, normalized, config) else None


def _structure(sink: UOp) -> Structure:
    """A graph without its sizes and numbers."""
    order = sink.walk()
    places = {node: place for place, node in enumerate(order)}
    return tuple(
        [
            (
                node.op,
                node.dtype,
                node.callee if node.op is Op.CALL else None,
                *[places[source] for source in node.src],
            )
            for node in order
        ]
    )


def _find_inlined(
    normalized: Normalized, config: Config, exact: bool
) -> tuple[Normalized, Executions]:
    if not exact:
        known = graph_cache.find_known(normalized.sink, config, in_memory=True)
        if known is not None:
            return normalized, known
        general = general_graphs.generalize(normalized, config)
        executions = graph_cache.find(general.sink, config)
        if not general.is_general or _has_room(executions, normalized, config):
            return general, executions
    return normalized, graph_cache.find(normalized.sink, config)


def _has_room(executions: Executions, normalized: Normalized, config: Config) -> bool:
    """Whether memory has room for all that a general graph keeps; if not, it is given up. What is
    kept is known only now: most values that are computed element by element are not."""
    from ogive.compiler.passes.general.build_general import (
        LARGEST,  # which graphs as they are do without
    )

    kept = [slot.nbytes for slot in executions.graph.slots if slot.parameter is None]
    if max(kept, default=0) <= LARGEST:
        return True
    general_graphs.give_up(normalized, f"{max(kept):,} bytes would be kept", config)
    return False
