"""Samplers: the orders of the items of a data set, by PyTorch's names.

The order of an epoch is drawn when its iterator is made, and not at the first position. So other
draws of the program in between, perhaps in another thread, make no difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.errors import ArgumentError
from ogive.random.cipher import encipher_on_host
from ogive.random.discrete import multinomial
from ogive.random.generator import Generator, default_generator
from ogive.tensor.core import to_integer
from ogive.tensor.tensor import Tensor


def permutation(length: int, key: int) -> NDArray[numpy.int64]:
    """Return `randperm(length, key=key)`, computed by NumPy."""
    return numpy.argsort(encipher_on_host(numpy.arange(length, dtype=numpy.uint64), key))


CHUNK = 1 << 16
"""How many positions are drawn at a time. Those of a whole epoch may not fit into memory."""


def _draws(size: int, count: int, key: int) -> Iterator[list[int]]:
    """Yield the numbers of `randint(size, (count,))` in chunks."""
    for start in range(0, count, CHUNK):
        places = numpy.arange(start, min(start + CHUNK, count), dtype=numpy.uint64)
        yield (encipher_on_host(places, key) % numpy.uint64(size)).tolist()


def _rounds(size: int, count: int, key: int) -> Iterator[list[int]]:
    """Yield all positions, in another order each time, until there are `count`."""
    for number, start in enumerate(range(0, count, size)):
        own = int(encipher_on_host(numpy.array([number], numpy.uint64), key)[0]) if number else key
        yield permutation(size, own)[: count - start].tolist()


class Sampler:
    """The base of samplers: define `__iter__`, which yields positions, and `__len__` if known."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __class_getitem__(cls, items: Any) -> type:
        """`Sampler[int]`, as a base or in annotations, is the class itself."""
        return cls


class SequentialSampler(Sampler):
    """A sampler of all positions, in order.

    >>> list(ogive.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """A sampler of all positions in random order, or of `num_samples`; with `replacement` or not.

    Each epoch has an order of its own, from the next draw of `generator` or of the default one.

    >>> sampler = ogive.data.RandomSampler(range(4), generator=ogive.Generator(0))
    >>> first, second = list(sampler), list(sampler)
    >>> sorted(first), first != second
    ([0, 1, 2, 3], True)
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator
        self._count = None if num_samples is None else _to_count(num_samples, "RandomSampler")

    @property
    def num_samples(self) -> int:
        """How many positions an epoch has."""
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator[int]:
        size, count = len(self.data_source), self.num_samples
        if not count:
            return iter(())
        if not size:
            raise ArgumentError(f"RandomSampler: cannot draw {count} items from an empty data set")
        key = (self.generator or default_generator).take()
        rounds = _draws(size, count, key) if self.replacement else _rounds(size, count, key)
        return itertools.chain.from_iterable(rounds)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """A sampler of given positions, in random order.

    >>> sorted(ogive.data.SubsetRandomSampler([7, 5, 3]))
    [3, 5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = permutation(len(self.indices), (self.generator or default_generator).take())
        return iter([self.indices[at] for at in order.tolist()])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """A sampler of `num_samples` positions, with probabilities in proportion to their weights.

    >>> list(ogive.data.WeightedRandomSampler([0.0, 1.0, 0.0], 3))
    [1, 1, 1]

    Raises `ArgumentError` for more samples than weights without `replacement`.
    """

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        self.weights = Tensor(weights, "float64")
        self.num_samples = _to_count(num_samples, "WeightedRandomSampler")
        self.replacement = replacement
        self.generator = generator
        if not replacement and self.num_samples > len(self.weights):
            raise ArgumentError(
                f"WeightedRandomSampler: cannot draw {num_samples} of {len(self.weights)} items "
                "without replacement"
            )

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """A sampler of lists of `batch_size` positions of another sampler.

    >>> list(ogive.data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]

    Raises `ArgumentError` for a size below 1.
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        self.sampler = sampler
        self.batch_size = to_integer(batch_size, "batch_size")
        if self.batch_size < 1:
            raise ArgumentError(f"batch_size is {batch_size}, and must be at least 1")
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        return grouped(iter(self.sampler), self.batch_size, self.drop_last)

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]  # a sampler without one raises
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def grouped(values: Iterator[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Yield values in lists of `size`. A shorter last list is left out with `drop_last`."""
    while group := list(itertools.islice(values, size)):
        if len(group) < size and drop_last:
            return
        yield group


def _to_count(given: Any, name: str) -> int:
    count = to_integer(given, f"{name}: num_samples")
    if count < 1:
        raise ArgumentError(f"{name}: num_samples is {count}, and must be at least 1")
    return count
