"""Modules over several processes or devices: over one, they are the module itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ogive.nn.layers.normalization import BatchNorm
from ogive.nn.module import Module
from ogive.torch.processes.collectives import get_rank, get_world_size, is_initialized

__all__ = [
    "DataParallel", "DistributedDataParallel", "DistributedSampler", "SyncBatchNorm",
    "data_parallel",
]  # fmt: skip


class DataParallel(Module):
    """A module over several devices; here there is one, and it is called as it is."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


class DistributedDataParallel(DataParallel):
    """A module of which each process has a copy; gradients are averaged over one process."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        get_world_size()  # raises where no world was begun, as PyTorch does
        super().__init__(module)
        self.require_backward_grad_sync = True

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Without averaging inside."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


def data_parallel(
    module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: Any = None,
) -> Any:  # fmt: skip
    """`module` of the inputs, on the one device."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


class SyncBatchNorm(BatchNorm):
    """Batch normalization over all processes: over this one."""

    def __init__(self, *args: Any, process_group: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def _check_input_dim(self, x: Any) -> None:
        """Any number of axes from two on."""

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module itself: its layers see all there is."""
        return module


class DistributedSampler:
    """Positions for one process of several: each takes every `num_replicas`-th.

    Shuffled anew for each epoch that `set_epoch` names, the same way in all processes.
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
        self.num_replicas = num_replicas or (get_world_size() if is_initialized() else 1)
        self.rank = rank if rank is not None else get_rank() if is_initialized() else 0
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        length = len(dataset)
        more = 0 if drop_last else self.num_replicas - 1
        self.num_samples = (length + more) // self.num_replicas
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        from ogive.random import Generator, randperm

        length = len(self.dataset)
        order = list(range(length))
        if self.shuffle:
            generator = Generator(self.seed + self.epoch)
            order = randperm(length, generator=generator).tolist()
        while len(order) < self.total_size and order:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next order is of."""
        self.epoch = epoch
