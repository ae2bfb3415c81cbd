"""Numbers that vary as expressions of others: n, 64·n, n − 1, (n + 1) // 2, 2·(n // 2), n·m.

They are found by trying, from a few instances of each; whoever uses them compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ogive.ir.node import UOp
from ogive.ir.shape import Dim, as_length
from ogive.named import NamedTuple

MOST_PARTS = 8
"""The greatest divisor that is tried in expressions like (n + 1) // 2."""

MOST_BESIDE = 64
"""How many elements are added to a length or taken from it at most, if that is what is meant."""


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


class Derived(NamedTuple):
    """factor · (length + shift) // divisor + offset, of a length that is an expression itself."""

    base: Length
    factor: int = 1
    shift: int = 0
    divisor: int = 1
    offset: int = 0

    def at(self, values: Sequence[int]) -> int:
        """Its value, given those of all variables."""
        return self.factor * ((self.base.at(values) + self.shift) // self.divisor) + self.offset

    def over(self, variables: Sequence[UOp]) -> Dim:
        """The expression as an index node."""
        base = self.base.over(variables)
        return as_length((base + self.shift) // self.divisor * self.factor + self.offset)


class Product(NamedTuple):
    """factor · one · other: the elements of an image of n rows and n + 7 columns."""

    one: Length
    other: Length
    factor: int

    def at(self, values: Sequence[int]) -> int:
        """Its value, given those of all variables."""
        return self.factor * self.one.at(values) * self.other.at(values)

    def over(self, variables: Sequence[UOp]) -> Dim:
        """The product as an index node."""
        return as_length(self.one.over(variables) * self.other.over(variables) * self.factor)


Length = Expression | Derived | Product


def derive(
    series: tuple[int, ...],
    near: Mapping[tuple[int, ...], Length],
    known: Mapping[tuple[int, ...], Length],
) -> Length | None:
    """A series of numbers as an expression of one or two lengths, by series: those that are `near`,
    the operand's, before others that are known. A padded line follows from the line, a window from
    the padded line, and none of them from the image three layers before.

    >>> n, m = Expression((0,)), Expression((0,), offset=7)
    >>> derive((66, 94), {(67, 94): m}, {}) == Derived(m, 2, 0, 2)
    True
    >>> derive((24, 90), {(1, 3): n, (8, 10): m}, {}) == Product(n, m, 3)
    True
    """
    for lengths in (near, known):
        if series in lengths:
            return lengths[series]
    for lengths in (near, known):
        found = [
            (_oddity(*relation), Derived(base, *relation))
            for values, base in lengths.items()
            for relation in _relations(series, values)
        ]
        (is_odd, *_), best = min(found, key=lambda pair: pair[0], default=((True,), None))
        made = best if not is_odd else _multiply(series, lengths) or best
        if made is not None:
            return made
    return None


def _multiply(
    series: tuple[int, ...], known: Mapping[tuple[int, ...], Length]
) -> Product | None:
    """A series of numbers as a multiple of the product of two others."""
    listed = list(known.items())
    for place, (first, one) in enumerate(listed):
        for second, other in listed[place:]:
            values = tuple([a * b for a, b in zip(first, second, strict=True)])
            factor = _multiple(series, values)
            if factor is not None:
                return Product(one, other, factor)
    return None


def express(series: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> Expression | None:
    """A series of numbers as an expression of other series, plain ones first.

    >>> express((10, 16), [(5, 8)])
    Expression(variables=(0,), factor=2, shift=0, divisor=1, offset=0)
    >>> express((3, 4), [(5, 8)])
    Expression(variables=(0,), factor=1, shift=1, divisor=2, offset=0)
    >>> express((60, 86), [(60, 87)])
    Expression(variables=(0,), factor=2, shift=0, divisor=2, offset=0)
    """
    single = [((number,), values) for number, values in enumerate(known)]
    pairs = [
        ((one, other), tuple([a * b for a, b in zip(known[one], known[other], strict=True)]))
        for one in range(len(known))
        for other in range(one, len(known))
    ]
    for variables, values in (*single, *pairs):
        factor = _multiple(series, values)
        if factor is not None:
            return Expression(variables, factor)
    candidates = [
        (_oddity(*relation), Expression(variables, *relation))
        for variables, values in single
        for relation in _relations(series, values)
    ]
    # Two inputs that happen to be alike are better kept apart: what is odd is none of their own.
    plain = [pair for pair in candidates if not pair[0][0]]
    return min(plain, key=lambda pair: pair[0], default=((), None))[1]


def _multiple(series: tuple[int, ...], values: tuple[int, ...]) -> int | None:
    """How many times `values` a series is."""
    factor, rest = divmod(series[0], values[0] or 1)
    is_multiple = not rest and factor and series == tuple([factor * value for value in values])
    return factor if is_multiple else None


def _relations(
    series: tuple[int, ...], values: tuple[int, ...]
) -> Iterator[tuple[int, int, int, int]]:
    """What leads from `values` to a series: factor, shift, divisor and offset."""
    for divisor in range(1, MOST_PARTS + 1):
        for shift in range(divisor):
            found = _affine(series, tuple([(value + shift) // divisor for value in values]))
            if found is not None:
                yield found[0], shift, divisor, found[1]


def _oddity(factor: int, shift: int, divisor: int, offset: int) -> tuple[bool, int, int, int, int]:
    """What is seldom meant comes last: multiples, a few elements more or less, parts of a length,
    which are taken once, or as often as the length has parts, as rows in pairs are."""
    is_moved = factor == divisor == 1 and abs(offset) <= MOST_BESIDE
    is_part = factor in (1, divisor) and offset == 0
    is_plain = is_moved or is_part or (divisor == 1 and offset == 0)
    return not is_plain, divisor, abs(offset), factor, shift


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
