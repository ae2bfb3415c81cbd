"""Derivatives of the functions of complex numbers.

The functions are composed of real parts by formulas that branch at zeros and infinities. Their
derivatives are written as functions of z, without such branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.ops import Op
from ogive.tensor.elementwise.complex_numbers import complex, filled_like, parts_of

if TYPE_CHECKING:
    from ogive.tensor.gradients.known_gradients import Back
    from ogive.tensor.tensor import Tensor

Derivative = Callable[[Any], "Tensor"]


def _inverse(z: Tensor) -> Tensor:
    return filled_like(z, 1) / z


def _minus_inverse(z: Tensor) -> Tensor:
    return -_inverse(z)


def _root_of_difference(z: Tensor) -> Tensor:
    """√(1 - z)·√(1 + z), on the side of the branch cuts that the sign of a zero selects."""
    x, y = parts_of(z)
    return complex(1 - x, -y).sqrt() * complex(x + 1, y).sqrt()


def _root_of_sum(z: Tensor) -> Tensor:
    """√(1 - iz)·√(1 + iz), likewise."""
    x, y = parts_of(z)
    return complex(y + 1, -x).sqrt() * complex(1 - y, x).sqrt()


def _acosh(z: Tensor) -> Tensor:
    x, y = parts_of(z)
    return _inverse(complex(x - 1, y).sqrt() * complex(x + 1, y).sqrt())


DERIVATIVES: dict[Op, Derivative] = {
    Op.EXP: lambda z: z.exp(),
    Op.EXP2: lambda z: z.exp2() * math.log(2),
    Op.EXPM1: lambda z: z.exp(),
    Op.LOG: _inverse,
    Op.LOG2: lambda z: _inverse(z * math.log(2)),
    Op.LOG10: lambda z: _inverse(z * math.log(10)),
    Op.LOG1P: lambda z: _inverse(z + 1),
    Op.SQRT: lambda z: z.rsqrt() * 0.5,
    Op.RSQRT: lambda z: z.rsqrt() / z * -0.5,
    Op.RECIPROCAL: lambda z: _minus_inverse(z * z),
    Op.SINH: lambda z: z.cosh(),
    Op.COSH: lambda z: z.sinh(),
    Op.TANH: lambda z: 1 - z.tanh().square(),
    Op.ASINH: lambda z: _inverse(_root_of_sum(z)),
    Op.ACOSH: _acosh,
    Op.ATANH: lambda z: _inverse((1 - z) * (z + 1)),
    Op.SIN: lambda z: z.cos(),
    Op.COS: lambda z: -z.sin(),
    Op.TAN: lambda z: z.tan().square() + 1,
    Op.ASIN: lambda z: _inverse(_root_of_difference(z)),
    Op.ACOS: lambda z: _minus_inverse(_root_of_difference(z)),
    Op.ATAN: lambda z: _inverse(z * z + 1),
}


def _back(derivative: Derivative) -> Back:
    """The backward function: the gradient of a real loss is ∂/∂x + i·∂/∂y, so it multiplies by the
    conjugate of the derivative."""
    return lambda z, upstream: upstream * derivative(z).conj()


BACK: dict[Op, Back] = {op: _back(derivative) for op, derivative in DERIVATIVES.items()}
