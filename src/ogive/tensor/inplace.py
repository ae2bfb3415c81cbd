"""Operations that write their result to the tensor they are called on.

    x.add_(y)   →   x.assign(x.add(y))

The result must fit: its shape is that of the tensor, and its dtype of no higher category (bool <
integer < float), as PyTorch has it. `x += y` is `x.add_(y)`. A view writes through to what it is a
view of: `x[0].add_(1)` changes `x`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from ogive.errors import ArgumentTypeError, DtypeError, ShapeError
from ogive.ir.dtype import DType
from ogive.live.registry import graph_lock
from ogive.tensor import build
from ogive.tensor.assignment import Assignment, fit
from ogive.tensor.chains import View
from ogive.tensor.core import Core, itself, to_operand
from ogive.tensor.linear import Linear
from ogive.tensor.views import show_otherwise, write

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Arguments = ParamSpec("Arguments")

_CATEGORY = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def in_place(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[Any, Arguments], Tensor]:
    """The method that assigns what `operation` gives to the tensor itself."""
    name = f"{operation.__name__}_"

    def perform(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Tensor:
        while True:
            seen = self.node
            result = operation(self, *args, **kwargs)
            _check(self, result.dtype, result.shape, name)
            with graph_lock:
                # Once more if another thread has written meanwhile: nothing of it may be lost.
                if self.node is seen:
                    part = fit(result, seen.dtype, seen.shape)
                    write(self, View(seen.shape), part, is_anew=False)
                    changed: Tensor = self
                    return changed

    perform.__name__ = name
    perform.__qualname__ = f"InPlace.{name}"
    perform.__doc__ = f"""`{operation.__name__}` written to the tensor itself, which is returned.

        Raises `DtypeError` and `ShapeError` when the result does not fit, and changes nothing then.
        """
    return perform


def in_shape(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[Any, Arguments], Tensor]:
    """The method after which the tensor itself has the axes that `operation` gives."""
    name = f"{operation.__name__}_"

    def perform(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Tensor:
        with graph_lock:
            show_otherwise(self, operation(self, *args, **kwargs))
        changed: Tensor = self
        return changed

    perform.__name__ = name
    perform.__qualname__ = f"InPlace.{name}"
    perform.__doc__ = f"""`{operation.__name__}` of the tensor itself, which is returned.

        Raises `GradientError` for a leaf while gradients flow.
        """
    return perform


def _check(x: Core, dtype: DType, shape: tuple[Any, ...], name: str) -> None:
    if _CATEGORY[dtype.kind] > _CATEGORY[x.dtype.kind]:
        raise DtypeError(
            f"{name}: the result is of {dtype.name}, which a tensor of {x.dtype.name} cannot hold; "
            "cast the tensor first, or use the operation that returns a new one"
        )
    if shape != x.shape:
        raise ShapeError(
            f"{name}: the result has the shape {build.show(shape)}, and the tensor "
            f"{build.show(x.shape)}; use the operation that returns a new one"
        )


class InPlace(Linear, Assignment):
    """The operations whose names end in an underscore, and the operators with `=`."""

    __slots__ = ()

    def copy_(self, src: Any) -> Tensor:
        """Take on the values of `src`, which broadcasts and is cast. Shapes: unchanged.

        >>> Tensor([1, 2]).copy_(Tensor([3.7])).tolist()
        [3, 3]

        Raises `ShapeError` when `src` does not broadcast.
        """
        return self.assign(src)

    def fill_(self, value: Any) -> Tensor:
        """One value everywhere: a number or a scalar tensor. Shapes: unchanged.

        >>> Tensor([1, 2]).fill_(7).tolist()
        [7, 7]

        Raises `ArgumentTypeError` for a tensor with axes.
        """
        operand = to_operand(value, "fill_")
        if isinstance(operand, Core) and operand.ndim:
            raise ArgumentTypeError(
                f"fill_ takes a number or a scalar, not the shape {build.show(operand.shape)}; "
                "copy_ takes tensors"
            )
        if not isinstance(operand, Core):
            build.fitting(self.dtype, operand)
        return self.assign(operand)

    def zero_(self) -> Tensor:
        """0 everywhere. Shapes: unchanged.

        >>> Tensor([1, 2]).zero_().tolist()
        [0, 0]
        """
        return self.assign(0)

    def fill_diagonal_(self, fill_value: Any, wrap: bool = False) -> Tensor:
        """One value on the diagonal: where all positions are equal. Shapes: (m, n), or any number
        of axes of one length; unchanged. With `wrap`, the diagonal of a matrix with more rows than
        columns begins again, a row below its end.

        >>> Tensor([[1, 2], [3, 4]]).fill_diagonal_(0).tolist()
        [[0, 2], [3, 0]]

        Raises `ShapeError` for other shapes.
        """
        shape = self.shape
        if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
            raise ShapeError(
                "fill_diagonal_ takes a matrix, or axes that are all of one length, not "
                f"{build.show(shape)}"
            )
        value = build.fitting(self.dtype, fill_value).arg
        tensor = itself(self)
        if not wrap and len(shape) == 2:
            tensor.diagonal().fill_(value)
            return tensor
        from ogive.tensor.creation import arange

        apart = sum([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])
        places = arange(math.prod(shape)).reshape(shape)
        return tensor.masked_fill_(places % apart == 0, value)

    abs_ = in_place(Linear.abs)
    acos_ = in_place(Linear.acos)
    acosh_ = in_place(Linear.acosh)
    add_ = in_place(Linear.add)
    addbmm_ = in_place(Linear.addbmm)
    addcdiv_ = in_place(Linear.addcdiv)
    addcmul_ = in_place(Linear.addcmul)
    addmm_ = in_place(Linear.addmm)
    addmv_ = in_place(Linear.addmv)
    addr_ = in_place(Linear.addr)
    asin_ = in_place(Linear.asin)
    asinh_ = in_place(Linear.asinh)
    atan_ = in_place(Linear.atan)
    atan2_ = in_place(Linear.atan2)
    atanh_ = in_place(Linear.atanh)
    baddbmm_ = in_place(Linear.baddbmm)
    bitwise_and_ = in_place(Linear.bitwise_and)
    bitwise_left_shift_ = in_place(Linear.bitwise_left_shift)
    bitwise_not_ = in_place(Linear.bitwise_not)
    bitwise_or_ = in_place(Linear.bitwise_or)
    bitwise_right_shift_ = in_place(Linear.bitwise_right_shift)
    bitwise_xor_ = in_place(Linear.bitwise_xor)
    ceil_ = in_place(Linear.ceil)
    celu_ = in_place(Linear.celu)
    clamp_ = in_place(Linear.clamp)
    clamp_max_ = in_place(Linear.clamp_max)
    clamp_min_ = in_place(Linear.clamp_min)
    copysign_ = in_place(Linear.copysign)
    cos_ = in_place(Linear.cos)
    cosh_ = in_place(Linear.cosh)
    deg2rad_ = in_place(Linear.deg2rad)
    digamma_ = in_place(Linear.digamma)
    div_ = in_place(Linear.div)
    elu_ = in_place(Linear.elu)
    eq_ = in_place(Linear.eq)
    erf_ = in_place(Linear.erf)
    erfc_ = in_place(Linear.erfc)
    erfinv_ = in_place(Linear.erfinv)
    exp_ = in_place(Linear.exp)
    exp2_ = in_place(Linear.exp2)
    expm1_ = in_place(Linear.expm1)
    float_power_ = in_place(Linear.float_power)
    floor_ = in_place(Linear.floor)
    floor_divide_ = in_place(Linear.floor_divide)
    fmod_ = in_place(Linear.fmod)
    frac_ = in_place(Linear.frac)
    ge_ = in_place(Linear.ge)
    gt_ = in_place(Linear.gt)
    hardsigmoid_ = in_place(Linear.hardsigmoid)
    hardswish_ = in_place(Linear.hardswish)
    hardtanh_ = in_place(Linear.hardtanh)
    heaviside_ = in_place(Linear.heaviside)
    hypot_ = in_place(Linear.hypot)
    i0_ = in_place(Linear.i0)
    ldexp_ = in_place(Linear.ldexp)
    le_ = in_place(Linear.le)
    leaky_relu_ = in_place(Linear.leaky_relu)
    lerp_ = in_place(Linear.lerp)
    lgamma_ = in_place(Linear.lgamma)
    log_ = in_place(Linear.log)
    log10_ = in_place(Linear.log10)
    log1p_ = in_place(Linear.log1p)
    log2_ = in_place(Linear.log2)
    logical_and_ = in_place(Linear.logical_and)
    logical_not_ = in_place(Linear.logical_not)
    logical_or_ = in_place(Linear.logical_or)
    logical_xor_ = in_place(Linear.logical_xor)
    logit_ = in_place(Linear.logit)
    lt_ = in_place(Linear.lt)
    masked_fill_ = in_place(Linear.masked_fill)
    mish_ = in_place(Linear.mish)
    mul_ = in_place(Linear.mul)
    mvlgamma_ = in_place(Linear.mvlgamma)
    nan_to_num_ = in_place(Linear.nan_to_num)
    ne_ = in_place(Linear.ne)
    neg_ = in_place(Linear.neg)
    nextafter_ = in_place(Linear.nextafter)
    polygamma_ = in_place(Linear.polygamma)
    pow_ = in_place(Linear.pow)
    rad2deg_ = in_place(Linear.rad2deg)
    reciprocal_ = in_place(Linear.reciprocal)
    renorm_ = in_place(Linear.renorm)
    relu_ = in_place(Linear.relu)
    relu6_ = in_place(Linear.relu6)
    remainder_ = in_place(Linear.remainder)
    round_ = in_place(Linear.round)
    rsqrt_ = in_place(Linear.rsqrt)
    selu_ = in_place(Linear.selu)
    sgn_ = in_place(Linear.sgn)
    sigmoid_ = in_place(Linear.sigmoid)
    sign_ = in_place(Linear.sign)
    silu_ = in_place(Linear.silu)
    sin_ = in_place(Linear.sin)
    sinc_ = in_place(Linear.sinc)
    sinh_ = in_place(Linear.sinh)
    sqrt_ = in_place(Linear.sqrt)
    square_ = in_place(Linear.square)
    squeeze_ = in_shape(Linear.squeeze)
    sub_ = in_place(Linear.sub)
    t_ = in_shape(Linear.t)
    tan_ = in_place(Linear.tan)
    tanh_ = in_place(Linear.tanh)
    threshold_ = in_place(Linear.threshold)
    transpose_ = in_shape(Linear.transpose)
    tril_ = in_place(Linear.tril)
    triu_ = in_place(Linear.triu)
    trunc_ = in_place(Linear.trunc)
    unsqueeze_ = in_shape(Linear.unsqueeze)
    xlogy_ = in_place(Linear.xlogy)

    __iadd__ = add_
    __isub__ = sub_
    __imul__ = mul_
    __itruediv__ = div_
    __ifloordiv__ = floor_divide_
    __imod__ = remainder_
    __ipow__ = pow_
    __iand__ = bitwise_and_
    __ior__ = bitwise_or_
    __ixor__ = bitwise_xor_
    __ilshift__ = bitwise_left_shift_
    __irshift__ = bitwise_right_shift_
