"""The form of attention."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.eager.casts import unbroadcast
from ogive.eager.forms import Refused, dispatching, done_by, form, forms, gradient, is_captured
from ogive.eager.products.product_forms import multiply
from ogive.eager.reductions.exponential_forms import exponentials
from ogive.tensor.neural import dot_product_attention as plain
from ogive.tensor.tensor import Tensor

_matmul = numpy.matmul


def _weights(query: Any, key: Any, mask: Any, is_causal: bool, factor: float) -> Any:
    """The weight of each value for each query. A query that sees no key has zeros."""
    scores = multiply(query, key.swapaxes(-1, -2))
    scores *= factor
    if is_causal:
        mask = numpy.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None:
        scores = numpy.where(mask, scores, -math.inf) if mask.dtype.kind == "b" else scores + mask
        scores = scores.astype(query.dtype, copy=False)
    else:
        weights, total = exponentials(scores, scores.ndim - 1)
        weights /= total
        return weights
    peaks = numpy.maximum.reduce(scores, -1, keepdims=True)
    scores -= numpy.where(peaks == -math.inf, 0, peaks).astype(query.dtype, copy=False)
    numpy.exp(scores, out=scores)
    total = numpy.add.reduce(scores, -1, keepdims=True)
    scores /= numpy.where(total == 0, 1, total).astype(query.dtype)
    return scores


def _factor(query: Any, scale: float | None) -> float:
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


@form(plain.scaled_dot_product_attention, counts=True)
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query · keyᵀ · scale + mask) · value."""
    if dropout_p > 0 or enable_gqa or (is_causal and attn_mask is not None):
        raise Refused
    if query.dtype.kind != "f" or query.dtype != key.dtype or query.dtype != value.dtype:
        raise Refused
    if min(query.ndim, key.ndim, value.ndim) < 2 or not (query.size and key.size and value.size):
        raise Refused
    if key.shape[-2] != value.shape[-2]:
        raise Refused
    if attn_mask is not None and attn_mask.dtype not in (query.dtype, numpy.bool_):
        raise Refused
    weights = _weights(query, key, attn_mask, is_causal, _factor(query, scale))
    return multiply(weights, value)


@gradient(scaled_dot_product_attention)
def _attention(
    given: Any,
    out: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    factor = _factor(query, scale)
    weights = _weights(query, key, attn_mask, is_causal, factor)
    to_value = _matmul(weights.swapaxes(-1, -2), given)
    below = _matmul(given, value.swapaxes(-1, -2))
    below = weights * (below - numpy.add.reduce(below * weights, -1, keepdims=True))
    gradients = [
        unbroadcast(_matmul(below, key) * factor, query),
        unbroadcast(_matmul(below.swapaxes(-1, -2), query) * factor, key),
        unbroadcast(to_value, value),
    ]
    if attn_mask is not None:
        is_added = attn_mask.dtype.kind == "f"
        gradients.append(unbroadcast(below, attn_mask) if is_added else None)
    return gradients


# With dropout


_undropped = dispatching(forms[plain.scaled_dot_product_attention])


@done_by(plain.scaled_dot_product_attention)
def attend(
    self: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention. With dropout it is computed by single operations."""
    if dropout_p > 0 and not (is_causal or enable_gqa or is_captured()) and _all_see(attn_mask):
        scores = self @ key.transpose(-2, -1) * _factor(self, scale)
        shares = (scores if attn_mask is None else scores + attn_mask).softmax(-1)
        return shares.dropout(dropout_p) @ value
    return _undropped(self, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _all_see(mask: Any) -> bool:
    """Whether each query sees a key under an additive mask."""
    if mask is None:
        return True
    if not isinstance(mask, Tensor) or not mask.is_eager or mask.value.dtype.kind != "f":
        return False
    return bool((numpy.maximum.reduce(mask.value, -1) > -math.inf).all())
