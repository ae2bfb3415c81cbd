"""Forms of comparisons, logic and bit operations. No gradient flows through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.casts import check_together, pair
from ogive.eager.forms import NOT_DONE, Refused, form, is_captured
from ogive.eager.from_plain import take_up
from ogive.tensor.core import Core
from ogive.tensor.elementwise import arithmetic, pairwise
from ogive.tensor.tensor import Tensor

_ndarray = numpy.ndarray


def _declare(operation: Any, *functions: Callable[..., Any]) -> None:
    """Declare a form that is a NumPy operation on promoted operands."""

    @form(*functions, apart=True)
    def compute(x: Any, other: Any) -> Any:
        return operation(*pair(x, other))


_declare(numpy.less, arithmetic.lt)
_declare(numpy.less_equal, arithmetic.le)
_declare(numpy.greater, arithmetic.gt)
_declare(numpy.greater_equal, arithmetic.ge)
_declare(numpy.equal, arithmetic.eq, arithmetic.is_equal)
_declare(numpy.not_equal, arithmetic.ne, arithmetic.is_unequal)
_declare(numpy.bitwise_and, arithmetic.bitwise_and)
_declare(numpy.bitwise_or, arithmetic.bitwise_or)
_declare(numpy.bitwise_xor, arithmetic.bitwise_xor)


def _declare_logic(operation: Any, function: Callable[..., Any]) -> None:
    """Declare a form that depends only on whether its operands are nonzero."""

    @form(function, apart=True)
    def compute(x: Any, other: Any) -> Any:
        if other.__class__ is _ndarray:
            check_together(x, other)
        elif other.__class__ not in (bool, int, float):
            raise Refused
        return operation(x, other)


_declare_logic(numpy.logical_and, arithmetic.logical_and)
_declare_logic(numpy.logical_or, arithmetic.logical_or)
_declare_logic(numpy.logical_xor, arithmetic.logical_xor)


@form(arithmetic.bitwise_left_shift, apart=True)
def left_shift(x: Any, other: Any) -> Any:
    """`x << other`."""
    return _shift(numpy.left_shift, *pair(x, other))


@form(arithmetic.bitwise_right_shift, apart=True)
def right_shift(x: Any, other: Any) -> Any:
    """`x >> other`."""
    return _shift(numpy.right_shift, *pair(x, other))


@form(arithmetic.reflected_left_shift, apart=True)
def reflected_left_shift(x: Any, other: Any) -> Any:
    """`other << x`."""
    x, other = pair(x, other)
    return _shift(numpy.left_shift, other, x)


@form(arithmetic.reflected_right_shift, apart=True)
def reflected_right_shift(x: Any, other: Any) -> Any:
    """`other >> x`."""
    x, other = pair(x, other)
    return _shift(numpy.right_shift, other, x)


def _shift(operation: Any, x: Any, count: Any) -> Any:
    """A shift of promoted operands. Raises `Refused` for counts out of range."""
    bits = (x if x.__class__ is _ndarray else count).dtype
    if bits.kind == "b" or not numpy.all((count >= 0) & (count < bits.itemsize * 8)):
        raise Refused
    return operation(x, count)


@form(pairwise.isclose, apart=True)
def isclose(x: Any, other: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Whether |x - other| ≤ atol + rtol · |other|."""
    if x.dtype != other.dtype or rtol < 0 or atol < 0:
        raise Refused
    check_together(x, other)
    close = x == other
    if rtol or atol:
        a, b = (x, other) if x.dtype.kind in "fc" else (x.astype(float), other.astype(float))
        error = abs(a - b)
        close = close | (numpy.isfinite(error) & (error <= abs(b * rtol) + atol))
    return close | (numpy.isnan(x) & numpy.isnan(other)) if equal_nan else close


# Functions that give a Python value are not forms.


def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether `isclose` holds for all elements."""
    try:
        return bool(isclose(*_arrays(self, other), rtol, atol, equal_nan).all())
    except NOT_DONE:
        return pairwise.allclose(self, other, rtol, atol, equal_nan)


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    try:
        x, y = _arrays(self, other)
        if x.dtype != y.dtype:
            raise Refused
        return x.shape == y.shape and bool((x == y).all())
    except NOT_DONE:
        return pairwise.equal(self, other)


def _arrays(self: Tensor, other: Any) -> tuple[Any, Any]:
    if is_captured() or not isinstance(other, Core) or not (other.is_eager or take_up(other)):
        raise Refused
    return self.value, other.value


METHODS = {"allclose": allclose, "equal": equal}
