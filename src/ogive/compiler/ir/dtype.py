"""Element types, and how they combine.

A `DType` is a singleton: compare with `is`. Promotion follows PyTorch, with one exception: PyTorch
refuses to mix wide unsigned integers with others, and Ogive gives the smallest type that holds
both. Where there is none (`uint64` with a signed integer, the 8-bit floats with anything) it raises
`DtypeError`.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable
from typing import Any

import numpy

from ogive.errors import DtypeError, nearest

Scalar = bool | int | float


class DType:
    """One element type.

    `kind` is "bool", "int", "uint", "float", "complex", or "none" for types that no tensor can have
    (`void`, and `index`, the unbounded integers of address arithmetic).
    """

    __slots__ = ("bits", "itemsize", "kind", "name", "numpy")

    numpy: numpy.dtype[Any]

    def __init__(self, name: str, kind: str, bits: int, numpy_type: Any = None) -> None:
        self.name = name
        self.kind = kind
        self.bits = bits
        self.itemsize = (bits + 7) // 8
        if numpy_type is not None:
            self.numpy = numpy.dtype(numpy_type)

    def __getattr__(self, attribute: str) -> Any:
        """Set `numpy` from `ml_dtypes` at first use, because loading that takes 4 ms."""
        if attribute != "numpy":
            raise AttributeError(f"a dtype has no attribute {attribute!r}")
        import ml_dtypes

        self.numpy = numpy.dtype(getattr(ml_dtypes, _ML_DTYPES[self.name]))
        return self.numpy

    def __repr__(self) -> str:
        return f"ogive.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_floating_point(self) -> bool:
        """PyTorch's name for `is_float`."""
        return self.is_float

    @property
    def is_complex(self) -> bool:
        return self.kind == "complex"

    @property
    def is_inexact(self) -> bool:
        """Whether it is a float or complex dtype, the ones that have gradients."""
        return self.kind in ("float", "complex")

    @property
    def part(self) -> DType:
        """The dtype of the real and of the imaginary part; a real dtype is its own part."""
        return _PARTS.get(self, self)

    @property
    def is_integer(self) -> bool:
        """Whether it is a signed or unsigned integer or `index`; `bool` is not."""
        return self.kind in ("int", "uint") or self is index

    @property
    def is_bool(self) -> bool:
        return self.kind == "bool"

    @property
    def is_signed(self) -> bool:
        return self.kind in ("int", "float", "complex") or self is index

    @property
    def is_storage_only(self) -> bool:
        """Whether values must be converted to a wider dtype before any arithmetic."""
        return self in (float8_e4m3, float8_e5m2)

    @property
    def limits(self) -> tuple[Scalar, Scalar]:
        """The least and the greatest value: infinities for floats and for complex numbers."""
        if self.is_bool:
            return False, True
        if self.kind == "uint":
            return 0, (1 << self.bits) - 1
        if self.kind == "int" or self is index:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return float("-inf"), float("inf")

    def canonical(self, value: Scalar | complex) -> Scalar:
        """`value` as this dtype holds it: integers wrap, floats round, real ones drop `imag`."""
        if self.kind == "float":
            return _round_float(self, float(value.real))
        if self.kind == "complex":
            parts = _round_float(self.part, value.real), _round_float(self.part, value.imag)
            return complex(*parts)  # type: ignore[return-value]  # only complex nodes get here
        if self.kind == "bool":
            return bool(value)
        integer = int(value.real)
        if self is index:
            return integer
        integer &= (1 << self.bits) - 1
        if self.kind == "int" and integer >> (self.bits - 1):
            integer -= 1 << self.bits
        return integer


def _round_float(dtype: DType, value: float) -> float:
    if dtype is float64:
        return value
    form = _FORMS.get(dtype)
    if form is not None:
        try:
            return float(form.unpack(form.pack(value))[0])
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    with numpy.errstate(over="ignore"):
        return float(numpy.asarray(value).astype(dtype.numpy))


_ML_DTYPES = {
    "bfloat16": "bfloat16", "float8_e4m3": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
}  # fmt: skip

void = DType("void", "none", 0, numpy.void)
index = DType("index", "none", 64, numpy.int64)
bool_ = DType("bool", "bool", 8, numpy.bool_)
int8 = DType("int8", "int", 8, numpy.int8)
int16 = DType("int16", "int", 16, numpy.int16)
int32 = DType("int32", "int", 32, numpy.int32)
int64 = DType("int64", "int", 64, numpy.int64)
uint8 = DType("uint8", "uint", 8, numpy.uint8)
uint16 = DType("uint16", "uint", 16, numpy.uint16)
uint32 = DType("uint32", "uint", 32, numpy.uint32)
uint64 = DType("uint64", "uint", 64, numpy.uint64)
float16 = DType("float16", "float", 16, numpy.float16)
bfloat16 = DType("bfloat16", "float", 16)
float32 = DType("float32", "float", 32, numpy.float32)
float64 = DType("float64", "float", 64, numpy.float64)
float8_e4m3 = DType("float8_e4m3", "float", 8)
float8_e5m2 = DType("float8_e5m2", "float", 8)
complex64 = DType("complex64", "complex", 64, numpy.complex64)
complex128 = DType("complex128", "complex", 128, numpy.complex128)

_FORMS = {float16: struct.Struct("e"), float32: struct.Struct("f")}

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
FLOATS = (float8_e4m3, float8_e5m2, float16, bfloat16, float32, float64)
COMPLEX = (complex64, complex128)
ALL = (bool_, *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX)
_PARTS = {complex64: float32, complex128: float64}

default_float = float32
default_int = int64

BY_NAME = {dtype.name: dtype for dtype in ALL}
"""The dtypes of tensors, by the name under which each is printed and saved."""

_BY_ANY_NAME = BY_NAME | {
    "half": float16, "float": float32, "double": float64, "int": int32, "long": int64,
    "short": int16, "byte": uint8, "float8_e4m3fn": float8_e4m3,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL if dtype.name not in _ML_DTYPES}
_BY_PYTHON: dict[type, DType] = {
    bool: bool_, int: default_int, float: default_float, complex: complex64,
}  # fmt: skip


def to_dtype(given: Any) -> DType:
    """The dtype that `given` names: a `DType`, a name, a NumPy dtype, or a Python type.

    >>> to_dtype("float32") is to_dtype(numpy.float32) is float32
    True
    """
    if isinstance(given, DType):
        return given
    if isinstance(given, str):
        if given in _BY_ANY_NAME:
            return _BY_ANY_NAME[given]
    elif isinstance(given, type) and given in _BY_PYTHON:
        return _BY_PYTHON[given]
    else:
        try:
            dtype = _of_numpy(numpy.dtype(given).newbyteorder("="))
        except TypeError:
            dtype = None
        if dtype is not None:
            return dtype
    raise DtypeError(
        f"unknown dtype {given!r}{nearest(str(given), _BY_ANY_NAME)}; "
        f"the dtypes are {', '.join(BY_NAME)}"
    )


def _of_numpy(given: numpy.dtype[Any]) -> DType | None:
    """The dtype whose NumPy dtype is `given`, or None."""
    dtype = _BY_NUMPY.get(given)
    if dtype is None:
        dtype = next((BY_NAME[n] for n in _ML_DTYPES if BY_NAME[n].numpy == given), None)
    return dtype


@functools.cache
def promote(left: DType, right: DType) -> DType:
    """The common dtype of `left` and `right`, as PyTorch's `promote_types` gives it."""
    if left is right:
        return left
    if left.is_storage_only or right.is_storage_only:
        raise DtypeError(
            f"{left.name} and {right.name} do not mix: the 8-bit floats are for storage; "
            "cast to a wider float first"
        )
    if left.is_bool:
        return right
    if right.is_bool:
        return left
    if left.is_complex or right.is_complex:
        return complex128 if float64 in (left.part, right.part) else complex64
    if left.is_float or right.is_float:
        if not (left.is_float and right.is_float):
            return left if left.is_float else right
        if {left, right} == {float16, bfloat16}:
            return float32
        return left if left.bits >= right.bits else right
    if left.kind == right.kind:
        return left if left.bits >= right.bits else right
    signed, unsigned = (left, right) if left.kind == "int" else (right, left)
    for candidate in SIGNED:
        if candidate.bits >= signed.bits and candidate.bits > unsigned.bits:
            return candidate
    raise DtypeError(f"no integer dtype holds both {left.name} and {right.name}; cast one of them")


_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def result_type(tensors: Iterable[tuple[DType, int]], scalars: Iterable[Any] = ()) -> DType:
    """The common dtype of `(dtype, number of axes)` operands and Python scalars.

    As in PyTorch, a tensor without axes is weaker than one with axes, and a Python number is weaker
    still. A weaker operand changes the dtype only if its category (bool < integer < float <
    complex) is higher than that of all stronger ones. A complex number is then as precise as the
    floats that it meets.

    >>> result_type([(int32, 2)], [1.5]), result_type([(float64, 2)], [1j])
    (ogive.float32, ogive.complex128)
    """
    levels: list[DType | None] = [None, None, None]
    for dtype, rank in tensors:
        level = 0 if rank else 1
        present = levels[level]
        levels[level] = dtype if present is None else promote(present, dtype)
    for scalar in scalars:
        dtype = _BY_PYTHON[type(scalar)]
        present = levels[2]
        levels[2] = dtype if present is None else promote(present, dtype)
    result: DType | None = None
    for candidate in levels:
        if candidate is None:
            continue
        if result is None or _RANK[candidate.kind] > _RANK[result.kind]:
            result = promote(result, complex64) if result and result.is_float else candidate
    assert result is not None, "result_type needs an operand"
    return result
