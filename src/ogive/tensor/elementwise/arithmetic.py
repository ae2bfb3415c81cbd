"""Arithmetic, comparison, bitwise and logical operations as methods of tensors, with operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, DivisionByZeroError, DtypeError
from ogive.tensor import build
from ogive.tensor.core import Core, to_operand, wrap
from ogive.tensor.elementwise.binary_operations import (
    ADD,
    AND,
    ATAN2,
    COPYSIGN,
    DIV,
    EQ,
    FLOORDIV,
    LE,
    LT,
    MAXIMUM,
    MINIMUM,
    MOD,
    MUL,
    NE,
    OR,
    POW,
    SHL,
    SHR,
    SUB,
    XOR,
    combine,
    common_dtype,
    limit,
    number_dtype,
    refuse,
)
from ogive.tensor.elementwise.powers import power

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def add(self: Tensor, other: Any, _other: Any = None, *, alpha: Any = 1) -> Tensor:
    """`self + alpha * other`, elementwise; on bool, logical or.

    Shapes: broadcast, (a, 1) with (b,) → (a, b).

    >>> (Tensor([1, 2]) + 1.5).tolist()
    [2.5, 3.5]
    """
    if _other is not None:  # PyTorch's old order, with alpha first
        other, alpha = _other, other
    return combine(ADD, self, other if alpha == 1 else _scaled(self, other, alpha, "add"))


def sub(self: Tensor, other: Any, _other: Any = None, *, alpha: Any = 1) -> Tensor:
    """`self - alpha * other`, elementwise. Shapes broadcast.

    >>> (Tensor([5, 7]) - Tensor([1, 2])).tolist()
    [4, 5]

    Raises `DtypeError` for bool, as PyTorch does.
    """
    if _other is not None:  # PyTorch's old order, with alpha first
        other, alpha = _other, other
    _refuse_bool(self, other)
    return combine(SUB, self, other if alpha == 1 else _scaled(self, other, alpha, "sub"))


def mul(self: Tensor, other: Any) -> Tensor:
    """`self * other`, elementwise; on bool, logical and. Shapes broadcast.

    >>> (Tensor([1, 2]) * 3).tolist()
    [3, 6]
    """
    return combine(MUL, self, other)


def div(self: Tensor, other: Any, rounding_mode: str | None = None) -> Tensor:
    """`self / other`, elementwise; integers are divided as float32. Shapes broadcast.

    `rounding_mode` "floor" or "trunc" rounds the quotient, and then integers stay integers.

    >>> (Tensor([7, -7]) / 2).tolist()
    [3.5, -3.5]
    >>> Tensor([7, -7]).div(2, rounding_mode="trunc").tolist()
    [3, -3]
    """
    if rounding_mode is None:
        return combine(DIV, self, other)
    if rounding_mode == "floor":
        return self.floor_divide(other)
    if rounding_mode != "trunc":
        raise ArgumentError(
            f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}"
        )
    quotient = self.floor_divide(other)
    if quotient.dtype.is_float:
        return combine(DIV, self, other).trunc()
    inexact = combine(MOD, self, other).ne(0)
    return quotient + (inexact & (quotient < 0)).cast(quotient.dtype)


def floor_divide(self: Tensor, other: Any) -> Tensor:
    """`self // other`: the quotient rounded down. Shapes broadcast.

    >>> (Tensor([7, -7]) // 2).tolist()
    [3, -4]

    An integer divided by a zero is an error: here for the number 0, else when it runs.
    """
    _refuse_zero(self, other, "floor_divide")
    return combine(FLOORDIV, self, other)


def remainder(self: Tensor, other: Any) -> Tensor:
    """`self % other`, with the sign of the divisor as Python has it. Shapes broadcast.

    >>> (Tensor([7, -7]) % 3).tolist()
    [1, 2]
    """
    _refuse_zero(self, other, "remainder")
    return combine(MOD, self, other)


def pow(self: Tensor, exponent: Any) -> Tensor:
    """`self ** exponent`, elementwise. Shapes broadcast.

    >>> (Tensor([1, 2, 3]) ** 2).tolist()
    [1, 4, 9]

    Raises `ArgumentError` for integers to a negative number.
    """
    value = to_operand(exponent, "pow")
    if isinstance(value, Core):
        return combine(POW, self, value)
    if common_dtype((self, value)).is_complex:
        from ogive.tensor.elementwise import complex_numbers

        return complex_numbers.power(self, value)
    return _power(self, value)


def maximum(self: Tensor, other: Any) -> Tensor:
    """The greater of two, elementwise; NaN if either is. Shapes broadcast.

    >>> Tensor([1, 5]).maximum(3).tolist()
    [3, 5]
    """
    return combine(MAXIMUM, self, other)


def minimum(self: Tensor, other: Any) -> Tensor:
    """The smaller of two, elementwise; NaN if either is. Shapes broadcast.

    >>> Tensor([1, 5]).minimum(3).tolist()
    [1, 3]
    """
    return combine(MINIMUM, self, other)


def atan2(self: Tensor, other: Any) -> Tensor:
    """The angle of the point (other, self) to the first axis, in (-π, π]. Shapes broadcast.

    >>> Tensor([0.0]).atan2(Tensor([1.0])).tolist()
    [0.0]
    """
    return combine(ATAN2, self, other)


def copysign(self: Tensor, other: Any) -> Tensor:
    """The magnitude of this tensor with the signs of `other`. Shapes broadcast.

    >>> Tensor([1.0, 2.0]).copysign(-1).tolist()
    [-1.0, -2.0]
    """
    return combine(COPYSIGN, self, other)


def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Values below `min` become `min`, then those above `max` become `max`; NaN stays.

    >>> Tensor([1, 5, 9]).clamp(2, 8).tolist()
    [2, 5, 8]
    """
    if min is None and max is None:
        raise ArgumentError("clamp needs min, max or both")
    result = self if min is None else limit(MAXIMUM, self, min)
    return result if max is None else limit(MINIMUM, result, max)


def clamp_min(self: Tensor, min: Any) -> Tensor:
    """Values below `min` become `min`; NaN stays. Shapes broadcast.

    >>> Tensor([1, 5]).clamp_min(2).tolist()
    [2, 5]
    """
    return limit(MAXIMUM, self, min)


def clamp_max(self: Tensor, max: Any) -> Tensor:
    """Values above `max` become `max`; NaN stays. Shapes broadcast.

    >>> Tensor([1, 5]).clamp_max(2).tolist()
    [1, 2]
    """
    return limit(MINIMUM, self, max)


def lerp(self: Tensor, end: Any, weight: Any) -> Tensor:
    """`self + weight * (end - self)`. Shapes broadcast.

    >>> Tensor([0.0, 10.0]).lerp(Tensor([10.0, 20.0]), 0.5).tolist()
    [5.0, 15.0]
    """
    return combine(ADD, self, combine(MUL, combine(SUB, end, self), weight))


def lt(self: Tensor, other: Any) -> Tensor:
    """`self < other`, as bool. Shapes broadcast.

    >>> (Tensor([1, 2]) < 2).tolist()
    [True, False]
    """
    return combine(LT, self, other)


def le(self: Tensor, other: Any) -> Tensor:
    """`self <= other`, as bool. Shapes broadcast.

    >>> (Tensor([1, 2, 3]) <= 2).tolist()
    [True, True, False]
    """
    return combine(LE, self, other)


def gt(self: Tensor, other: Any) -> Tensor:
    """`self > other`, as bool. Shapes broadcast.

    >>> (Tensor([1, 2, 3]) > 2).tolist()
    [False, False, True]
    """
    return combine(LT, other, self)


def ge(self: Tensor, other: Any) -> Tensor:
    """`self >= other`, as bool. Shapes broadcast.

    >>> (Tensor([1, 2, 3]) >= 2).tolist()
    [False, True, True]
    """
    return combine(LE, other, self)


def eq(self: Tensor, other: Any) -> Tensor:
    """`self == other`, as bool; NaN equals nothing. Shapes broadcast.

    >>> (Tensor([1, 2]) == 2).tolist()
    [False, True]
    """
    return combine(EQ, self, other)


def ne(self: Tensor, other: Any) -> Tensor:
    """`self != other`, as bool. Shapes broadcast.

    >>> (Tensor([1, 2]) != 2).tolist()
    [True, False]
    """
    return combine(NE, self, other)


def bitwise_and(self: Tensor, other: Any) -> Tensor:
    """`self & other`, on integers and bool. Shapes broadcast.

    >>> (Tensor([6, 5]) & 3).tolist()
    [2, 1]
    """
    return combine(AND, self, other)


def bitwise_or(self: Tensor, other: Any) -> Tensor:
    """`self | other`, on integers and bool. Shapes broadcast.

    >>> (Tensor([6, 5]) | 1).tolist()
    [7, 5]
    """
    return combine(OR, self, other)


def bitwise_xor(self: Tensor, other: Any) -> Tensor:
    """`self ^ other`, on integers and bool. Shapes broadcast.

    >>> (Tensor([6, 5]) ^ 3).tolist()
    [5, 6]
    """
    return combine(XOR, self, other)


def bitwise_left_shift(self: Tensor, other: Any) -> Tensor:
    """`self << other`, on integers. Shapes broadcast.

    >>> (Tensor([1, 3]) << 2).tolist()
    [4, 12]
    """
    return combine(SHL, self, other)


def bitwise_right_shift(self: Tensor, other: Any) -> Tensor:
    """`self >> other`, on integers; the sign is kept. Shapes broadcast.

    >>> (Tensor([5, -8]) >> 1).tolist()
    [2, -4]
    """
    return combine(SHR, self, other)


def logical_and(self: Tensor, other: Any) -> Tensor:
    """Whether both are other than zero. Shapes broadcast.

    >>> Tensor([0, 2]).logical_and(Tensor([1, 1])).tolist()
    [False, True]
    """
    return combine(AND, _truth(self), _truth(other))


def logical_or(self: Tensor, other: Any) -> Tensor:
    """Whether either is other than zero. Shapes broadcast.

    >>> Tensor([0, 2]).logical_or(False).tolist()
    [False, True]
    """
    return combine(OR, _truth(self), _truth(other))


def logical_xor(self: Tensor, other: Any) -> Tensor:
    """Whether exactly one is other than zero. Shapes broadcast.

    >>> Tensor([0, 2]).logical_xor(True).tolist()
    [True, False]
    """
    return combine(XOR, _truth(self), _truth(other))


def reflected_sub(self: Tensor, other: Any) -> Tensor:
    """`other - self`, where `other` is not a tensor."""
    _refuse_bool(self, other)
    return combine(SUB, other, self)


def reflected_div(self: Tensor, other: Any) -> Tensor:
    """`other / self`, where `other` is not a tensor."""
    return combine(DIV, other, self)


def reflected_floor_divide(self: Tensor, other: Any) -> Tensor:
    """`other // self`, where `other` is not a tensor."""
    return combine(FLOORDIV, other, self)


def reflected_remainder(self: Tensor, other: Any) -> Tensor:
    """`other % self`, where `other` is not a tensor."""
    return combine(MOD, other, self)


def reflected_pow(self: Tensor, other: Any) -> Tensor:
    """`other ** self`, where `other` is not a tensor."""
    return combine(POW, other, self)


def reflected_left_shift(self: Tensor, other: Any) -> Tensor:
    """`other << self`, where `other` is not a tensor."""
    return combine(SHL, other, self)


def reflected_right_shift(self: Tensor, other: Any) -> Tensor:
    """`other >> self`, where `other` is not a tensor."""
    return combine(SHR, other, self)


def is_equal(self: Tensor, other: Any) -> Tensor:
    """`self == other`, element by element; False if `other` holds no numbers."""
    return self.eq(other) if isinstance(other, _COMPARED) else NotImplemented


def is_unequal(self: Tensor, other: Any) -> Tensor:
    """`self != other`, element by element; True if `other` holds no numbers."""
    return self.ne(other) if isinstance(other, _COMPARED) else NotImplemented


_COMPARED = (Core, int, float, complex, numpy.ndarray, numpy.generic, UOp, list, tuple)
"""The types of operands that `==` compares element by element. Others are simply unequal."""


def _truth(value: Any) -> Core | bool:
    operand = to_operand(value, "a logical operation")
    if not isinstance(operand, Core):
        return bool(operand)
    return operand if operand.dtype.is_bool else combine(NE, operand, 0)


def _scaled(x: Core, other: Any, alpha: Scalar, name: str) -> Any:
    """`alpha * other`, which must leave integers integers."""
    operand = to_operand(other, name)
    if isinstance(alpha, float) and not common_dtype((x, operand)).is_inexact:
        raise DtypeError(f"{name}: alpha is {alpha}, and must be an integer between integers")
    return combine(MUL, operand, alpha) if isinstance(operand, Core) else operand * alpha


def _refuse_bool(left: Core, right: Any) -> None:
    for value in (left, right):
        is_mask = value.node.dtype.is_bool if isinstance(value, Core) else value.__class__ is bool
        if is_mask:
            raise refuse(dtypes.bool_, "sub", "to invert a mask use ~ or logical_not()")


def _refuse_zero(x: Core, divisor: Any, name: str) -> None:
    if divisor.__class__ is int and divisor == 0 and not x.node.dtype.is_float:
        raise DivisionByZeroError(f"{name}: {x.node.dtype.name} is divided by the number 0")


def _power(x: Core, exponent: Scalar) -> Tensor:
    dtype = number_dtype(common_dtype((x, exponent)), "pow")
    with graph_lock:
        return wrap(power(build.cast(x.node, dtype), exponent), x.device)
