"""Small sets of numbers as the bits of an integer: axes of a value, loops of a kernel.

    {0, 2}      0b101
    a | b       the numbers in either set;  a & b: in both;  a & ~b: in `a` but not in `b`

The choice of what is kept joins, compares and hashes such sets thousands of times for one graph,
and integers do that several times as fast as `frozenset`.
"""

from __future__ import annotations

from collections.abc import Iterable

BitSet = int

Axes = BitSet
"""A set of axes of a value."""

Loops = BitSet
"""A set of loops of a kernel, numbered from the outside in."""

NO_LOOP: Loops = 0
"""The loops of an index that stays where it is."""


def single(number: int) -> BitSet:
    """The set of one number.

    >>> bin(single(2))
    '0b100'
    """
    return 1 << number


def all_below(count: int) -> BitSet:
    """The set of the numbers below `count`.

    >>> bin(all_below(3))
    '0b111'
    """
    return (1 << count) - 1


def collect(numbers: Iterable[int]) -> BitSet:
    """The set of some numbers.

    >>> bin(collect([0, 2]))
    '0b101'
    """
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def join(sets: Iterable[BitSet]) -> BitSet:
    """The numbers that are in any of some sets.

    >>> bin(join([0b001, 0b100]))
    '0b101'
    """
    bits = 0
    for each in sets:
        bits |= each
    return bits


def members(bits: BitSet) -> list[int]:
    """The numbers of a set, in order.

    >>> members(0b101)
    [0, 2]
    """
    numbers = []
    while bits:
        lowest = bits & -bits
        numbers.append(lowest.bit_length() - 1)
        bits ^= lowest
    return numbers


def has(bits: BitSet, number: int) -> bool:
    """Whether a number is in a set.

    >>> has(0b101, 2), has(0b101, 1)
    (True, False)
    """
    return bits >> number & 1 == 1


def reaches(bits: BitSet, number: int) -> bool:
    """Whether a set has that number or a greater one.

    >>> reaches(0b101, 1), reaches(0b101, 3)
    (True, False)
    """
    return bits >> number != 0


def is_single(bits: BitSet) -> bool:
    """Whether a set has just one number.

    >>> is_single(0b100), is_single(0b101)
    (True, False)
    """
    return bits.bit_count() == 1


def greatest_member(bits: BitSet) -> int:
    """The greatest number of a set; of the empty one, -1.

    >>> greatest_member(0b101)
    2
    """
    return bits.bit_length() - 1
