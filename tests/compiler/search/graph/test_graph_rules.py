"""Every rule of graph search is tried on random graphs in which it applies.

What the exact ones give is the same, bit by bit; what the others give differs by some roundings.
"""

from __future__ import annotations

from random import Random

import numpy
import pytest

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.rewriting.rules import Rule, RuleSet
from ogive.compiler.search.graph.equalities import Equalities
from ogive.compiler.search.graph.matching import Matching
from ogive.compiler.search.graph.rules.exact_rules import exact_rules
from ogive.compiler.search.graph.rules.rounding_rules import rounding_rules
from tests.compiler.search.graph.graphs import draw, evaluate, sink
from tests.compiler.search.graph.instances import EXACT, ROUNDING, Maker

FIRINGS = 12
ATTEMPTS = 60


def firings(rule: Rule, make: Maker) -> list[tuple[UOp, UOp]]:
    """What a rule makes of which nodes, in some random graphs."""
    matching = Matching(RuleSet("one", [rule]))
    found: list[tuple[UOp, UOp]] = []
    for attempt in range(ATTEMPTS):
        graph = Equalities()
        graph.add(make(Random(attempt)))
        for number in graph.classes():
            for _, node, bound in matching.matches(graph, number):
                made = rule.rewrite(**bound)
                if made is not None and made is not node:
                    found.append((node, made))
        if len(found) >= FIRINGS:
            break
    assert found, f"{rule.name} never applied, so nothing was tried"
    return found


def test_every_rule_has_an_instance() -> None:
    assert {rule.name for rule in exact_rules.rules} == EXACT.keys()
    assert {rule.name for rule in rounding_rules.rules} == ROUNDING.keys()


@pytest.mark.parametrize("rule", exact_rules.rules, ids=lambda rule: rule.name)
def test_an_exact_rule_keeps_every_bit(rule: Rule) -> None:
    for seed, (before, after) in enumerate(firings(rule, EXACT[rule.name])):
        assert (after.shape, after.dtype) == (before.shape, before.dtype)
        memory = draw(sink(before, after), seed)
        expected, found = evaluate(before, memory), evaluate(after, memory)
        assert expected.tobytes() == found.tobytes(), f"{rule.name}: {before!r} became {after!r}"


@pytest.mark.parametrize("rule", rounding_rules.rules, ids=lambda rule: rule.name)
def test_a_rounding_rule_changes_nothing_but_rounding(rule: Rule) -> None:
    for seed, (before, after) in enumerate(firings(rule, ROUNDING[rule.name])):
        assert (after.shape, after.dtype) == (before.shape, before.dtype)
        memory = draw(sink(before, after), seed)
        expected, found = evaluate(before, memory), evaluate(after, memory)
        scale = max(1.0, float(numpy.abs(expected).max()))
        numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=3e-6 * scale)


def test_a_wrong_rule_is_refused() -> None:
    right = next(rule for rule in exact_rules.rules if rule.name.startswith("flip"))
    wrong = right._replace(rewrite=lambda n, m, x: m)
    ((before, after), *_) = firings(wrong, EXACT[right.name])
    memory = draw(before, 0)
    assert evaluate(before, memory).tobytes() != evaluate(after, memory).tobytes()
