"""Apply rules to an e-graph in rounds, until a round adds nothing or the budget is spent."""

from __future__ import annotations

import time
from collections import Counter

from ogive.ir.node import UOp
from ogive.ir.rewriting.rules import Rule
from ogive.named import NamedTuple
from ogive.search.graph.equalities import Equalities
from ogive.search.graph.matching import Matching


class Budget(NamedTuple):
    """The limits of a search: forms in an e-graph, rounds of rules, and a deadline in seconds.

    The deadline is by `time.thread_time`, so other threads and processes do not change the result.
    """

    nodes: int
    rounds: int
    deadline: float

    @property
    def is_over(self) -> bool:
        return time.thread_time() >= self.deadline


class Saturation:
    """The saturation of one e-graph. `fired` counts, by rule, the equalities that were new."""

    def __init__(self, graph: Equalities, matching: Matching, budget: Budget) -> None:
        self.graph = graph
        self.matching = matching
        self.budget = budget
        self.fired: Counter[str] = Counter()
        self._tried: set[tuple[object, ...]] = set()

    def run(self) -> None:
        """Apply all rules wherever they match, until nothing is new or the budget is spent."""
        for _ in range(self.budget.rounds):
            if not self._round() or self._is_full():
                return

    def _is_full(self) -> bool:
        return len(self.graph) >= self.budget.nodes or self.budget.is_over

    def _round(self) -> bool:
        """Apply each rule to its new matches, and say whether an equality is new.

        All matches are found before the first class is changed.
        """
        graph = self.graph
        results: list[tuple[int, Rule, UOp]] = []
        for number in graph.classes():
            for rule, node, bound in self.matching.matches(graph, number):
                match = (id(rule), node, *bound.values())
                if match in self._tried:
                    continue
                self._tried.add(match)
                result = rule.rewrite(**bound)
                if result is not None and result is not node:
                    results.append((number, rule, result))
            if self.budget.is_over:
                break
        changed = False
        for number, rule, result in results:
            if self._is_full():
                break
            if graph.union(number, graph.add(result, rule.name)):
                self.fired[rule.name] += 1
                changed = True
        graph.rebuild()
        return changed
