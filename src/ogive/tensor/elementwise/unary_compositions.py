"""Functions of one tensor, element by element, composed of the operations of `unary_functions`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.core import wrap
from ogive.tensor.elementwise.binary_operations import (
    EQ,
    NUMBERS,
    combine,
    float_dtype,
    inexact_dtype,
    refuse,
)
from ogive.tensor.elementwise.pairwise import meet, only_floats
from ogive.tensor.elementwise.unary_functions import all_elements, on_complex
from ogive.tensor.movement.joining import where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Parts(NamedTuple):
    """A number as a fraction and a power of two."""

    mantissa: Tensor
    exponent: Tensor


def positive(self: Tensor) -> Tensor:
    """+x: this tensor itself. Shapes: unchanged.

    >>> (+Tensor([1, -2])).tolist()
    [1, -2]

    Raises `DtypeError` for bool.
    """
    if self.dtype not in NUMBERS and not self.dtype.is_complex:
        raise refuse(self.dtype, "positive", "cast to an integer or float dtype first")
    return self


def frac(self: Tensor) -> Tensor:
    """The digits behind the point, with the sign of x. Shapes: unchanged.

    >>> Tensor([1.5, -2.25]).frac().tolist()
    [0.5, -0.25]

    Raises `DtypeError` for integers and bool.
    """
    only_floats(self.dtype, "frac")
    return self.sub(self.trunc())


def sgn(self: Tensor) -> Tensor:
    """`sign`; of complex numbers z / |z|, and 0 at 0. Shapes: unchanged.

    >>> Tensor([-2.5, 0.0]).sgn().tolist(), Tensor([2j]).sgn().tolist()
    ([-1.0, 0.0], [1j])
    """
    if self.dtype.is_complex:
        return on_complex("sign", self)
    return self.sign()


def signbit(self: Tensor) -> Tensor:
    """Whether x is negative, -0 included. Shapes: unchanged; the result is bool.

    >>> Tensor([-0.0, 0.0, 1.0]).signbit().tolist()
    [True, False, False]
    """
    if self.dtype.is_float:
        return one_like(self).copysign(self).lt(0)
    return self.lt(0)


def sinc(self: Tensor) -> Tensor:
    """sin(πx) / (πx), and 1 at 0. Shapes: unchanged.

    >>> Tensor([0.0, 0.5]).sinc().tolist() == [1.0, Tensor(2 / math.pi).item()]
    True
    """
    x, angle, dtype = meet(self, math.pi, "sinc", inexact_dtype)
    # Avoids a division by 0, whose gradient would be NaN.
    angle = where(x.eq(0), 1, x * angle)
    return where(x.eq(0), 1, angle.sin() / angle).cast(dtype)


def angle(self: Tensor) -> Tensor:
    """The angle to the positive numbers, of real ones π below 0 and 0 above; NaN stays.

    Shapes: unchanged.

    >>> Tensor([-1.0, 2.0]).angle().tolist() == [Tensor(math.pi).item(), 0.0]
    True
    """
    if self.dtype.is_complex:
        return on_complex("angle", self)
    x, zero, dtype = meet(self, 0.0, "angle", float_dtype)
    return where(x < 0, math.pi, where(x.isnan(), x, zero)).cast(dtype)


def frexp(self: Tensor) -> Parts:
    """`mantissa` · 2^`exponent`, with ½ ≤ |mantissa| < 1; ∞ and NaN stay, with exponent 0.

    Shapes: unchanged; the exponent is int32.

    >>> mantissa, exponent = Tensor([6.0]).frexp()
    >>> mantissa.tolist(), exponent.tolist()
    ([0.75], [3])

    Raises `DtypeError` for integers and bool.
    """
    dtype = only_floats(self.dtype, "frexp")
    x = self.cast(dtypes.float64)
    small = x.abs() < 2.0**-1000
    lifted = where(small, x * 2.0**64, x)
    exponent = ((lifted.bitcast(dtypes.int64) >> 52) & 0x7FF) - 1022
    # The bits are those of 2^(2 - exponent): 2^-exponent may be subnormal.
    factor = ((1025 - exponent) << 52).bitcast(dtypes.float64)
    plain = x.isfinite() & x.ne(0)
    whole = where(plain, exponent - where(small, 64, 0), 0).cast(dtypes.int32)
    return Parts(where(plain, lifted * factor * 0.25, x).cast(dtype), whole)


def deg2rad(self: Tensor) -> Tensor:
    """An angle in degrees as radians. Shapes: unchanged.

    >>> Tensor([0.0]).deg2rad().tolist()
    [0.0]
    """
    return self.mul(math.pi / 180)


def rad2deg(self: Tensor) -> Tensor:
    """An angle in radians as degrees. Shapes: unchanged.

    >>> Tensor([0.0]).rad2deg().tolist()
    [0.0]
    """
    return self.mul(180 / math.pi)


def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of `sigmoid`; `eps` keeps x inside [eps, 1 - eps].

    Shapes: unchanged. NaN outside [0, 1] where there is no `eps`.

    >>> Tensor([0.5]).logit().tolist()
    [0.0]
    """
    x, one, dtype = meet(self, 1.0, "logit", float_dtype)
    if eps is not None:
        x = x.clamp(eps, 1 - eps)
    return (x / (one - x)).log().cast(dtype)


def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN becomes `nan` (0), ∞ `posinf` and -∞ `neginf` (the greatest and least of the dtype).

    Shapes: unchanged.

    >>> Tensor([1.0, float("nan"), float("inf")]).nan_to_num(posinf=9).tolist()
    [1.0, 0.0, 9.0]
    """
    if self.dtype.is_complex:
        from ogive.tensor.elementwise.complex_numbers import view_as_complex, view_as_real

        return view_as_complex(view_as_real(self).nan_to_num(nan, posinf, neginf))
    if not self.dtype.is_float:
        with graph_lock:
            return wrap(self.node, self.device)
    import ml_dtypes

    greatest = float(ml_dtypes.finfo(self.dtype.numpy).max)
    finite = where(self.isposinf(), greatest if posinf is None else posinf, self)
    finite = where(self.isneginf(), -greatest if neginf is None else neginf, finite)
    return where(self.isnan(), 0.0 if nan is None else nan, finite)


def isposinf(self: Tensor) -> Tensor:
    """Whether x is ∞. Shapes: unchanged; the result is bool.

    >>> Tensor([float("inf"), float("-inf")]).isposinf().tolist()
    [True, False]
    """
    return _is_number(self, math.inf, "isposinf")


def isneginf(self: Tensor) -> Tensor:
    """Whether x is -∞. Shapes: unchanged; the result is bool.

    >>> Tensor([float("inf"), float("-inf")]).isneginf().tolist()
    [False, True]
    """
    return _is_number(self, -math.inf, "isneginf")


def isreal(self: Tensor) -> Tensor:
    """Whether x has no imaginary part. Shapes: unchanged; the result is bool.

    >>> Tensor([1.5]).isreal().tolist()
    [True]
    """
    return on_complex("is_real", self) if self.dtype.is_complex else all_elements(self, True)


def _is_number(x: Tensor, number: float, name: str) -> Tensor:
    """Where x equals a number (such as ∞) that only floats can hold."""
    if x.dtype.is_complex:
        raise refuse(x.dtype, name, "")
    return combine(EQ, x, number) if x.dtype.is_float else all_elements(x, False)


def one_like(x: Tensor) -> Tensor:
    """A scalar 1 of the dtype of `x`."""
    with graph_lock:
        return wrap(build.constant(x.dtype, 1), x.device)
