"""Equal values are one class, and what is computed from equal values is equal."""

from __future__ import annotations

import pytest

from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import RuleSet, anything, constant, node
from ogive.compiler.search.graph.equalities import Equalities
from ogive.compiler.search.graph.matching import Matching
from tests.compiler.search.graph.graphs import apply, given, number


def test_a_node_that_is_added_twice_is_one_form() -> None:
    graph = Equalities()
    x = given(0, 4)
    assert graph.add(apply(Op.EXP, x)) == graph.add(apply(Op.EXP, x))
    assert len(graph) == 3


def test_constants_are_told_apart_by_their_bits() -> None:
    graph = Equalities()
    assert graph.add(number(0.0)) != graph.add(number(-0.0))


def test_what_is_computed_from_equal_values_is_equal() -> None:
    graph = Equalities()
    x, y = given(0, 4), given(1, 4)
    one, two = [apply(Op.EXP, apply(Op.NEG, value)) for value in (x, y)]
    assert graph.add(one) != graph.add(two)
    assert graph.union(graph.add(x), graph.add(y))
    graph.rebuild()
    assert graph.add(one) == graph.add(two)


def test_equalities_go_up_through_several_levels_at_once() -> None:
    graph = Equalities()
    x, y = given(0, 4), given(1, 4)
    value, other = x, y
    for _ in range(50):
        value, other = apply(Op.ADD, value, x), apply(Op.ADD, other, y)
    graph.add(value), graph.add(other)
    graph.union(graph.add(x), graph.add(y))
    graph.rebuild()
    assert graph.add(value) == graph.add(other)
    assert len({graph.find(graph.add(each)) for each in (value, other)}) == 1


def test_a_value_may_be_equal_to_one_that_is_computed_from_it() -> None:
    graph = Equalities()
    x = given(0, 4)
    graph.union(graph.add(x), graph.add(apply(Op.MUL, x, number(1.0))))
    graph.rebuild()
    many = apply(Op.MUL, apply(Op.MUL, x, number(1.0)), number(1.0))
    assert graph.add(many) == graph.add(x)


def test_values_of_different_shapes_are_never_equal() -> None:
    graph = Equalities()
    with pytest.raises(AssertionError):
        graph.union(graph.add(given(0, 4)), graph.add(given(1, 5)))


def test_a_pattern_is_matched_by_any_form_of_a_class() -> None:
    graph = Equalities()
    x, y = given(0, 4), given(1, 4)
    doubled, added = apply(Op.MUL, x, number(2.0)), apply(Op.ADD, x, x)
    root = graph.add(apply(Op.SUB, added, y))
    graph.union(graph.add(doubled), graph.add(added))
    graph.rebuild()
    rules = RuleSet("one")
    pattern = node(Op.SUB, node(Op.MUL, anything("a"), constant("c")), anything("b"))
    rules.add("a * c - b → b", pattern, lambda a, b, c: b)
    ((_, found, bound),) = list(Matching(rules).matches(graph, root))
    assert bound["a"] is x and bound["b"] is y and bound["c"].literal == 2.0
    assert found is apply(Op.SUB, doubled, y)


def test_a_name_stands_for_one_class() -> None:
    graph = Equalities()
    x, y = given(0, 4), given(1, 4)
    root = graph.add(apply(Op.ADD, apply(Op.EXP, x), apply(Op.EXP, y)))
    rules = RuleSet("one")
    pattern = node(Op.ADD, node(Op.EXP, anything("a")), node(Op.EXP, anything("a")), name="n")
    rules.add("e^a + e^a → n", pattern, lambda n, a: n)
    matching = Matching(rules)
    assert not list(matching.matches(graph, root))
    graph.union(graph.add(x), graph.add(y))
    graph.rebuild()
    assert list(matching.matches(graph, graph.find(root)))


def test_forms_are_over_classes_that_are_there_after_each_of_several_unions() -> None:
    graph = Equalities()
    x, y, u, v = [given(slot, 4) for slot in range(4)]
    one, two = apply(Op.SUB, x, u), apply(Op.SUB, y, v)
    graph.add(one), graph.add(two)
    for first, second in ((x, y), (v, u)):
        graph.union(graph.add(first), graph.add(second))
        graph.rebuild()
        below = [n for c in graph.classes() for form in graph.members(c) for n in form.below]
        assert all(graph.find(number) == number for number in below)
    assert graph.add(one) == graph.add(two)
