"""Simplification of index expressions: one set of rules, used in two ways.

`add`, `floordiv`, `less` and the others, which the operators of index nodes call, build nodes that
are simplified already. `simplify` brings any other expression, such as one made by substitution,
to the same form. Both apply `symbolic_rules`.

    >>> from ogive.compiler.ir.node import UOp
    >>> from ogive.compiler.ir.ops import Op
    >>> i, j = (UOp(Op.RANGE, index, (integer(n),), (k, None)) for k, n in enumerate((4, 8)))
    >>> (i * 8 + j) // 8 is i and (i * 8 + j) % 8 is j
    True
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.dtype import index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import anything, node
from ogive.compiler.ir.symbolic.conditions import conjuncts
from ogive.compiler.ir.symbolic.divmod import join
from ogive.compiler.ir.symbolic.linear_forms import (
    Terms,
    add,
    add_scaled,
    condition,
    equal,
    floordiv,
    from_linear,
    in_order,
    integer,
    interval,
    less,
    less_equal,
    linear_form,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    modulo,
    multiply,
    negate,
    not_equal,
    subtract,
    symbolic_rules,
    where,
)  # fmt: skip

__all__ = [
    "add", "condition", "conjuncts", "dot", "equal", "floordiv", "from_linear", "integer", "less",
    "less_equal", "linear_form", "logical_and", "logical_not", "logical_or", "maximum", "minimum",
    "modulo", "multiply", "negate", "not_equal", "simplify", "subtract", "symbolic_rules", "where",
]  # fmt: skip

_MAX_PRODUCTS = 32
"""The greatest number of terms to which a product of sums is multiplied out."""

_x, _y = anything("x"), anything("y")


@symbolic_rules.rule(
    "y + x + y → x + y*2, (x//a)*a + x%a → x", node(Op.ADD, _x, _y).of(index).as_written()
)
def _sum(x: UOp, y: UOp) -> UOp:
    terms, offset = linear_form(x)
    terms = dict(terms)
    return join(terms, offset + add_scaled(terms, y, 1))


@symbolic_rules.rule("x - y → x + y*-1", node(Op.SUB, _x, _y).of(index))
def _difference(x: UOp, y: UOp) -> UOp:
    return add(x, negate(y))


@symbolic_rules.rule("-x → x*-1", node(Op.NEG, _x).of(index))
def _negation(x: UOp) -> UOp:
    return multiply(x, -1)


@symbolic_rules.rule("(x + y) * z → x*z + y*z", node(Op.MUL, _x, _y).of(index).as_written())
def _product(x: UOp, y: UOp) -> UOp | None:
    left, a = linear_form(x)
    right, b = linear_form(y)
    if not left:
        left, a, right, b = right, b, left, a
    if not right:
        return from_linear({term: n * b for term, n in left.items()} if b else {}, a * b)
    if len(left) * len(right) > _MAX_PRODUCTS:
        return None
    terms: Terms = {}
    for term, n in left.items():
        terms[term] = n * b
    for other, m in right.items():
        terms[other] = terms.get(other, 0) + m * a
        for term, n in left.items():
            product = _multiply_terms(term, other)
            terms[product] = terms.get(product, 0) + n * m
    return from_linear(terms, a * b)


def _multiply_terms(x: UOp, y: UOp) -> UOp:
    """The product of two terms: a chain of all their factors, sorted."""
    factors: list[UOp] = []
    for term in (x, y):
        while term.op is Op.MUL:
            factors.append(term.right)
            term = term.left
        factors.append(term)
    first, *others = in_order(factors)
    for factor in others:
        first = UOp(Op.MUL, index, (first, factor))
    return first


def _choose_extreme(op: Op, x: UOp, y: UOp) -> UOp:
    terms, offset = linear_form(x)
    terms = dict(terms)
    offset += add_scaled(terms, y, -1)
    low, high = interval(terms)
    if low + offset >= 0:
        return x if op is Op.MAXIMUM else y
    if high + offset <= 0:
        return y if op is Op.MAXIMUM else x
    return UOp(op, index, tuple(in_order((x, y))))


@symbolic_rules.rule("max(x, y) → x, where y ≤ x", node(Op.MAXIMUM, _x, _y).of(index).as_written())
def _maximum(x: UOp, y: UOp) -> UOp:
    return _choose_extreme(Op.MAXIMUM, x, y)


@symbolic_rules.rule("min(x, y) → x, where x ≤ y", node(Op.MINIMUM, _x, _y).of(index).as_written())
def _minimum(x: UOp, y: UOp) -> UOp:
    return _choose_extreme(Op.MINIMUM, x, y)


@symbolic_rules.rule("cast x → x", node(Op.CAST, _x.of(index)).of(index))
def _same_cast(x: UOp) -> UOp:
    return x


def dot(indices: Sequence[UOp], strides: Sequence[UOp | int], offset: UOp | int = 0) -> UOp:
    """`offset` plus the sum of each index times its stride, built at once."""
    terms: Terms = {}
    constant = add_scaled(terms, integer(offset), 1)
    for position, stride in zip(indices, strides, strict=True):
        if isinstance(stride, int):
            constant += add_scaled(terms, position, stride)
        else:
            constant += add_scaled(terms, multiply(position, stride), 1)
    return join(terms, constant)


def simplify(root: UOp) -> UOp:
    """`root` with every index expression and condition in it simplified.

    One pass, sources first, through the constructors. Each node keeps its result, so that later
    calls do not simplify unchanged parts again.
    """
    done: dict[UOp, UOp] = {}
    for current in root.walk():
        known = getattr(current, "_simplified", current)
        if known is not current:
            done[current] = current if known is None else known
            continue
        sources = tuple([done[source] for source in current.src])
        if current.op in _SIMPLIFIED and current.tag is None:
            result = symbolic_rules.build(current.op, current.dtype, sources)
        else:
            result = current if sources == current.src else current.replace(src=sources)
        # None stands for the node itself: a node that held itself would never be freed.
        current._simplified = None if result is current else result
        result._simplified = None
        done[current] = result
    return done[root]


_SIMPLIFIED = frozenset([op for rule in symbolic_rules.rules for op in rule.pattern.ops or ()])
