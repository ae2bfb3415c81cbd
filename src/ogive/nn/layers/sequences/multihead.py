"""Attention with several heads, as a function of its weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Multi-head attention as a function of its weights; see `nn.MultiheadAttention`.

    Shapes: query (L, N, E), key (S, N, kdim), value (S, N, vdim) → (L, N, E) and weights (N, L, S),
    (N, heads, L, S) unless averaged, None unless needed; N may be absent. `key_padding_mask` (N, S)
    and `attn_mask` (L, S) or (N · heads, L, S): True, or a number to add, keeps a query from a key.
    The weights of the projections are stacked in `in_proj_weight`, or three with
    `use_separate_proj_weight`.

    >>> x, unit = ogive.ones(5, 3, 4), ogive.eye(4)
    >>> stacked = ogive.cat([unit] * 3)
    >>> mixed, weights = multi_head_attention_forward(
    ...     x, x, x, 4, 2, stacked, None, None, None, False, 0.0, unit, None)
    >>> mixed.shape, weights.shape
    ((5, 3, 4), (3, 5, 5))

    Raises `ShapeError` for inputs that do not fit the weights, `ArgumentError` for `is_causal`
    without a mask, about which it is a hint.
    """
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    weights = _input_weights(in_proj_weight, separate)
    _check((query, key, value), weights, embed_dim_to_check, num_heads)
    batched = query.ndim == 3
    if batched:
        inputs = each_once(lambda x: x.transpose(0, 1), (query, key, value))
    else:
        inputs = each_once(lambda x: x.unsqueeze(0), (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    q, k, v = _project(inputs, weights, in_proj_bias)
    mask = _joined_mask(q, num_heads, key_padding_mask, attn_mask)
    if is_causal and mask is None:
        raise ArgumentError("is_causal is a hint about attn_mask, so it needs an attn_mask")
    k, v, mask = _extend(k, v, mask, (bias_k, bias_v), add_zero_attn)
    q, k, v = [x.unflatten(-1, (num_heads, -1)).transpose(1, 2) for x in (q, k, v)]
    drop = dropout_p if training else 0.0
    shares: Tensor | None = None
    if need_weights:
        mixed, shares = _attend(q, k, v, mask, drop)
        shares = shares.mean(1) if average_attn_weights else shares
    else:
        mixed = q.scaled_dot_product_attention(k, v, mask, drop)
    result = mixed.transpose(1, 2).flatten(2).linear(out_proj_weight, out_proj_bias)
    if not batched:
        return result.squeeze(0), None if shares is None else shares.squeeze(0)
    return result.transpose(0, 1), shares


def each_once(function: Callable[[Tensor], Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Apply a function to each input. Inputs that are the same tensor share one result."""
    results = {id(x): x for x in inputs}
    results = {key: function(x) for key, x in results.items()}
    return [results[id(x)] for x in inputs]


def _input_weights(stacked: Tensor | None, separate: Any) -> tuple[Tensor, ...]:
    """The projections of query, key and value: three matrices, or the stacked one."""
    if separate is not None and all(isinstance(weight, Tensor) for weight in separate):
        return tuple(separate)
    if stacked is None or separate is not None:
        raise ArgumentError("attention takes in_proj_weight, or all of q_, k_ and v_proj_weight")
    return (stacked,)


def _check(inputs: tuple[Tensor, ...], weights: tuple[Tensor, ...], width: int, heads: int) -> None:
    query = inputs[0]
    sizes = [width, *[weight.shape[1] for weight in (weights * 3)[-2:]]]
    for name, size, x in zip(("query", "key", "value"), sizes, inputs, strict=True):
        if x.ndim not in (2, 3) or x.ndim != query.ndim or x.shape[-1] != size:
            raise ShapeError(
                f"{name}: expected (..., {size}) with {query.ndim} axes, of 2 or 3, got {x.shape}"
            )
    if width % heads:
        raise ArgumentError(f"num_heads={heads} must divide embed_dim={width}")


def _project(
    inputs: list[Tensor], weights: tuple[Tensor, ...], bias: Tensor | None
) -> list[Tensor]:
    if len(weights) == 1:
        if _are_one(*inputs):
            return list(inputs[0].linear(weights[0], bias).chunk(3, -1))
        weights = tuple(weights[0].chunk(3))
    biases: Any = (None,) * 3 if bias is None else bias.chunk(3)
    return [x.linear(w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]


def _are_one(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether query, key and value are the same input."""
    if query.is_eager or key.is_eager or value.is_eager:
        return query is key is value
    return query.node is key.node is value.node


def _joined_mask(
    q: Tensor, heads: int, padding: Tensor | None, mask: Tensor | None
) -> Tensor | None:
    """The mask to add to the scores: (N or 1, heads or 1, L, S)."""
    parts = []
    if mask is not None:
        added = _additive(mask, q)
        whole = mask.ndim == 3
        parts.append(added.unflatten(0, (-1, heads)) if whole else added[None, None])
    if padding is not None:
        parts.append(_additive(padding, q)[:, None, None, :])
    return parts[0] + parts[1] if len(parts) == 2 else (parts[0] if parts else None)


def _extend(
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    biases: tuple[Tensor | None, Tensor | None],
    with_zeros: bool,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Append learned keys and values, and with `with_zeros` a key and a value of zeros."""
    shape = (k.shape[0], 1, k.shape[2])
    extra: list[list[Tensor]] = []
    bias_k, bias_v = biases
    if bias_k is not None and bias_v is not None:
        extra.append([bias.reshape(1, 1, -1).expand(shape) for bias in (bias_k, bias_v)])
    if with_zeros:
        extra.append([created(zeros, *shape, dtype=k.dtype, device=memory_device(k))] * 2)
    for more_k, more_v in extra:
        k, v = cat([k, more_k], 1), cat([v, more_v], 1)
        if mask is not None:
            mask = mask.pad([0, 1])
    return k, v, mask


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: float
) -> tuple[Tensor, Tensor]:
    scores = (q * (1 / math.sqrt(int(q.shape[-1])))) @ k.transpose(-2, -1)
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if drop:
        weights = weights.dropout(drop)
    return weights @ v, weights


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """A boolean mask as minus infinity where it is True; any other mask unchanged."""
    if mask.dtype is not dtypes.bool_:
        return mask.cast(like.dtype)
    nothing: Tensor = created(zeros, dtype=like.dtype, device=memory_device(like))
    return nothing.masked_fill(mask, -math.inf)
