"""Facts about symbolic lengths and positions.

A check must hold for all values of the variables, since the compiled code serves all of them:

    8 rows, n in 1..8     x[:n], x[n - 1]     always inside
    8 rows, n in 1..9     x[n - 1]            refused: n could be 9
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length, element_count, greatest, least
from ogive.compiler.ir.symbolic import index_arithmetic
from ogive.compiler.ir.symbolic.divmod import divide_product
from ogive.compiler.ir.symbolic.variable import bindings


def is_symbolic(*sizes: Dim) -> bool:
    """Whether any of the lengths depends on a variable."""
    return UOp in [size.__class__ for size in sizes]


def at_most(low: Dim, high: Dim) -> bool:
    """Whether `low <= high` for every value of the variables."""
    if not is_symbolic(low, high):
        return bool(low <= high)
    return bool(index_arithmetic.less_equal(low, high).bounds[0])


def smaller(one: Dim, other: Dim) -> Dim:
    """The lesser of two lengths."""
    if not is_symbolic(one, other):
        return min(one, other)
    return as_length(index_arithmetic.minimum(one, other))


def larger(one: Dim, other: Dim) -> Dim:
    """The greater of two lengths."""
    if not is_symbolic(one, other):
        return max(one, other)
    return as_length(index_arithmetic.maximum(one, other))


def span(size: Dim) -> str:
    """` (between 1 and 8)` for a symbolic length, nothing for a known one."""
    return f" (between {least(size)} and {greatest(size)})" if is_symbolic(size) else ""


def difference(ones: Sequence[Dim], others: Sequence[Dim]) -> str:
    """The hint in an error about lengths that should be equal but are not known to be.

    Raises `VariableError` if the reason is a variable with two values.
    """
    if not is_symbolic(*ones, *others):
        return ""
    bindings((*ones, *others))
    for one, other in zip(reversed(ones), reversed(others), strict=False):
        if is_symbolic(one, other) and 1 not in (one, other) and one is not other:
            if greatest(one) < least(other) or greatest(other) < least(one):
                return f"; {one} and {other} are never equal"
            return f"; {one} and {other} are not equal for every value of their variables"
    return ""


def quotient(own: Shape, known: Sequence[Dim]) -> Dim | None:
    """The length whose product with the `known` ones is the size of `own`, or None.

    It is found by cancelling factors, so that it is right for lengths of 0, too.
    """
    if not is_symbolic(*own, *known):
        total, part = math.prod(own), math.prod(known)
        return total // part if part and total % part == 0 else None
    left, right = list(own), []
    for size in known:
        if is_symbolic(size) and size in left:
            left.remove(size)
        else:
            right.append(size)
    terms, constant = index_arithmetic.linear_form(index_arithmetic.integer(element_count(left)))
    factors, offset = index_arithmetic.linear_form(index_arithmetic.integer(element_count(right)))
    if len(factors) + (offset != 0) != 1:
        return None
    product, number = next(iter(factors.items()), (None, offset))
    for symbol in () if product is None else _symbols(product):
        if constant:
            return None
        quotients: Dim = 0
        for term, count in terms.items():
            rest = divide_product(term, symbol)
            if rest is None:
                return None
            quotients = quotients + rest * count
        terms, constant = index_arithmetic.linear_form(index_arithmetic.integer(quotients))
    if constant % number or any(count % number for count in terms.values()):
        return None
    parts = {term: count // number for term, count in terms.items()}
    return as_length(index_arithmetic.from_linear(parts, constant // number))


def _symbols(product: UOp) -> list[UOp]:
    """The symbolic factors of a product."""
    symbols = []
    while product.op is Op.MUL:
        product, factor = product.src
        symbols.append(factor)
    return [*symbols, product]
