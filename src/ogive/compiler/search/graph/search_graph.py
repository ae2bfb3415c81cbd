"""Searches for other ways to compute a graph, and takes the fastest by the cost model.

    before   (A @ B) @ v          after, where rounding may change   A @ (B @ v)

Each window of the graph (`graph_windows.py`) becomes an e-graph. Rules add equal forms, and the
cheapest ones are extracted. The result is scheduled as the graph will be, and is used only if the
model says that its schedule is faster than that of the given graph. So by the model, it is never
slower. Equal windows are searched once. What a window seems to save may be saved already by a
kernel that goes across its border; so a small graph is scheduled once more as a whole.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import keep_roots_apart
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.search.graph.equalities import Equalities, Form
from ogive.compiler.search.graph.extraction import Extraction, Selection
from ogive.compiler.search.graph.form_costs import form_cost
from ogive.compiler.search.graph.graph_windows import EFFECTS, Window, find_windows, put_back
from ogive.compiler.search.graph.matching import Matching
from ogive.compiler.search.graph.rounding_bounds import count_roundings
from ogive.compiler.search.graph.rules.exact_rules import exact_rules
from ogive.compiler.search.graph.rules.rounding_rules import rounding_rules
from ogive.compiler.search.graph.rules.shared_operands import merge_products
from ogive.compiler.search.graph.saturation import Budget, Saturation
from ogive.compiler.search.graph.schedule_times import CutGraph, schedule_time
from ogive.compiler.targets.findings import Finding
from ogive.compiler.targets.target import Target
from ogive.config import Config

LEAST_GAIN = 0.03
"""The least share of a graph's time that must be saved, because the model is not more exact. Of 51
random graphs with a predicted gain of up to 0.05, 11 were slower, by up to 0.06 (EPYC, Zen 5,
2026-11-20)."""

BORDER_LAUNCHES = 2
"""The further launches that must be saved in a window with neighbours, since cutting the whole
graph may give a kernel more, or less, at its borders than cutting the window by itself."""

MOST_WHOLE = 320
"""The most nodes of a graph of several windows that is also scheduled as a whole, before and after.
In a larger one, its windows say the same on the average."""

TRIES = 400
"""The greatest number of changes that extraction tries in one window."""

Cut = Callable[[UOp], CutGraph]
"""Gives the kernels into which a graph is cut."""


@functools.cache
def _rules(exactness: str) -> Matching:
    return Matching(exact_rules if exactness == "exact" else exact_rules + rounding_rules)


def search_graph(
    sink: UOp, target: Target, config: Config, cut: Cut, findings: list[Finding]
) -> UOp:
    """The graph, computed in the fastest way that was found. Adds to `findings`."""
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
    if not taken:
        findings.extend(search.findings())
        return sink
    rebuilt = _rebuild(sink, order, taken)
    if not search.is_faster(sink, rebuilt, order):
        findings.extend([found._replace(after=found.before) for found in search.findings()])
        return sink
    findings.extend(search.findings())
    return rebuilt


def _is_whole(window: Window, sink: UOp) -> bool:
    """Whether a window is all that a graph computes."""
    return set(window.roots) <= set(sink.src) and not any(leaf.src for leaf in window.leaves)


class _Search:
    """The search of one graph: the findings for its windows."""

    def __init__(self, target: Target, exactness: str, cut: Cut, budget: Budget) -> None:
        self.target = target
        self.is_exact = exactness == "exact"
        self.matching = _rules(exactness)
        self.cut = cut
        self.budget = budget
        self.least_gain = 0.0
        self._found: dict[UOp, Finding | None] = {}
        self._seen: dict[UOp, int] = {}
        self._times: dict[UOp, float] = {}

    def findings(self) -> list[Finding]:
        """All findings, window by window."""
        return [
            finding._replace(times=self._seen[window])
            for window, finding in self._found.items()
            if finding is not None
        ]

    def find(self, window: Window, is_whole: bool) -> Finding | None:
        """The finding for a window, which may be the whole graph; None if no rule matches."""
        sink = window.sink
        border = 0 if is_whole else BORDER_LAUNCHES
        self.least_gain = border * self.target.costs.memory.launch
        self._seen[sink] = self._seen.get(sink, 0) + 1
        if sink not in self._found:
            finding = self._search(sink)
            place = window.roots[::-1]
            self._found[sink] = None if finding is None else finding._replace(place=place)
        return self._found[sink]

    def is_faster(self, before: UOp, after: UOp, order: Sequence[UOp]) -> bool:
        """Whether a small graph of several windows is faster as a whole. Others are taken to be."""
        if len(self._found) == 1 or len(order) > MOST_WHOLE or self.budget.is_over:
            return True
        if any(node.op in EFFECTS for node in order):
            return True
        time_before, time_after = [
            schedule_time(self.cut(each), self.target, self._times) for each in (before, after)
        ]
        return time_after < (1 - LEAST_GAIN) * time_before

    def _search(self, window: UOp) -> Finding | None:
        graph = Equalities()
        roots = [graph.add(root) for root in window.src]
        given = _forms_of(graph)
        merged = {} if self.is_exact else merge_products(graph, self.target)
        saturation = Saturation(graph, self.matching, self.budget)
        saturation.run()
        if not saturation.fired and not merged:
            return None
        finding = Finding(window.src, window.src, 0.0, 0.0, 0, 0, (), dict(saturation.fired))
        extraction = Extraction(graph, roots, self.target, form_cost, TRIES)
        chosen = extraction.best(given)
        if extraction.cost(chosen) < extraction.cost_of(given):
            finding = self._compare(finding, extraction, chosen)
        if merged and not self.budget.is_over:
            kept = chosen if finding.is_taken else extraction.renew(given)
            forced = {**extraction.trees, **kept, **extraction.renew(merged)}
            finding = self._compare(finding, extraction, forced)
        return finding

    def _compare(
        self, finding: Finding, extraction: Extraction, chosen: Selection
    ) -> Finding:
        """The finding, with `chosen` in it if the time of its schedule is better."""
        after = extraction.build(chosen)
        if after is None:
            return finding
        if finding.is_taken:
            others = self._judge(finding._replace(after=finding.before), after, chosen, extraction)
            return others if others.time_after < finding.time_after else finding
        return self._judge(finding, after, chosen, extraction)

    def _judge(
        self,
        finding: Finding,
        after: tuple[UOp, ...],
        chosen: Selection,
        extraction: Extraction,
    ) -> Finding:
        before = finding.before
        rules = tuple(dict.fromkeys(extraction.rules_of(chosen)))
        cuts = [self.cut(UOp(Op.SINK, dtypes.void, roots)) for roots in (before, after)]
        times = [schedule_time(each, self.target, self._times) for each in cuts]
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
    """The only form of each class in a new e-graph."""
    return {number: next(iter(graph.members(number))) for number in graph.classes()}


def _rebuild(sink: UOp, order: Sequence[UOp], taken: Sequence[tuple[Window, Finding]]) -> UOp:
    """The graph with the windows in `taken` computed in their new ways."""
    changed = {root: (window, finding) for window, finding in taken for root in window.roots}
    done: dict[UOp, UOp] = {}
    for node in order:
        if node in done:
            continue
        if node in changed:
            window, finding = changed[node]
            _finish_leaves(window, done)
            computed = put_back(window, finding.after, done)
            done.update(zip(window.roots, computed, strict=True))
        else:
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
    roots = keep_roots_apart(sink.src, [done[root] for root in sink.src])
    return UOp(Op.SINK, sink.dtype, roots, sink.arg)


def _finish_leaves(window: Window, done: dict[UOp, UOp]) -> None:
    """Add the forms of a window's leaves that are not done yet.

    Inputs and views of written memory come in the order of their readers, so some may come later.
    """
    for node in walk(tuple([leaf for leaf in window.leaves if leaf not in done])):
        if node not in done:
            assert node.op in MOVEMENT or not node.src, "what is computed comes before readers"
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
