"""Data sets by PyTorch's names: of tensors, of other data sets, and iterable ones."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy

from ogive.data.batches import Dataset
from ogive.errors import ArgumentError, ShapeError
from ogive.random.discrete import randperm
from ogive.random.generator import Generator
from ogive.tensor.tensor import Tensor


class TensorDataset(Dataset):
    """A data set of tensors: item i is a tuple of the rows i of all tensors.

    >>> ogive.data.TensorDataset(ogive.zeros(10, 8), ogive.arange(10))[3][1].item()
    3

    Raises `ShapeError` for tensors of different lengths.
    """

    def __init__(self, *tensors: Tensor) -> None:
        lengths = [tensor.shape[0] if tensor.ndim else None for tensor in tensors]
        if not tensors or None in lengths or len(set(lengths)) > 1:
            shapes = ", ".join([str(tensor.shape) for tensor in tensors])
            raise ShapeError(f"TensorDataset takes tensors of one length, got {shapes or 'none'}")
        self.tensors = tensors

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, position: int, /) -> tuple[Tensor, ...]:
        return tuple([tensor[position] for tensor in self.tensors])


class StackDataset(Dataset):
    """Several data sets in parallel: item i is a tuple, or a dictionary, of the items i of all.

    >>> ogive.data.StackDataset("abc", [1, 2, 3])[1], ogive.data.StackDataset(x="abc")[1]
    (('b', 2), {'x': 'b'})

    Raises `ShapeError` for data sets of different lengths.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ArgumentError("StackDataset takes data sets, all by position or all by name")
        self.datasets: Any = args or kwargs
        lengths = [len(part) for part in args or kwargs.values()]
        if len(set(lengths)) > 1:
            raise ShapeError(f"StackDataset takes data sets of one length, got {lengths}")
        self._length = lengths[0]

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, position: int, /) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[position] for name, part in self.datasets.items()}
        return tuple([part[position] for part in self.datasets])


class ConcatDataset(Dataset):
    """Several data sets, one after the other.

    >>> both = ogive.data.ConcatDataset(["ab", "cde"])
    >>> len(both), both[2], both[-1]
    (5, 'c', 'e')

    Raises `ArgumentError` for no data sets, and `IndexError` for a position out of range.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("ConcatDataset takes at least one data set")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, position: int, /) -> Any:
        if not -len(self) <= position < len(self):
            raise IndexError(f"there is no item {position} of {len(self)}")
        position %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, position)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][position - before]


class Subset(Dataset):
    """Some items of a data set, by their positions.

    >>> [ogive.data.Subset("abcd", [3, 0])[at] for at in range(2)]
    ['d', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, position: int, /) -> Any:
        return self.dataset[self.indices[position]]


class IterableDataset:
    """The base of data sets without positions: define `__iter__`.

    >>> class Words(ogive.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter("to be or not".split())
    >>> list(ogive.data.DataLoader(Words(), batch_size=3))
    [['to', 'be', 'or'], ['not']]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __class_getitem__(cls, items: Any) -> type:
        """`IterableDataset[int]`, as a base or in annotations, is the class itself."""
        return cls


class ChainDataset(IterableDataset):
    """Several iterable data sets, one after the other.

    >>> list(ogive.data.ChainDataset(["ab", "c"]))
    ['a', 'b', 'c']
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(map(len, self.datasets))


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """Split a data set into disjoint random subsets. `lengths` are numbers of items, or shares.

    >>> [len(part) for part in ogive.data.random_split(range(10), [0.75, 0.25])]
    [8, 2]

    Raises `ArgumentError` unless the numbers add up to the length, or the shares to 1.
    """
    total = len(dataset)
    if all(isinstance(length, int | numpy.integer) for length in lengths):
        counts = [int(length) for length in lengths]
        if sum(counts) != total:
            raise ArgumentError(f"random_split: {lengths} do not add up to the {total} items")
    else:
        if abs(sum(lengths) - 1) > 1e-6:
            raise ArgumentError(f"random_split: the shares {lengths} do not add up to 1")
        counts = [int(total * share) for share in lengths]
        for extra in range(total - sum(counts)):
            counts[extra % len(counts)] += 1
    order = randperm(total, generator=generator).tolist()
    ends = itertools.accumulate(counts, initial=0)
    return [Subset(dataset, order[begin:end]) for begin, end in itertools.pairwise(ends)]
