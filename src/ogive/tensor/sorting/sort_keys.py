"""Integers that are ordered as the elements of a tensor are, and the elements that they stand for.

The bits of a positive float, read as an integer, are ordered as the floats are; those of a negative
one the other way round, so all but the sign are turned:

    -1.0   -0.0, 0.0   1.0   NaN      →      -1065353217   0   1065353216   2147483647
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.live.registry import graph_lock
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.binary_operations import refuse
from ogive.tensor.movement.joining import where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

_SAME_SIZE = {16: dtypes.int16, 32: dtypes.int32, 64: dtypes.int64}


def sort_keys(x: Core) -> Tensor:
    """Integers that are ordered as the elements are; NaN is the greatest of all."""
    with graph_lock:
        tensor = wrap(x.node, x.device)
    if tensor.dtype.is_complex:
        raise refuse(tensor.dtype, "sort", "")
    if tensor.dtype.is_bool:
        return tensor.cast(dtypes.uint8)
    if not tensor.dtype.is_float:
        return tensor
    tensor = _wide(tensor)
    kind = _SAME_SIZE[tensor.dtype.bits]
    bits = tensor.detach().bitcast(kind)
    top = int(kind.limits[1])
    ordered = where(bits < 0, bits.bitwise_xor(top), bits)
    return where(tensor.isnan(), top, where(tensor == 0, 0, ordered)).cast(kind)


def negative_zeros(x: Core) -> Tensor:
    """Which floats are -0.0: a key does not tell."""
    with graph_lock:
        tensor = _wide(wrap(x.node, x.device))
    kind = _SAME_SIZE[tensor.dtype.bits]
    return tensor.detach().bitcast(kind) == int(kind.limits[0])


def from_sort_keys(keys: Tensor, dtype: DType, zeros: Tensor | None) -> Tensor:
    """The elements of a dtype that keys stand for, of which some are -0.0 if that is given."""
    if not dtype.is_float:
        return keys.cast(dtype)
    bits = where(keys < 0, keys.bitwise_xor(int(keys.dtype.limits[1])), keys)
    wide = dtypes.float32 if dtype.is_storage_only else dtype
    values = bits.cast(keys.dtype).bitcast(wide)
    return (values if zeros is None else where(zeros, -0.0, values)).cast(dtype)


def _wide(x: Tensor) -> Tensor:
    """Floats whose bits can be read as integers."""
    return x.cast(dtypes.float32) if x.dtype.is_storage_only else x
