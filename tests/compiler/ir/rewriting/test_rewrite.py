"""Patterns, rule sets and the driver that applies them."""

from __future__ import annotations

from ogive.compiler.ir.dtype import float32, int32
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rewrite import rewrite, tracing
from ogive.compiler.ir.rewriting.rules import RuleSet, anything, constant, node
from ogive.errors import RewriteCycleError
from tests.raising import raises

x, y = anything("x"), anything("y")
A, B = (UOp(Op.PARAM, int32, (), (slot, 4)) for slot in range(2))


def whole(value: int) -> UOp:
    return UOp.const(int32, value)


def binary(op: Op, left: UOp, right: UOp) -> UOp:
    return UOp(op, left.dtype, (left, right))


def rule_set(name: str = "test") -> RuleSet:
    rules = RuleSet(name)
    rules.add("x + 0 → x", x + 0, lambda x: x)
    return rules


def test_a_commutative_pattern_matches_either_way_round() -> None:
    rules = rule_set()
    assert rewrite(binary(Op.ADD, A, whole(0)), rules) is A
    assert rewrite(binary(Op.ADD, whole(0), A), rules) is A


def test_an_ordered_pattern_matches_as_written() -> None:
    rules = RuleSet("ordered")
    rules.add("0 + x → x", node(Op.ADD, constant(value=0), x).as_written(), lambda x: x)
    assert rewrite(binary(Op.ADD, whole(0), A), rules) is A
    assert rewrite(binary(Op.ADD, A, whole(0)), rules).op is Op.ADD


def test_a_name_bound_twice_must_bind_the_same_node() -> None:
    rules = RuleSet("same")
    rules.add("x - x → 0", x - x, lambda x: whole(0))
    assert rewrite(binary(Op.SUB, A, A), rules) is whole(0)
    assert rewrite(binary(Op.SUB, A, B), rules).op is Op.SUB


def test_conditions_and_dtypes_restrict_a_match() -> None:
    rules = RuleSet("restricted")
    rules.add("x * 2 → x", x.of(float32) * constant().when(lambda n: n.arg == 2), lambda x: x)
    floats = UOp(Op.PARAM, float32, (), (0, 4))
    assert rewrite(binary(Op.MUL, floats, UOp.const(float32, 2)), rules) is floats
    assert rewrite(binary(Op.MUL, A, whole(2)), rules).op is Op.MUL
    assert rewrite(binary(Op.MUL, floats, UOp.const(float32, 3)), rules).op is Op.MUL


def test_rules_that_undo_each_other_are_reported_by_name() -> None:
    rules = RuleSet("circular")
    rules.add("x + y → y - x", node(Op.ADD, x, y), lambda x, y: binary(Op.SUB, y, x))
    rules.add("x - y → y + x", node(Op.SUB, x, y), lambda x, y: binary(Op.ADD, y, x))
    with raises(
        RewriteCycleError, match=r"'circular' cycle.*(x \+ y → y - x|x - y → y \+ x)"
    ):
        rewrite(binary(Op.ADD, A, B), rules)


def test_a_shared_node_is_rewritten_once() -> None:
    calls: list[UOp] = []
    rules = RuleSet("counting")

    @rules.rule("-x → x", node(Op.NEG, x))
    def count(x: UOp) -> UOp:
        calls.append(x)
        return x

    shared = UOp(Op.NEG, int32, (A,))
    root = binary(Op.ADD, shared, binary(Op.MUL, shared, shared))
    memo: dict[UOp, UOp] = {}
    assert rewrite(root, rules, memo) is binary(Op.ADD, A, binary(Op.MUL, A, A))
    rewrite(binary(Op.SUB, shared, B), rules, memo)
    assert calls == [A]


def test_deep_graphs_are_rewritten() -> None:
    root = A
    for _ in range(50_000):
        root = binary(Op.ADD, root, whole(0))
    assert rewrite(root, rule_set()) is A


def test_the_result_is_a_fixed_point() -> None:
    nested = binary(Op.ADD, binary(Op.ADD, A, whole(0)), whole(0))
    rules = rule_set()
    rules.add("x * 1 → x + 0", x * 1, lambda x: binary(Op.ADD, x, whole(0)))
    assert rewrite(binary(Op.MUL, nested, whole(1)), rules) is A


def test_with_tracing_on_a_node_knows_its_rule() -> None:
    rules = RuleSet("traced")
    rules.add("x * 2 → x + x", x * 2, lambda x: binary(Op.ADD, x, x))
    before = binary(Op.MUL, B, whole(2))
    with tracing():
        after = rewrite(before, rules)
    assert after.trace == ("traced: x * 2 → x + x", before)


def test_sets_join_and_apply_names_the_rule() -> None:
    more = RuleSet("more")
    more.add("-x → x", node(Op.NEG, x), lambda x: x)
    joined = rule_set() + more
    applied = joined.apply(UOp(Op.NEG, int32, (A,)))
    assert applied is not None and applied[0].name == "-x → x" and applied[1] is A
    assert joined.apply(A) is None


def test_build_asks_the_rules_before_it_makes_a_node() -> None:
    rules = rule_set()
    assert rules.build(Op.ADD, int32, (A, whole(0))) is A
    assert rules.build(Op.ADD, int32, (A, B)) is binary(Op.ADD, A, B)
