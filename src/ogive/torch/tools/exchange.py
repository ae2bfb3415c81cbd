"""`torch.utils.dlpack`: exchange tensors with other libraries without copies."""

from __future__ import annotations

from typing import Any

from ogive.tensor.memory.sharing import from_dlpack as _from_dlpack
from ogive.tensor.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


_HOST = (1, 0)
"""The device of the host's memory in the protocol."""


class _Capsule:
    """Wraps a bare DLPack capsule, as older functions of NumPy and PyTorch return it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor over the memory of another library's tensor, or of a capsule."""
    given = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
    return _from_dlpack(given)


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule with a tensor's memory.

    >>> type(to_dlpack(ogive.ones(2))).__name__
    'PyCapsule'
    """
    return tensor.__dlpack__()
