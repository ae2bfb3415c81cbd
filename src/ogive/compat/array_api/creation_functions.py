"""Creation functions that are not PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compiler.ir.dtype import to_dtype
from ogive.errors import ArgumentError
from ogive.tensor.core import to_device
from ogive.tensor.memory.sharing import from_dlpack
from ogive.tensor.tensor import Tensor


def asarray(
    obj: Any, /, *, dtype: Any = None, device: str | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor from numbers, nested lists, or anything that is an array.

    Python floats become float32, integers int64, complex numbers complex64. A tensor of the right
    dtype and device is returned itself; with `copy`, as a copy.

    >>> ogive.asarray([1, 2], dtype=ogive.float64).dtype
    ogive.float64

    Raises `ArgumentError` for `copy=False` if a copy is needed.
    """
    wanted = None if dtype is None else to_dtype(dtype)
    if isinstance(obj, Tensor):
        fits = wanted in (None, obj.dtype) and device in (None, obj.device)
        if copy is False and not fits:
            raise ArgumentError(
                f"asarray: a tensor of {obj.dtype.name} on {obj.device} cannot become "
                f"{wanted or obj.dtype} on {device or obj.device} without a copy"
            )
        return obj if fits and not copy else Tensor(obj, wanted, device or obj.device)
    if copy is False:
        if wanted is not None or not hasattr(obj, "__dlpack__"):
            raise ArgumentError(
                f"asarray: {type(obj).__name__} cannot become a tensor without a copy; leave copy "
                "out"
            )
        return from_dlpack(obj, device=device, copy=False)
    plain = isinstance(obj, bool | int | float | complex | list | tuple | numpy.ndarray)
    if not plain and not hasattr(obj, "__array__"):
        # NumPy knows the buffer protocol and DLPack.
        obj = numpy.from_dlpack(obj) if hasattr(obj, "__dlpack__") else numpy.asarray(obj)
    return Tensor(obj, wanted, device)


def as_tensor(data: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """`asarray` with PyTorch's arguments. A tensor of that dtype and device is returned itself.

    >>> ogive.as_tensor([1, 2], ogive.float64).dtype
    ogive.float64
    """
    return asarray(data, dtype=dtype, device=None if device is None else to_device(device))


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor.

    >>> ogive.is_tensor(ogive.ones(2)), ogive.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangle: zeros above the `k`-th diagonal. Shapes: unchanged.

    >>> ogive.tril(Tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return to_array(x, "tril").tril(k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangle: zeros below the `k`-th diagonal. Shapes: unchanged.

    >>> ogive.triu(Tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return to_array(x, "triu").triu(k)
