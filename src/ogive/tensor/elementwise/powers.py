"""Powers with constant exponents: products and roots where these are at least as accurate."""

from __future__ import annotations

from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import make
from ogive.errors import ArgumentError
from ogive.tensor import build

_ROOTS = {0.5: Op.SQRT, -0.5: Op.RSQRT, -1: Op.RECIPROCAL}


def power(base: UOp, exponent: Scalar) -> UOp:
    """`base` to the power `exponent`, in its dtype. Called with `graph_lock` held.

    Raises `ArgumentError` for integers to a negative power.
    """
    dtype = base.dtype
    if dtype.is_integer:
        if exponent < 0:
            raise ArgumentError(f"pow: integers to the power {exponent}; cast to float first")
        return _integer_power(base, int(exponent))
    if exponent in (1, 2, 3):
        return _integer_power(base, int(exponent))
    if exponent in _ROOTS:
        return make(_ROOTS[exponent], dtype, (base,))
    return make(Op.POW, dtype, (base, build.constant(dtype, exponent)))


def _integer_power(base: UOp, exponent: int) -> UOp:
    """An integer power, by repeated squaring."""
    result: UOp | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else make(Op.MUL, base.dtype, (result, base))
        exponent >>= 1
        if exponent:
            base = make(Op.MUL, base.dtype, (base, base))
    return build.filled(base.dtype, 1, base.shape) if result is None else result
