"""`DataLoader`: the items of a data set in batches, with PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ogive.data.background import prefetch
from ogive.data.batches import reader
from ogive.data.collation import collate, convert
from ogive.data.datasets import IterableDataset, TensorDataset
from ogive.data.samplers import BatchSampler, RandomSampler, SequentialSampler, grouped
from ogive.errors import ArgumentError
from ogive.random.generator import Generator
from ogive.tensor.core import to_integer

_AHEAD = 2
"""How many batches are made ahead for each worker, unless told otherwise."""


class DataLoader:
    """The items of a data set, `batch_size` at a time; iterating once is an epoch.

    Positions come in order, at random (`shuffle`), or from a `sampler`; or a `batch_sampler` gives
    lists of them. An `IterableDataset` is gone through. `collate_fn` makes a batch of a list of
    items; without a `batch_size` it gets one item at a time.

    There are no other processes: a thread makes `num_workers`·`prefetch_factor` batches ahead, and
    `worker_init_fn`, `timeout`, `pin_memory` and the like mean nothing. Orders are drawn from
    `generator`, or the default one, at the beginning of an epoch.

    >>> data = ogive.data.TensorDataset(ogive.zeros(10, 8), ogive.arange(10))
    >>> loader = ogive.data.DataLoader(data, batch_size=4)
    >>> len(loader), [x.shape for x, y in loader]
    (3, [(4, 8), (4, 8), (2, 8)])

    Raises `ArgumentError` for arguments that exclude each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        is_stream = isinstance(dataset, IterableDataset)
        has_sampler, has_batches = sampler is not None, batch_sampler is not None
        _refuse_together("sampler", has_sampler, shuffle=shuffle)
        _refuse_together("batch_size=None", batch_size is None, drop_last=drop_last)
        _refuse_together(
            "batch_sampler", has_batches,
            batch_size=batch_size != 1, shuffle=shuffle, sampler=has_sampler, drop_last=drop_last,
        )  # fmt: skip
        _refuse_together(
            "an IterableDataset", is_stream,
            shuffle=shuffle, sampler=has_sampler, batch_sampler=has_batches,
        )  # fmt: skip
        self.dataset = dataset
        self.batch_size = None if has_batches else batch_size
        self.drop_last = drop_last
        self.generator = generator
        self.num_workers = to_integer(num_workers, "num_workers")
        self._ahead = self.num_workers * (_AHEAD if prefetch_factor is None else prefetch_factor)
        in_batches = has_batches or batch_size is not None
        self.collate_fn = collate_fn or (collate if in_batches else convert)
        self._is_stream = is_stream
        if is_stream:
            return
        if sampler is None and shuffle:
            sampler = RandomSampler(dataset, generator=generator)
        self.sampler = SequentialSampler(dataset) if sampler is None else sampler
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        by_item = collate_fn is not None
        whole = dataset
        if type(dataset) is TensorDataset:  # one derived from it may give other items
            whole = dataset.tensors
            by_item = by_item or any(tensor.requires_grad for tensor in whole)
        self._fetch = self._fetch_items if by_item else reader(whole, collate)[0]

    def _fetch_items(self, positions: list[Any]) -> Any:
        return self.collate_fn([self.dataset[at] for at in positions])

    def __class_getitem__(cls, items: Any) -> type:
        """`DataLoader[int]` in annotations is the class itself."""
        return cls

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        if not self._is_stream:
            positions: Any = self.sampler if self.batch_sampler is None else self.batch_sampler
            return len(positions)
        if self.batch_size is None:
            return len(self.dataset)
        return len(BatchSampler(self.dataset, self.batch_size, self.drop_last))

    def __iter__(self) -> Iterator[Any]:
        """One epoch."""
        batches = self._epoch()
        return prefetch(batches, self._ahead) if self._ahead else batches

    def _epoch(self) -> Iterator[Any]:
        # Iterators are made here, in the thread of the caller, and orders drawn with them.
        if self._is_stream:
            items = iter(self.dataset)
            if self.batch_size is not None:
                items = grouped(items, self.batch_size, self.drop_last)
            return map(self.collate_fn, items)
        if self.batch_sampler is not None:
            return map(self._fetch, iter(self.batch_sampler))
        return (self.collate_fn(self.dataset[at]) for at in iter(self.sampler))


def _refuse_together(name: str, given: bool, **others: Any) -> None:
    excluded = [other for other, value in others.items() if value]
    if given and excluded:
        raise ArgumentError(f"DataLoader: {name} does not go with {', '.join(excluded)}")


def get_worker_info() -> None:
    """A worker's facts about itself: None, since the one thread that loads is no worker.

    >>> ogive.data.get_worker_info() is None
    True
    """
    return None
