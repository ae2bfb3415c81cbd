"""Rules for `x // c` and `x % c` over index expressions (rounding down).

One idea does most of the work. Let `g` divide the divisor `c`, and write the dividend as
`g*a + b`. If `b` stays within one period of `g`, so that `b // g` is one number `k`, then

    (g*a + b) // c  →  (a + k) // (c//g)
    (g*a + b) %  c  →  g*((a + k) % (c//g)) + b - g*k

With `g = c` this is `(i*8 + j) // 8 → i`. With smaller factors it simplifies nested reshapes.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.dtype import index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import anything, constant, node
from ogive.compiler.ir.symbolic.linear_forms import (
    Terms,
    add,
    add_scaled,
    floordiv,
    from_linear,
    integer,
    interval,
    less,
    linear_form,
    modulo,
    multiply,
    symbolic_rules,
)  # fmt: skip
from ogive.compiler.ir.symbolic.polynomials import is_below

_x, _a, _b = anything("x"), constant("a"), constant("b")
_y = node(tuple([op for op in Op if op is not Op.CONST]), name="y")


@symbolic_rules.rule("x // a → k, where x stays in one period", (_x // _a).of(index))
def _divide_one_period(x: UOp, a: UOp) -> UOp | None:
    divisor = a.arg
    if divisor == 1:
        return x
    if divisor == 0:
        return None
    low, high = x.bounds
    quotient = low // divisor
    return integer(quotient) if quotient == high // divisor else None


@symbolic_rules.rule("(x // a) // b → x // (a*b)", ((_x // _a) // _b).of(index))
def _divide_quotient(x: UOp, a: UOp, b: UOp) -> UOp | None:
    return floordiv(x, a.arg * b.arg) if a.arg > 0 and b.arg > 0 else None


@symbolic_rules.rule("(x % (a*b)) // b → (x // b) % a", ((_x % _a) // _b).of(index))
def _divide_remainder(x: UOp, a: UOp, b: UOp) -> UOp | None:
    if a.arg <= 0 or b.arg <= 0 or a.arg % b.arg:
        return None
    return modulo(floordiv(x, b), a.arg // b.arg)


@symbolic_rules.rule("(x*b + y) // (a*b) → (x + y//b) // a, one y//b", (_x // _a).of(index))
def _divide_by_common_factor(x: UOp, a: UOp) -> UOp | None:
    split = _split_one_period(x, a.arg)
    if split is None:
        return None
    factor, terms, _, period = split
    whole = from_linear(terms, period)
    return whole if factor == a.arg else floordiv(whole, a.arg // factor)


@symbolic_rules.rule("(x*a*b + y) // a → x*b + y // a", (_x // _a).of(index))
def _divide_multiples(x: UOp, a: UOp) -> UOp | None:
    divisor = a.arg
    terms, offset = linear_form(x)
    if divisor <= 0:
        return None
    remainders = {term: n for term, n in terms.items() if n % divisor}
    if len(remainders) == len(terms) and 0 <= offset < divisor:
        return None
    whole = {term: n // divisor for term, n in terms.items() if term not in remainders}
    quotient = floordiv(from_linear(remainders, offset % divisor), a)
    return join(whole, offset // divisor + add_scaled(whole, quotient, 1))


@symbolic_rules.rule("(x*(a*b - c) + y) // a → x*b + k, one (y - x*c) // a", (_x // _a).of(index))
def _divide_near_multiples(x: UOp, a: UOp) -> UOp | None:
    split = _split_near_multiples(x, a.arg)
    return None if split is None else from_linear(split[0], split[2])


@symbolic_rules.rule("x % a → x - a*k, where x stays in one period", (_x % _a).of(index))
def _remainder_one_period(x: UOp, a: UOp) -> UOp | None:
    divisor = a.arg
    if divisor == 0:
        return None
    low, high = x.bounds
    quotient = low // divisor
    if quotient != high // divisor:
        return None
    return x if quotient == 0 else add(x, -divisor * quotient)


@symbolic_rules.rule("(x*b + y) % (a*b) → (x + y//b) % a * b + y%b, one y//b", (_x % _a).of(index))
def _remainder_by_common_factor(x: UOp, a: UOp) -> UOp | None:
    split = _split_one_period(x, a.arg)
    if split is None:
        return None
    factor, terms, rest, period = split
    offset = linear_form(x)[1] - factor * period
    if factor == a.arg:
        return from_linear(rest, offset)
    outer = modulo(from_linear(terms, period), a.arg // factor)
    joined = dict(rest)
    return join(joined, offset + add_scaled(joined, outer, factor))


@symbolic_rules.rule("(x*(a*b - c) + y) % a → y - x*c - a*k, one (y-x*c) // a", (_x % _a).of(index))
def _remainder_near_multiples(x: UOp, a: UOp) -> UOp | None:
    split = _split_near_multiples(x, a.arg)
    if split is None:
        return None
    _, rest, period = split
    return from_linear(rest, linear_form(x)[1] - a.arg * period)


@symbolic_rules.rule("(x*a*b + y) % a → y % a, also y for y % (a*c)", (_x % _a).of(index))
def _remainder_drop_multiples(x: UOp, a: UOp) -> UOp | None:
    divisor = a.arg
    if divisor <= 0:
        return None
    terms, offset = linear_form(x)
    reduced: Terms = {}
    total = offset % divisor
    changed = total != offset
    for term, coefficient in terms.items():
        # The sign stays, because bounds of `7 - i` are tighter than those of `7 + 7*i`.
        kept = abs(coefficient) % divisor * (1 if coefficient > 0 else -1)
        changed |= kept != coefficient
        if not kept:
            continue
        if term.op is Op.MOD and term.right.op is Op.CONST:
            period = term.right.literal
            if period > 0 and kept * period % divisor == 0:
                total += add_scaled(reduced, term.left, kept)
                changed = True
                continue
        total += add_scaled(reduced, term, kept)
    return modulo(from_linear(reduced, total), a) if changed else None


def _split_one_period(x: UOp, divisor: int) -> tuple[int, Terms, Terms, int] | None:
    """`x` as `factor*terms + rest + constant`, `rest + constant` within one period of `factor`.

    Gives (factor, terms, rest, number of the period) for the greatest such factor of `divisor`, or
    None if the only one is 1.
    """
    if divisor <= 1:
        return None
    terms, offset = linear_form(x)
    factors = {math.gcd(coefficient, divisor) for coefficient in terms.values()}
    if len(factors) > 1:
        factors.add(math.gcd(*factors))
    for factor in sorted(factors, reverse=True):
        if factor == 1:
            break
        rest = {term: n for term, n in terms.items() if n % factor}
        low, high = interval(rest)
        period = (low + offset) // factor
        if period == (high + offset) // factor:
            whole = {term: n // factor for term, n in terms.items() if term not in rest}
            return factor, whole, rest, period
    return None


def _split_near_multiples(x: UOp, divisor: int) -> tuple[Terms, Terms, int] | None:
    """`x` as `divisor*terms + rest + constant`, coefficients of `rest` as close to 0 as possible.

    Gives (terms, rest, number of the period), or None if `rest + constant` is not within one
    period. A row of 12 read in rows of 11 is a shear, `(11*i + j) // 12 → i` where `j >= i`.
    """
    if divisor <= 2:
        return None
    terms, offset = linear_form(x)
    whole: Terms = {}
    rest: Terms = {}
    for term, coefficient in terms.items():
        multiple = (coefficient + divisor // 2) // divisor
        if multiple:
            whole[term] = multiple
        if coefficient != multiple * divisor:
            rest[term] = coefficient - multiple * divisor
    low, high = interval(rest)
    period = (low + offset) // divisor
    if not whole or period != (high + offset) // divisor:
        return None
    return whole, rest, period


def _split_symbolic(x: UOp, divisor: UOp) -> tuple[UOp, UOp] | None:
    """`(quotient, rest)` with `x = quotient*divisor + rest`, for a symbolic divisor; or None."""
    if divisor.bounds[0] <= 0:
        return None
    if divisor.op is Op.ADD or (divisor.op is Op.MUL and divisor.right.op is Op.CONST):
        return _split_by_sum(x, divisor)
    terms, offset = linear_form(x)
    whole: Terms = {}
    rest: Terms = {}
    extra = 0
    for term, coefficient in terms.items():
        quotient = divide_product(term, divisor)
        if quotient is None:
            rest[term] = coefficient
        else:
            extra += add_scaled(whole, quotient, coefficient)
    if len(rest) == len(terms):
        return None
    return from_linear(whole, extra), from_linear(rest, offset)


def _split_by_sum(x: UOp, divisor: UOp) -> tuple[UOp, UOp] | None:
    """The same for a sum or a multiple, by long division; None unless `rest < divisor`.

    `i*(n + 4) + j` is `i*(n + 3) + (i + j)`: rows of n + 4 read from rows of n + 3.
    """
    terms, offset = linear_form(x)
    parts, _ = linear_form(divisor)
    if not parts:
        return None
    leading = max(parts, key=lambda term: (_degree(term), term.bounds[1]))
    whole: Terms = {}
    extra = 0
    for term, coefficient in terms.items():
        quotient = divide_product(term, leading)
        if quotient is not None and coefficient % parts[leading] == 0:
            extra += add_scaled(whole, quotient, coefficient // parts[leading])
    if not whole and not extra:
        return None
    quotient = from_linear(whole, extra)
    remaining = dict(terms)
    offset += add_scaled(remaining, multiply(quotient, divisor), -1)
    left = from_linear(remaining, offset)
    return (quotient, left) if _is_below(left, divisor) else None


def _degree(product: UOp) -> int:
    """The number of factors in a product."""
    degree = 1
    while product.op is Op.MUL:
        product = product.left
        degree += 1
    return degree


def divide_product(product: UOp, divisor: UOp) -> UOp | None:
    """`product / divisor` if all factors of `divisor` are among those of `product`, else None."""
    if product is divisor:
        return integer(1)
    if divisor.op is Op.MUL and divisor.right.op is not Op.CONST:
        shorter = divide_product(product, divisor.right)
        return None if shorter is None else divide_product(shorter, divisor.left)
    others: list[UOp] = []
    while product.op is Op.MUL:
        product, factor = product.src
        if factor is divisor:
            break
        others.append(factor)
    else:
        if product is not divisor:
            return None
        product = integer(1)
    for factor in reversed(others):
        product = multiply(product, factor)
    return product


@symbolic_rules.rule("(x*d + y) // d → x + y // d, d positive", node(Op.FLOORDIV, _x, _y).of(index))
def _divide_by_symbol(x: UOp, y: UOp) -> UOp | None:
    split = _split_symbolic(x, y)
    return None if split is None else add(split[0], floordiv(split[1], y))


@symbolic_rules.rule("(x*d + y) % d → y % d, d positive", node(Op.MOD, _x, _y).of(index))
def _remainder_by_symbol(x: UOp, y: UOp) -> UOp | None:
    split = _split_symbolic(x, y)
    return None if split is None else modulo(split[1], y)


@symbolic_rules.rule("x // d → 0, where 0 ≤ x < d", node(Op.FLOORDIV, _x, _y).of(index))
def _divide_by_greater(x: UOp, y: UOp) -> UOp | None:
    return integer(0) if _is_below(x, y) else None


@symbolic_rules.rule("x % d → x, where 0 ≤ x < d", node(Op.MOD, _x, _y).of(index))
def _remainder_by_greater(x: UOp, y: UOp) -> UOp | None:
    return x if _is_below(x, y) else None


def _is_below(x: UOp, bound: UOp) -> bool:
    if x.bounds[0] < 0:
        return False
    is_known = bool(less(x, bound).bounds[0])
    return is_known or (bound.op is not Op.CONST and is_below(x, bound))


def join(terms: Terms, offset: int) -> UOp:
    """The node for a linear form, with quotients and remainders of one dividend joined.

    `(x//a)*a*c + (x%a)*c → x*c` and `(x//a%b)*a*c + (x%a)*c → (x % (a*b))*c`.
    """
    if len(terms) > 1 and any(term.op is Op.MOD for term in terms):
        while (joint := _find_joint(terms)) is not None:
            quotient, remainder, whole = joint
            coefficient = terms.pop(remainder)
            del terms[quotient]
            offset += add_scaled(terms, whole, coefficient)
    return from_linear(terms, offset)


def _find_joint(terms: Terms) -> tuple[UOp, UOp, UOp] | None:
    """A quotient and a remainder among the terms that can be joined, and the joined term."""
    coefficients = set(terms.values())
    for remainder, coefficient in terms.items():
        if remainder.op is not Op.MOD or remainder.right.op is not Op.CONST:
            continue
        x, period = remainder.left, remainder.right.literal
        if period <= 1 or coefficient * period not in coefficients:
            continue
        quotient = floordiv(x, period)
        for term, other in terms.items():
            if other != coefficient * period:
                continue
            if term is quotient:
                return term, remainder, x
            if (dividend := _dividend(term, remainder, period)) is not None:
                return term, remainder, dividend
            if term.op is Op.MOD and term.right.op is Op.CONST and term.right.literal > 0:
                whole = x if term.left is quotient else _dividend(term.left, remainder, period)
                if whole is not None:
                    return term, remainder, modulo(whole, period * term.right.literal)
    return None


def _dividend(quotient: UOp, remainder: UOp, period: int) -> UOp | None:
    """The dividend of `quotient` if `remainder` is its remainder by `period`, else None.

    The dividends may differ in form, since `(i*16 + j) % 3` has become `(i + j) % 3`.
    """
    if quotient.op is not Op.FLOORDIV or quotient.right is not remainder.right:
        return None
    dividend = quotient.left
    return dividend if modulo(dividend, period) is remainder else None
