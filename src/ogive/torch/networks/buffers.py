"""`torch.nn.Buffer`: a tensor that is a buffer of the module that it becomes an attribute of."""

from __future__ import annotations

from typing import Any

from ogive.nn.module_parts.registration import mark_buffer
from ogive.tensor.tensor import Tensor

__all__ = ["Buffer"]


class _CountsMarked(type):
    """A tensor that was marked counts as a `Buffer`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and hasattr(instance, "persistent")

    def __call__(cls, data: Any = None, *, persistent: bool = True) -> Tensor:
        value = Tensor([]) if data is None else data.detach()
        mark_buffer(value, persistent)
        return value


class Buffer(metaclass=_CountsMarked):
    """A tensor that is registered as a buffer; without `persistent` it is no part of the state.

    >>> class Scaled(ogive.torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.scale = ogive.torch.nn.Buffer(ogive.torch.ones(2))
    >>> list(Scaled().state_dict())
    ['scale']
    """
