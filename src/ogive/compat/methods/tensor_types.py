"""PyTorch's old names of tensor types, and methods about CUDA and pinned memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

NAMES = {
    dtypes.float32: "FloatTensor", dtypes.float64: "DoubleTensor", dtypes.float16: "HalfTensor",
    dtypes.bfloat16: "BFloat16Tensor", dtypes.int64: "LongTensor", dtypes.int32: "IntTensor",
    dtypes.int16: "ShortTensor", dtypes.int8: "CharTensor", dtypes.uint8: "ByteTensor",
    dtypes.bool_: "BoolTensor",
}  # fmt: skip
DTYPES = {f"torch.{name}": dtype for dtype, name in NAMES.items()}


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Move to a CUDA device. Raises `DeviceError` if there is none."""
    return self.to("cuda" if device is None or isinstance(device, int) else device)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Return the tensor itself: no other device copies its memory."""
    return self


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Return False: memory is never pinned."""
    return False


def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """PyTorch's name for this type of tensor; or the values as another type or dtype.

    >>> Tensor([1.5]).type(), Tensor([1.5]).type("torch.LongTensor").tolist()
    ('torch.FloatTensor', [1])
    """
    if dtype is None:
        return f"torch.{NAMES.get(self.dtype, self.dtype.name)}"
    wanted = DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype
    return self.to(getattr(wanted, "element", wanted))
