"""Functions of complex numbers, in terms of their parts.

Each takes x and y and returns the parts of f(x + iy). Where the direct formula would lose digits or
overflow, another formula is used. Branch cuts and the values at zeros, infinities and NaN are those
of C99 (Annex G), which the array API standard lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ogive.compiler.ir.ops import Op
from ogive.tensor.core import Core
from ogive.tensor.elementwise.binary_operations import refuse
from ogive.tensor.elementwise.complex_derivatives import BACK
from ogive.tensor.elementwise.complex_numbers import Pair, complex, filled_like, parts_of
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.movement.joining import where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Function = Callable[["Tensor", "Tensor"], Pair]


def apply(op: Op, z: Core) -> Tensor:
    """A function of a complex tensor. Raises `DtypeError` where it has no complex form."""
    function = FUNCTIONS.get(op)
    if function is None:
        raise refuse(z.dtype, op.name.lower(), "")
    value = complex(*function(*parts_of(z)))
    return with_gradient(value, z, BACK[op], is_fixed=True)


def size(z: Core) -> Tensor:
    """|z|."""
    x, y = parts_of(z)
    return x.hypot(y)


def sign(z: Tensor) -> Tensor:
    """z / |z|, and 0 at 0."""
    length = size(z)
    return where(length.eq(0), 0, z / where(length.eq(0), 1, length))


def angle(z: Core) -> Tensor:
    """The angle to the positive real axis."""
    x, y = parts_of(z)
    return y.atan2(x)


def is_real(z: Core) -> Tensor:
    """Whether the imaginary part is 0."""
    return parts_of(z)[1].eq(0)


def is_infinite(z: Core) -> Tensor:
    """Whether a part is infinite."""
    x, y = parts_of(z)
    return x.isinf() | y.isinf()


def is_finite(z: Core) -> Tensor:
    """Whether both parts are finite."""
    x, y = parts_of(z)
    return x.isfinite() & y.isfinite()


def _settled(y: Tensor, mask: Tensor) -> Tensor:
    """The angle, with infinities and NaN replaced by 0 where `mask` says that it is irrelevant."""
    return where(mask & ~y.isfinite(), filled_like(y, 0).copysign(y), y)


def _scaled(size: Tensor, factor: Tensor) -> Tensor:
    """The product, with 0 times infinity or NaN defined as 0."""
    lost = factor.eq(0) & ~size.isfinite()
    return where(lost, filled_like(size, 1).copysign(size), size) * factor


def _exp(x: Tensor, y: Tensor) -> Pair:
    return x.exp() * _settled(y, x.isinf()).cos(), _exp_height(x, y)


def _exp_height(x: Tensor, y: Tensor) -> Tensor:
    """The imaginary part of the exponential."""
    return _scaled(x.exp(), _settled(y, x.eq(-math.inf)).sin())


def _expm1(x: Tensor, y: Tensor) -> Pair:
    """e^x·cos y - 1 = (e^x - 1)·cos y - 2·sin²(y/2)."""
    angle = _settled(y, x.isinf())
    real = x.expm1() * angle.cos() - (angle * 0.5).sin().square() * 2
    return real, _exp_height(x, y)


def _exp2(x: Tensor, y: Tensor) -> Pair:
    return _exp(x * math.log(2), y * math.log(2))


def _log(x: Tensor, y: Tensor) -> Pair:
    return _log_size(x, y), y.atan2(x)


def _log_size(x: Tensor, y: Tensor) -> Tensor:
    """log |x + iy|; near 1 from (|z|² - 1) / 2, which is exact there."""
    first, second = x.abs(), y.abs()
    long, short = first.maximum(second), first.minimum(second)
    size = x.hypot(y)
    near = (size > 0.5) & (size < 2)
    square = where(near, (long - 1) * (long + 1) + short * short, 0)
    return where(near, square.log1p() * 0.5, size.log())


def _log1p(x: Tensor, y: Tensor) -> Pair:
    """log |1 + z| = log1p(x·(x + 2) + y²) / 2 where that is small."""
    square = x * (x + 2) + y * y
    small = square.abs() < 0.5
    real = where(small, where(small, square, 0).log1p() * 0.5, _log_size(x + 1, y))
    return real, y.atan2(x + 1)


def _scaled_log(base: float) -> Function:
    def log_to_base(x: Tensor, y: Tensor) -> Pair:
        real, imaginary = _log(x, y)
        return real / math.log(base), imaginary / math.log(base)

    return log_to_base


def _sqrt(x: Tensor, y: Tensor) -> Pair:
    """The greater part is t = √((|x| + |z|) / 2), the other is y / 2t."""
    root = (x.abs() * 0.5 + x.hypot(y) * 0.5).sqrt()
    nothing = root.eq(0)
    other = where(nothing, y, y / (where(nothing, 1, root) * 2))
    # At ±i∞ the ratio of two infinities is not a number.
    other = where(y.abs().eq(math.inf), y, other)
    right = x >= 0
    return where(right, root, other.abs()), where(right | y.isinf(), other, root.copysign(y))


def _rsqrt(x: Tensor, y: Tensor) -> Pair:
    return parts_of(complex(*_sqrt(x, y)).reciprocal())


def _reciprocal(x: Tensor, y: Tensor) -> Pair:
    z = complex(x, y)
    return parts_of(filled_like(z, 1) / z)


def _sinh(x: Tensor, y: Tensor) -> Pair:
    angle = _settled(y, x.eq(0) | x.isinf())
    return x.sinh() * angle.cos(), _scaled(x.cosh(), y.sin())


def _cosh(x: Tensor, y: Tensor) -> Pair:
    real = x.cosh() * _settled(y, x.isinf()).cos()
    return real, _scaled(x.sinh(), _settled(y, x.eq(0)).sin())


def _tanh(x: Tensor, y: Tensor) -> Pair:
    """(t·(1 + u²) + i·u·(1 - t²)) / (1 + t²·u²), t = tanh x, u = tan y; 1 - t² = 1 / cosh² x."""
    far = x.abs() > 20
    near = where(far, 0, x)
    t, u, inverse = near.tanh(), y.tan(), near.cosh().reciprocal()
    divisor = (t * u).square() + 1
    real = t * (u.square() + 1) / divisor
    real = where(x.eq(0) & ~y.isfinite(), x, real)
    imaginary = u / divisor * inverse * inverse
    imaginary = where(x.isnan() & y.eq(0), y, imaginary)
    angle = _settled(y, x.isinf())
    decay = (angle * 2).sin() * (x.abs() * -2).exp() * 2
    limit = where(angle.isfinite(), 1, filled_like(x, math.nan)).copysign(x)
    return where(far, limit, real), where(far, decay, imaginary)


def _asinh(x: Tensor, y: Tensor) -> Pair:
    (a, b), (c, d) = _sqrt(y + 1, -x), _sqrt(1 - y, x)
    real, imaginary = (a * d - c * b).asinh(), y.atan2(a * c - b * d)
    infinite = x.isinf() | y.isinf()
    real = where(infinite, filled_like(x, math.inf).copysign(x), real)
    imaginary = where(infinite, y.atan2(x.abs()), imaginary)
    return real, where(x.isnan() & y.eq(0), y, imaginary)


def _acosh(x: Tensor, y: Tensor) -> Pair:
    (a, b), (c, d) = _sqrt(x - 1, y), _sqrt(x + 1, y)
    infinite = x.isinf() | y.isinf()
    angle = where(infinite, y.atan2(x), b.atan2(c) * 2)
    angle = where(x.eq(0) & y.isnan(), math.pi / 2, angle)
    return where(infinite, math.inf, (a * c + b * d).asinh()), angle


def _acos(x: Tensor, y: Tensor) -> Pair:
    (a, b), (c, d) = _sqrt(1 - x, -y), _sqrt(x + 1, y)
    infinite = x.isinf() | y.isinf()
    real = where(infinite, y.abs().atan2(x), a.atan2(c) * 2)
    real = where(x.eq(0) & y.isnan(), math.pi / 2, real)
    return real, where(infinite, -filled_like(y, math.inf).copysign(y), (c * b - d * a).asinh())


_FAR = 1e9
"""The |z| from which atanh z is 1 / z and a right angle; squares do not overflow below it."""


def _atanh(x: Tensor, y: Tensor) -> Pair:
    """log1p(4·|x| / ((1 - |x|)² + y²)) / 4, with the sign of x, and the angle in between."""
    length = x.hypot(y)
    far = (length > _FAR) | y.isinf()
    size, height = where(far, 0, x.abs()), where(far, 0, y)
    denominator = (1 - size).square() + height.square()
    real = (size * 4 / denominator).log1p() * 0.25
    real = where(far, where(length.isinf(), 0, x.abs() / length / length), real)
    real = where(x.eq(0) & y.isnan(), 0, real)
    one = filled_like(x, 1).copysign(x)
    angle = (height * one * -2).atan2((1 - size) * (size + 1) - height.square()) * -0.5 * one
    right = where(y.isnan(), y, filled_like(y, math.pi / 2).copysign(y))
    return real.copysign(x), where(far, right, angle)


def _turned(function: Function) -> Function:
    """-i·f(iz), which turns a hyperbolic function into a circular one."""

    def turned(x: Tensor, y: Tensor) -> Pair:
        real, imaginary = function(-y, x)
        return imaginary, -real

    return turned


def _cos(x: Tensor, y: Tensor) -> Pair:
    return _cosh(-y, x)


FUNCTIONS: dict[Op, Function] = {
    Op.EXP: _exp,
    Op.EXP2: _exp2,
    Op.EXPM1: _expm1,
    Op.LOG: _log,
    Op.LOG2: _scaled_log(2),
    Op.LOG10: _scaled_log(10),
    Op.LOG1P: _log1p,
    Op.SQRT: _sqrt,
    Op.RSQRT: _rsqrt,
    Op.RECIPROCAL: _reciprocal,
    Op.SINH: _sinh,
    Op.COSH: _cosh,
    Op.TANH: _tanh,
    Op.ASINH: _asinh,
    Op.ACOSH: _acosh,
    Op.ATANH: _atanh,
    Op.SIN: _turned(_sinh),
    Op.COS: _cos,
    Op.TAN: _turned(_tanh),
    Op.ASIN: _turned(_asinh),
    Op.ACOS: _acos,
    Op.ATAN: _turned(_atanh),
}
