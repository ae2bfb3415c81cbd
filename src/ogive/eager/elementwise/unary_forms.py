"""Forms of elementwise functions of one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.casts import to_float
from ogive.eager.elementwise.error_function import erf, erfc
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.elementwise import unary_compositions, unary_functions

_ROOT_OF_PI = math.sqrt(math.pi)


def _declare(
    function: Callable[..., Any], operation: Any, slope: Callable[[Any, Any], Any]
) -> None:
    """Declare a function of floats. `slope` is its derivative from argument and result.

    Integers become float32.
    """

    @form(function)
    def compute(x: Any) -> Any:
        return operation(x if x.dtype.kind == "f" else to_float(x))

    @gradient(compute)
    def _(given: Any, out: Any, x: Any) -> Any:
        return (given * slope(x, out),)


def _rsqrt(x: Any) -> Any:
    return 1 / numpy.sqrt(x)


_declare(unary_functions.exp, numpy.exp, lambda x, out: out)
_declare(unary_functions.exp2, numpy.exp2, lambda x, out: out * math.log(2))
_declare(unary_functions.expm1, numpy.expm1, lambda x, out: out + 1)
_declare(unary_functions.log, numpy.log, lambda x, out: 1 / x)
_declare(unary_functions.log2, numpy.log2, lambda x, out: 1 / (x * math.log(2)))
_declare(unary_functions.log10, numpy.log10, lambda x, out: 1 / (x * math.log(10)))
_declare(unary_functions.log1p, numpy.log1p, lambda x, out: 1 / (x + 1))
_declare(unary_functions.sin, numpy.sin, lambda x, out: numpy.cos(x))
_declare(unary_functions.cos, numpy.cos, lambda x, out: -numpy.sin(x))
_declare(unary_functions.tan, numpy.tan, lambda x, out: out * out + 1)
_declare(unary_functions.asin, numpy.arcsin, lambda x, out: _rsqrt(1 - x * x))
_declare(unary_functions.acos, numpy.arccos, lambda x, out: -_rsqrt(1 - x * x))
_declare(unary_functions.atan, numpy.arctan, lambda x, out: 1 / (x * x + 1))
_declare(unary_functions.sinh, numpy.sinh, lambda x, out: numpy.cosh(x))
_declare(unary_functions.cosh, numpy.cosh, lambda x, out: numpy.sinh(x))
_declare(unary_functions.tanh, numpy.tanh, lambda x, out: 1 - out * out)
_declare(unary_functions.asinh, numpy.arcsinh, lambda x, out: _rsqrt(x * x + 1))
_declare(unary_functions.acosh, numpy.arccosh, lambda x, out: _rsqrt(x * x - 1))
_declare(unary_functions.atanh, numpy.arctanh, lambda x, out: 1 / (1 - x * x))
_declare(unary_functions.sqrt, numpy.sqrt, lambda x, out: 1 / (out * 2))
_declare(unary_functions.rsqrt, _rsqrt, lambda x, out: -0.5 * (out * out * out))
_declare(unary_functions.reciprocal, numpy.reciprocal, lambda x, out: -out * out)
_declare(unary_functions.erf, erf, lambda x, out: numpy.exp(-x * x) * (2 / _ROOT_OF_PI))
_declare(unary_functions.erfc, erfc, lambda x, out: numpy.exp(-x * x) * (-2 / _ROOT_OF_PI))


@form(unary_functions.neg)
def neg(x: Any) -> Any:
    """-x. NumPy raises for booleans."""
    return -x


@gradient(neg)
def _neg(given: Any, out: Any, x: Any) -> Any:
    return (-given,)


@form(unary_functions.abs)
def absolute(x: Any) -> Any:
    """|x|."""
    if x.dtype.kind == "b":
        raise Refused
    return numpy.absolute(x)


@gradient(absolute)
def _absolute(given: Any, out: Any, x: Any) -> Any:
    return (given * _signs(x),)


@form(unary_functions.sign, unary_compositions.sgn)
def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return _signs(x) if x.dtype.kind == "f" else x.copy() if x.dtype.kind == "b" else numpy.sign(x)


def _signs(x: Any) -> Any:
    """The signs of floats. The sign of NaN is 0, as in PyTorch, and not NaN, as in NumPy. That of a
    complex number is a number of length 1."""
    if x.dtype.kind == "c":
        return numpy.divide(x, numpy.absolute(x), out=numpy.zeros_like(x), where=x != 0)
    return (x > 0).astype(x.dtype) - (x < 0)


# Rounding functions, with a gradient of zero.


@gradient(sign)
def _flat(given: Any, out: Any, x: Any) -> Any:
    return (numpy.zeros_like(given),)


def _declare_rounding(function: Callable[..., Any], operation: Any) -> None:
    @form(function)
    def compute(x: Any) -> Any:
        if x.dtype.kind == "b":
            raise Refused
        return operation(x) if x.dtype.kind == "f" else x.copy()

    gradient(compute)(_flat)


_declare_rounding(unary_functions.floor, numpy.floor)
_declare_rounding(unary_functions.ceil, numpy.ceil)
_declare_rounding(unary_functions.trunc, numpy.trunc)


@form(unary_functions.round)
def rounded(x: Any, decimals: Any = 0) -> Any:
    """The nearest whole number, or multiple of 10^-decimals; halves go to the even one."""
    if x.dtype.kind == "b" or decimals.__class__ is not int:
        raise Refused
    if x.dtype.kind != "f":
        return x.copy()
    if decimals == 0:
        return numpy.rint(x)
    scale = 10.0 ** abs(decimals)
    return numpy.rint(x * scale) / scale if decimals > 0 else numpy.rint(x / scale) * scale


@gradient(rounded)
def _rounded(given: Any, out: Any, x: Any, decimals: Any = 0) -> Any:
    return (numpy.zeros_like(given),)


@form(unary_compositions.frac)
def frac(x: Any) -> Any:
    """The fractional part."""
    if x.dtype.kind != "f":
        raise Refused
    return x - numpy.trunc(x)


@gradient(frac)
def _frac(given: Any, out: Any, x: Any) -> Any:
    return (given,)


# Predicates and bit operations


def _declare_question(function: Callable[..., Any], operation: Callable[[Any], Any]) -> None:
    form(function, apart=True)(operation)


_declare_question(unary_functions.isnan, lambda x: numpy.isnan(x))
_declare_question(unary_functions.isinf, lambda x: numpy.isinf(x))
_declare_question(unary_functions.isfinite, lambda x: numpy.isfinite(x))
_declare_question(unary_functions.logical_not, lambda x: numpy.logical_not(x))
_declare_question(unary_functions.bitwise_not, lambda x: numpy.invert(x))
_declare_question(unary_compositions.isposinf, lambda x: x == math.inf)
_declare_question(unary_compositions.isneginf, lambda x: x == -math.inf)
_declare_question(unary_compositions.isreal, lambda x: numpy.ones(x.shape, bool))


@form(unary_compositions.signbit, apart=True)
def signbit(x: Any) -> Any:
    """Whether x is negative, -0 included."""
    if x.dtype.kind == "f":
        return numpy.signbit(x)
    return numpy.zeros(x.shape, bool) if x.dtype.kind == "b" else x < 0


# Compositions


@form(unary_compositions.sinc)
def sinc(x: Any) -> Any:
    """sin(πx) / (πx); 1 at 0."""
    x = to_float(x)
    angle = x * math.pi
    return numpy.where(x == 0, 1, numpy.sin(angle) / angle)


@gradient(sinc)
def _sinc(given: Any, out: Any, x: Any) -> Any:
    angle = x * math.pi
    slope = (angle * numpy.cos(angle) - numpy.sin(angle)) / (angle * x)
    return (given * numpy.where(x == 0, 0, slope),)


@form(unary_compositions.logit)
def logit(x: Any, eps: Any = None) -> Any:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps] if `eps` is given."""
    x = to_float(x)
    if eps is not None:
        x = numpy.minimum(numpy.maximum(x, eps), 1 - eps)
    return numpy.log(x / (1 - x))


@gradient(logit)
def _logit(given: Any, out: Any, x: Any, eps: Any = None) -> Any:
    slope = given / (x * (1 - x))
    if eps is None:
        return (numpy.where((x < 0) | (x > 1), math.nan, slope),)
    return (numpy.where((x < eps) | (x > 1 - eps), 0, slope),)


@form(unary_compositions.nan_to_num)
def nan_to_num(x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN becomes `nan`, ∞ `posinf` and -∞ `neginf`."""
    if x.dtype.kind != "f":
        return x.copy()
    greatest = float(numpy.finfo(x.dtype).max)
    finite = numpy.where(x == math.inf, greatest if posinf is None else posinf, x)
    finite = numpy.where(x == -math.inf, -greatest if neginf is None else neginf, finite)
    return numpy.where(x != x, 0.0 if nan is None else nan, finite)


@gradient(nan_to_num)
def _nan_to_num(
    given: Any, out: Any, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None
) -> Any:
    return (numpy.where(numpy.isfinite(x), given, 0),)
