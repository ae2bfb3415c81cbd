"""Data type functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, promote, to_dtype
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError
from ogive.named import record
from ogive.tensor.tensor import Tensor


@record(frozen=True)
class FloatInfo:
    """The limits of a float dtype; for a complex dtype, those of its parts."""

    dtype: DType
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float

    @property
    def tiny(self) -> float:
        """The older name of `smallest_normal`."""
        return self.smallest_normal

    @property
    def resolution(self) -> float:
        """The step between decimal numbers that the dtype tells apart around 1."""
        return 10.0 ** -int(-math.log10(self.eps))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, "
            f"tiny={self.tiny:g}, dtype={self.dtype.name})"
        )


@record(frozen=True)
class IntegerInfo:
    """The limits of an integer dtype."""

    dtype: DType
    bits: int
    max: int
    min: int

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype.name})"


def astype(
    x: Tensor, dtype: Any, /, *, copy: bool = True, device: str | None = None
) -> Tensor:
    """The values converted to `dtype`. Shapes: unchanged.

    >>> ogive.astype(Tensor([1.5]), ogive.int32).tolist()
    [1]

    Raises `DtypeError` for a conversion of complex numbers to real ones; use `real` or `imag`.
    """
    wanted = to_dtype(dtype)
    source = to_array(x, "astype").dtype
    if source.is_complex and not (wanted.is_complex or wanted.is_bool):
        raise DtypeError(
            f"astype: {source.name} as {wanted.name} loses the imaginary part; use real or imag"
        )
    if device is not None:
        x = x.to(device)
    return x if not copy and wanted is source else x.cast(wanted)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype, or the dtype of a tensor, can be promoted to another.

    >>> ogive.can_cast(ogive.int32, ogive.float32), ogive.can_cast(ogive.float64, ogive.float32)
    (True, False)
    """
    source = from_.dtype if isinstance(from_, Tensor) else to_dtype(from_)
    target = to_dtype(to)
    try:
        return promote(source, target) is target
    except DtypeError:
        return False


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype to which tensors, dtypes and Python numbers are promoted together.

    >>> ogive.result_type(ogive.int8, Tensor([1.5]), 1j)
    ogive.complex64

    Raises `DtypeError` if there is no such dtype, and `ArgumentError` for numbers alone.
    """
    scalars = [x for x in arrays_and_dtypes if isinstance(x, bool | int | float | complex)]
    others = [
        x.dtype if isinstance(x, Tensor) else to_dtype(x)
        for x in arrays_and_dtypes
        if not isinstance(x, bool | int | float | complex)
    ]
    if not others:
        raise ArgumentError("result_type needs a tensor or a dtype besides numbers")
    # Every dtype counts as that of a tensor with an axis.
    return dtypes.result_type([(dtype, 1) for dtype in others], scalars)


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a float dtype, of the parts of a complex one, or of a tensor's.

    >>> ogive.finfo(ogive.float32).bits
    32

    Raises `DtypeError` for other dtypes.
    """
    dtype = _dtype_of(type)
    if not dtype.is_inexact:
        raise DtypeError(f"finfo takes floats and complex numbers, not {dtype.name}; see iinfo")
    info = ml_dtypes.finfo(dtype.part.numpy)
    return FloatInfo(
        dtype.part,
        dtype.part.bits,
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype, or of a tensor's.

    >>> ogive.iinfo(ogive.int8).max
    127

    Raises `DtypeError` for other dtypes.
    """
    dtype = _dtype_of(type)
    if not dtype.is_integer:
        raise DtypeError(f"iinfo takes integers, not {dtype.name}; see finfo")
    least, greatest = dtype.limits
    return IntegerInfo(dtype, dtype.bits, int(greatest), int(least))


def _dtype_of(given: Any) -> DType:
    return given.dtype if isinstance(given, Tensor) else to_dtype(given)


def promote_types(type1: Any, type2: Any) -> DType:
    """The dtype to which elements of two dtypes are promoted.

    >>> ogive.promote_types(ogive.int64, ogive.float16)
    ogive.float16
    """
    return promote(to_dtype(type1), to_dtype(type2))


KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}


def isdtype(dtype: DType, kind: DType | str | Sequence[Any]) -> bool:
    """Whether a dtype is of a kind: another dtype, a name in the standard, or one of several.

    >>> ogive.isdtype(ogive.int8, "integral"), ogive.isdtype(ogive.int8, ("bool", ogive.float32))
    (True, False)

    Raises `ArgumentError` for an unknown kind.
    """
    if isinstance(kind, tuple | list):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, DType):
        return dtype is kind
    if not isinstance(kind, str):
        raise ArgumentTypeError(f"isdtype: kind must be a dtype, a name or a tuple, not {kind!r}")
    if kind not in KINDS:
        raise ArgumentError(f"isdtype: there is no kind {kind!r}; the kinds are {', '.join(KINDS)}")
    return dtype.kind in KINDS[kind]
