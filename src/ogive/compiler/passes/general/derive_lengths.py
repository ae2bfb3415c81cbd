"""Lengths that vary as expressions of others: n, 64·n, n − 1, (n + 1) // 2, 2·(n // 2), n·m.

They are found by trying, from what a length is in a few graphs (its *series*). Nothing follows from
that alone: `prove_general` proves that they fit together, and `General.match` compares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ogive.compiler.ir.shape import Dim, as_length

MOST_PARTS = 8
"""The greatest divisor that is tried in expressions like (n + 1) // 2."""

MOST_PARTS_OF_TWO = 4
"""The same where only two lengths are known: some part of one is the other by chance."""

MOST_BESIDE = 64
"""How many elements are added to a length or taken from it at most, if that is what is meant."""

Series = tuple[int, ...]
"""A number's values, one for each of some graphs."""

Lengths = Mapping[Series, Dim]
"""The expressions of lengths that are known, by series."""


KNOWN, PLAIN, ODD = range(3)
"""How an expression is found: as one that is known, by a plain relation, or by any."""


def derive(series: Series, near: Lengths, known: Lengths, how: int) -> Dim | None:
    """A series as an expression of one or two lengths: those that are `near`, the operand's, before
    others that are known. A padded line follows from the line, a window from the padded line, and
    none of them from the image three layers before.

    >>> from ogive.compiler.ir.symbolic.variable import Variable
    >>> n, m = Variable("n", 2, 99).node, Variable("m", 2, 99).node
    >>> derive((66, 94), {(67, 94): m}, {}, PLAIN)
    (m // 2)*2
    >>> derive((24, 90), {(1, 3): n, (8, 10): m}, {}, PLAIN)
    m*n*3
    """
    for lengths in (near, known):
        if series in lengths:
            return lengths[series]
    for lengths in (near, known) if how >= PLAIN else ():
        expression = relate(series, lengths) or multiple_of(series, lengths)
        if expression is not None:
            return expression
    if how < ODD:
        return None
    return _by_relation(series, near)[1] or _by_relation(series, known)[1]


def relate(series: Series, known: Lengths) -> Dim | None:
    """A series as an expression of one length, if there is one that is not odd."""
    is_odd, expression = _by_relation(series, known)
    return None if is_odd else expression


def multiple_of(series: Series, known: Lengths) -> Dim | None:
    """A series as a multiple of a length, or of the product of two."""
    listed = list(known.items())
    for values, one in listed:
        factor = _multiple(series, values)
        if factor is not None:
            return as_length(one * factor)
    for place, (first, one) in enumerate(listed):
        for second, other in listed[place:]:
            values = _product(first, second)
            factor = _multiple(series, values)
            if factor is not None:
                return as_length(one * other * factor)
    return None


def merged(series: Series, shape: Sequence[Dim], lengths: Sequence[Series]) -> Dim | None:
    """A series as the number of elements along some axes that follow each other.

    >>> from ogive.compiler.ir.symbolic.variable import Variable
    >>> n = Variable("n", 2, 99).node
    >>> merged((60, 84), (2, n, 12, n), ((2, 2), (5, 7), (12, 12), (5, 7)))
    n*12
    """
    for first in range(len(shape)):
        product: Dim = 1
        values: Series = (1,) * len(series)
        for length, each in zip(shape[first:], lengths[first:], strict=True):
            product = product * length
            values = _product(values, each)
            if values == series:
                return as_length(product)
    return None


def split(
    series: Series, part_lengths: Sequence[Series], shape: Sequence[Dim], lengths: Sequence[Series]
) -> Dim | None:
    """A series as one of the lengths into which an axis is split, the others of which are fixed.

    >>> from ogive.compiler.ir.symbolic.variable import Variable
    >>> n = Variable("n", 2, 99).node
    >>> split((11, 16), ((8, 13), (11, 16), (2, 2)), (7, n * 2), ((8, 13), (22, 32)))
    n
    """
    place = part_lengths.index(series)
    for axes, parts in _groups(lengths, part_lengths):
        others = [part_lengths[part] for part in parts if part != place]
        if place in parts and all(len(set(other)) == 1 for other in others):
            whole = math.prod([shape[axis] for axis in axes])
            parts_beside = math.prod([other[0] for other in others])
            return as_length(whole // parts_beside)
    return None


def _groups(
    lengths: Sequence[Series], part_lengths: Sequence[Series]
) -> Iterator[tuple[list[int], list[int]]]:
    """The axes that become others together when a value is reshaped, the fewest at a time."""
    axis = part = 0
    while axis < len(lengths) and part < len(part_lengths):
        axes, parts = [axis], [part]
        before, after = lengths[axis], part_lengths[part]
        while before != after:
            if before[0] < after[0] and axes[-1] + 1 < len(lengths):
                axes.append(axes[-1] + 1)
                before = _product(before, lengths[axes[-1]])
            elif parts[-1] + 1 < len(part_lengths):
                parts.append(parts[-1] + 1)
                after = _product(after, part_lengths[parts[-1]])
            else:
                return
        yield axes, parts
        axis, part = axes[-1] + 1, parts[-1] + 1


def _product(one: Series, other: Series) -> Series:
    return tuple([a * b for a, b in zip(one, other, strict=True)])


def _by_relation(series: Series, lengths: Lengths) -> tuple[bool, Dim | None]:
    """The plainest expression of one length, and whether it is odd even so."""
    relations = [
        (_oddity(*relation), relation, base)
        for values, base in lengths.items()
        for relation in _relations(series, values)
    ]
    if not relations:
        return True, None
    (is_odd, *_), (factor, shift, divisor, offset), base = min(relations, key=lambda each: each[0])
    return is_odd, as_length((base + shift) // divisor * factor + offset)


def _multiple(series: Series, values: Series) -> int | None:
    """How many times `values` a series is."""
    factor, rest = divmod(series[0], values[0] or 1)
    is_multiple = not rest and factor and series == tuple([factor * value for value in values])
    return factor if is_multiple else None


def _relations(series: Series, values: Series) -> Iterator[tuple[int, int, int, int]]:
    """The ways from `values` to a series: factor, shift, divisor and offset."""
    most = MOST_PARTS if len(set(values)) > 2 else MOST_PARTS_OF_TWO
    for divisor in range(1, most + 1):
        for shift in range(divisor):
            line = _affine(series, tuple([(value + shift) // divisor for value in values]))
            if line is not None:
                yield line[0], shift, divisor, line[1]


def _oddity(factor: int, shift: int, divisor: int, offset: int) -> tuple[bool, int, int, int, int]:
    """A key that sorts seldom meant expressions last. Often meant are multiples, a few elements
    more or less, and parts of a length: one of them, or as many as it has, as rows in pairs are."""
    is_moved = factor == divisor == 1 and abs(offset) <= MOST_BESIDE
    is_part = factor in (1, divisor) and offset == 0
    is_plain = is_moved or is_part or (divisor == 1 and offset == 0)
    return not is_plain, divisor, abs(offset), factor, shift


def _affine(series: Series, values: Series) -> tuple[int, int] | None:
    """The factor and offset that lead from `values` to `series`, if there are some."""
    low, high = min(values), max(values)
    first, last = series[values.index(low)], series[values.index(high)]
    if high == low or (last - first) % (high - low):
        return None
    factor = (last - first) // (high - low)
    offset = first - factor * low
    fits = series == tuple([factor * value + offset for value in values])
    return (factor, offset) if fits and factor > 0 else None
