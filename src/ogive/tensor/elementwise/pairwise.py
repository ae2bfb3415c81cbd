"""Functions of two or three tensors, element by element, composed of the operations of arithmetic.

Shapes broadcast and dtypes are promoted as in `arithmetic`. Half-width floats use float32 inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentTypeError, DtypeError
from ogive.tensor import build
from ogive.tensor.core import Core, bring_together, to_operand, wrap
from ogive.tensor.elementwise.binary_operations import (
    EQ,
    MAXIMUM,
    MINIMUM,
    any_dtype,
    combine,
    common_dtype,
    float_dtype,
    number_dtype,
    refuse,
    to_node,
)
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.movement import joining

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def fmod(self: Tensor, other: Any) -> Tensor:
    """The remainder with the sign of the dividend, as in C. Shapes broadcast.

    >>> Tensor([7, -7]).fmod(3).tolist()
    [1, -1]
    """
    a, b, dtype = meet(self, other, "fmod", number_dtype)
    if dtype.is_float:
        is_negative = a.signbit()  # not abs() and copysign(), whose gradients at 0 are 0
        remainder = joining.where(is_negative, -a, a) % b.abs()
        return joining.where(is_negative, -remainder, remainder).cast(dtype)
    remainder = a.remainder(other if isinstance(other, int) else b)
    return joining.where(remainder.ne(0) & ((remainder < 0) ^ (a < 0)), remainder - b, remainder)


def float_power(self: Tensor, exponent: Any) -> Tensor:
    """`self ** exponent`, computed in float64, or complex128. Shapes broadcast.

    >>> Tensor([2, 3]).float_power(-1).dtype
    ogive.float64
    """
    power = to_operand(exponent, "float_power")
    is_complex = common_dtype((self, power)).is_complex
    wide = dtypes.complex128 if is_complex else dtypes.float64
    return self.cast(wide).pow(power.cast(wide) if isinstance(power, Core) else power)


def hypot(self: Tensor, other: Any) -> Tensor:
    """√(self² + other²) without overflow in between. Shapes broadcast.

    >>> Tensor([3.0]).hypot(Tensor([4.0])).tolist()
    [5.0]

    Raises `DtypeError` unless one of the two is of floats.
    """
    a, b, dtype = meet(self, other, "hypot", only_floats)
    # The scale cancels and is a constant for gradients, which are those of √(a² + b²).
    scale = a.abs().maximum(b.abs()).detach()
    is_zero = scale.eq(0)
    scale = joining.where(is_zero, 1, scale)
    first, second = joining.where(is_zero, 1, a) / scale, b / scale
    length = joining.where(is_zero, 0, scale * (first.square() + second.square()).sqrt())
    return joining.where(a.isinf() | b.isinf(), math.inf, length).cast(dtype)


def logaddexp(self: Tensor, other: Any) -> Tensor:
    """log(eᵃ + eᵇ) without overflow. Shapes broadcast.

    >>> Tensor([0.0]).logaddexp(Tensor([float("-inf")])).tolist()
    [0.0]

    Raises `DtypeError` unless one of the two is of floats.
    """
    a, b, dtype = meet(self, other, "logaddexp", only_inexact)
    if dtype.is_complex:
        is_first = a.real >= b.real
        most, least = joining.where(is_first, a, b), joining.where(is_first, b, a)
        return most + (least - most).exp().log1p()
    most, gap = _most_and_gap(a, b)
    return (most + gap.exp().log1p()).cast(dtype)


def logaddexp2(self: Tensor, other: Any) -> Tensor:
    """log₂(2ᵃ + 2ᵇ) without overflow. Shapes broadcast.

    >>> Tensor([1.0]).logaddexp2(Tensor([1.0])).tolist()
    [2.0]

    Raises `DtypeError` unless one of the two is of floats.
    """
    a, b, dtype = meet(self, other, "logaddexp2", only_floats)
    most, gap = _most_and_gap(a, b)
    return (most + gap.exp2().log1p() / math.log(2)).cast(dtype)


def xlogy(self: Tensor, other: Any) -> Tensor:
    """self · log(other), and 0 where `self` is 0 and `other` a number. Shapes broadcast.

    >>> Tensor([0.0, 2.0]).xlogy(Tensor([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    a, b, dtype = meet(self, other, "xlogy", float_dtype)
    return joining.where(a.eq(0) & b.eq(b), 0, a * b.log()).cast(dtype)


def xlog1py(self: Tensor, other: Any) -> Tensor:
    """self · log(1 + other), and 0 where `self` is 0 and `other` a number. Shapes broadcast.

    >>> Tensor([0.0, 2.0]).xlog1py(Tensor([-1.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    a, b, dtype = meet(self, other, "xlog1py", float_dtype)
    return joining.where(a.eq(0) & b.eq(b), 0, a * b.log1p()).cast(dtype)


def ldexp(self: Tensor, other: Any) -> Tensor:
    """self · 2^other, where 2 has the dtype of self if that is a float. Shapes broadcast.

    >>> Tensor([3.0]).ldexp(Tensor([4])).tolist()
    [48.0]
    """
    inexact = self.dtype.is_inexact or self.dtype.is_complex
    with graph_lock:
        two = wrap(build.constant(self.dtype if inexact else dtypes.default_float, 2), self.device)
    return self.mul(two.pow(to_operand(other, "ldexp")))


def fmax(self: Tensor, other: Any) -> Tensor:
    """The greater of two; where one is NaN, the other. Shapes broadcast.

    >>> Tensor([1.0, float("nan")]).fmax(Tensor([0.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    a, b, dtype = meet(self, other, "fmax", any_dtype)
    if not dtype.is_float:
        return combine(MAXIMUM, a, b)
    return joining.where(a.ge(b) | b.isnan(), a, b).cast(dtype)


def fmin(self: Tensor, other: Any) -> Tensor:
    """The smaller of two; where one is NaN, the other. Shapes broadcast.

    >>> Tensor([1.0, float("nan")]).fmin(Tensor([0.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    a, b, dtype = meet(self, other, "fmin", any_dtype)
    if not dtype.is_float:
        return combine(MINIMUM, a, b)
    return joining.where(a.le(b) | b.isnan(), a, b).cast(dtype)


def heaviside(self: Tensor, values: Tensor) -> Tensor:
    """0 below zero, 1 above, and `values` at zero. Shapes broadcast.

    >>> Tensor([-1.5, 0.0, 2.0]).heaviside(Tensor([0.5])).tolist()
    [0.0, 0.5, 1.0]

    Raises `DtypeError` unless both have one dtype.
    """
    _same_dtype(self, values, "heaviside")
    return joining.where(self.eq(0), values, self.gt(0).cast(self.dtype))


def nextafter(self: Tensor, other: Any) -> Tensor:
    """The next number that the dtype can hold, from this one towards `other`. Shapes broadcast.

    >>> (Tensor([1.0]).nextafter(Tensor([2.0])) - 1).tolist() == [2.0**-23]
    True

    Raises `DtypeError` unless one of the two is of floats.
    """
    operands = _operands(self, other, "nextafter")
    dtype = only_floats(common_dtype(operands), "nextafter")
    a, b = _as_tensors(operands, dtype, "nextafter")
    bits = a.bitcast(_SAME_SIZE[dtype.bits])
    away = b.gt(a).eq(a.gt(0))
    stepped = (bits + joining.where(away, 1, -1).cast(bits.dtype)).bitcast(dtype)
    least = full_bits(1, dtype, a).copysign(b)
    moved = joining.where(a.eq(b), b, joining.where(a.eq(0), least, stepped))
    value = joining.where(a.isnan() | b.isnan(), math.nan, moved)
    return with_gradient(
        value, a.expand(value.shape), lambda a, upstream: joining.where(a.eq(b), 0, upstream)
    )


def addcmul(
    self: Tensor, tensor1: Any, tensor2: Tensor, _tensor2: Any = None, *, value: Any = 1
) -> Tensor:
    """self + value · tensor1 · tensor2. Shapes broadcast.

    >>> Tensor([1.0]).addcmul(Tensor([2.0]), Tensor([3.0]), value=10).tolist()
    [61.0]
    """
    if _tensor2 is not None:  # PyTorch's old order, with the number first
        value, tensor1, tensor2 = tensor1, tensor2, _tensor2
    dtype = common_dtype((self, tensor1, tensor2))  # a narrower product could wrap around
    product = tensor1.cast(dtype).mul(tensor2.cast(dtype))
    scaled = product if value == 1 else product.mul(factor_for(value, dtype))
    return self.cast(dtype).add(scaled)


def addcdiv(
    self: Tensor, tensor1: Any, tensor2: Tensor, _tensor2: Any = None, *, value: Any = 1
) -> Tensor:
    """self + value · tensor1 / tensor2. Shapes broadcast.

    >>> Tensor([1.0]).addcdiv(Tensor([6.0]), Tensor([3.0])).tolist()
    [3.0]

    Raises `DtypeError` when both tensors are of integers, as PyTorch does.
    """
    if _tensor2 is not None:  # PyTorch's old order, with the number first
        value, tensor1, tensor2 = tensor1, tensor2, _tensor2
    only_inexact(common_dtype((tensor1, tensor2)), "addcdiv")
    dtype = common_dtype((self, tensor1, tensor2))
    quotient = tensor1.cast(dtype).div(tensor2.cast(dtype))
    return self.cast(dtype).add(quotient if value == 1 else quotient.mul(value))


def where(self: Tensor, condition: Any, other: Any) -> Tensor:
    """This tensor where `condition` holds, `other` elsewhere. Shapes broadcast.

    >>> Tensor([1, 2]).where(Tensor([True, False]), 0).tolist()
    [1, 0]

    Raises `DtypeError` unless `condition` is bool.
    """
    return joining.where(condition, self, other)


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`value` where `mask` holds, this tensor elsewhere; the dtype stays. Shapes broadcast.

    >>> Tensor([1, 2, 3]).masked_fill(Tensor([True, False, True]), 0).tolist()
    [0, 2, 0]

    Raises `DtypeError` unless `mask` is bool, `ArgumentTypeError` for a value with axes.
    """
    fill = to_operand(value, "masked_fill")
    if isinstance(fill, Core) and fill.ndim:
        raise ArgumentTypeError(
            f"masked_fill: the value has the shape {build.show(fill.shape)}; it must be a "
            "number or a scalar. where() takes a tensor"
        )
    with graph_lock:
        dtype = self.dtype
        node = to_node(fill, dtype) if isinstance(fill, Core) else build.fitting(dtype, fill)
        filling = wrap(node, self.device)
    return joining.where(mask, filling, self)


def isclose(
    self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether |self - other| ≤ atol + rtol · |other|, as bool. Shapes broadcast.

    >>> Tensor([1.0, 2.0]).isclose(Tensor([1.000001, 2.1])).tolist()
    [True, False]

    Raises `DtypeError` unless both have one dtype.
    """
    _same_dtype(self, other, "isclose")
    close = combine(EQ, self, other)
    if rtol or atol:
        a, b = self, other
        if not a.dtype.is_inexact:
            # float32 would lose the difference of large integers.
            a, b = a.cast(dtypes.float64), b.cast(dtypes.float64)
        error = (a - b).abs()
        close = close | (error.isfinite() & (error <= b.abs() * rtol + atol))
    return close | (self.isnan() & other.isnan()) if equal_nan else close


def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether `isclose` holds for all elements. Computes at once.

    >>> Tensor([1.0]).allclose(Tensor([1.0000001]))
    True
    """
    return bool(self.isclose(other, rtol, atol, equal_nan).all())


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether both have one shape and the same elements. Computes at once.

    >>> Tensor([1, 2]).equal(Tensor([1, 2])), Tensor([1]).equal(Tensor([1, 1]))
    (True, False)
    """
    return self.shape == other.shape and bool(self.eq(other).all())


_SAME_SIZE = {16: dtypes.int16, 32: dtypes.int32, 64: dtypes.int64}


def only_floats(dtype: DType, name: str) -> DType:
    """Floats; raises for integers and bool."""
    if not dtype.is_float:
        raise refuse(dtype, name, "it works on floats; cast to one first")
    return any_dtype(dtype, name)


def only_inexact(dtype: DType, name: str) -> DType:
    """Floats and complex numbers; raises for integers and bool."""
    return dtype if dtype.is_complex else only_floats(dtype, name)


def meet(
    left: Any, right: Any, name: str, adapt: Callable[[DType, str], DType]
) -> tuple[Tensor, Tensor, DType]:
    """Promote both operands: tensors of the dtype to compute in, and the dtype of the result."""
    operands = _operands(left, right, name)
    dtype = adapt(common_dtype(operands), name)
    compute = dtypes.float32 if dtype in build.WIDENED else dtype
    a, b = _as_tensors(operands, compute, name)
    return a, b, dtype


def full_bits(bits: int, dtype: DType, like: Tensor) -> Tensor:
    """The float with these bits, as a scalar on the device of `like`."""
    with graph_lock:
        node = build.constant(_SAME_SIZE[dtype.bits], bits)
        return wrap(node, like.device).bitcast(dtype)


def _operands(left: Any, right: Any, name: str) -> tuple[Core | Scalar, Core | Scalar]:
    return to_operand(left, name), to_operand(right, name)


def _as_tensors(operands: tuple[Core | Scalar, ...], dtype: DType, name: str) -> list[Tensor]:
    device, operands = bring_together(operands, name)
    with graph_lock:
        return [wrap(to_node(value, dtype), device) for value in operands]


def _most_and_gap(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The greater of two, and the smaller minus the greater (0 for infinities of one sign).

    If the two are equal, both results choose the same operand, so that the gradients of a smooth
    function of them are right there.
    """
    is_greater = a > b
    most, least = joining.where(is_greater, a, b), joining.where(is_greater, b, a)
    return most, joining.where(a.eq(b) & a.isinf(), 0, least - most)


def factor_for(value: Scalar, dtype: DType) -> Scalar:
    """A factor that does not promote `dtype`: for integers its whole part, as in PyTorch."""
    return int(value) if dtype.is_integer and isinstance(value, float) else value


def _same_dtype(left: Core, right: Core, name: str) -> None:
    if left.dtype is not right.dtype:
        raise DtypeError(
            f"{name}: the dtypes are {left.dtype.name} and {right.dtype.name}; they must be equal"
        )
