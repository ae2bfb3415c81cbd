"""Rows sorted by a network: a fixed sequence of compare-exchanges.

An exchange puts the lesser of two elements in front. Which elements are compared does not depend on
their values. So each lane can have a row of its own, and an exchange is a minimum and a maximum. A
network is a few passes over a row. Each pass loads elements in groups that registers hold, and
makes several layers of exchanges within a group before it stores them. First, blocks of 16 are
sorted; then two runs at a time are merged:

    sorted    1 4 6 7 | 2 3 5 8     the first run against the second one backwards
    merging   1 4 3 2 | 7 6 5 8     then at half the distance, at half of that, and so on
              1 2 3 4 | 5 6 7 8

Elements that are greater than all others pad a row to a power of two. Since the lesser element
always goes to the front, they stay at the end, and a run of only such elements is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ogive.named import NamedTuple

LAYERS = 4
"""The layers of exchanges in a pass. A group has 2 to that power elements, each in a register."""

Exchange = tuple[int, int]
"""Two elements of a group. The lesser goes to the first place."""


class Place(NamedTuple):
    """The place of an element of the first group, from the start of its run, and the distance to
    the place of the same element in the next group."""

    first: int
    step: int


class Pass(NamedTuple):
    """The exchanges in each of the `groups` of each of the `runs`, which have `length` elements."""

    runs: int
    length: int
    groups: int
    places: tuple[Place, ...]
    exchanges: tuple[Exchange, ...]


def filled_length(count: int) -> int:
    """The length to which a row of `count` elements is padded: the next power of two."""
    return 1 << (count - 1).bit_length()


@functools.lru_cache(maxsize=64)
def sorting_passes(count: int) -> tuple[Pass, ...]:
    """The passes that sort `count` elements, if greater elements pad their row."""
    whole = filled_length(count)
    block = min(whole, 1 << LAYERS)
    places = tuple([Place(place, 0) for place in range(min(block, count))])
    exchanges = [pair for pair in _block_exchanges(block) if pair[1] < count]
    passes = [Pass(-(-count // block), block, 1, places, tuple(exchanges))]
    length = 2 * block
    while length <= whole:
        passes += _merging_passes(count, length)
        length *= 2
    return tuple(passes)


def exchange_count(count: int) -> int:
    """The number of exchanges that sort `count` elements."""
    return sum([p.runs * p.groups * len(p.exchanges) for p in sorting_passes(count)])


def _block_exchanges(length: int) -> Iterator[Exchange]:
    """The exchanges that sort a block whose length is a power of two.

    This is Batcher's odd-even merge sort, which takes fewer exchanges than merging by halves.
    """
    size = 1
    while size < length:
        distance = size
        while distance:
            for first in range(distance % size, length - distance, 2 * distance):
                for low in range(first, min(first + distance, length - distance)):
                    if low // (2 * size) == (low + distance) // (2 * size):
                        yield low, low + distance
            distance //= 2
        size *= 2


def _merging_passes(count: int, length: int) -> Iterator[Pass]:
    """The passes that merge pairs of sorted runs to runs of `length` elements.

    A pair whose second run is only padding is left out.
    """
    merged = (count + length // 2 - 1) // length
    layers = length.bit_length() - 1
    passes = -(-layers // LAYERS)
    layers_of = [layers * (n + 1) // passes - layers * n // passes for n in range(passes)]
    stride = length >> layers_of[0]
    half = 1 << (layers_of[0] - 1)
    places = [Place(number * stride, 1) for number in range(half)]
    places += [Place(length - 1 - place.first, -1) for place in places]
    halves = [*range(half)], [*range(2 * half - 1, half - 1, -1)]
    exchanges = [(number, half + number) for number in range(half)]
    exchanges += [pair for numbers in halves for pair in _halving(numbers)]
    yield Pass(merged, length, stride, tuple(places), tuple(exchanges))
    for layers in layers_of[1:]:
        run, stride = stride, stride >> layers
        numbers = [*range(1 << layers)]
        runs = min(-(-count // run), merged * length // run)
        spread = tuple([Place(number * stride, 1) for number in numbers])
        yield Pass(runs, run, stride, spread, tuple(_halving(numbers)))


def _halving(numbers: list[int]) -> Iterator[Exchange]:
    """Exchanges at half the length of a group, then at half of that, down to neighbours."""
    distance = len(numbers) // 2
    while distance:
        for place, low in enumerate(numbers):
            if place % (2 * distance) < distance:
                yield low, numbers[place + distance]
        distance //= 2
