"""NumPy arrays and tensors that share memory, as in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.eager import may_be_eager
from ogive.eager.methods import refuse_gradients
from ogive.eager.tensors import DTYPES, borrow
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.memory.shared_arrays import share, share_array
from ogive.tensor.values.python_values import from_numpy as borrow_array
from ogive.tensor.values.python_values import to_array, to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor

__all__ = ["from_numpy"]


def from_numpy(array: NDArray[Any]) -> Tensor:
    """A tensor that shares the memory of an array, so writes to one appear in the other.

    An array that is not row-major is only read, in place or from a copy, and never written to.

    >>> array = numpy.zeros(2)
    >>> x = ogive.torch.from_numpy(array)
    >>> _ = x.add_(1)
    >>> array
    array([1., 1.])
    """
    is_plain = isinstance(array, numpy.ndarray) and array.flags.c_contiguous
    if is_plain and array.flags.aligned and array.dtype.isnative and array.size:
        is_small = allowance.may_hold(array.size) and array.dtype in DTYPES
        if is_small and array.flags.writeable and may_be_eager():
            return borrow(array)
        return share_array(array)
    return borrow_array(array)


def to_shared_numpy(self: Tensor, *, force: bool = False) -> NDArray[Any]:
    """Implement `x.numpy()`: an array that shares the tensor's memory, or a copy if it cannot.

    Raises `GradientError` for a leaf that requires gradients, unless `force` is set.
    """
    if not force:
        refuse_gradients(self)
    array = share(self)
    return to_numpy(self) if array is None else array


def to_own_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
    """Implement `numpy.asarray(x)`: a copy. Raises `GradientError` like `x.numpy()`."""
    refuse_gradients(self)
    return to_array(self, dtype, copy)


def address_of(self: Tensor) -> int:
    """Implement `x.data_ptr()`: the address of the first element; 0 for an empty tensor.

    The tensor stays at that address from then on.
    """
    array = to_shared_numpy(self.detach())
    return int(array.__array_interface__["data"][0]) if array.size else 0
