"""Rows put in order by a network: the lesser of two elements to the front, whatever they are.

Which elements are compared does not depend on any: so each lane has a row of its own, and comparing
and exchanging takes a minimum and a maximum. A network is a few passes over the rows. Each takes
elements in groups that registers hold, and exchanges within a group what it can before it stores
them. First, blocks of 16 are sorted; then runs of twice as many are made of two:

    sorted    1 4 6 7 | 2 3 5 8     each element of the first against those of the second, backwards
    merged    1 4 3 2 | 7 6 5 8     then at half the distance, at half of that, and so on
              1 2 3 4 | 5 6 7 8

The lesser one always goes to the front. So elements that are greater than all others, which fill a
row up to a power of two, stay behind it, and a run that has no more than those is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ogive.named import NamedTuple

LAYERS = 4
"""Exchanges of one element after the other that a pass makes: a group is 2 to that power, and a
register each."""

Exchange = tuple[int, int]
"""Two elements of a group, of which the first gets the lesser."""


class Place(NamedTuple):
    """Where an element of a group is: counted from the beginning of its run, and how much further
    that is in the next group."""

    first: int
    step: int


class Pass(NamedTuple):
    """Exchanges in `groups` groups of each of `runs` runs, which are `length` elements apart."""

    runs: int
    length: int
    groups: int
    places: tuple[Place, ...]
    exchanges: tuple[Exchange, ...]


def filled_length(count: int) -> int:
    """How many elements a row of `count` has room for: a power of two."""
    return 1 << (count - 1).bit_length()


@functools.lru_cache(maxsize=64)
def sorting_passes(count: int) -> tuple[Pass, ...]:
    """The exchanges that put `count` elements in order, if greater ones fill up their row."""
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
    """How many exchanges put `count` elements in order."""
    return sum([p.runs * p.groups * len(p.exchanges) for p in sorting_passes(count)])


def _block_exchanges(length: int) -> Iterator[Exchange]:
    """Those that sort a block whose length is a power of two: runs in it are merged by their even
    and their odd elements (Batcher's network, which takes fewer of them than merging by halves)."""
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
    """Two sorted runs become one of `length` elements, wherever there is something of both."""
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
    """Exchanges at half the distance of a group, then at half of that, down to neighbours."""
    distance = len(numbers) // 2
    while distance:
        for place, low in enumerate(numbers):
            if place % (2 * distance) < distance:
                yield low, numbers[place + distance]
        distance //= 2
