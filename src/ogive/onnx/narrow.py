"""Types of elements that are no dtype here: integers of 4 and 2 bits, and some small floats.

A value of such a type is `Narrow`: its elements are held in a dtype that has all of them, int8 and
uint8 for the integers, float32 for the floats. Operators that compute get those; operators that
only move elements make narrow values of narrow ones (`MOVING`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.errors import FileError
from ogive.named import NamedTuple
from ogive.tensor.tensor import Tensor

Array = numpy.ndarray[Any, Any]

MOVING = {
    "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape",
    "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
}  # fmt: skip
"""Operators whose outputs have the type of their first input."""


class Form(NamedTuple):
    """A type: its name, that of `ml_dtypes` for it, its bits, and the dtype that holds it.

    A float has as many digits of its mantissa after the point, a least exponent, and a largest
    number; `is_finite` says that it has neither infinities nor NaN.
    """

    name: str
    plain: str
    bits: int
    held: DType
    digits: int = 0
    least: int = 0
    largest: float = 0.0
    is_finite: bool = False


FORMS: dict[int, Form] = {
    18: Form("float8e4m3fnuz", "float8_e4m3fnuz", 8, dtypes.float32, 3, -7, 240.0),
    20: Form("float8e5m2fnuz", "float8_e5m2fnuz", 8, dtypes.float32, 2, -15, 57344.0),
    21: Form("uint4", "uint4", 4, dtypes.uint8),
    22: Form("int4", "int4", 4, dtypes.int8),
    23: Form("float4e2m1", "float4_e2m1fn", 4, dtypes.float32, 1, 0, 6.0, True),
    24: Form("float8e8m0", "float8_e8m0fnu", 8, dtypes.float32),
    25: Form("uint2", "uint2", 2, dtypes.uint8),
    26: Form("int2", "int2", 2, dtypes.int8),
}
"""By the numbers that ONNX gives to types of elements."""

E8M0 = 24


class Narrow:
    """A value of a narrow type: known elements or a tensor of the dtype that holds them."""

    def __init__(self, element: int, held: Array | Tensor) -> None:
        self.element = element
        self.held = held
        self.shape = held.shape
        self.ndim = held.ndim

    @property
    def form(self) -> Form:
        """The name of its type."""
        return FORMS[self.element]

    def array(self) -> Array:
        """The elements as an array of the type's own NumPy dtype."""
        held = self.held.numpy() if isinstance(self.held, Tensor) else self.held
        return held.astype(plain_dtype(self.form))


def plain_dtype(form: Form) -> numpy.dtype[Any]:
    """The NumPy dtype of a form."""
    import ml_dtypes

    dtype: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, form.plain))
    return dtype


def element_named(name: str) -> int | None:
    """The number of a narrow type, by its name here or that of its NumPy dtype."""
    for element, form in FORMS.items():
        if name in (form.name, form.plain):
            return element
    return None


def from_array(element: int, array: Array) -> Narrow:
    """An array of the type's own NumPy dtype as a value."""
    return Narrow(element, Tensor.from_numpy(array.astype(FORMS[element].held.name)))


def unpack(element: int, raw: bytes, shape: tuple[int, ...]) -> Narrow:
    """The elements that lie in bytes, the first in the lowest bits. Raises `FileError`."""
    form = FORMS[element]
    count, each = math.prod(shape), 8 // form.bits
    if len(raw) != -(-count // each):
        raise FileError(f"{len(raw)} bytes for {count} elements of {form.name}, {each} in a byte")
    words: Array = numpy.frombuffer(raw, numpy.uint8)
    if each > 1:
        shifts = numpy.arange(0, 8, form.bits, dtype=numpy.uint8)
        words = (words[:, None] >> shifts & (1 << form.bits) - 1).reshape(-1)[:count]
    words = words.astype(numpy.uint8)
    if form.held is dtypes.int8:
        top = 1 << (form.bits - 1)
        words = (words.astype(numpy.int16) ^ top) - top
    elif form.held is dtypes.float32:
        words = words.view(plain_dtype(form))
    return Narrow(element, words.astype(form.held.name).reshape(shape))


def narrow(x: Tensor, element: int, saturate: bool = True, mode: str = "up") -> Narrow:
    """Numbers as those of a narrow type: integers wrap, floats are rounded to the nearest.

    With `saturate` floats too large are the largest, without they are NaN. `mode` is how powers of
    two (float8e8m0) are rounded: "up", "down" or "nearest".
    """
    form = FORMS[element]
    if element == E8M0:
        return Narrow(element, _to_powers(x.cast(dtypes.float32), saturate, mode))
    if form.held is dtypes.float32:
        return Narrow(element, _to_floats(x.cast(dtypes.float32), form, saturate))
    whole = x.cast(dtypes.int32)
    top = 1 << (form.bits - 1) if form.held is dtypes.int8 else 0
    return Narrow(element, (((whole + top) & (1 << form.bits) - 1) - top).cast(form.held))


def _exponents(x: Tensor) -> Tensor:
    """The exponents of floats, as they lie in their bits: 127 for 1."""
    return (x.bitcast(dtypes.int32) >> 23) & 255


def _power(exponents: Tensor) -> Tensor:
    """The float of each exponent, 127 for 1."""
    return (exponents << 23).bitcast(dtypes.float32)


def _to_floats(x: Tensor, form: Form, saturate: bool) -> Tensor:
    step = _power(_exponents(x).clamp(form.least + 127, 254) - form.digits)
    rounded = (x / step).round() * step
    if saturate or form.is_finite:
        limited = rounded.clamp(-form.largest, form.largest)
    else:
        nothing = float("nan")
        limited = (rounded * 0 + nothing).where(rounded.abs() > form.largest, rounded)
    limited = limited + 0.0  # these types have no -0 or do not tell it apart
    return (x * 0).nan_to_num(0.0).where(x.isnan(), limited) if form.is_finite else limited


def _to_powers(x: Tensor, saturate: bool, mode: str) -> Tensor:
    exponents = _exponents(x)
    fraction = x.bitcast(dtypes.int32) & (1 << 23) - 1
    half = 1 << 22
    if mode == "up":
        more = fraction > 0
    elif mode == "nearest":
        more = (fraction > half).logical_or((fraction == half).logical_and(exponents > 0))
    else:
        more = fraction < 0
    if saturate:
        more = more.logical_and(exponents < 254)
    risen = exponents + more.cast(dtypes.int32)
    smallest = (risen * 0 + half).bitcast(dtypes.float32)  # 2 ** -127, which is no normal float
    power = smallest.where(risen == 0, _power(risen.clamp(1, 254)))
    nothing = power * 0 + float("nan")
    return nothing.where((exponents == 255).logical_or(risen == 255), power)
