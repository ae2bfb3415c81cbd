"""Layers that only PyTorch names: wrappers for several devices, and old names."""

from __future__ import annotations

from typing import Any

from ogive.nn import BatchNorm1d, NLLLoss
from ogive.nn.module import Module

__all__ = [
    "DataParallel", "NLLLoss2d", "_BatchNorm",
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


NLLLoss2d = NLLLoss
_BatchNorm = BatchNorm1d.__mro__[1]
