"""Search for a faster way to compute a graph.

    before   (A @ B) @ v          after, where rounding may change   A @ (B @ v)

Each window of the graph (`graph_windows.py`) becomes an e-graph. Rules add equal values to it, and
the cheapest forms are extracted. The window is then scheduled in both ways, as given and as
extracted, with the passes that will schedule the graph. The extracted form replaces the given one
only if its schedule is faster by the cost model. So a search never makes a graph slower by the
model. Equal windows are searched once.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

from ogive.config import Config
from ogive.ir import dtype as dtypes
from ogive.ir.memory import keep_roots_apart
from ogive.ir.node import UOp
from ogive.ir.ops import MOVEMENT, Op
from ogive.ir.traversal import walk
from ogive.named import NamedTuple
from ogive.search.graph.equalities import Equalities, Form
from ogive.search.graph.exact_rules import exact_rules
from ogive.search.graph.extraction import Extraction, Selection
from ogive.search.graph.form_costs import form_cost
from ogive.search.graph.graph_windows import Window, find_windows, put_back
from ogive.search.graph.matching import Matching
from ogive.search.graph.rounding_bounds import count_roundings
from ogive.search.graph.rounding_rules import rounding_rules
from ogive.search.graph.saturation import Budget, Saturation
from ogive.search.graph.schedule_times import CutGraph, schedule_time
from ogive.search.graph.shared_operands import merge_products
from ogive.targets.target import Target

LEAST_GAIN = 0.01
"""The least share of a window's time that a change must save, because the model is not exact. Of 22
random graphs that it promised a gain of up to 0.02, two were slower by 0.06 and 0.14 (2026-11-19).
"""

BORDER_LAUNCHES = 2
"""The kernel launches that a change must save besides, in a window that is not the whole graph.
Windows read values of each other, so the whole graph may need a kernel more than its windows do
when each is cut by itself."""

TRIES = 400
"""The number of changes that extraction tries in one window."""

Cut = Callable[[UOp], CutGraph]
"""Schedules a graph: gives the kernels that it becomes."""


class Finding(NamedTuple):
    """The result of searching a window that occurs `times` times in the graph.

    - `before` and `after` are the roots of the window; their times are nanoseconds by the model.
    - `rules` are the rules that made the extracted forms; `applied` counts every rule that fired.
    - `forms` is the size of the e-graph.
    - `roundings` bounds the roundings of a result, before and after (`rounding_bounds.py`).
    - `place` holds the values of the graph that the first such window computes, the last one first.
    """

    before: tuple[UOp, ...]
    after: tuple[UOp, ...]
    time_before: float
    time_after: float
    kernels_before: int
    kernels_after: int
    rules: tuple[str, ...]
    applied: dict[str, int]
    forms: int
    roundings: tuple[int, int] = (0, 0)
    place: tuple[UOp, ...] = ()
    times: int = 1

    @property
    def is_taken(self) -> bool:
        """Whether the window is computed in the new way."""
        return self.after != self.before


@functools.cache
def _rules(exactness: str) -> Matching:
    return Matching(exact_rules if exactness == "exact" else exact_rules + rounding_rules)


def search_graph(
    sink: UOp, target: Target, config: Config, cut: Cut, findings: list[Finding]
) -> UOp:
    """The graph in its fastest form by the cost model. Appends a finding per window to `findings`.
    """
    bounds = config.graph_search
    if not bounds.rounds:
        return sink
    deadline = time.thread_time() + bounds.milliseconds / 1e3
    budget = Budget(bounds.nodes, bounds.rounds, deadline)
    search = _Search(target, config.exactness, cut, budget)
    order = sink.walk()[:-1]
    taken: list[tuple[Window, Finding]] = []
    for window in find_windows(sink, order):
        if budget.is_over:
            break
        finding = search.find(window, _is_whole(window, sink))
        if finding is not None and finding.is_taken:
            taken.append((window, finding))
    findings.extend(search.findings())
    return _rebuild(sink, order, taken) if taken else sink


def _is_whole(window: Window, sink: UOp) -> bool:
    """Whether a window computes all of a graph."""
    return set(window.roots) <= set(sink.src) and not any(leaf.src for leaf in window.leaves)


class _Search:
    """The search of one graph, with a finding for each of its windows."""

    def __init__(self, target: Target, exactness: str, cut: Cut, budget: Budget) -> None:
        self.target = target
        self.is_exact = exactness == "exact"
        self.matching = _rules(exactness)
        self.cut = cut
        self.budget = budget
        self.least_gain = 0.0
        self._findings: dict[UOp, Finding | None] = {}
        self._occurrences: dict[UOp, int] = {}
        self._kernel_times: dict[UOp, float] = {}

    def findings(self) -> list[Finding]:
        """The findings of all distinct windows."""
        return [
            finding._replace(times=self._occurrences[window])
            for window, finding in self._findings.items()
            if finding is not None
        ]

    def find(self, window: Window, is_whole: bool) -> Finding | None:
        """The finding of a window; None if no rule fits. `is_whole`: the window is the graph."""
        sink = window.sink
        border = 0 if is_whole else BORDER_LAUNCHES
        self.least_gain = border * self.target.costs.memory.launch
        self._occurrences[sink] = self._occurrences.get(sink, 0) + 1
        if sink not in self._findings:
            finding = self._search(sink)
            place = window.roots[::-1]
            self._findings[sink] = None if finding is None else finding._replace(place=place)
        return self._findings[sink]

    def _search(self, window: UOp) -> Finding | None:
        graph = Equalities()
        roots = [graph.add(root) for root in window.src]
        given = _forms_of(graph)
        merged = {} if self.is_exact else merge_products(graph, self.target)
        saturation = Saturation(graph, self.matching, self.budget)
        saturation.run()
        if not saturation.fired and not merged:
            return None
        finding = Finding(
            window.src, window.src, 0.0, 0.0, 0, 0, (), dict(saturation.fired), len(graph)
        )
        extraction = Extraction(graph, roots, self.target, form_cost, TRIES)
        chosen = extraction.best(given)
        if extraction.cost(chosen) < (1 - LEAST_GAIN) * extraction.cost_of(given):
            finding = self._compare(finding, extraction, chosen)
        if merged and not self.budget.is_over:
            kept = chosen if finding.is_taken else extraction.renew(given)
            with_merged = {**extraction.trees, **kept, **extraction.renew(merged)}
            finding = self._compare(finding, extraction, with_merged)
        return finding

    def _compare(
        self, finding: Finding, extraction: Extraction, chosen: Selection
    ) -> Finding:
        """The finding with the forms of `chosen`, if their schedule is faster; else `finding`."""
        after = extraction.build(chosen)
        if after is None:
            return finding
        if finding.is_taken:
            other = self._judge(finding._replace(after=finding.before), after, chosen, extraction)
            return other if other.time_after < finding.time_after else finding
        return self._judge(finding, after, chosen, extraction)

    def _judge(
        self,
        finding: Finding,
        after: tuple[UOp, ...],
        chosen: Selection,
        extraction: Extraction,
    ) -> Finding:
        """The finding with the times of both schedules. `after` is taken if it is faster enough."""
        before = finding.before
        rules = tuple(dict.fromkeys(extraction.rules_of(chosen)))
        cuts = [self.cut(UOp(Op.SINK, dtypes.void, roots)) for roots in (before, after)]
        times = [schedule_time(each, self.target, self._kernel_times) for each in cuts]
        is_better = times[1] < (1 - LEAST_GAIN) * times[0] - self.least_gain
        return finding._replace(
            after=after if is_better else before,
            time_before=times[0],
            time_after=times[1],
            kernels_before=len(cuts[0].kernels),
            kernels_after=len(cuts[1].kernels),
            rules=rules,
            roundings=(count_roundings(before), count_roundings(after)),
        )


def _forms_of(graph: Equalities) -> dict[int, Form]:
    """The form of each class of a new e-graph, in which a class still has one."""
    return {number: next(iter(graph.members(number))) for number in graph.classes()}


def _rebuild(sink: UOp, order: Sequence[UOp], taken: Sequence[tuple[Window, Finding]]) -> UOp:
    """The graph with each window of `taken` computed in its new way."""
    changed = {root: (window, finding) for window, finding in taken for root in window.roots}
    done: dict[UOp, UOp] = {}
    for node in order:
        if node in done:
            continue
        if node in changed:
            window, finding = changed[node]
            _finish_leaves(window, done)
            roots = put_back(window, finding.after, done)
            done.update(zip(window.roots, roots, strict=True))
        else:
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
    roots = keep_roots_apart(sink.src, [done[root] for root in sink.src])
    return UOp(Op.SINK, sink.dtype, roots, sink.arg)


def _finish_leaves(window: Window, done: dict[UOp, UOp]) -> None:
    """Add the leaves of a window to `done`.

    A computed leaf comes before the window. But inputs, and views of memory that is written to,
    come just before their first readers, and so may come after the window's first root.
    """
    for node in walk(tuple([leaf for leaf in window.leaves if leaf not in done])):
        if node not in done:
            assert node.op in MOVEMENT or not node.src, "computed leaves come before the window"
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
