"""Modules replicated over several processes, or over several devices, of which there is one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ogive import distributed
from ogive.autograd.backward import call_after_pass
from ogive.nn.layers.normalization import BatchNorm
from ogive.nn.module import AnyModule, Module
from ogive.torch.processes.process_groups import get_world_size, refuse_several

__all__ = ["DataParallel", "DistributedDataParallel", "SyncBatchNorm", "data_parallel"]


class DataParallel(Module):
    """A module replicated over several devices. There is one device, so the module is just called.
    """

    def __init__(
        self, module: AnyModule, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


class DistributedDataParallel(DataParallel):
    """A module with a copy in each process. All copies start with the parameters of rank 0.

    After each backward pass, gradients are averaged over all processes.
    """

    def __init__(self, module: AnyModule, *args: Any, **kwargs: Any) -> None:
        get_world_size()  # raises if there is no world, as PyTorch does
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
        """A context in which gradients are not averaged."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


def data_parallel(
    module: AnyModule, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: Any = None,
) -> Any:  # fmt: skip
    """Call `module` with the inputs, on the only device."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


class SyncBatchNorm(BatchNorm):
    """Batch normalization over all processes. There is one process, so it is plain."""

    ranks = (2, 3, 4, 5)

    def __init__(self, *args: Any, process_group: Any = None, **kwargs: Any) -> None:
        refuse_several("SyncBatchNorm")
        super().__init__(*args, **kwargs)

    def _check_input_dim(self, x: Any) -> None:
        """Accept two axes or more."""

    @classmethod
    def convert_sync_batchnorm(cls, module: AnyModule, process_group: Any = None) -> AnyModule:
        """Return the module itself: in one process, its layers see the whole batch."""
        refuse_several("SyncBatchNorm")
        return module
