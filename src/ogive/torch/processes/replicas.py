"""Modules over several processes; over several devices, of which there is one here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ogive import distributed
from ogive.autograd.backward import call_after_pass
from ogive.nn.layers.normalization import BatchNorm
from ogive.nn.module import AnyModule, Module
from ogive.torch.processes.collectives import get_world_size, refuse_several

__all__ = ["DataParallel", "DistributedDataParallel", "SyncBatchNorm", "data_parallel"]


class DataParallel(Module):
    """A module over several devices; here there is one, and it is called as it is."""

    def __init__(
        self, module: AnyModule, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


class DistributedDataParallel(DataParallel):
    """A module of which each process has a copy, all with the parameters of the first.

    When a backward pass has ended, gradients are averaged over all processes.
    """

    def __init__(self, module: AnyModule, *args: Any, **kwargs: Any) -> None:
        get_world_size()  # raises where no world was begun, as PyTorch does
        super().__init__(module)
        self.require_backward_grad_sync = True
        if get_world_size() == 1:
            return
        distributed.broadcast_parameters(module)
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_hook(self._have_gradients_averaged)

    def _have_gradients_averaged(self, gradient: Any) -> None:
        if self.require_backward_grad_sync:
            call_after_pass(self._average)

    def _average(self) -> None:
        distributed.average_gradients(self.module)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Without averaging inside."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


def data_parallel(
    module: AnyModule, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: Any = None,
) -> Any:  # fmt: skip
    """`module` of the inputs, on the one device."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


class SyncBatchNorm(BatchNorm):
    """Batch normalization over all processes: over this one."""

    ranks = (2, 3, 4, 5)

    def __init__(self, *args: Any, process_group: Any = None, **kwargs: Any) -> None:
        refuse_several("SyncBatchNorm")
        super().__init__(*args, **kwargs)

    def _check_input_dim(self, x: Any) -> None:
        """Any number of axes from two on."""

    @classmethod
    def convert_sync_batchnorm(cls, module: AnyModule, process_group: Any = None) -> AnyModule:
        """The module itself: its layers see all there is."""
        refuse_several("SyncBatchNorm")
        return module
