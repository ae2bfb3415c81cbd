"""Attention: averages of values, weighted by how well their keys match a query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lowered
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.pairwise import only_floats
from ogive.tensor.lengths import difference
from ogive.tensor.linear_algebra.matrix_product import product_at, product_where
from ogive.tensor.reduction.log_sum_exp import widen

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@lowered
def scaled_dot_product_attention(
    self: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query · keyᵀ · scale + mask) · value, this tensor being the query.

    Shapes: (..., l, e) with key (..., s, e) and value (..., s, v) → (..., l, v); the axes in
    front broadcast. `attn_mask` broadcasts to (..., l, s): a bool mask selects the keys, a float
    mask is added. With `is_causal` position i sees the positions up to i. A query that sees no
    keys gives zeros. `scale` is 1 / √e by default. With `enable_gqa` each key and value head
    serves several query heads, on axis -3. Each weight is dropped with probability `dropout_p`
    in every call, since a function has no training mode.

    >>> x = ogive.ones(1, 4, 8)
    >>> x.scaled_dot_product_attention(x, x, is_causal=True).shape
    (1, 4, 8)

    Raises `ShapeError` when the shapes do not fit, `DtypeError` unless all are of one float
    dtype, `ArgumentError` for a mask together with `is_causal`.
    """
    # Imported here, since few processes use attention.
    from ogive.tensor.neural.attention_gradients import exponentials, is_large, with_weights_again

    _check(self, key, value, attn_mask, is_causal)
    query, dtype = widen(self, NAME)
    key, value = key.cast(query.dtype), value.cast(query.dtype)
    if enable_gqa:
        key, value = _share(key, query, "key"), _share(value, query, "value")
    factor = (1 / math.sqrt(max(query.shape[-1], 1))) if scale is None else scale
    if is_causal:
        attn_mask = _causal(query, key)
        scores = product_at(attn_mask, query, key.transpose(-2, -1)) * factor
    else:
        scores = query @ key.transpose(-2, -1) * factor
    if scores.numel() == 0:
        return (scores @ value).cast(dtype)
    weights, total, _ = exponentials(scores, attn_mask)
    if dropout_p > 0.0:
        weights = weights.dropout(dropout_p)
    if is_causal and attn_mask is not None:
        mixed = product_where(attn_mask, weights, value)
    else:
        mixed = weights @ value
    result = (mixed / total).cast(dtype)
    if dropout_p > 0.0 or not is_large(scores, is_causal, dtype):
        return result
    return with_weights_again(result, scores, query, key, value, attn_mask, factor, is_causal)


NAME = "scaled_dot_product_attention"


def _causal(query: Tensor, key: Tensor) -> Tensor:
    """Position i sees the positions up to i."""
    with graph_lock:
        shape = (query.node.shape[-2], key.node.shape[-2])
        return wrap(build.filled(dtypes.bool_, True, shape), query.device).tril()


def _share(x: Tensor, query: Tensor, label: str) -> Tensor:
    """Heads of keys or values, repeated for the query heads they serve."""
    if x.ndim < 3 or query.ndim < 3 or x.shape[-3] == 0 or query.shape[-3] % x.shape[-3]:
        raise ShapeError(
            f"{NAME}: with enable_gqa the heads of {label} {build.show(x.shape)} on axis -3 must "
            f"divide those of query {build.show(query.shape)}"
        )
    *front, heads, length, width = x.shape
    each = query.shape[-3] // heads
    if each == 1:
        return x
    x = x.reshape(*front, heads, 1, length, width).expand(*front, heads, each, length, width)
    return x.reshape(*front, heads * each, length, width)


def _check(query: Core, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    only_floats(query.dtype, NAME)
    for label, operand in (("key", key), ("value", value)):
        if not isinstance(operand, Core):
            raise ArgumentTypeError(f"{NAME}: {label} must be a tensor, got {operand!r}")
        if operand.dtype is not query.dtype:
            raise DtypeError(
                f"{NAME}: {label} is {operand.dtype.name} and query {query.dtype.name}; they must "
                "be equal, cast one of them"
            )
    shapes = (query.shape, key.shape, value.shape)
    if (
        min(map(len, shapes)) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != value.shape[-2]
    ):
        given = ", ".join([build.show(shape) for shape in shapes])
        raise ShapeError(
            f"{NAME}: query, key and value have the shapes {given}; expected (..., l, e), "
            f"(..., s, e) and (..., s, v){difference(query.shape[-1:], key.shape[-1:])}"
        )
    if mask is None:
        return
    if is_causal:
        raise ArgumentError(f"{NAME} takes attn_mask or is_causal, not both")
    if not isinstance(mask, Core):
        raise ArgumentTypeError(f"{NAME}: attn_mask must be a tensor, got {mask!r}")
    if not mask.dtype.is_bool and mask.dtype is not query.dtype:
        raise DtypeError(
            f"{NAME}: attn_mask is {mask.dtype.name}; expected bool or {query.dtype.name} as query"
        )
