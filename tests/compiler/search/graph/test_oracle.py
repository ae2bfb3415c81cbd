"""Our e-graph finds the equalities that egglog finds, on small graphs and the same rules."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import Pattern, RuleSet, anything, constant, node
from ogive.compiler.search.graph.equalities import Equalities
from ogive.compiler.search.graph.matching import Matching
from ogive.compiler.search.graph.saturation import Budget, Saturation
from tests.compiler.search.graph.graphs import apply, given, number

egglog = pytest.importorskip("egglog")

_x, _y, _z = anything("x"), anything("y"), anything("z")


def _as_written(pattern: Pattern) -> Pattern:
    return pattern.as_written()


def our_rules() -> RuleSet:
    """Commutativity and associativity as rules of their own, and a few that cancel."""
    rules = RuleSet("oracle")
    for op in (Op.ADD, Op.MUL):
        both = _as_written(node(op, _x, _y))
        rules.add(f"{op}: x y → y x", both, lambda x, y, op=op: apply(op, y, x))
        left = _as_written(node(op, both, _z))
        rules.add(
            f"{op}: (x y) z → x (y z)", left,
            lambda x, y, z, op=op: apply(op, x, apply(op, y, z)),
        )  # fmt: skip
    rules.add("x * 1 → x", _as_written(node(Op.MUL, _x, constant(value=1.0))), lambda x: x)
    rules.add("--x → x", node(Op.NEG, node(Op.NEG, _x)), lambda x: x)
    factored = _as_written(
        node(Op.ADD, _as_written(node(Op.MUL, _x, _y)), _as_written(node(Op.MUL, _x, _z)))
    )
    rules.add(
        "x y + x z → x (y + z)", factored, lambda x, y, z: apply(Op.MUL, x, apply(Op.ADD, y, z))
    )
    return rules


PROGRAM = """
(datatype Value (Leaf i64) (Add Value Value) (Mul Value Value) (Neg Value))
(rewrite (Add x y) (Add y x))
(rewrite (Mul x y) (Mul y x))
(rewrite (Add (Add x y) z) (Add x (Add y z)))
(rewrite (Mul (Mul x y) z) (Mul x (Mul y z)))
(rewrite (Mul x (Leaf 1)) x)
(rewrite (Neg (Neg x)) x)
(rewrite (Add (Mul x y) (Mul x z)) (Mul x (Add y z)))
"""


def draw(random: Random, depth: int) -> UOp:
    """A random value of a few leaves; one of them is 1."""
    if depth == 0:
        return random.choice([given(2, 4), given(3, 4), number(1.0)])
    kind = random.randrange(5)
    if kind == 0:
        return apply(Op.NEG, draw(random, depth - 1))
    op = Op.ADD if kind < 3 else Op.MUL
    left = draw(random, depth - 1)
    # Numbers stand on the right, beside values.
    left = given(2, 4) if left.op is Op.CONST else left
    return UOp(op, left.dtype, (left, draw(random, random.randrange(depth))))


def written(value: UOp) -> str:
    """A value as egglog writes it."""
    if value.op is Op.CONST:
        return "(Leaf 1)"
    if value.op is Op.RESHAPE:
        return f"(Leaf {value.operand.slot})"
    name = {Op.ADD: "Add", Op.MUL: "Mul", Op.NEG: "Neg"}[value.op]
    return f"({name} {' '.join(written(source) for source in value.src)})"


def is_equal_in_egglog(graph: Any, one: UOp, other: UOp) -> bool:
    try:
        check = f"(check (= {written(one)} {written(other)}))"
        graph.run_program(*graph.parse_program(check))
    except Exception as error:  # egglog says so by its own kind of error
        assert "Check failed" in str(error)
        return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_the_same_values_are_equal(seed: int) -> None:
    from egglog.bindings import EGraph

    random = Random(seed)
    values = [draw(random, 3) for _ in range(6)]
    graph = Equalities()
    for value in values:
        graph.add(value)
    Saturation(graph, Matching(our_rules()), Budget(5_000, 12, float("inf"))).run()
    oracle = EGraph()
    lets = "\n".join(f"(let v{n} {written(value)})" for n, value in enumerate(values))
    oracle.run_program(*oracle.parse_program(f"{PROGRAM}\n{lets}\n(run 12)"))
    parts = [node for value in values for node in value.walk() if node.op is not Op.PARAM]
    for one, other in itertools.combinations(dict.fromkeys(parts), 2):
        if one.shape != other.shape:
            continue
        ours = graph.add(one) == graph.add(other)
        assert ours == is_equal_in_egglog(oracle, one, other), f"{one!r}, {other!r}"
