"""Every arithmetic rule of every rule set is right: found automatically, fired, and proved.

Index rules are proved over the integers by z3; rules on values of fixed width are tried on edge
cases and random numbers, bit by bit. A rule that never fires proves nothing and is an error.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import numpy
import pytest

import ogive
from ogive.compiler.ir.dialects.tensor_forms import expect_dtypes
from ogive.compiler.ir.dtype import ALL, DType, bool_, float32, index, int32
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, ELEMENTWISE, TRANSCENDENTAL, Op
from ogive.compiler.ir.rewriting.rules import (
    Pattern,
    Rewriter,
    Rule,
    RuleSet,
    anything,
    compile_matcher,
    constant,
)
from ogive.compiler.ir.symbolic.index_arithmetic import simplify
from tests.compiler.ir.symbolic.expressions import (
    Generator,
    evaluate_values,
    number,
    prove_equal,
    raw,
    same_bits,
    special_values,
)
from tests.raising import raises

FIRINGS = 60
ATTEMPTS = 6000
LANES = 300
VALUE_DTYPES = [dtype for dtype in ALL if not (dtype.is_storage_only or dtype.is_complex)]

EXEMPT = {
    "graph exact": "about shapes: search/graph/test_graph_rules.py tries each, bit by bit",
    "graph rounding": "not exact by intent: tried there, too",
}
"""Rule sets whose rules are not proved here, and why."""


def all_rule_sets() -> list[RuleSet]:
    found: dict[int, RuleSet] = {}
    for module in pkgutil.walk_packages(ogive.__path__, "ogive."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, RuleSet):
                found[id(value)] = value
    return list(found.values())


def operations(pattern: Pattern) -> Iterator[Op]:
    if pattern.ops is not None:
        yield from pattern.ops
    for source in pattern.sources or ():
        yield from operations(source)


def is_arithmetic(rule: Rule) -> bool:
    """Whether a rule is about elementwise arithmetic alone, and starts from some."""
    if rule.pattern.ops is None or not set(rule.pattern.ops) <= ELEMENTWISE - TRANSCENDENTAL:
        return False
    if rule.pattern.sources is None:
        return False
    inner = [source for source in rule.pattern.sources if not is_leaf(source)]
    return all(set(operations(source)) <= ELEMENTWISE | {Op.CONST} for source in inner)


def is_leaf(pattern: Pattern) -> bool:
    """Whether anything of the right dtype may stand here, up to a few ops."""
    return pattern.ops is None or (pattern.sources is None and len(pattern.ops) > 20)


def arithmetic_rules() -> list[tuple[str, Rule]]:
    rules: dict[int, tuple[str, Rule]] = {}
    for rule_set in all_rule_sets():
        for rule in rule_set.rules:
            if rule_set.name not in EXEMPT and is_arithmetic(rule):
                rules.setdefault(id(rule), (rule_set.name, rule))
    return list(rules.values())


class Rejected(Exception):
    """This draw does not fit the pattern."""


class Instance:
    """One random graph that looks like a pattern."""

    def __init__(self, seed: int, symbolic: bool) -> None:
        self.generator = Generator(seed)
        self.random = self.generator.random
        self.symbolic = symbolic
        self.bound: dict[str, UOp] = {}
        self.leaves: list[UOp] = []

    def draw(self, pattern: Pattern, dtype: DType) -> UOp:
        if pattern.dtypes is not None and dtype not in pattern.dtypes:
            raise Rejected
        bound = self.bound.get(pattern.name) if pattern.name is not None else None
        if bound is not None:
            if bound.dtype is not dtype:
                raise Rejected
            return bound
        made = self._draw(pattern, dtype)
        if pattern.ops is not None and made.op not in pattern.ops:
            raise Rejected
        if pattern.where is not None and not pattern.where(made):
            raise Rejected
        if pattern.name is not None:
            self.bound[pattern.name] = made
        return made

    def _draw(self, pattern: Pattern, dtype: DType) -> UOp:
        if is_leaf(pattern):
            return self._leaf(dtype)
        assert pattern.ops is not None
        op = self.random.choice(pattern.ops)
        if op is Op.CONST:
            return self._constant(pattern, dtype)
        sources = pattern.sources
        if sources is None:
            raise Rejected
        wanted = self._source_dtypes(op, dtype, sources)
        drawn = tuple([self.draw(*pair) for pair in zip(sources, wanted, strict=True)])
        made = UOp(op, dtype, drawn)
        if expect_dtypes(made) is not None:
            raise Rejected
        return made

    def _leaf(self, dtype: DType) -> UOp:
        if dtype is index or (self.symbolic and dtype is bool_):
            made = self.generator.expression() if dtype is index else self.generator.condition()
            if self.random.random() < 0.6:
                made = simplify(made)
            return made
        if self.leaves and self.random.random() < 0.3:
            again = self.random.choice(self.leaves)
            if again.dtype is dtype:
                return again
        made = UOp(Op.PARAM, dtype, (), (len(self.leaves), LANES))
        self.leaves.append(made)
        return made

    def _constant(self, pattern: Pattern, dtype: DType) -> UOp:
        if pattern.value is not None:
            return UOp.const(dtype, pattern.value)
        for _ in range(40):
            if dtype is index:
                made = self.generator.constant()
            else:
                value = special_values(dtype, 1, self.random.getrandbits(32))[0].item()
                made = UOp.const(dtype, value)
            if pattern.where is None or pattern.where(made):
                return made
        raise Rejected

    def _source_dtypes(
        self, op: Op, dtype: DType, sources: tuple[Pattern, ...]
    ) -> tuple[DType, ...]:
        if op in COMPARISON:
            return (self._any_dtype(sources),) * 2
        if op is Op.WHERE:
            return bool_, dtype, dtype
        if op is Op.CAST:
            return (self._any_dtype(sources),)
        if op is Op.BITCAST:
            return (self.random.choice([d for d in VALUE_DTYPES if d.bits == dtype.bits]),)
        return (dtype,) * len(sources)

    def _any_dtype(self, sources: tuple[Pattern, ...]) -> DType:
        for source in sources:
            if source.name in self.bound:
                return self.bound[source.name].dtype
            if source.dtypes is not None:
                return self.random.choice(source.dtypes)
        return index if self.symbolic else self.random.choice(VALUE_DTYPES)


def result_dtypes(rule: Rule, symbolic: bool) -> list[DType]:
    assert rule.pattern.ops is not None
    if any(op in COMPARISON for op in rule.pattern.ops) and set(rule.pattern.ops) <= COMPARISON:
        return [bool_]
    if rule.pattern.dtypes is not None:
        return list(rule.pattern.dtypes)
    return [index, bool_] if symbolic else VALUE_DTYPES


def prove(before: UOp, after: UOp) -> str | None:
    assert before.dtype is after.dtype, f"{before.dtype} became {after.dtype}"
    params = [node for node in before.walk() if node.op is Op.PARAM]
    dtypes = {node.dtype for node in before.walk()}
    if index in dtypes and dtypes <= {index, bool_}:
        return prove_equal(before, after)
    assert before.shape == after.shape, f"shape {before.shape} became {after.shape}"
    values = {
        param: special_values(param.dtype, LANES, param.arg[0] + number)
        for number, param in enumerate(params)
    }
    expected, excused = evaluate_values(before, values)
    found, undefined = evaluate_values(after, values)
    if numpy.any(undefined & ~excused):
        return "the rule invents a fault"
    differs = ~(same_bits(expected, found) | excused)
    if not differs.any():
        return None
    lane = int(numpy.argmax(differs))
    given = [value[lane % len(value)] for value in values.values()]
    return f"{given}: {expected[lane]!r} became {found[lane]!r}"


RULES = arithmetic_rules()


def test_rule_sets_are_found() -> None:
    assert {"symbolic", "algebra"} <= {name for name, _ in RULES}


def check(rule: Rule, symbolic: bool) -> None:
    """Fire `rule` on random instances of its pattern and prove each firing right."""
    matchers = [compile_matcher(each, rule.rewrite) for each in rule.pattern.alternatives()]
    dtypes = result_dtypes(rule, symbolic)
    fired = 0
    for attempt in range(ATTEMPTS):
        instance = Instance(attempt, symbolic)
        try:
            before = instance.draw(rule.pattern, dtypes[attempt % len(dtypes)])
        except Rejected:
            continue
        for matcher in matchers:
            after = matcher(before)
            if after is None or after is before:
                continue
            fired += 1
            difference = prove(before, after)
            assert difference is None, (
                f"{rule.name} turned\n  {before!r} into\n  {after!r}\nwhere {difference}"
            )
        if fired >= FIRINGS:
            break
    assert fired, f"{rule.name} never fired, so nothing was proved of it"


@pytest.mark.parametrize(
    "owner, rule", RULES, ids=[f"{owner}: {rule.name}" for owner, rule in RULES]
)
def test_rule_keeps_the_value(owner: str, rule: Rule) -> None:
    check(rule, owner.startswith("symbolic"))


_x, _a = anything("x"), constant("a")


@pytest.mark.parametrize(
    "name, pattern, rewrite",
    [
        ("x // a → x // (a + 1)", (_x // _a).of(index), lambda x, a: x // (a.arg + 1 or 2)),
        ("x % a → x", (_x % _a).of(index), lambda x, a: x),
        (
            "x + 0 → x + 6 // x * 0",
            (_x + 0).of(index),
            lambda x: raw(Op.ADD, x, raw(Op.MUL, raw(Op.FLOORDIV, number(6), x), number(0))),
        ),
        ("x + 0.0 → x", _x.of(float32) + constant().when(lambda n: n.arg == 0), lambda x: x),
        ("x - x → 0", _x.of(float32) - _x, lambda x: UOp.const(float32, 0.0)),
        ("x * 0 → 0 without its shape", _x.of(int32) * 0, lambda x: UOp.const(int32, 0)),
    ],
)
def test_a_wrong_rule_is_refused(name: str, pattern: Pattern, rewrite: Rewriter) -> None:
    with raises(AssertionError, match=r"turned|shape"):
        check(Rule(name, pattern, rewrite), pattern.dtypes == (index,))


def test_a_rule_that_never_fires_is_refused() -> None:
    with raises(AssertionError, match="never fired"):
        check(Rule("x + a → nothing", (_x + _a).of(index), lambda x, a: None), True)
