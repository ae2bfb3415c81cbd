"""Index expressions come out small, canonical and equal to what went in."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from ogive.compiler.ir.dtype import bool_, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.printer import format_index
from ogive.compiler.ir.symbolic.conditions import implies
from ogive.compiler.ir.symbolic.index_arithmetic import (
    add,
    conjuncts,
    dot,
    floordiv,
    from_linear,
    linear_form,
    maximum,
    minimum,
    simplify,
    where,
)
from ogive.compiler.ir.traversal import substitute
from tests.compiler.ir.symbolic.expressions import (
    Generator,
    counter,
    number,
    prove_equal,
    raw,
    variable,
)
from tests.new_process import output_of

P, Q, R, S = (counter(n, size) for n, size in enumerate((4, 8, 6, 16)))
X = variable("x", -50, 1000)
N = variable("n", 1, 32)
LOADED = UOp(Op.CAST, index, (UOp(Op.LOAD, index, (UOp(Op.PARAM, index, (), (0, 9)),)),))

EXAMPLES = [
    ((P * 8 + Q) // 8, "i0"),
    ((P * 8 + Q) % 8, "i1"),
    ((P * 4 + Q // 2) // 8, "i0 // 2"),
    ((P * 4 + Q // 2) % 8, "(i0 % 2)*4 + i1 // 2"),
    ((X // 3) // 5, "x // 15"),
    ((X % 24) % 6, "x % 6"),
    ((X % 24) // 6, "x // 6 % 4"),
    (X // 4 * 4 + X % 4, "x"),
    (X // 8 * 8 + X // 4 % 2 * 4 + X % 4, "x"),
    (X // 4 % 2 * 4 + X % 4, "x % 8"),
    ((X * 6 + 3) // 9, "(x*2 + 1) // 3"),
    ((X * 4 + 17) // 4, "x + 4"),
    ((X + 11) // 8, "(x + 3) // 8 + 1"),
    (Q // 8, "0"),
    ((Q + 16) % 8, "i1"),
    ((X * 9 + P) % 8, "(i0 + x) % 8"),
    ((7 - Q) % 8, "7 - i1"),
    ((X + X) - X * 2, "0"),
    (X * 3 + 4 - (X - 1) * 3, "7"),
    ((P + 2) * (Q + 3), "i0*3 + i0*i1 + i1*2 + 6"),
    ((P * N + counter(9, N)) // N, "i0"),
    ((P * N + counter(9, N)) % N, "i9"),
    (counter(9, N) // N, "0"),
    (N * 4 // N, "4"),
    ((P * 8 + Q).lt(16), "i0 < 2"),
    ((X // 4).lt(3), "x < 12"),
    ((X // 4).gt(3), "15 < x"),
    ((X + P).lt(Q + P + 2), "x < i1 + 2"),
    (P.lt(4), "True"),
    (P.ge(4), "False"),
    (counter(9, N).lt(N), "True"),
    ((X * 4).lt(16), "x < 4"),
    ((X * 4).eq(6), "False"),
    ((X * 4 + 2).eq(Q * 4 + 2), "i1 == x"),
    (X.lt(20) & X.lt(8) & X.ge(4), "3 < x & x < 8"),
    (X.ge(4) & X.lt(5), "x == 4"),
    (X.ge(4) & X.lt(4), "False"),
    (X.ne(3) & X.lt(2), "x < 2"),
    (X.lt(3) | X.ge(3), "True"),
    (X.lt(3) | X.lt(5), "x < 5"),
    (~X.lt(3), "2 < x"),
    (~(X.eq(3)), "x != 3"),
    (P.lt(2) & P.lt(2), "i0 < 2"),
    (P.lt(2) & True, "i0 < 2"),
    (where(P.lt(4), X, Q), "x"),
    (where(P.lt(2), X, X), "x"),
    (maximum(X + 1, X), "x + 1"),
    (minimum(P, 9), "i0"),
    (LOADED * 2 - LOADED, "index(LOAD:index)"),
]  # fmt: skip


@pytest.mark.parametrize("found, expected", EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_example(found: UOp, expected: str) -> None:
    assert format_index(found) == expected


@pytest.mark.parametrize("seed", range(300))
def test_simplify_keeps_the_value_and_is_done_at_once(seed: int) -> None:
    generator = Generator(seed)
    for root in (generator.expression(3), generator.condition(2)):
        simple = simplify(root)
        assert prove_equal(root, simple) is None, f"{root!r} became {simple!r}"
        assert simplify(simple) is simple, f"{simple!r} became {simplify(simple)!r}"


@pytest.mark.parametrize("seed", range(60))
def test_a_sum_is_the_same_node_in_whatever_order_it_is_built(seed: int) -> None:
    generator = Generator(seed)
    parts = [simplify(generator.expression(2)) for _ in range(5)]
    draw = random.Random(seed)
    sums = set()
    for _ in range(4):
        draw.shuffle(parts)
        total = parts[0]
        for part in parts[1:]:
            total = add(total, part)
        sums.add(total)
    assert len({frozenset(linear_form(total)[0]) for total in sums}) == 1
    assert len(sums) == 1


_ORDER_PROGRAM = """
from ogive.compiler.ir.dtype import index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
names = {names}
made = {{n: UOp(Op.VARIABLE, index, (), (n, 0, 9)) for n in names}}
a, b, c = (made[n] for n in "abc")
print(repr((c * 2 + a // 3 + b * a) % 7 + a % 5), repr((b.lt(a) & c.lt(3)) | a.lt(2)))
"""


def test_the_form_does_not_depend_on_when_the_parts_were_made() -> None:
    outputs = {
        output_of(_ORDER_PROGRAM.format(names=names))
        for names in (["a", "b", "c"], ["c", "b", "a"])
    }  # fmt: skip
    assert len(outputs) == 1


FIRST = [
    "rewriting.rules", "symbolic.linear_forms", "symbolic.bounds", "symbolic.conditions",
    "dtype", "dialects.verify", "node_parts.node_table", "traversal",
]  # fmt: skip


@pytest.mark.parametrize("module", FIRST)
def test_any_module_may_be_imported_first(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import ogive.compiler.ir.{module}"], check=True)


def test_a_linear_form_goes_there_and_back() -> None:
    node = Q * 3 + P + X * -2 + 7
    terms, constant = linear_form(node)
    assert terms == {P: 1, Q: 3, X: -2} and constant == 7
    assert from_linear(dict(terms), constant) is node
    assert linear_form(number(5)) == ({}, 5)
    assert linear_form(X) == ({X: 1}, 0)


def test_sums_lean_left_with_the_constant_last() -> None:
    node = add(add(5, Q * 2), add(P, R))
    assert node.src[1] is number(5)
    assert node.src[0].src[1] is R
    assert node.src[0].src[0].src == (P, Q * 2)


def test_dot_is_the_sum_of_products() -> None:
    assert dot((P, Q, R), (48, 6, 1), 5) is P * 48 + Q * 6 + R + 5
    assert dot((P, Q), (N, 1)) is P * N + Q


@pytest.mark.parametrize(
    "sizes", [(32, 3, 2, 16), (4, 48, 16), (3072,), (2, 2, 768), (12, 256), (8, 4, 32, 3)]
)
def test_a_reshape_there_and_back_is_nothing(sizes: tuple[int, ...]) -> None:
    def unravel(flat: UOp, lengths: tuple[int, ...]) -> list[UOp]:
        found = []
        for length in reversed(lengths[1:]):
            found.append(flat % length)
            flat = flat // length
        return [flat, *reversed(found)]

    def strides(lengths: tuple[int, ...]) -> list[int]:
        steps = [1]
        for length in reversed(lengths[1:]):
            steps.append(steps[-1] * length)
        return steps[::-1]

    original = (4, 8, 6, 16)
    there = unravel(dot((P, Q, R, S), strides(original)), sizes)
    assert unravel(dot(there, strides(sizes)), original) == [P, Q, R, S]


def test_simplify_renormalizes_after_substitution() -> None:
    address = (X * 8 + Q) // 4
    (replaced,) = substitute((address,), {X: P, Q: R})
    assert simplify(replaced) is P * 2 + R // 4
    (split,) = substitute((X * 3,), {X: counter(7, 5) * 2 + counter(8, 2)})
    assert simplify(split) is counter(7, 5) * 6 + counter(8, 2) * 3


def test_conditions_come_apart_again() -> None:
    parts = [P.lt(2), Q.lt(3), X.ge(1)]
    assert set(conjuncts(parts[0] & parts[1] & parts[2])) == set(parts)


@pytest.mark.parametrize(
    ("known", "wanted", "expected"),
    [
        (P.lt(2), P.lt(3), True),
        (P.lt(3), P.lt(2), False),
        (S.lt(Q + 1), S.lt(8), True),
        (S.lt(Q + 1), S.lt(7), False),
        (S.lt(Q + 1) & P.lt(2), S.lt(8) & P.lt(3), True),
        (P.lt(2), S.lt(8) & P.lt(3), False),
        (S.lt(8), S.lt(Q + 8), True),
        (S.lt(8), S.lt(Q + 7), False),
        (X.lt(P), X.lt(4), True),
        (P.eq(2), P.eq(2), True),
        (P.eq(2), P.lt(3), False),
    ],
)  # fmt: skip
def test_a_condition_implies_what_bounds_tell(known: UOp, wanted: UOp, expected: bool) -> None:
    assert implies(known, wanted) is expected


def test_division_by_zero_is_left_alone() -> None:
    assert floordiv(X, 0).op is Op.FLOORDIV
    assert (X % 0).op is Op.MOD
    assert floordiv(number(3), 0).op is Op.FLOORDIV


def test_a_deep_expression_simplifies() -> None:
    root: UOp = X
    for n in range(3000):
        root = raw(Op.ADD, root, number(n % 3))
    assert simplify(root) is X + 3000


def test_simplified_nodes_are_freed() -> None:
    import gc

    from ogive.compiler.ir.node_parts.node_table import live_uop_ids

    root = raw(Op.ADD, raw(Op.MUL, variable("gone", 0, 99), number(3)), number(1))
    ids = {root.id, simplify(root).id, root.src[0].src[0].id}
    assert root.dtype is not bool_
    del root
    gc.collect()
    assert not ids & set(live_uop_ids())
