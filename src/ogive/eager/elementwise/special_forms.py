"""Forms of special functions: a few numbers one by one, by Python's own or by series."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.elementwise import special_functions

MOST = 1 << 12
"""Up to how many elements one by one is faster than a kernel."""

_TERMS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 5 / 660, -691 / 32760, 1 / 12)
"""B₂ₖ / 2k for k from 1 on, with which ψ goes on beyond log x - 1 / 2x."""

_FAR = 8
"""From where on these terms give all bits."""


def _each(function: Callable[[float], float], x: Any) -> Any:
    if x.dtype.kind != "f" or x.size > MOST:
        raise Refused
    return numpy.array([function(value) for value in x.ravel().tolist()], x.dtype).reshape(x.shape)


def _digamma(x: float) -> float:
    """ψ(x): from x + n, where the series is good, down by ψ(x) = ψ(x + 1) - 1 / x."""
    if not x > 0:
        raise Refused  # the poles, and what is beyond them
    total = 0.0
    while x < _FAR:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = 0.0
    for term in reversed(_TERMS):
        series = (series + term) * square
    return total + math.log(x) - 0.5 / x - series


def _trigamma(x: float) -> float:
    """The derivative of ψ, likewise."""
    if not x > 0:
        raise Refused
    total = 0.0
    while x < _FAR:
        total += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = 0.0
    for place, term in reversed(list(enumerate(_TERMS, 1))):
        series = (series + 2 * place * term) * square
    return total + 1 / x + square / 2 + series / x


@form(special_functions.lgamma)
def lgamma(x: Any) -> Any:
    """log |Γ(x)|."""
    if x.size and not numpy.minimum.reduce(x, None) > 0:
        raise Refused
    return _each(math.lgamma, x)


@gradient(lgamma)
def _lgamma(given: Any, out: Any, x: Any) -> Any:
    return (given * _each(_digamma, x),)


@form(special_functions.digamma)
def digamma(x: Any) -> Any:
    """The derivative of `lgamma`."""
    return _each(_digamma, x)


@gradient(digamma)
def _slope(given: Any, out: Any, x: Any) -> Any:
    return (given * _each(_trigamma, x),)


@functools.cache
def _inverse() -> Callable[[float], float]:
    """The inverse of the normal distribution function, whose module takes 10 ms to load."""
    from statistics import NormalDist

    return NormalDist().inv_cdf


def _erfinv(y: float) -> float:
    if abs(y) < 1e-6:
        return y * math.sqrt(math.pi) / 2  # (1 + y) / 2 would lose its digits
    return _inverse()((1 + y) / 2) / math.sqrt(2)


@form(special_functions.erfinv)
def erfinv(y: Any) -> Any:
    """The inverse of erf, between its limits."""
    if y.size and not numpy.maximum.reduce(abs(y), None) < 1:
        raise Refused
    if y.dtype.itemsize > 4:
        raise Refused  # near 0 and 1 not all digits would be right
    return _each(_erfinv, y)


@gradient(erfinv)
def _erfinv_slope(given: Any, out: Any, y: Any) -> Any:
    return (given * numpy.exp(out * out) * (math.sqrt(math.pi) / 2),)
