"""Elementwise functions.

Most are methods of `Tensor` under the standard's name. The differences: two operands are promoted
by their dtypes alone, whatever their number of axes; `sign` of NaN is NaN; `clip` keeps the dtype;
quotients of infinities and signs of zero remainders follow the standard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.dtype import promote, result_type
from ogive.errors import ArgumentTypeError
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

Unary = Callable[[Tensor], Tensor]
Binary = Callable[[Any, Any], Tensor]


def to_array(x: Any, name: str) -> Tensor:
    """Check that an argument is a tensor, and return it. Raises `ArgumentTypeError`."""
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(
            f"{name} takes tensors, not {type(x).__name__}; make one with ogive.asarray"
        )
    return x


def to_operands(x1: Any, x2: Any, name: str) -> tuple[Any, Any]:
    """Two operands, at most one of them a Python number, in their promoted dtype."""
    if isinstance(x1, Tensor) and isinstance(x2, Tensor):
        if x1.dtype is not x2.dtype:
            dtype = promote(x1.dtype, x2.dtype)
            return x1.cast(dtype), x2.cast(dtype)
        return x1, x2
    to_array(x1 if not isinstance(x2, Tensor) else x2, name)
    return x1, x2


def _unary(name: str, method: str | None = None) -> Unary:
    """The function that calls a method without arguments."""
    called = method or name

    def function(x: Tensor, /) -> Tensor:
        result: Tensor = getattr(to_array(x, name), called)()
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`x.{called}()`, elementwise. Shapes: unchanged."
    return function


def _binary(name: str, method: str | None = None) -> Binary:
    """The function that calls a method with one argument."""
    called = method or name

    def function(x1: Any, x2: Any, /) -> Tensor:
        first, second = to_operands(x1, x2, name)
        if not isinstance(first, Tensor):
            first = Tensor(first, result_type([(second.dtype, 1)], [first]))
        result: Tensor = getattr(first, called)(second)
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`x1.{called}(x2)`, elementwise. Shapes broadcast."
    return function


abs = _unary("abs")
acos = _unary("acos")
acosh = _unary("acosh")
asin = _unary("asin")
asinh = _unary("asinh")
atan = _unary("atan")
atanh = _unary("atanh")
bitwise_invert = _unary("bitwise_invert", "bitwise_not")
ceil = _unary("ceil")
conj = _unary("conj")
cos = _unary("cos")
cosh = _unary("cosh")
exp = _unary("exp")
expm1 = _unary("expm1")
floor = _unary("floor")
isfinite = _unary("isfinite")
isinf = _unary("isinf")
isnan = _unary("isnan")
log = _unary("log")
log10 = _unary("log10")
log1p = _unary("log1p")
log2 = _unary("log2")
logical_not = _unary("logical_not")
negative = _unary("negative")
positive = _unary("positive")
reciprocal = _unary("reciprocal")
signbit = _unary("signbit")
sin = _unary("sin")
sinh = _unary("sinh")
sqrt = _unary("sqrt")
square = _unary("square")
tan = _unary("tan")
tanh = _unary("tanh")
trunc = _unary("trunc")

add = _binary("add")
atan2 = _binary("atan2")
bitwise_and = _binary("bitwise_and")
bitwise_left_shift = _binary("bitwise_left_shift")
bitwise_or = _binary("bitwise_or")
bitwise_right_shift = _binary("bitwise_right_shift")
bitwise_xor = _binary("bitwise_xor")
copysign = _binary("copysign")
divide = _binary("divide")
equal = _binary("equal", "eq")
greater = _binary("greater")
greater_equal = _binary("greater_equal")
hypot = _binary("hypot")
less = _binary("less")
less_equal = _binary("less_equal")
logaddexp = _binary("logaddexp")
logical_and = _binary("logical_and")
logical_or = _binary("logical_or")
logical_xor = _binary("logical_xor")
maximum = _binary("maximum")
minimum = _binary("minimum")
multiply = _binary("multiply")
nextafter = _binary("nextafter")
not_equal = _binary("not_equal")
pow = _binary("pow")
subtract = _binary("subtract")


def _with_sides(x1: Any, x2: Any, name: str) -> tuple[Tensor, Tensor]:
    """Two operands as tensors of their promoted dtype."""
    first, second = to_operands(x1, x2, name)
    if not isinstance(first, Tensor):
        first = Tensor(first, result_type([(second.dtype, 1)], [first]))
    if not isinstance(second, Tensor):
        second = Tensor(second, result_type([(first.dtype, 1)], [second]))
    dtype = promote(first.dtype, second.dtype)
    return first.cast(dtype), second.cast(dtype)


def floor_divide(x1: Any, x2: Any, /) -> Tensor:
    """The quotient, rounded down; with infinities, x1 / x2. Shapes broadcast.

    >>> ogive.floor_divide(Tensor([7.0, ogive.inf, 1.0]), Tensor([2.0, 2.0, -ogive.inf])).tolist()
    [3.0, inf, -0.0]
    """
    first, second = _with_sides(x1, x2, "floor_divide")
    quotient = first.floor_divide(second)
    if not quotient.dtype.is_float:
        return quotient
    return where(first.isinf() | second.isinf(), (first / second).floor(), quotient)


def remainder(x1: Any, x2: Any, /) -> Tensor:
    """The remainder of a division rounded down. It has the sign of x2, even if it is 0.

    Shapes broadcast.

    >>> ogive.remainder(Tensor([-7.0, -6.0]), Tensor([3.0, 3.0])).tolist()
    [2.0, 0.0]
    """
    first, second = _with_sides(x1, x2, "remainder")
    rest = first.remainder(second)
    return where(rest.eq(0), rest.copysign(second), rest) if rest.dtype.is_float else rest


def real(x: Tensor, /) -> Tensor:
    """The real part. Shapes: unchanged.

    >>> ogive.real(Tensor([1 + 2j])).tolist()
    [1.0]
    """
    return to_array(x, "real").real


def imag(x: Tensor, /) -> Tensor:
    """The imaginary part. Shapes: unchanged.

    >>> ogive.imag(Tensor([1 + 2j])).tolist()
    [2.0]

    Raises `DtypeError` for a real tensor.
    """
    return to_array(x, "imag").imag


def round(x: Tensor, /) -> Tensor:
    """The nearest whole number, with halves to the even one. Complex numbers are rounded by parts.

    Shapes: unchanged.

    >>> ogive.round(Tensor([0.5, 1.5])).tolist(), ogive.round(Tensor([1.7 - 0.2j])).tolist()
    ([0.0, 2.0], [(2-0j)])
    """
    if not to_array(x, "round").dtype.is_complex:
        return x.round()
    from ogive.tensor.elementwise.complex_numbers import complex

    return complex(x.real.round(), x.imag.round())


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; z / |z| for complex numbers; NaN stays. Shapes: unchanged.

    >>> ogive.sign(Tensor([-2.5, 0.0, float("nan")])).tolist()
    [-1.0, 0.0, nan]
    """
    signs = to_array(x, "sign").sgn()
    return where(x.isnan(), x, signs) if x.dtype.is_float else signs


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """The values clamped to the bounds `min` and `max`; None means no bound.

    Shapes: the bounds broadcast with x. The dtype is that of x.

    >>> ogive.clip(Tensor([1, 5, 9]), 2, 8).tolist()
    [2, 5, 8]
    """
    own = to_array(x, "clip")
    if min is None and max is None:
        return own.clone()
    return own.clamp(min, max).cast(own.dtype)
