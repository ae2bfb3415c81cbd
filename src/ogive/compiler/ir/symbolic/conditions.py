"""Rules for comparisons of index expressions, their conjunctions, and choices.

Every comparison becomes a `CMPLT`, `CMPEQ` or `CMPNE` in which equal terms have cancelled. Terms of
positive coefficient are on the left, terms of negative coefficient on the right, and the constant
is on the right unless the left is empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ogive.compiler.ir.dtype import bool_, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import Pattern, anything, constant, node
from ogive.compiler.ir.symbolic.linear_forms import (
    Terms,
    add,
    add_scaled,
    condition,
    equal,
    from_linear,
    in_order,
    interval,
    less,
    linear_form,
    logical_not,
    not_equal,
    symbolic_rules,
    where,
)  # fmt: skip
from ogive.compiler.ir.symbolic.polynomials import is_below

_x, _y, _c = anything("x"), anything("y"), anything("c")
_ix, _iy = _x.of(index), _y.of(index)
_a, _b = constant("a").of(index), constant("b").of(index)


def _less_pattern(x: Pattern, y: Pattern) -> Pattern:
    return node(Op.CMPLT, x, y).of(bool_)


def difference(x: UOp, y: UOp) -> tuple[Terms, int]:
    """Terms and a bound such that `x < y` is `terms < bound`, and `x == y` is `terms == bound`."""
    terms, offset = linear_form(x)
    terms = dict(terms)
    return terms, -offset - add_scaled(terms, y, -1)


@symbolic_rules.rule("x < y → true or false, by bounds", _less_pattern(_ix, _iy))
def _less_by_bounds(x: UOp, y: UOp) -> UOp | None:
    terms, bound = difference(x, y)
    low, high = interval(terms)
    if high < bound:
        return condition(True)
    return condition(False) if low >= bound else None


@symbolic_rules.rule("x < y → true or false, proved for all lengths", _less_pattern(_ix, _iy))
def _less_by_proof(x: UOp, y: UOp) -> UOp | None:
    if not any(part.op is Op.VARIABLE for part in (*x.walk(), *y.walk())):
        return None
    if is_below(x, y):
        return condition(True)
    return condition(False) if is_below(y, add(x, 1)) else None


@symbolic_rules.rule("x*a + y < b → x < m, the same m for all y", _less_pattern(_ix, _iy))
def _less_divided(x: UOp, y: UOp) -> UOp | None:
    terms, bound = difference(x, y)
    for factor in sorted({abs(coefficient) for coefficient in terms.values()} - {1}, reverse=True):
        rest = {term: n for term, n in terms.items() if n % factor}
        low, high = interval(rest)
        limit = -((high - bound) // factor)
        if limit == -((low - bound) // factor):
            whole = {term: n // factor for term, n in terms.items() if term not in rest}
            return _less_than(whole, limit)
    common = math.gcd(*terms.values())
    if common > 1:
        whole = {term: n // common for term, n in terms.items()}
        return _less_than(whole, -(-bound // common))
    return None


@symbolic_rules.rule("x // a < b → x < a*b", _less_pattern(node(Op.FLOORDIV, _x, _a), _b))
def _quotient_less(x: UOp, a: UOp, b: UOp) -> UOp | None:
    return less(x, a.arg * b.arg) if a.arg > 0 else None


@symbolic_rules.rule("b < x // a → a*(b + 1) - 1 < x", _less_pattern(_b, node(Op.FLOORDIV, _x, _a)))
def _less_quotient(x: UOp, a: UOp, b: UOp) -> UOp | None:
    return less(a.arg * (b.arg + 1) - 1, x) if a.arg > 0 else None


@symbolic_rules.rule("x + z < y + z → x < y", _less_pattern(_ix, _iy))
def _less_cancelled(x: UOp, y: UOp) -> UOp | None:
    return _compare_terms(Op.CMPLT, *difference(x, y))


@symbolic_rules.rule("x <= y → x < y + 1", node(Op.CMPLE, _ix, _iy).of(bool_))
def _less_or_equal(x: UOp, y: UOp) -> UOp | None:
    return less(x, add(y, 1))


def _less_than(terms: Terms, bound: int) -> UOp:
    return less(from_linear(terms), bound)


def _compare_terms(op: Op, terms: Terms, bound: int) -> UOp:
    """The comparison of `terms` with `bound`, with negative coefficients moved to the right."""
    left = {term: n for term, n in terms.items() if n > 0}
    right = {term: -n for term, n in terms.items() if n < 0}
    if left:
        return UOp(op, bool_, (from_linear(left), from_linear(right, bound)))
    if op is Op.CMPLT:
        return UOp(op, bool_, (from_linear({}, -bound), from_linear(right)))
    return UOp(op, bool_, (from_linear(right), from_linear({}, -bound)))


def _decide_equality(x: UOp, y: UOp) -> tuple[Terms, int] | bool:
    """`x == y` as terms and a bound without common factor, first term positive; or its value."""
    terms, bound = difference(x, y)
    if not terms:
        return bound == 0
    low, high = interval(terms)
    if not low <= bound <= high:
        return False
    if low == high:
        return True
    common = math.gcd(*terms.values())
    if bound % common:
        return False
    if terms[in_order(terms)[0]] < 0:
        common = -common
    return {term: n // common for term, n in terms.items()}, bound // common


@symbolic_rules.rule("x*a + z == y*a + z → x == y", node(Op.CMPEQ, _ix, _iy).of(bool_).as_written())
def _equality(x: UOp, y: UOp) -> UOp:
    decided = _decide_equality(x, y)
    if isinstance(decided, bool):
        return condition(decided)
    return _compare_terms(Op.CMPEQ, *decided)


@symbolic_rules.rule("x*a + z != y*a + z → x != y", node(Op.CMPNE, _ix, _iy).of(bool_).as_written())
def _inequality(x: UOp, y: UOp) -> UOp:
    decided = _decide_equality(x, y)
    if isinstance(decided, bool):
        return condition(not decided)
    return _compare_terms(Op.CMPNE, *decided)


@symbolic_rules.rule("not a → constant", node(Op.NOT, constant("c")).of(bool_))
def _not_constant(c: UOp) -> UOp:
    return condition(not c.arg)


@symbolic_rules.rule("not not x → x", node(Op.NOT, node(Op.NOT, _x)).of(bool_))
def _not_not(x: UOp) -> UOp:
    return x


@symbolic_rules.rule("not x < y → y < x + 1", node(Op.NOT, node(Op.CMPLT, _ix, _iy)).of(bool_))
def _not_less(x: UOp, y: UOp) -> UOp:
    return less(y, add(x, 1))


@symbolic_rules.rule("not x == y → x != y", node(Op.NOT, node(Op.CMPEQ, _ix, _iy)).of(bool_))
def _not_equal(x: UOp, y: UOp) -> UOp:
    return not_equal(x, y)


@symbolic_rules.rule("not x != y → x == y", node(Op.NOT, node(Op.CMPNE, _ix, _iy)).of(bool_))
def _not_not_equal(x: UOp, y: UOp) -> UOp:
    return equal(x, y)


@symbolic_rules.rule(
    "x and y → without what is implied", node(Op.AND, _x, _y).of(bool_).as_written()
)
def _conjunction(x: UOp, y: UOp) -> UOp:
    return _chain(Op.AND, _conjoin([*conjuncts(x), *conjuncts(y)]), True)


@symbolic_rules.rule("x or y → without what implies", node(Op.OR, _x, _y).of(bool_).as_written())
def _disjunction(x: UOp, y: UOp) -> UOp:
    # By De Morgan: the disjunction is the negation of a conjunction, which `_conjoin` shortens.
    negated = [logical_not(part) for part in [*_flatten(Op.OR, x), *_flatten(Op.OR, y)]]
    kept = [logical_not(part) for part in _conjoin(negated)]
    return _chain(Op.OR, kept, False)


def conjuncts(x: UOp) -> list[UOp]:
    """The conditions whose conjunction is `x`."""
    return _flatten(Op.AND, x)


def implies(x: UOp, y: UOp) -> bool:
    """Whether bounds show that condition `y` holds wherever condition `x` does.

    `r0 < r1 + 1` implies `r0 < 64` if r1 is less than 64.
    """
    known = conjuncts(x)
    return all(part in known or any(_follows(part, k) for k in known) for part in conjuncts(y))


def _follows(wanted: UOp, known: UOp) -> bool:
    """Whether the comparison `wanted` holds wherever the comparison `known` does.

    It does if `left - right` of `wanted` is never greater than that of `known`.
    """
    if not all(part.op is Op.CMPLT and part.left.dtype is index for part in (wanted, known)):
        return False
    terms, bound = difference(*[part.left - part.right for part in (wanted, known)])
    return interval(terms)[1] <= bound


def _flatten(op: Op, x: UOp) -> list[UOp]:
    parts: list[UOp] = []
    stack = [x]
    while stack:
        part = stack.pop()
        if part.op is op:
            stack.extend(reversed(part.src))
        else:
            parts.append(part)
    return parts


def _chain(op: Op, parts: Iterable[UOp], identity: bool) -> UOp:
    result: UOp | None = None
    for part in in_order(set(parts)):
        if part.op is Op.CONST:
            if part.arg is not identity:
                return part
        else:
            result = part if result is None else UOp(op, bool_, (result, part))
    return condition(identity) if result is None else result


def _conjoin(parts: list[UOp]) -> list[UOp]:
    """The conditions, with all those on the same terms merged into one interval."""
    groups: dict[frozenset[tuple[UOp, int]], list[UOp]] = {}
    kept: list[UOp] = []
    for part in dict.fromkeys(parts):
        if part.op in (Op.CMPLT, Op.CMPEQ, Op.CMPNE) and part.left.dtype is index:
            terms, _ = difference(*part.src)
            positive = _leading_positive(terms)
            groups.setdefault(frozenset(positive.items()), []).append(part)
        elif part.op is Op.CONST and not part.arg:
            return [part]
        else:
            kept.append(part)
    for key, members in groups.items():
        kept.extend(members if len(members) == 1 else _intersect(dict(key), members))
    if any(part.op is Op.NOT and part.operand in kept for part in kept):
        return [condition(False)]
    return kept


def _leading_positive(terms: Terms) -> Terms:
    if terms and terms[in_order(terms)[0]] < 0:
        return {term: -n for term, n in terms.items()}
    return terms


def _intersect(terms: Terms, members: list[UOp]) -> list[UOp]:
    """The fewest comparisons of `terms` with constants that together mean `members`."""
    least, greatest = interval(terms)
    low, high = least, greatest
    excluded: set[int] = set()
    for member in members:
        own, bound = difference(*member.src)
        flipped = own != terms
        if member.op is Op.CMPNE:
            excluded.add(-bound if flipped else bound)
        elif member.op is Op.CMPEQ:
            value = -bound if flipped else bound
            low, high = max(low, value), min(high, value)
        elif flipped:
            low = max(low, 1 - bound)
        else:
            high = min(high, bound - 1)
    while low in excluded:
        low += 1
    while high in excluded:
        high -= 1
    if low > high:
        return [condition(False)]
    value_node = from_linear(terms)
    if low == high and least < greatest:
        return [equal(value_node, low)]
    kept = [not_equal(value_node, n) for n in excluded if low < n < high]
    if low > least:
        kept.append(less(low - 1, value_node))
    if high < greatest:
        kept.append(less(value_node, high + 1))
    return kept


_CHOICE = (index, bool_)


@symbolic_rules.rule("where(a, x, y) → x or y", node(Op.WHERE, constant("c"), _x, _y).of(*_CHOICE))
def _where_constant(c: UOp, x: UOp, y: UOp) -> UOp:
    return x if c.arg else y


@symbolic_rules.rule("where(c, x, x) → x", node(Op.WHERE, Pattern(), _x, _x).of(*_CHOICE))
def _where_same(x: UOp) -> UOp:
    return x


@symbolic_rules.rule("where(c, true, y) → c or y, and such", node(Op.WHERE, _c, _x, _y).of(bool_))
def _where_logical(c: UOp, x: UOp, y: UOp) -> UOp | None:
    if x.op is Op.CONST:
        return (c | y) if x.arg else (logical_not(c) & y)
    if y.op is Op.CONST:
        return (logical_not(c) | x) if y.arg else (c & x)
    return None


@symbolic_rules.rule(
    "where(not c, x, y) → where(c, y, x)",
    node(Op.WHERE, node(Op.NOT, _c), _x, _y).of(*_CHOICE),
)
def _where_not(c: UOp, x: UOp, y: UOp) -> UOp:
    return where(c, y, x)


@symbolic_rules.rule(
    "where(c, where(c, x, _), y) → where(c, x, y)",
    node(Op.WHERE, _c, node(Op.WHERE, _c, _x, Pattern()), _y).of(*_CHOICE),
)
def _where_inner_true(c: UOp, x: UOp, y: UOp) -> UOp:
    return where(c, x, y)


@symbolic_rules.rule(
    "where(c, x, where(c, _, y)) → where(c, x, y)",
    node(Op.WHERE, _c, _x, node(Op.WHERE, _c, Pattern(), _y)).of(*_CHOICE),
)
def _where_inner_false(c: UOp, x: UOp, y: UOp) -> UOp:
    return where(c, x, y)
