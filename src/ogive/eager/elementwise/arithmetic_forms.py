"""Forms of elementwise arithmetic, except quotients and powers (`quotient_forms.py`)."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import float_pair, pair, sides, unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.elementwise import arithmetic, pairwise

_ndarray = numpy.ndarray


@form(arithmetic.add)
def add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`x + alpha * other`."""
    x, other = pair(x, other)
    return x + (other if alpha == 1 else _scaled(x, other, alpha))


@gradient(add)
def _add(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return sides(x, other, lambda: given, lambda: given if alpha == 1 else given * alpha)


@form(arithmetic.sub)
def sub(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`x - alpha * other`."""
    _refuse_masks(x, other)
    x, other = pair(x, other)
    return x - (other if alpha == 1 else _scaled(x, other, alpha))


@gradient(sub)
def _sub(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return sides(x, other, lambda: given, lambda: given * -alpha)


@form(arithmetic.reflected_sub)
def reflected_sub(x: Any, other: Any) -> Any:
    """`other - x`."""
    _refuse_masks(x, other)
    x, other = pair(x, other)
    return other - x


@gradient(reflected_sub)
def _reflected_sub(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: -given, lambda: given)


@form(arithmetic.mul)
def mul(x: Any, other: Any) -> Any:
    """`x * other`."""
    x, other = pair(x, other)
    return x * other


@gradient(mul)
def _mul(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: given * other, lambda: given * x)


@form(pairwise.addcmul)
def addcmul(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """`x + value * tensor1 * tensor2`, of floats."""
    _need_floats(x, tensor1, tensor2)
    first, second = pair(tensor1, tensor2)
    product = first * second if value == 1 else first * value * second
    x, product = pair(x, numpy.asarray(product))
    return x + product


@gradient(addcmul)
def _addcmul(given: Any, out: Any, x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    scaled = given if value == 1 else given * value
    products = sides(tensor1, tensor2, lambda: scaled * tensor2, lambda: scaled * tensor1)
    return (unbroadcast(given, x), *products)


@form(pairwise.addcdiv)
def addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """`x + value * tensor1 / tensor2`, of floats."""
    _need_floats(x, tensor1, tensor2)
    first, second = pair(tensor1, tensor2)
    quotient = first / second if value == 1 else first * value / second
    x, quotient = pair(x, numpy.asarray(quotient))
    return x + quotient


@gradient(addcdiv)
def _addcdiv(given: Any, out: Any, x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    scaled = (given if value == 1 else given * value) / tensor2
    parts = sides(tensor1, tensor2, lambda: scaled, lambda: -scaled * (tensor1 / tensor2))
    return (unbroadcast(given, x), *parts)


@form(arithmetic.lerp)
def lerp(x: Any, end: Any, weight: Any) -> Any:
    """`x + weight * (end - x)`, from the nearer end, so that a weight of 1 gives `end`."""
    _need_floats(x, end)
    x, end = pair(x, end)
    distance = end - x
    if weight.__class__ is _ndarray:
        _need_floats(weight)
        distance, weight = pair(numpy.asarray(distance), weight)
        near = abs(weight) < 0.5
        return numpy.where(near, x + weight * distance, end - distance * (1 - weight))
    if weight.__class__ not in (int, float):
        raise Refused
    return x + distance * weight if abs(weight) < 0.5 else end - distance * (1 - weight)


@gradient(lerp)
def _lerp(given: Any, out: Any, x: Any, end: Any, weight: Any) -> Any:
    ends = sides(x, end, lambda: given * (1 - weight), lambda: given * weight)
    if weight.__class__ is not _ndarray:
        return ends
    return (*ends, unbroadcast(given * (end - x), weight))


@form(arithmetic.atan2)
def atan2(x: Any, other: Any) -> Any:
    """The angle of the point (other, x)."""
    return numpy.arctan2(*float_pair(x, other))


@gradient(atan2)
def _atan2(given: Any, out: Any, x: Any, other: Any) -> Any:
    scaled = given / (x * x + other * other)
    return sides(x, other, lambda: scaled * other, lambda: scaled * -x)


@form(arithmetic.copysign)
def copysign(x: Any, other: Any) -> Any:
    """The magnitude of `x` with the signs of `other`."""
    return numpy.copysign(*float_pair(x, other))


@gradient(copysign)
def _copysign(given: Any, out: Any, x: Any, other: Any) -> Any:
    ratio = numpy.where(x == 0, 0, out / x)
    return sides(x, other, lambda: given * ratio, lambda: numpy.zeros_like(given))


@form(pairwise.hypot)
def hypot(x: Any, other: Any) -> Any:
    """√(x² + other²)."""
    x, other = _only_floats(x, other)
    return numpy.hypot(x, other)


@gradient(hypot)
def _hypot(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: given * (x / out), lambda: given * (other / out))


@form(pairwise.logaddexp)
def logaddexp(x: Any, other: Any) -> Any:
    """log(eˣ + e^other)."""
    x, other = _only_floats(x, other)
    return numpy.logaddexp(x, other)


@gradient(logaddexp)
def _logaddexp(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(
        x, other,
        lambda: given / (1 + numpy.exp(other - x)), lambda: given / (1 + numpy.exp(x - other)),
    )  # fmt: skip


@form(pairwise.xlogy)
def xlogy(x: Any, other: Any) -> Any:
    """x · log(other); 0 where `x` is 0 and `other` is not NaN."""
    x, other = float_pair(x, other)
    logarithm = numpy.log(other)
    if logarithm.__class__ is not numpy.ndarray:
        logarithm = float(logarithm)  # a Python float, so that float32 stays float32
    return numpy.where((x == 0) & (other == other), 0, x * logarithm)


@gradient(xlogy)
def _xlogy(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(
        x, other,
        lambda: given * numpy.where((x == 0) & (other <= 0), 0, numpy.log(other)),
        lambda: given * x / other,
    )  # fmt: skip


def _scaled(x: Any, other: Any, alpha: Any) -> Any:
    """`alpha * other`. Raises `Refused` for a float with integers, and for booleans."""
    if alpha.__class__ is not int and (alpha.__class__ is not float or x.dtype.kind != "f"):
        raise Refused
    if x.dtype.kind == "b":
        raise Refused
    return other * alpha


def _refuse_masks(x: Any, other: Any) -> None:
    if x.dtype.kind == "b" or other.__class__ is bool:
        raise Refused
    if other.__class__ is _ndarray and other.dtype.kind == "b":
        raise Refused


def _need_floats(*arrays: Any) -> None:
    """Raise `Refused` unless all are arrays of one float dtype."""
    for array in arrays:
        if array.dtype.kind != "f" or array.dtype != arrays[0].dtype:
            raise Refused


def _only_floats(x: Any, other: Any) -> tuple[Any, Any]:
    """Two operands, promoted. Raises `Refused` unless their promoted dtype is a float."""
    x, other = pair(x, other)
    if x.dtype.kind != "f":
        raise Refused
    return x, other
