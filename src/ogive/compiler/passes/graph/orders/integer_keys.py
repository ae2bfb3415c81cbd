"""Integer keys in the order of the elements, and the elements for given keys.

The bits of positive floats, read as integers, have the order of the floats. Those of negative
floats have the reverse order, so all bits but the sign are flipped:

    -1.0   -0.0, 0.0   1.0   NaN      →      -1065353217   0   1065353216   2147483647
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import apply, apply_number, cast, compare_number
from ogive.compiler.ir.ops import Op

_SAME_SIZE = {16: dtypes.int16, 32: dtypes.int32, 64: dtypes.int64}


def order_keys(x: UOp, descending: bool) -> UOp:
    """Integer keys whose ascending order is the order of the elements. NaN is the greatest."""
    keys = _ascending_keys(x)
    return apply(Op.NOT, keys) if descending else keys


def _ascending_keys(x: UOp) -> UOp:
    if x.dtype.is_bool:
        return cast(x, dtypes.uint8)
    if not x.dtype.is_float:
        return x
    x = _with_whole_bits(x)
    bits = _bits(x)
    top = int(bits.dtype.limits[1])
    is_negative = compare_number(Op.CMPLT, bits, 0)
    flipped = apply(Op.WHERE, is_negative, apply_number(Op.XOR, bits, top), bits)
    zero, last = UOp.const(bits.dtype, 0), UOp.const(bits.dtype, top)
    ordered = UOp(Op.WHERE, bits.dtype, (compare_number(Op.CMPEQ, x, 0.0), zero, flipped))
    is_nan = UOp(Op.CMPNE, dtypes.bool_, (x, x))
    return UOp(Op.WHERE, bits.dtype, (is_nan, last, ordered))


def negative_zeros(x: UOp) -> UOp:
    """Whether each float is -0.0, which has the same key as 0.0."""
    bits = _bits(_with_whole_bits(x))
    return compare_number(Op.CMPEQ, bits, int(bits.dtype.limits[0]))


def from_order_keys(keys: UOp, dtype: DType, descending: bool, zeros: UOp | None) -> UOp:
    """The elements of `dtype` for given keys. `zeros`, if given, says which are -0.0."""
    keys = apply(Op.NOT, keys) if descending else keys
    if not dtype.is_float:
        return cast(keys, dtype)
    is_negative = compare_number(Op.CMPLT, keys, 0)
    flipped = apply_number(Op.XOR, keys, int(keys.dtype.limits[1]))
    bits = apply(Op.WHERE, is_negative, flipped, keys)
    values = UOp(Op.BITCAST, dtypes.float32 if dtype.is_storage_only else dtype, (bits,))
    if zeros is not None:
        values = apply(Op.WHERE, zeros, UOp.const(values.dtype, -0.0), values)
    return cast(values, dtype)


def _with_whole_bits(x: UOp) -> UOp:
    """Floats of a dtype whose bits can be read as integers: 8-bit floats become float32."""
    return cast(x, dtypes.float32) if x.dtype.is_storage_only else x


def _bits(x: UOp) -> UOp:
    return UOp(Op.BITCAST, _SAME_SIZE[x.dtype.bits], (x,))
