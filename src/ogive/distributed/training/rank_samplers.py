"""The sampler that divides the items of a data set among ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ogive.data.samplers import Sampler, permutation
from ogive.distributed.world import rank as own_rank
from ogive.distributed.world import size as number_of_ranks
from ogive.errors import ArgumentError
from ogive.random.generator import Generator


class DistributedSampler(Sampler):
    """A sampler of the positions of one rank: every `num_replicas`-th, from its own number on.

    All ranks get the same number: some positions come twice, or with `drop_last` some are left out.
    The order is drawn from `seed` and the epoch of `set_epoch`, the same on all ranks.

    >>> list(ogive.distributed.DistributedSampler(range(5), 2, rank=1, shuffle=False))
    [1, 3, 0]

    Raises `ArgumentError` for an unknown rank.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        self.dataset = dataset
        self.num_replicas = number_of_ranks() if num_replicas is None else num_replicas
        self.rank = own_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ArgumentError(
                f"DistributedSampler: rank is {self.rank}, and the ranks are 0 to "
                f"{self.num_replicas - 1}"
            )
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        more = 0 if drop_last else self.num_replicas - 1
        self.num_samples = (len(dataset) + more) // self.num_replicas
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        length = len(self.dataset)
        order = list(range(length))
        if self.shuffle:
            order = permutation(length, Generator(self.seed + self.epoch).take()).tolist()
        while len(order) < self.total_size and order:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next order."""
        self.epoch = epoch
