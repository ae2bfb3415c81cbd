"""`cast` under PyTorch's names. They have their own module, as some are Python built-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.compiler.ir import dtype as dtypes

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def bool(self: Tensor) -> Tensor:
    """`cast(ogive.bool)`. Shapes: unchanged.

    >>> Tensor([0, 2]).bool().tolist()
    [False, True]
    """
    return self.cast(dtypes.bool_)


def char(self: Tensor) -> Tensor:
    """`cast(ogive.int8)`. Shapes: unchanged.

    >>> Tensor([1.5]).char().dtype
    ogive.int8
    """
    return self.cast(dtypes.int8)


def short(self: Tensor) -> Tensor:
    """`cast(ogive.int16)`. Shapes: unchanged.

    >>> Tensor([1.5]).short().dtype
    ogive.int16
    """
    return self.cast(dtypes.int16)


def byte(self: Tensor) -> Tensor:
    """`cast(ogive.uint8)`. Shapes: unchanged.

    >>> Tensor([1.5]).byte().dtype
    ogive.uint8
    """
    return self.cast(dtypes.uint8)


def int(self: Tensor) -> Tensor:
    """`cast(ogive.int32)`. Shapes: unchanged.

    >>> Tensor([1.5]).int().dtype
    ogive.int32
    """
    return self.cast(dtypes.int32)


def long(self: Tensor) -> Tensor:
    """`cast(ogive.int64)`. Shapes: unchanged.

    >>> Tensor([1.5]).long().dtype
    ogive.int64
    """
    return self.cast(dtypes.int64)


def half(self: Tensor) -> Tensor:
    """`cast(ogive.float16)`. Shapes: unchanged.

    >>> Tensor([1.5]).half().dtype
    ogive.float16
    """
    return self.cast(dtypes.float16)


def bfloat16(self: Tensor) -> Tensor:
    """`cast(ogive.bfloat16)`. Shapes: unchanged.

    >>> Tensor([1.5]).bfloat16().dtype
    ogive.bfloat16
    """
    return self.cast(dtypes.bfloat16)


def float(self: Tensor) -> Tensor:
    """`cast(ogive.float32)`. Shapes: unchanged.

    >>> Tensor([1]).float().dtype
    ogive.float32
    """
    return self.cast(dtypes.float32)


def double(self: Tensor) -> Tensor:
    """`cast(ogive.float64)`. Shapes: unchanged.

    >>> Tensor([1]).double().dtype
    ogive.float64
    """
    return self.cast(dtypes.float64)


def cfloat(self: Tensor) -> Tensor:
    """`cast(ogive.complex64)`. Shapes: unchanged.

    >>> Tensor([1]).cfloat().dtype
    ogive.complex64
    """
    return self.cast(dtypes.complex64)


def cdouble(self: Tensor) -> Tensor:
    """`cast(ogive.complex128)`. Shapes: unchanged.

    >>> Tensor([1]).cdouble().dtype
    ogive.complex128
    """
    return self.cast(dtypes.complex128)
