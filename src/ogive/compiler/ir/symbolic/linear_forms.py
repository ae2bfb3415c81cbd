"""Index expressions as linear forms, and the one rule set that simplifies them.

A *linear form* is a mapping from terms to integer coefficients, and a constant. As a node it is a
flat, left-leaning chain of additions with the constant last. Its terms are in an order that depends
on structure alone, each `MUL(term, CONST)` unless its coefficient is 1.

`add`, `floordiv`, `less` and the others build nodes that are simplified already, by applying
`symbolic_rules`. The rules are in `index_arithmetic.py` (sums and products), `divmod.py` (division)
and `conditions.py`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

from ogive.compiler.ir.dtype import bool_, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import RuleSet
from ogive.errors import ArgumentTypeError

Terms = dict[UOp, int]

symbolic_rules = RuleSet("symbolic")


def integer(value: UOp | int) -> UOp:
    """`value` as an index node. Raises `ArgumentTypeError` unless it is a node or an integer."""
    if isinstance(value, UOp):
        return value
    return _constant(value if value.__class__ is int else _whole(value))


def _whole(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"a symbolic length is combined with integers, not with a {type(value).__name__}; "
            "with a tensor, write the tensor first"
        ) from None


@functools.lru_cache(maxsize=4096)
def _constant(value: int) -> UOp:
    return UOp(Op.CONST, index, (), value)


def condition(value: UOp | bool) -> UOp:
    """`value` as a bool node."""
    return value if isinstance(value, UOp) else UOp(Op.CONST, bool_, (), value)


def add(x: UOp | int, y: UOp | int) -> UOp:
    """`x + y`."""
    return symbolic_rules.build(Op.ADD, index, (integer(x), integer(y)))


def subtract(x: UOp | int, y: UOp | int) -> UOp:
    """`x - y`."""
    return symbolic_rules.build(Op.SUB, index, (integer(x), integer(y)))


def multiply(x: UOp | int, y: UOp | int) -> UOp:
    """`x * y`."""
    return symbolic_rules.build(Op.MUL, index, (integer(x), integer(y)))


def negate(x: UOp | int) -> UOp:
    """`-x`."""
    return symbolic_rules.build(Op.NEG, index, (integer(x),))


def floordiv(x: UOp | int, y: UOp | int) -> UOp:
    """`x // y`, rounded down; `y` is not zero."""
    return symbolic_rules.build(Op.FLOORDIV, index, (integer(x), integer(y)))


def modulo(x: UOp | int, y: UOp | int) -> UOp:
    """`x % y`, with the sign of `y`; `y` is not zero."""
    return symbolic_rules.build(Op.MOD, index, (integer(x), integer(y)))


def maximum(x: UOp | int, y: UOp | int) -> UOp:
    """The greater of `x` and `y`."""
    return symbolic_rules.build(Op.MAXIMUM, index, (integer(x), integer(y)))


def minimum(x: UOp | int, y: UOp | int) -> UOp:
    """The lesser of `x` and `y`."""
    return symbolic_rules.build(Op.MINIMUM, index, (integer(x), integer(y)))


def less(x: UOp | int, y: UOp | int) -> UOp:
    """`x < y`, a condition."""
    return symbolic_rules.build(Op.CMPLT, bool_, (integer(x), integer(y)))


def less_equal(x: UOp | int, y: UOp | int) -> UOp:
    """`x <= y`, a condition."""
    return symbolic_rules.build(Op.CMPLE, bool_, (integer(x), integer(y)))


def equal(x: UOp | int, y: UOp | int) -> UOp:
    """`x == y`, a condition."""
    return symbolic_rules.build(Op.CMPEQ, bool_, (integer(x), integer(y)))


def not_equal(x: UOp | int, y: UOp | int) -> UOp:
    """`x != y`, a condition."""
    return symbolic_rules.build(Op.CMPNE, bool_, (integer(x), integer(y)))


def logical_and(x: UOp | bool, y: UOp | bool) -> UOp:
    """`x and y`, two conditions."""
    return symbolic_rules.build(Op.AND, bool_, (condition(x), condition(y)))


def logical_or(x: UOp | bool, y: UOp | bool) -> UOp:
    """`x or y`, two conditions."""
    return symbolic_rules.build(Op.OR, bool_, (condition(x), condition(y)))


def logical_not(x: UOp | bool) -> UOp:
    """`not x`, a condition."""
    return symbolic_rules.build(Op.NOT, bool_, (condition(x),))


def where(test: UOp | bool, x: UOp | int, y: UOp | int) -> UOp:
    """`x` where `test` holds, else `y`; both are index expressions, or both conditions."""
    if isinstance(test, bool):
        return integer(x if test else y)
    chosen, other = integer(x), integer(y)
    return symbolic_rules.build(Op.WHERE, chosen.dtype, (test, chosen, other))


_SPINE = frozenset({
    Op.ADD, Op.MUL, Op.FLOORDIV, Op.MOD, Op.MAXIMUM, Op.MINIMUM, Op.CMPLT, Op.CMPEQ, Op.CMPNE,
    Op.WHERE, Op.NOT, Op.AND, Op.OR,
})  # fmt: skip
_SPINE_DEPTH = 6
"""How many operations above the first leaf take part in a term's key, which must stay short."""


def order_key(node: UOp) -> tuple[Any, ...]:
    """A key that sorts terms by their first range or variable, then by the operations on it."""
    try:
        return node._order
    except AttributeError:
        pass
    done: list[int] = []
    leaf = node
    while leaf.op in _SPINE and len(done) < 2 * _SPINE_DEPTH:
        first, last = leaf.src[0], leaf.src[-1]
        done.append(leaf.op.value)
        if first.op is Op.CONST:
            first, last = last, first
        done.append(last.arg if last.op is Op.CONST else 0)
        leaf = first
    if leaf.op is Op.RANGE:
        head: tuple[int, int | str] = (0, leaf.number)
    elif leaf.op is Op.VARIABLE:
        head = (1, leaf.name)
    elif leaf.op is Op.BIND:  # sorts as its variable does, whatever its value
        head = (1, leaf.variable.name)
    else:
        head = (2, leaf.op.value)
    node._order = key = (*head, *reversed(done))
    return key


def in_order(nodes: Iterable[UOp]) -> list[UOp]:
    """`nodes` sorted by structure. The content key, which is slow to compute, breaks ties only."""
    listed = list(nodes)
    last: tuple[Any, ...] = (-1,)
    for node in listed:
        key = order_key(node)
        if key <= last:
            break
        last = key
    else:
        return listed
    listed.sort(key=order_key)
    for i in range(len(listed) - 1):
        if listed[i]._order == listed[i + 1]._order:
            listed.sort(key=_full_key)
            break
    return listed


def _full_key(node: UOp) -> tuple[tuple[Any, ...], bytes]:
    return order_key(node), node.content_key


def linear_form(node: UOp) -> tuple[Terms, int]:
    """The linear form of an index expression: `i*4 + j + 3` gives `({i: 4, j: 1}, 3)`.

    The mapping is shared: do not change it.
    """
    op = node.op
    if op is Op.CONST:
        return {}, node.arg
    if op is not Op.ADD and op is not Op.MUL:
        return {node: 1}, 0
    try:
        return node._linear or ({node: 1}, 0)
    except AttributeError:
        pass
    terms: Terms = {}
    constant = 0
    stack = [(node, 1)]
    while stack:
        part, factor = stack.pop()
        if part.op is Op.ADD:
            stack.append((part.right, factor))
            stack.append((part.left, factor))
        elif part.op is Op.CONST:
            constant += factor * part.arg
        elif part.op is Op.MUL and part.right.op is Op.CONST:
            stack.append((part.left, factor * part.right.literal))
        elif part.op is Op.MUL and part.left.op is Op.CONST:
            stack.append((part.right, factor * part.left.literal))
        else:
            terms[part] = terms.get(part, 0) + factor
    if 0 in terms.values():
        terms = {term: coefficient for term, coefficient in terms.items() if coefficient}
    # None stands for a node that is its own only term: one that held itself would never be freed.
    node._linear = None if node in terms else (terms, constant)
    return terms, constant


def from_linear(terms: Terms, constant: int = 0) -> UOp:
    """The node for a linear form. No term is a sum or has a constant factor.

    The node keeps the mapping: do not change it afterwards.
    """
    if 0 in terms.values():
        terms = {term: coefficient for term, coefficient in terms.items() if coefficient}
    if not terms:
        return _constant(constant)
    node: UOp | None = None
    for term in in_order(terms) if len(terms) > 1 else terms:
        coefficient = terms[term]
        if coefficient != 1:
            term = UOp(Op.MUL, index, (term, _constant(coefficient)))
        node = term if node is None else UOp(Op.ADD, index, (node, term))
    assert node is not None
    if constant:
        node = UOp(Op.ADD, index, (node, _constant(constant)))
    if node not in terms:
        node._linear = (terms, constant)
    return node


def add_scaled(terms: Terms, node: UOp, factor: int) -> int:
    """Add the terms of `node * factor` to `terms` in place, and give its constant."""
    parts, constant = linear_form(node)
    for term, coefficient in parts.items():
        total = terms.get(term, 0) + coefficient * factor
        if total:
            terms[term] = total
        else:
            terms.pop(term, None)
    return constant * factor


def interval(terms: Terms) -> tuple[int, int]:
    """The least and the greatest value of the sum of `terms`.

    A range and its own symbolic extent count together: `i - N` is below 0 for `i` in `0..N`. So do
    all multiples of a variable, by constants and by ranges: `i*N - 3*N` is below 0 for `i` in
    `0..3`.
    """
    if any(term.op is Op.MUL and _multiplied(term) is not None for term in terms):
        return _interval(_at_ends(terms, 0))[0], _interval(_at_ends(terms, 1))[1]
    return _interval(terms)


def _at_ends(terms: Terms, end: int) -> Terms:
    """The terms, with each range that multiplies a variable at one end of its own interval.

    It is the end at which the sum is least if `end` is 0, and greatest if it is 1.
    """
    at_ends: Terms = {}
    for term, coefficient in terms.items():
        parts = _multiplied(term) if term.op is Op.MUL else None
        if parts is None:
            at_ends[term] = at_ends.get(term, 0) + coefficient
        else:
            counter, variable = parts
            times = int(counter.bounds[end if coefficient > 0 else 1 - end])
            at_ends[variable] = at_ends.get(variable, 0) + coefficient * times
    return {term: coefficient for term, coefficient in at_ends.items() if coefficient}


def _multiplied(product: UOp) -> tuple[UOp, UOp] | None:
    """The range and the variable of a product, if the extent is fixed and the variable ≥ 0."""
    left, right = product.src
    if left.op is not Op.RANGE:
        left, right = right, left
    is_fixed = left.op is Op.RANGE and left.extent.op is Op.CONST
    is_length = right.op is Op.VARIABLE and right.bounds[0] >= 0
    return (left, right) if is_fixed and is_length else None


def _interval(terms: Terms) -> tuple[int, int]:
    low = high = 0
    paired: Terms | None = None
    for term, coefficient in terms.items():
        if term.op is Op.RANGE and term.extent.op is not Op.CONST:
            extent, constant = linear_form(term.extent)
            rest = dict(terms) if paired is None else paired
            if term in rest and all(
                rest.get(part, 0) == -coefficient * n for part, n in extent.items()
            ):
                for part in (term, *extent):
                    rest.pop(part)
                greatest = int(term.extent.bounds[1])
                near, far = -coefficient * (1 - constant), -coefficient * (greatest - constant)
                low += min(near, far)
                high += max(near, far)
                paired = rest
    for term, coefficient in (terms if paired is None else paired).items():
        least, most = term.bounds
        if coefficient > 0:
            low += coefficient * int(least)
            high += coefficient * int(most)
        else:
            low += coefficient * int(most)
            high += coefficient * int(least)
    return low, high
