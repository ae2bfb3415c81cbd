"""Numbers that vary as expressions of others: n, 64·n, n − 1, (n + 1) // 2, n·m.

They are found by trying, from a few instances of each; whoever uses them compares.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir.node import UOp
from ogive.ir.shape import Dim, as_length
from ogive.named import NamedTuple

MOST_PARTS = 8
"""The greatest divisor that is tried in expressions like (n + 1) // 2."""


class Expression(NamedTuple):
    """factor · (product of variables + shift) // divisor + offset."""

    variables: tuple[int, ...]
    factor: int = 1
    shift: int = 0
    divisor: int = 1
    offset: int = 0

    def at(self, values: Sequence[int]) -> int:
        """Its value, given those of all variables."""
        product = 1
        for number in self.variables:
            product *= values[number]
        return self.factor * ((product + self.shift) // self.divisor) + self.offset

    def over(self, variables: Sequence[UOp]) -> Dim:
        """The expression as an index node."""
        product: Dim = 1
        for number in self.variables:
            product = variables[number] * product
        return as_length((product + self.shift) // self.divisor * self.factor + self.offset)


def express(series: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> Expression | None:
    """A series of numbers as an expression of other series, plain ones first.

    >>> express((10, 16), [(5, 8)])
    Expression(variables=(0,), factor=2, shift=0, divisor=1, offset=0)
    >>> express((3, 4), [(5, 8)])
    Expression(variables=(0,), factor=1, shift=1, divisor=2, offset=0)
    """
    single = [((number,), values) for number, values in enumerate(known)]
    pairs = [
        ((one, other), tuple([a * b for a, b in zip(known[one], known[other], strict=True)]))
        for one in range(len(known))
        for other in range(one, len(known))
    ]
    for variables, values in (*single, *pairs):
        factor, rest = divmod(series[0], values[0] or 1)
        if not rest and factor and series == tuple([factor * value for value in values]):
            return Expression(variables, factor)
    candidates: list[Expression] = []
    for variables, values in single:
        for divisor in range(2, MOST_PARTS + 1):
            for shift in range(divisor):
                parts = [(value + shift) // divisor for value in values]
                offset = series[0] - parts[0]
                if series == tuple([part + offset for part in parts]):
                    candidates.append(Expression(variables, 1, shift, divisor, offset))
    for variables, values in single:
        found = _affine(series, values)
        if found is not None:
            candidates.append(Expression(variables, found[0], 0, 1, found[1]))
    return min(candidates, key=lambda each: (abs(each.offset), each.divisor), default=None)


def _affine(series: tuple[int, ...], values: tuple[int, ...]) -> tuple[int, int] | None:
    """The factor and offset that lead from `values` to `series`, if there are some."""
    low, high = min(values), max(values)
    first, last = series[values.index(low)], series[values.index(high)]
    if high == low or (last - first) % (high - low):
        return None
    factor = (last - first) // (high - low)
    offset = first - factor * low
    fits = series == tuple([factor * value + offset for value in values])
    return (factor, offset) if fits and factor > 0 else None
