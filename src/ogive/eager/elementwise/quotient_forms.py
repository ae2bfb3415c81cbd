"""Forms of quotients, remainders and powers.

They refuse a division of integers by zero: the function itself raises the error, with the user's
line.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import float_pair, pair, sides
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.elementwise import arithmetic, divisors, pairwise, unary_functions

_ndarray = numpy.ndarray


def _divide(x: Any, other: Any, rounding_mode: Any) -> Any:
    """The quotient of two operands, at least one of them an array."""
    if rounding_mode is None:
        x, other = float_pair(x, other)
        return x / other
    x, other = pair(x, other)
    if rounding_mode == "floor":
        return _floor_divide(x, other)
    if rounding_mode != "trunc":
        raise Refused
    if _check_whole(x, other):
        return (x - numpy.fmod(x, other)) // other
    return numpy.trunc(x / other)


def _floor_divide(x: Any, other: Any) -> Any:
    _check_whole(x, other)
    return numpy.floor_divide(x, other)


def _remainder(x: Any, other: Any) -> Any:
    is_whole = _check_whole(x, other)
    rest = numpy.remainder(x, other)
    if is_whole or rest.all():
        return rest
    # A remainder of zero has the sign of the dividend in PyTorch, of the divisor in NumPy.
    return numpy.where(rest == 0, numpy.copysign(rest, x), rest)


def _check_whole(x: Any, other: Any) -> bool:
    """Whether promoted operands are integers. Raises `Refused` for booleans, and for a division of
    integers by zero."""
    kind = (x if x.__class__ is _ndarray else other).dtype.kind
    if kind == "b":
        raise Refused
    if kind == "f":
        return False
    if other == 0 if other.__class__ is not _ndarray else not other.all():
        raise Refused
    return True


@form(arithmetic.div)
def div(x: Any, other: Any, rounding_mode: Any = None) -> Any:
    """`x / other`."""
    return _divide(x, other, rounding_mode)


@gradient(div)
def _div(given: Any, out: Any, x: Any, other: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        return sides(x, other, lambda: numpy.zeros_like(given), lambda: numpy.zeros_like(given))
    scaled = given / other
    return sides(x, other, lambda: scaled, lambda: -scaled * (x / other))


@form(arithmetic.reflected_div)
def reflected_div(x: Any, other: Any) -> Any:
    """`other / x`, for a number or a plain tensor before an eager one."""
    return _divide(other, x, None)


@gradient(reflected_div)
def _reflected_div(given: Any, out: Any, x: Any, other: Any) -> Any:
    scaled = given / x
    return sides(x, other, lambda: -scaled * out, lambda: scaled)


@form(arithmetic.floor_divide)
def floor_divide(x: Any, other: Any) -> Any:
    """`x // other`. PyTorch has no gradient for it."""
    return _floor_divide(*pair(x, other))


@form(arithmetic.reflected_floor_divide)
def reflected_floor_divide(x: Any, other: Any) -> Any:
    """`other // x`."""
    x, other = pair(x, other)
    return _floor_divide(other, x)


@form(arithmetic.remainder)
def remainder(x: Any, other: Any) -> Any:
    """`x % other`, with the sign of the divisor."""
    return _remainder(*pair(x, other))


@gradient(remainder)
def _remainder_gradient(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: given, lambda: -given * numpy.floor_divide(x, other))


@form(arithmetic.reflected_remainder)
def reflected_remainder(x: Any, other: Any) -> Any:
    """`other % x`."""
    x, other = pair(x, other)
    return _remainder(other, x)


@gradient(reflected_remainder)
def _reflected_remainder(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: -given * numpy.floor_divide(other, x), lambda: given)


@form(pairwise.fmod)
def fmod(x: Any, other: Any) -> Any:
    """The remainder with the sign of the dividend."""
    x, other = pair(x, other)
    _check_whole(x, other)
    return numpy.fmod(x, other)


@gradient(fmod)
def _fmod(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: given, lambda: -given * numpy.trunc(x / other))


# Powers


@form(arithmetic.pow)
def power(x: Any, exponent: Any) -> Any:
    """`x ** exponent`. NumPy raises for integers to negative powers."""
    x, exponent = pair(x, exponent)
    if x.dtype.kind == "b":
        raise Refused
    if exponent.__class__ is _ndarray or x.dtype.kind != "f":
        return numpy.power(x, exponent)
    return _power(x, exponent)


@gradient(power)
def _power_gradient(given: Any, out: Any, x: Any, exponent: Any) -> Any:
    if exponent.__class__ is not _ndarray:
        if exponent == 0:
            return (numpy.zeros_like(given),)
        return (given * (_power(x, exponent - 1) * exponent),)
    to_exponent, to_base = _slopes(given, out, x, exponent)
    return sides(x, exponent, to_base, to_exponent)


@form(unary_functions.square)
def square(x: Any) -> Any:
    """x²."""
    if x.dtype.kind == "b":
        raise Refused
    return x * x


@gradient(square)
def _square(given: Any, out: Any, x: Any) -> Any:
    return (given * (x * 2),)


@form(arithmetic.reflected_pow)
def reflected_power(x: Any, other: Any) -> Any:
    """`other ** x`."""
    x, other = pair(x, other)
    if x.dtype.kind == "b":
        raise Refused
    return numpy.power(other, x)


@gradient(reflected_power)
def _reflected_power(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, *_slopes(given, out, other, x))


def _slopes(given: Any, out: Any, base: Any, exponent: Any) -> tuple[Any, Any]:
    """The gradients of a power, by its exponent and by its base."""
    return (
        lambda: numpy.where((base == 0) & (exponent >= 0), 0, given * (out * numpy.log(base))),
        lambda: numpy.where(
            exponent == 0, 0, given * (exponent * numpy.power(base, exponent - 1.0))
        ),
    )


def _power(x: Any, exponent: Any) -> Any:
    """Floats to the power of a number, by products and roots where these are as accurate."""
    if exponent == 2:
        return x * x
    if exponent == 3:
        return x * x * x
    if exponent == 1:
        return +x
    if exponent == 0.5:
        return numpy.sqrt(x)
    if exponent == -1:
        return 1 / x
    if exponent == -0.5:
        return 1 / numpy.sqrt(x)
    return numpy.power(x, exponent)


@form(divisors.gcd, apart=True)
def gcd(x: Any, other: Any) -> Any:
    """The greatest common divisor. NumPy raises for floats and booleans."""
    return numpy.gcd(*pair(x, other))


@form(divisors.lcm, apart=True)
def lcm(x: Any, other: Any) -> Any:
    """The least common multiple."""
    return numpy.lcm(*pair(x, other))
