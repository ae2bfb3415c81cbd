"""Facts about a tensor: its size, its kind of elements, its device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.compiler.ir.device_names import DEFAULT_DEVICE, GPUS, split_name
from ogive.compiler.ir.shape import Dim, Shape, as_length
from ogive.tensor.core import (
    to_axis,
)

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def size(self: Tensor, dim: int | None = None) -> Shape | Dim:
    """The shape, or the length of one axis.

    >>> Tensor([[1, 2, 3]]).size(), Tensor([[1, 2, 3]]).size(-1)
    ((1, 3), 3)
    """
    return self.shape if dim is None else self.shape[to_axis(dim, self.ndim, "size")]


def dim(self: Tensor) -> int:
    """The number of axes.

    >>> Tensor([[1, 2, 3]]).dim()
    2
    """
    return self.ndim


def element_size(self: Tensor) -> int:
    """The bytes an element takes.

    >>> Tensor([1.5]).element_size()
    4
    """
    return self.dtype.itemsize


def itemsize(self: Tensor) -> int:
    """The bytes an element takes.

    >>> Tensor([1.5]).itemsize
    4
    """
    return self.dtype.itemsize


def nbytes(self: Tensor) -> Dim:
    """The bytes of all elements.

    >>> Tensor([1.5, 2.5]).nbytes
    8
    """
    return as_length(self.numel() * self.dtype.itemsize)


def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is one of floats.

    >>> Tensor([1.5]).is_floating_point(), Tensor([1]).is_floating_point()
    (True, False)
    """
    return self.dtype.is_float


def is_complex(self: Tensor) -> bool:
    """Whether the dtype is one of complex numbers.

    >>> Tensor([1.5]).is_complex(), Tensor([1j]).is_complex()
    (False, True)
    """
    return self.dtype.is_complex


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers.

    >>> Tensor([1]).is_signed()
    True
    """
    return self.dtype.is_signed


def is_cpu(self: Tensor) -> bool:
    """Whether the values are, or will be, in the memory of the CPU, not in a file.

    >>> Tensor([1]).is_cpu
    True
    """
    return split_name(self.device)[0] == DEFAULT_DEVICE


def is_cuda(self: Tensor) -> bool:
    """Whether the values are, or will be, in the memory of an NVIDIA GPU.

    >>> Tensor([1]).is_cuda
    False
    """
    return split_name(self.device)[0] == GPUS


def is_sparse(self: Tensor) -> bool:
    """Whether it is sparse, which no tensor is."""
    return False


def is_quantized(self: Tensor) -> bool:
    """Whether it is quantized, which no tensor is."""
    return False


def is_of_another_kind(self: Tensor) -> bool:
    """Whether it is of a kind, or on a device, that Ogive does not have: always False.

    >>> Tensor([1]).is_xpu, Tensor([1]).is_nested
    (False, False)
    """
    return False


def is_marked(self: Tensor) -> bool:
    """Whether it is a lazily conjugated or negated view, or an inference tensor: always False.

    >>> Tensor([1j]).conj().is_conj()
    False
    """
    return False


def get_device(self: Tensor) -> int:
    """The number of the GPU, -1 for the CPU.

    >>> Tensor([1]).get_device()
    -1
    """
    kind, number = split_name(self.device)
    return number if kind == GPUS else -1


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape.

    >>> Tensor([1, 2]).is_same_size(Tensor([3, 4]))
    True
    """
    return self.shape == other.shape
