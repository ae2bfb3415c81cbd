"""What is proved of lengths holds of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.ir.symbolic.index_arithmetic import less
from ogive.compiler.ir.symbolic.polynomials import (
    Unproved,
    are_equal,
    bounds_for,
    is_never_negative,
    plus,
    polynomial,
)
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.compiler.passes.loops.rangeify import make_range

n, m = Variable("n", 2, 512).node, Variable("m", 2, 100).node
VALUES = list(itertools.product((2, 3, 4, 5, 7, 8, 100, 511, 512), (2, 3, 5, 6, 99, 100)))


@pytest.mark.parametrize(
    ("length", "holds"),
    [
        (n - 2, True),
        (n - 3, False),
        (n - n // 2 * 2, True),
        (n - (n + 1) // 2 * 2, False),
        ((n + 2) // 3 * 3 - n, True),
        (n * m - m, True),
        ((n + 7) * m - n * m, True),
        (n - m, False),
        (((n + 1) // 2 + 1) // 2 * 4 - n, True),
    ],
)
def test_lengths_are_proved_not_to_be_negative(length: Dim, holds: bool) -> None:
    assert is_never_negative(polynomial(length)) is holds


def test_lengths_that_are_equal_have_one_polynomial() -> None:
    assert polynomial((n + 1) * (n + 2)) == polynomial(n * n + n * 3 + 2)
    assert polynomial((n * 6 + 9) // 6) == polynomial(n + 1)
    assert polynomial((n + 3) // 2) == polynomial((n + 1) // 2 + 1)


def test_expressions_are_equal_that_have_one_polynomial_and_no_others() -> None:
    row = make_range(n, 0)
    assert are_equal((n + 1) * row, n * row + row)
    assert not are_equal(n * row, n * row + row)
    assert not are_equal(row * 3 % n, row * 3)  # of a remainder nothing is known


@pytest.mark.parametrize(
    ("left", "right", "holds"),
    [
        (lambda half: make_range(half, 0) + make_range(3, 1) * (half + 4), 3, True),
        (lambda half: make_range(half, 0) + make_range(4, 1) * (half + 4), 3, None),
        (lambda half: half * 3 + 9 + make_range(half, 0), 3, False),
    ],
)
def test_comparisons_are_decided_where_they_are_proved_for_all_lengths(
    left: Callable[[UOp], UOp], right: int, holds: bool | None
) -> None:
    half = n // 2
    found = less(left(half), half * right + 9)
    assert (found.arg if found.op is Op.CONST else None) is holds


def _draw(source: random.Random, depth: int) -> Dim:
    kind = source.random() if depth else 0.0
    if kind < 0.2:
        return source.choice([n, m, source.randint(1, 9)])
    if kind < 0.6:
        return _draw(source, depth - 1) + _draw(source, depth - 1) * source.choice([1, 1, 2, 3])
    if kind < 0.75:
        return _draw(source, depth - 1) * _draw(source, depth - 1)
    return (_draw(source, depth - 1) + source.randint(0, 4)) // source.randint(2, 5)


def test_what_is_proved_of_random_lengths_holds_of_their_values() -> None:
    source, proved = random.Random(0), 0
    for _ in range(600):
        one, other = _draw(source, 3), _draw(source, 3)
        try:
            distance = plus(polynomial(one), polynomial(other), -1)
        except Unproved:
            continue
        values = [
            evaluate(one, {"n": a, "m": b}) - evaluate(other, {"n": a, "m": b}) for a, b in VALUES
        ]
        if not distance:
            assert not any(values), (one, other)
        if is_never_negative(distance):
            proved += 1
            assert min(values) >= 0, (one, other)
    assert proved > 100


@pytest.mark.parametrize(
    ("length", "bounds"),
    [
        (n - 5, ("n", 5, 512)),
        (100 - n * 3, ("n", 2, 33)),
        ((n - 5) // 2, ("n", 5, 512)),
        (40 - (n + 3) // 4, ("n", 2, 160)),
        (n - m, None),
    ],
)
def test_bounds_are_those_within_which_a_length_is_not_negative(
    length: Dim, bounds: tuple[str, int, int] | None
) -> None:
    assert bounds_for(polynomial(length)) == bounds
