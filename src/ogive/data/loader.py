"""Data sets and loaders by PyTorch's names; `Batches` does the work."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ogive.data.batches import Batches, Dataset
from ogive.data.collation import collate
from ogive.errors import ArgumentError, ShapeError
from ogive.random.discrete import randperm
from ogive.random.generator import Generator
from ogive.tensor.tensor import Tensor


class TensorDataset(Dataset):
    """Tensors side by side: item i is a tuple of row i of each.

    >>> TensorDataset(ogive.zeros(10, 8), ogive.arange(10))[3][1].item()
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


class Subset(Dataset):
    """Some items of a data set, by their positions.

    >>> [Subset("abcd", [3, 0])[at] for at in range(2)]
    ['d', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, position: int, /) -> Any:
        return self.dataset[self.indices[position]]


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """A data set in parts at random, each item in one of them: by numbers of items, or by shares.

    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]

    Raises `ArgumentError` unless the numbers add up to the length, or the shares to 1.
    """
    total = len(dataset)
    if all(isinstance(length, int) for length in lengths):
        counts = [int(length) for length in lengths]
        if sum(counts) != total:
            raise ArgumentError(f"random_split: {lengths} are not the {total} items there are")
    else:
        if abs(sum(lengths) - 1) > 1e-6:
            raise ArgumentError(f"random_split: the shares {lengths} do not add up to 1")
        counts = [int(total * share) for share in lengths]
        for extra in range(total - sum(counts)):
            counts[extra % len(counts)] += 1
    order = randperm(total, generator=generator).tolist()
    ends = itertools.accumulate(counts, initial=0)
    return [Subset(dataset, order[begin:end]) for begin, end in itertools.pairwise(ends)]


class DataLoader(Batches):
    """`Batches` with PyTorch's arguments: the items of a data set, `batch_size` at a time.

    `num_workers` says how many batches a thread makes ahead, twice as many; there are no other
    processes. `pin_memory` and `persistent_workers` mean nothing here.

    >>> loader = DataLoader(TensorDataset(ogive.zeros(10, 8), ogive.arange(10)), batch_size=4)
    >>> len(loader), [x.shape for x, y in loader]
    (3, [(4, 8), (4, 8), (2, 8)])
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        generator: Generator | None = None,
        persistent_workers: bool = False,
    ) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        is_plain = isinstance(dataset, TensorDataset) and collate_fn is None
        super().__init__(
            dataset.tensors if is_plain else dataset,
            batch_size,
            shuffle=shuffle,
            seed=None if generator is None else generator.take(),
            drop_last=drop_last,
            prefetch=2 * num_workers,
            collate=collate if collate_fn is None else collate_fn,
        )
