"""Extraction: chooses the cheapest form for each class of an e-graph that is needed.

A class needed twice is computed once, so the cost is that of a graph, not of a tree. It starts
from the forms that were there at first, and from those that are cheapest as trees, takes the better
of the two, and changes one form at a time as long as that reduces the cost. So the result is never
worse than the given graph, and the search can end at any time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence

from ogive.compiler.ir.memory import is_kept_once
from ogive.compiler.ir.node import UOp
from ogive.compiler.search.graph.equalities import Equalities, Form
from ogive.compiler.targets.target import Target

Selection = dict[int, Form]
"""The chosen form of each class."""

CostOf = Callable[[UOp, Target], float]


class Extraction:
    """The choice of forms. `tries` is the greatest number of changes to try."""

    def __init__(
        self, graph: Equalities, roots: Sequence[int], target: Target, cost_of: CostOf, tries: int
    ) -> None:
        self.graph = graph
        self.roots = [graph.find(root) for root in roots]
        self.tries = tries
        self._costs: dict[Form, float] = {}
        for number in graph.classes():
            for form, node in graph.members(number).items():
                below = tuple([graph.representatives[graph.find(each)] for each in form.below])
                free = not form.below or is_kept_once(node)
                self._costs[form] = 0.0 if free else cost_of(node.with_sources(below), target)

    def best(self, first: Mapping[int, Form]) -> Selection:
        """The best selection found, starting from `first`, that of the given graph."""
        return self._improve(min(self.renew(first), self.trees, key=self.cost))

    def cost_of(self, first: Mapping[int, Form]) -> float:
        """The cost of the given graph's selection."""
        return self.cost(self.renew(first))

    def renew(self, first: Mapping[int, Form]) -> Selection:
        """A selection with the present numbers of classes. The first form of a class stays."""
        find = self.graph.find
        chosen: Selection = {}
        for number, form in first.items():
            renewed = form._replace(below=tuple([find(each) for each in form.below]))
            chosen.setdefault(find(number), renewed)
        return chosen

    @functools.cached_property
    def trees(self) -> Selection:
        """For each class, the form that is cheapest if nothing is shared."""
        graph = self.graph
        least: dict[int, float] = {}
        chosen: Selection = {}
        classes = graph.classes()
        changed = True
        while changed:
            changed = False
            for number in classes:
                for form, node in graph.members(number).items():
                    cost = self._costs[form]
                    if not is_kept_once(node):
                        for each in form.below:
                            cost += least.get(graph.find(each), math.inf)
                    elif any(graph.find(each) not in least for each in form.below):
                        continue
                    # A little extra for each node, so that no form over its own class is chosen.
                    cost = cost * (1 + 1e-9) + 1e-6
                    if cost < least.get(number, math.inf) * (1 - 1e-12):
                        least[number] = cost
                        chosen[number] = form
                        changed = True
        return chosen

    def cost(self, chosen: Mapping[int, Form]) -> float:
        """The cost of all classes that the roots need; infinite if one needs itself."""
        graph, total = self.graph, 0.0
        state: dict[int, bool] = {}
        stack = list(self.roots)
        while stack:
            number = stack[-1]
            if number in state:
                stack.pop()
                if not state[number]:
                    state[number] = True
                continue
            form = chosen.get(number)
            if form is None:
                return math.inf
            state[number] = False
            total += self._costs[form]
            if is_kept_once(graph.members(number)[form]):
                continue
            for each in form.below:
                below = graph.find(each)
                if state.get(below) is False:
                    return math.inf
                if below not in state:
                    stack.append(below)
        return total

    def _improve(self, chosen: Selection) -> Selection:
        cost = self.cost(chosen)
        improved = True
        while improved and self.tries > 0:
            improved = False
            for number in self.needed(chosen):
                forms = self.graph.members(number)
                if len(forms) < 2:
                    continue
                for form in forms:
                    if form is chosen[number] or self.tries <= 0:
                        continue
                    self.tries -= 1
                    other = {**chosen, number: form}
                    new_cost = self.cost(other)
                    if new_cost < cost * (1 - 1e-9):
                        chosen, cost, improved = other, new_cost, True
        return chosen

    def rules_of(self, chosen: Mapping[int, Form]) -> list[str]:
        """The rules that found the forms of a selection."""
        found_by = self.graph.found_by
        forms = [chosen[number] for number in self.needed(chosen)]
        return [found_by[form] for form in forms if form in found_by]

    def needed(self, chosen: Mapping[int, Form]) -> list[int]:
        """The classes that the roots need, each once."""
        seen = dict.fromkeys(self.roots)
        pending = list(self.roots)
        while pending:
            for each in chosen[pending.pop()].below:
                number = self.graph.find(each)
                if number not in seen:
                    seen[number] = None
                    pending.append(number)
        return list(seen)

    def build(self, chosen: Mapping[int, Form]) -> tuple[UOp, ...] | None:
        """The nodes of the roots; None if a class needs itself."""
        nodes: dict[int, UOp] = {}
        opened: set[int] = set()
        stack = list(self.roots)
        while stack:
            number = stack[-1]
            if number in nodes:
                stack.pop()
                continue
            form = chosen[number]
            below = [self.graph.find(each) for each in form.below]
            missing = [each for each in below if each not in nodes]
            if not opened.isdisjoint(missing):
                return None
            if missing:
                opened.add(number)
                stack.extend(missing)
                continue
            stack.pop()
            opened.discard(number)
            node = self.graph.members(number)[form]
            nodes[number] = node.with_sources(tuple([nodes[each] for each in below]))
        return tuple([nodes[root] for root in self.roots])
