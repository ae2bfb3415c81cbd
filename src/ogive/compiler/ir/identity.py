"""The identity element of a reduction, from which it starts."""

from __future__ import annotations

from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.ops import Op


def identity_element(op: Op, dtype: DType) -> Scalar:
    """The value that, combined with any x by `op`, gives x."""
    if op in (Op.ADD, Op.OR):
        return dtype.canonical(0)
    if op is Op.MUL:
        return dtype.canonical(1)
    if op is Op.AND:
        return dtype.canonical(-1)
    low, high = dtype.limits
    return low if op is Op.MAXIMUM else high
