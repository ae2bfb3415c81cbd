"""Functions of one tensor, element by element. The shape stays; integers become float32 where the
result is not an integer, as in PyTorch."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.tensor import build
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.binary_operations import (
    EQ,
    FLOATS,
    LT,
    NE,
    NUMBERS,
    any_dtype,
    bits_dtype,
    combine,
    float_dtype,
    refuse,
)

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def apply(op: Op, x: Core) -> Tensor:
    """Apply a unary op of floats."""
    with graph_lock:
        node = x.node
        if node.dtype.is_complex:
            from ogive.tensor.elementwise import complex_functions

            return complex_functions.apply(op, x)
        if node.dtype not in FLOATS:
            node = build.cast(node, float_dtype(node.dtype, op.name.lower()))
        return wrap(make(op, node.dtype, (node,), None, node.shape), x.device)


def on_complex(name: str, x: Core) -> Tensor:
    """Apply a function of `complex_functions`, a module that only complex tensors load."""
    from ogive.tensor.elementwise import complex_functions

    result: Tensor = getattr(complex_functions, name)(x)
    return result


def _round(op: Op, x: Core) -> Tensor:
    """Apply a rounding, which leaves integers as they are."""
    with graph_lock:
        node = x.node
        if node.dtype not in NUMBERS:
            raise refuse(node.dtype, op.name.lower(), "cast to an integer or float dtype first")
        return wrap(make(op, node.dtype, (node,)) if node.dtype.is_float else node, x.device)


def exp(self: Tensor) -> Tensor:
    """e to the power x. Shapes: unchanged.

    >>> Tensor([0.0]).exp().tolist()
    [1.0]
    """
    return apply(Op.EXP, self)


def exp2(self: Tensor) -> Tensor:
    """2 to the power x. Shapes: unchanged.

    >>> Tensor([3.0]).exp2().tolist()
    [8.0]
    """
    return apply(Op.EXP2, self)


def expm1(self: Tensor) -> Tensor:
    """e to the power x, less 1, exact near 0. Shapes: unchanged.

    >>> Tensor([0.0]).expm1().tolist()
    [0.0]
    """
    return apply(Op.EXPM1, self)


def log(self: Tensor) -> Tensor:
    """The natural logarithm. Shapes: unchanged.

    >>> Tensor([1.0]).log().tolist()
    [0.0]
    """
    return apply(Op.LOG, self)


def log2(self: Tensor) -> Tensor:
    """The logarithm to base 2. Shapes: unchanged.

    >>> Tensor([8.0]).log2().tolist()
    [3.0]
    """
    return apply(Op.LOG2, self)


def log10(self: Tensor) -> Tensor:
    """The logarithm to base 10. Shapes: unchanged.

    >>> Tensor([1.0]).log10().tolist()
    [0.0]
    """
    return apply(Op.LOG10, self)


def log1p(self: Tensor) -> Tensor:
    """The natural logarithm of 1 + x, exact near 0. Shapes: unchanged.

    >>> Tensor([0.0]).log1p().tolist()
    [0.0]
    """
    return apply(Op.LOG1P, self)


def sin(self: Tensor) -> Tensor:
    """The sine of an angle in radians. Shapes: unchanged.

    >>> Tensor([0.0]).sin().tolist()
    [0.0]
    """
    return apply(Op.SIN, self)


def cos(self: Tensor) -> Tensor:
    """The cosine of an angle in radians. Shapes: unchanged.

    >>> Tensor([0.0]).cos().tolist()
    [1.0]
    """
    return apply(Op.COS, self)


def tan(self: Tensor) -> Tensor:
    """The tangent of an angle in radians. Shapes: unchanged.

    >>> Tensor([0.0]).tan().tolist()
    [0.0]
    """
    return apply(Op.TAN, self)


def asin(self: Tensor) -> Tensor:
    """The angle whose sine is x; NaN outside [-1, 1]. Shapes: unchanged.

    >>> Tensor([0.0]).asin().tolist()
    [0.0]
    """
    return apply(Op.ASIN, self)


def acos(self: Tensor) -> Tensor:
    """The angle whose cosine is x; NaN outside [-1, 1]. Shapes: unchanged.

    >>> Tensor([1.0]).acos().tolist()
    [0.0]
    """
    return apply(Op.ACOS, self)


def atan(self: Tensor) -> Tensor:
    """The angle whose tangent is x. Shapes: unchanged.

    >>> Tensor([0.0]).atan().tolist()
    [0.0]
    """
    return apply(Op.ATAN, self)


def sinh(self: Tensor) -> Tensor:
    """The hyperbolic sine. Shapes: unchanged.

    >>> Tensor([0.0]).sinh().tolist()
    [0.0]
    """
    return apply(Op.SINH, self)


def cosh(self: Tensor) -> Tensor:
    """The hyperbolic cosine. Shapes: unchanged.

    >>> Tensor([0.0]).cosh().tolist()
    [1.0]
    """
    return apply(Op.COSH, self)


def tanh(self: Tensor) -> Tensor:
    """The hyperbolic tangent. Shapes: unchanged.

    >>> Tensor([0.0]).tanh().tolist()
    [0.0]
    """
    return apply(Op.TANH, self)


def asinh(self: Tensor) -> Tensor:
    """The inverse of `sinh`. Shapes: unchanged.

    >>> Tensor([0.0]).asinh().tolist()
    [0.0]
    """
    return apply(Op.ASINH, self)


def acosh(self: Tensor) -> Tensor:
    """The inverse of `cosh`; NaN below 1. Shapes: unchanged.

    >>> Tensor([1.0]).acosh().tolist()
    [0.0]
    """
    return apply(Op.ACOSH, self)


def atanh(self: Tensor) -> Tensor:
    """The inverse of `tanh`; NaN outside [-1, 1]. Shapes: unchanged.

    >>> Tensor([0.0]).atanh().tolist()
    [0.0]
    """
    return apply(Op.ATANH, self)


def erf(self: Tensor) -> Tensor:
    """The error function, 2/√π times the integral of exp(-t²) from 0 to x. Shapes: unchanged.

    >>> Tensor([0.0]).erf().tolist()
    [0.0]
    """
    return apply(Op.ERF, self)


def erfc(self: Tensor) -> Tensor:
    """1 - erf(x), exact for large x. Shapes: unchanged.

    >>> Tensor([0.0]).erfc().tolist()
    [1.0]
    """
    return apply(Op.ERFC, self)


def sqrt(self: Tensor) -> Tensor:
    """The square root; NaN below 0. Shapes: unchanged.

    >>> Tensor([9.0]).sqrt().tolist()
    [3.0]
    """
    return apply(Op.SQRT, self)


def rsqrt(self: Tensor) -> Tensor:
    """1/√x. Shapes: unchanged.

    >>> Tensor([4.0]).rsqrt().tolist()
    [0.5]
    """
    return apply(Op.RSQRT, self)


def reciprocal(self: Tensor) -> Tensor:
    """1/x. Shapes: unchanged.

    >>> Tensor([4.0]).reciprocal().tolist()
    [0.25]
    """
    return apply(Op.RECIPROCAL, self)


def square(self: Tensor) -> Tensor:
    """x². Shapes: unchanged.

    >>> Tensor([3, -4]).square().tolist()
    [9, 16]
    """
    return self.pow(2)


def neg(self: Tensor) -> Tensor:
    """-x. Shapes: unchanged.

    >>> (-Tensor([1, -2])).tolist()
    [-1, 2]

    Raises `DtypeError` for bool.
    """
    with graph_lock:
        node = self.node
        if node.dtype not in NUMBERS and not node.dtype.is_complex:
            raise refuse(node.dtype, "neg", "to invert a mask use ~ or logical_not()")
        return wrap(make(Op.NEG, node.dtype, (node,)), self.device)


def abs(self: Tensor) -> Tensor:
    """|x|, of complex numbers the distance from 0. Shapes: unchanged.

    >>> abs(Tensor([1, -2])).tolist(), abs(Tensor([3 + 4j])).tolist()
    ([1, 2], [5.0])
    """
    if self.node.dtype.is_complex:
        return on_complex("size", self)
    with graph_lock:
        node = self.node
        if node.dtype not in NUMBERS:
            raise refuse(node.dtype, "abs", "cast to an integer or float dtype first")
        signed = node.dtype.is_signed
        return wrap(make(Op.ABS, node.dtype, (node,)) if signed else node, self.device)


def sign(self: Tensor) -> Tensor:
    """-1, 0 or 1 by the sign of x; 0 for NaN. Shapes: unchanged.

    Complex numbers have `sgn`.

    >>> Tensor([-2.5, 0.0, 3.0]).sign().tolist()
    [-1.0, 0.0, 1.0]
    """
    dtype = any_dtype(self.node.dtype, "sign")
    result = combine(LT, 0, self).cast(dtype)
    if dtype.is_signed:
        result = result - combine(LT, self, 0).cast(dtype)
    with graph_lock:
        return wrap(build.unmoved(result.node, self.node), self.device)


def floor(self: Tensor) -> Tensor:
    """The greatest whole number not above x. Shapes: unchanged.

    >>> Tensor([1.5, -1.5]).floor().tolist()
    [1.0, -2.0]
    """
    return _round(Op.FLOOR, self)


def ceil(self: Tensor) -> Tensor:
    """The least whole number not below x. Shapes: unchanged.

    >>> Tensor([1.5, -1.5]).ceil().tolist()
    [2.0, -1.0]
    """
    return _round(Op.CEIL, self)


def round(self: Tensor, decimals: int = 0) -> Tensor:
    """The nearest whole number, or multiple of 10^-decimals; halves go to the even one.

    Shapes: unchanged.

    >>> Tensor([0.5, 1.5, 2.4]).round().tolist()
    [0.0, 2.0, 2.0]
    >>> Tensor([123.0, 175.0]).round(decimals=-2).tolist()
    [100.0, 200.0]
    """
    if decimals == 0 or not self.node.dtype.is_float:
        return _round(Op.ROUND, self)
    scale = 10.0 ** builtins.abs(decimals)
    if decimals > 0:
        return _round(Op.ROUND, self.mul(scale)).div(scale)
    return _round(Op.ROUND, self.div(scale)).mul(scale)


def trunc(self: Tensor) -> Tensor:
    """The whole part, towards zero. Shapes: unchanged.

    >>> Tensor([1.5, -1.5]).trunc().tolist()
    [1.0, -1.0]
    """
    return _round(Op.TRUNC, self)


def isnan(self: Tensor) -> Tensor:
    """Whether x is not a number. Shapes: unchanged; the result is bool.

    >>> Tensor([1.0, float("nan")]).isnan().tolist()
    [False, True]
    """
    if self.node.dtype.is_inexact:
        return combine(NE, self, self)
    return all_elements(self, False)


def isinf(self: Tensor) -> Tensor:
    """Whether x is ∞ or -∞. Shapes: unchanged; the result is bool.

    >>> Tensor([1.0, float("-inf")]).isinf().tolist()
    [False, True]
    """
    if self.node.dtype.is_complex:
        return on_complex("is_infinite", self)
    if self.node.dtype.is_float:
        return combine(EQ, self.abs(), math.inf)
    return all_elements(self, False)


def isfinite(self: Tensor) -> Tensor:
    """Whether x is neither infinite nor NaN. Shapes: unchanged; the result is bool.

    >>> Tensor([1.0, float("inf")]).isfinite().tolist()
    [True, False]
    """
    if self.node.dtype.is_complex:
        return on_complex("is_finite", self)
    if self.node.dtype.is_float:
        return combine(LT, self.abs(), math.inf)
    return all_elements(self, True)


def bitwise_not(self: Tensor) -> Tensor:
    """All bits inverted; on bool, logical not. Shapes: unchanged.

    >>> (~Tensor([True, False])).tolist()
    [False, True]
    """
    with graph_lock:
        dtype = bits_dtype(self.node.dtype, "bitwise_not")
        return wrap(make(Op.NOT, dtype, (self.node,)), self.device)


def logical_not(self: Tensor) -> Tensor:
    """Whether x is zero. Shapes: unchanged; the result is bool.

    >>> Tensor([0, 3]).logical_not().tolist()
    [True, False]
    """
    return self.bitwise_not() if self.node.dtype.is_bool else combine(EQ, self, 0)


def all_elements(self: Tensor, value: bool) -> Tensor:
    """A bool tensor of this shape with one value for every element."""
    with graph_lock:
        return wrap(build.filled(dtypes.bool_, value, self.node.shape), self.device)
