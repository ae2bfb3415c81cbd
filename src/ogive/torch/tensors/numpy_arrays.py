"""NumPy arrays and tensors that share memory, as in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.compat.numpy_functions import UFUNCS
from ogive.eager import may_be_eager
from ogive.eager.methods import refuse_gradients
from ogive.eager.tensors import DTYPES, borrow, lend
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.tensor.core import Core
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.memory.shared_arrays import share, share_array
from ogive.tensor.values import interchange
from ogive.tensor.values.python_values import from_numpy as borrow_array
from ogive.tensor.values.python_values import to_array, to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor

__all__ = ["from_numpy"]


def from_numpy(array: NDArray[Any]) -> Tensor:
    """A tensor that shares the memory of an array, so writes to one appear in the other.

    A large array that is not row-major is copied.

    >>> array = numpy.zeros(2)
    >>> x = ogive.torch.from_numpy(array)
    >>> _ = x.add_(1)
    >>> array
    array([1., 1.])
    """
    if not isinstance(array, numpy.ndarray):
        raise ArgumentTypeError(f"from_numpy takes a NumPy array, not {type(array).__name__}")
    if any(step < 0 for step in array.strides):
        raise ArgumentError("an array that is read backwards has no tensor; give array.copy()")
    if array.flags.aligned and array.dtype.isnative and array.size:
        is_small = allowance.may_hold(array.size) and array.dtype in DTYPES
        if is_small and array.flags.writeable and may_be_eager():
            return borrow(array)
        if array.flags.c_contiguous:
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


def call_numpy(
    self: Tensor, function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """`numpy.stack([x, y])`: what NumPy makes of the values, as it does with PyTorch's tensors."""
    return function._implementation(*arguments, **keywords)


def from_result(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """The result of a function of NumPy for a tensor, as a tensor: `numpy.argmax(x)`."""
    values = numpy.asarray(array)
    return from_numpy(values.astype("uint8") if values.dtype == bool else values)


def call_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """`numpy.exp(x)`: a tensor, by our function where there is one and NumPy's otherwise."""
    if method == "__call__" and ufunc in UFUNCS and not keywords:
        return interchange.array_ufunc(self, ufunc, method, *inputs)
    given = [numpy.asarray(each) if isinstance(each, Core) else each for each in inputs]
    result = getattr(ufunc, method)(*given, **keywords)
    return result if isinstance(result, tuple) else from_result(self, result)


def address_of(self: Tensor) -> int:
    """`x.data_ptr()`: where the first element lies in memory, 0 where there is none. The tensor
    stays there from then on."""
    array = lend(self) if self.is_eager else to_shared_numpy(self.detach())
    return int(array.__array_interface__["data"][0]) if array.size else 0
