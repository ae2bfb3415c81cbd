"""Lengths as polynomials over variables, to prove what holds for all values of the variables.

    (n + 1)//2 * 6 + m      6·part + m, with part = (n + 1)//2

A *part* is a quotient `x // d` by a number. It counts as a variable of its own, of which only
`x − d + 1 ≤ d·part ≤ x` is known. Two lengths are equal for all values if their polynomials are
equal. The proof that a polynomial is never negative is not complete, so a "no" means "not proved".
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim
from ogive.named import NamedTuple

MOST_TERMS = 64
"""The greatest number of terms of a polynomial about which anything is proved."""


class Part(NamedTuple):
    """`of // divisor`, rounded down. `of` is a polynomial as sorted pairs."""

    of: tuple[tuple[Monomial, int], ...]
    divisor: int


Factor = UOp | Part
"""A variable, a counter or a part."""

Monomial = tuple[Factor, ...]
Polynomial = dict[Monomial, int]


class Unproved(Exception):
    """A length has no polynomial, or one with too many terms."""


def polynomial(length: Dim) -> Polynomial:
    """The polynomial of a length. Raises `Unproved` if there is none."""
    if isinstance(length, int):
        return {(): length} if length else {}
    done: dict[UOp, Polynomial] = {}
    for node in length.walk():
        done[node] = _node_polynomial(node, done)
    return done[length]


def _node_polynomial(node: UOp, done: dict[UOp, Polynomial]) -> Polynomial:
    if node.op is Op.CONST:
        return {(): node.literal} if node.literal else {}
    if node.op in (Op.VARIABLE, Op.RANGE):
        return {(node,): 1}
    below = [done[source] for source in node.src]
    if node.op is Op.ADD:
        return plus(below[0], below[1])
    if node.op is Op.MUL:
        return times(below[0], below[1])
    if node.op is Op.FLOORDIV and set(below[1]) == {()} and below[1][()] > 0:
        return _divide(below[0], below[1][()])
    raise Unproved(f"{node.op.name} in a length")


def plus(left: Polynomial, right: Polynomial, factor: int = 1) -> Polynomial:
    """`left + factor·right`."""
    total = dict(left)
    for monomial, coefficient in right.items():
        total[monomial] = total.get(monomial, 0) + factor * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    if len(first) * len(second) > MOST_TERMS:
        raise Unproved("a product of too many terms")
    total: Polynomial = {}
    for left, coefficient in first.items():
        for right, factor in second.items():
            monomial = tuple(sorted((*left, *right), key=_order))
            total[monomial] = total.get(monomial, 0) + coefficient * factor
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _divide(value: Polynomial, divisor: int) -> Polynomial:
    """`value // divisor`: multiples of the divisor divide exactly, remainders become a part."""
    whole = {monomial: number // divisor for monomial, number in value.items()}
    remainders = {monomial: number % divisor for monomial, number in value.items()}
    common = math.gcd(divisor, *[number for monomial, number in remainders.items() if monomial])
    # The constant's remainder by the common factor cannot change the quotient: it is dropped.
    left = {monomial: number // common for monomial, number in remainders.items()}
    left = {monomial: number for monomial, number in left.items() if number}
    whole = {monomial: number for monomial, number in whole.items() if number}
    if divisor == common or not any(left):
        return plus(whole, left) if divisor == common else whole
    items = tuple(sorted(left.items(), key=lambda item: [_order(each) for each in item[0]]))
    return plus(whole, {(Part(items, divisor // common),): 1})


def _order(factor: Factor) -> tuple[int, str]:
    if isinstance(factor, Part):
        return 1, repr(factor)
    return (0, repr(factor.arg)) if factor.op is Op.RANGE else (2, factor.name)


def is_never_negative(value: Polynomial) -> bool:
    """Whether a polynomial is proved to be at least 0 for all values of its variables.

    Each step replaces a factor by its least value if the polynomial rises with it, and by its
    greatest value if it falls, until a number is left. False means that this proved nothing.
    """
    if len(value) > MOST_TERMS:
        return False
    factors = {factor for monomial in value for factor in monomial}
    if not factors:
        return value.get((), 0) >= 0
    inner = {
        each
        for part in factors
        if isinstance(part, Part)
        for monomial, _ in part.of
        for each in monomial
    }
    outer = sorted(factors - inner, key=_order)
    # Parts and counters go before variables, since their greatest values depend on variables.
    dependent = [factor for factor in outer if isinstance(factor, Part) or factor.op is Op.RANGE]
    return any(_is_proved_along(value, factor) for factor in dependent[:1] or outer)


def _is_proved_along(value: Polynomial, factor: Factor) -> bool:
    """Whether `value` is proved to be at least 0 after replacing `factor` by an extreme value."""
    slope: Polynomial = {}
    rest: Polynomial = {}
    for monomial, coefficient in value.items():
        if factor in monomial:
            place = monomial.index(factor)
            slope[monomial[:place] + monomial[place + 1 :]] = coefficient
        else:
            rest[monomial] = coefficient
    for is_rising, steepness in ((True, slope), (False, times(slope, {(): -1}))):
        if is_never_negative(steepness):
            end, scale = _end(factor, is_least=is_rising)
            try:
                reduced = plus(times(slope, end), rest, scale)
            except Unproved:
                return False
            return is_never_negative(reduced)
    return False


def _end(factor: Factor, is_least: bool) -> tuple[Polynomial, int]:
    """The least or the greatest value of a factor as (polynomial, scale): scale·factor."""
    if isinstance(factor, UOp):
        if factor.op is Op.RANGE:
            return ({}, 1) if is_least else (plus(polynomial(factor.extent), {(): -1}), 1)
        return polynomial(factor.low if is_least else factor.high), 1
    below = dict(factor.of)
    return plus(below, {(): factor.divisor - 1}, -1) if is_least else below, factor.divisor


def are_equal(x: UOp, y: UOp) -> bool:
    """Whether two expressions are proved to be equal.

    >>> from ogive.compiler.ir.symbolic.variable import Variable
    >>> n = Variable("n", 2, 512).node
    >>> are_equal(n * (n + 1), n * n + n), are_equal(n * 2, n + 2)
    (True, False)
    """
    try:
        return polynomial(x) == polynomial(y)
    except Unproved:
        return False


def is_below(x: UOp, bound: UOp) -> bool:
    """Whether `x < bound` is proved.

    >>> from ogive.compiler.ir.symbolic.variable import Variable
    >>> n = Variable("n", 2, 512).node
    >>> is_below(n * n + n, n * n + n * 2), is_below(n * n + n, n * n + n)
    (True, False)
    """
    try:
        return is_never_negative(plus(plus(polynomial(bound), polynomial(x), -1), {(): -1}))
    except Unproved:
        return False


def bounds_for(value: Polynomial) -> tuple[str, int, int] | None:
    """The variable of a polynomial, and the interval of its values where that is not negative.

    None if the polynomial has more than one term beside the constant, or the interval is empty.
    """
    while True:
        terms = [(monomial, number) for monomial, number in value.items() if monomial]
        if len(terms) != 1 or len(terms[0][0]) != 1:
            return None
        ((factor,), number), constant = terms[0], value.get((), 0)
        limit = -(constant // number) if number > 0 else constant // -number
        if isinstance(factor, UOp):
            if factor.op is Op.RANGE:
                return None
            low, high = (limit, factor.high) if number > 0 else (factor.low, limit)
            return (factor.name, low, high) if low <= high else None
        below = dict(factor.of)
        if number > 0:  # x // d is at least `limit` if x is at least `limit * d`
            value = plus(below, {(): -limit * factor.divisor})
        else:
            value = plus({(): (limit + 1) * factor.divisor - 1}, below, -1)
