"""Matching of patterns in an e-graph, where each part may match any form of its class.

    pattern   (x * a) + (x * b)        in   {x*2, x+x} + {x*3}      x = x, a = 2, b = 3

Patterns are those of `ir/rewriting/rules.py`. A rule gets a node for each name: the node that the
pattern matched, or the representative of its class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import Pattern, Rule, RuleSet
from ogive.compiler.search.graph.equalities import Equalities, Form

Bindings = dict[str, UOp]


class Matching:
    """The rules of a set, by the op at the root of their patterns."""

    def __init__(self, rules: RuleSet) -> None:
        self.by_op: dict[Op, list[tuple[Rule, Pattern]]] = {}
        for rule in rules.rules:
            assert rule.pattern.ops is not None, f"{rule.name} begins with no op"
            for alternative in rule.pattern.alternatives():
                for op in alternative.ops or ():
                    self.by_op.setdefault(op, []).append((rule, alternative))

    def matches(self, graph: Equalities, number: int) -> Iterator[tuple[Rule, UOp, Bindings]]:
        """The rules that match a form of a class, each with the matched node and the bindings."""
        for form, node in list(graph.members(number).items()):
            for rule, pattern in self.by_op.get(form.op, ()):
                for matched, bound in _match_form(graph, pattern, form, node, {}):
                    yield rule, matched, bound


def _match_form(
    graph: Equalities, pattern: Pattern, form: Form, node: UOp, bound: Bindings
) -> Iterator[tuple[UOp, Bindings]]:
    if pattern.ops is not None and form.op not in pattern.ops:
        return
    if pattern.value is not None and node.arg != pattern.value:
        return
    if pattern.dtypes is not None and form.dtype not in pattern.dtypes:
        return
    if pattern.sources is None:
        below = tuple([graph.representatives[graph.find(each)] for each in form.below])
        yield from _named(graph, pattern, node.with_sources(below), bound)
        return
    if len(pattern.sources) != len(form.below):
        return
    for sources, inner in _match_all(graph, pattern.sources, form.below, bound):
        yield from _named(graph, pattern, node.with_sources(sources), inner)


def _match_all(
    graph: Equalities, patterns: tuple[Pattern, ...], below: tuple[int, ...], bound: Bindings
) -> Iterator[tuple[tuple[UOp, ...], Bindings]]:
    if not patterns:
        yield (), bound
        return
    for first, inner in _match_class(graph, patterns[0], below[0], bound):
        for rest, whole in _match_all(graph, patterns[1:], below[1:], inner):
            yield (first, *rest), whole


def _match_class(
    graph: Equalities, pattern: Pattern, number: int, bound: Bindings
) -> Iterator[tuple[UOp, Bindings]]:
    number = graph.find(number)
    known = bound.get(pattern.name) if pattern.name is not None else None
    if known is not None:
        if graph.add(known) == number:
            yield known, bound
        return
    if pattern.ops is None:
        if pattern.dtypes is None or graph.representatives[number].dtype in pattern.dtypes:
            yield from _named(graph, pattern, graph.representatives[number], bound)
        return
    for form, node in list(graph.members(number).items()):
        yield from _match_form(graph, pattern, form, node, bound)


def _named(
    graph: Equalities, pattern: Pattern, matched: UOp, bound: Bindings
) -> Iterator[tuple[UOp, Bindings]]:
    if pattern.where is not None and not pattern.where(matched):
        return
    yield matched, bound if pattern.name is None else {**bound, pattern.name: matched}
