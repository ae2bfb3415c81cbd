"""Applies rules to an e-graph, round after round, until nothing is new or the budget is spent."""

from __future__ import annotations

import time
from collections import Counter

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.rewriting.rules import Rule
from ogive.compiler.search.graph.equalities import Equalities
from ogive.compiler.search.graph.matching import Matching
from ogive.named import NamedTuple


class Budget(NamedTuple):
    """The limits of a search: forms in an e-graph, rounds of rules, and a deadline.

    The deadline is in CPU time of the thread, so that other work does not change what is found.
    """

    nodes: int
    rounds: int
    deadline: float

    @property
    def is_over(self) -> bool:
        return time.thread_time() >= self.deadline


class Saturation:
    """The application of rules to an e-graph. `fired` counts their matches."""

    def __init__(self, graph: Equalities, matching: Matching, budget: Budget) -> None:
        self.graph = graph
        self.matching = matching
        self.budget = budget
        self.fired: Counter[str] = Counter()
        self._tried: set[tuple[object, ...]] = set()

    def run(self) -> None:
        """Apply all rules to all their matches until nothing new is found."""
        for _ in range(self.budget.rounds):
            if not self._round() or self._is_full():
                return

    def _is_full(self) -> bool:
        return len(self.graph) >= self.budget.nodes or self.budget.is_over

    def _round(self) -> bool:
        graph = self.graph
        rewritten: list[tuple[int, Rule, UOp]] = []
        for number in graph.classes():
            for rule, node, bound in self.matching.matches(graph, number):
                tried = (id(rule), node, *bound.values())
                if tried in self._tried:
                    continue
                self._tried.add(tried)
                form = rule.rewrite(**bound)
                if form is not None and form is not node:
                    rewritten.append((number, rule, form))
            if self.budget.is_over:
                break
        changed = False
        for number, rule, form in rewritten:
            if self._is_full():
                break
            if graph.union(number, graph.add(form, rule.name)):
                self.fired[rule.name] += 1
                changed = True
        graph.rebuild()
        return changed
