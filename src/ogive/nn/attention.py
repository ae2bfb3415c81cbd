"""Attention with several heads."""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.nn.initialize import xavier_normal_, xavier_uniform_
from ogive.nn.linear import Linear
from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.tensor.creation import zeros
from ogive.tensor.joining import cat
from ogive.tensor.tensor import Tensor


class MultiheadAttention(Module):
    """softmax(q·kᵀ / √d)·v for several heads, between linear layers.

    Shapes: query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim) → (L, N, embed_dim) and
    weights (N, L, S), averaged over the heads; (N, L, ...) with `batch_first`; N may be absent.

    >>> attention = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = ogive.ones(3, 5, 8)
    >>> [part.shape for part in attention(x, x, x)]
    [(3, 5, 8), (3, 5, 5)]
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ) -> None:
        if embed_dim % num_heads:
            raise ArgumentError(f"num_heads={num_heads} must divide embed_dim={embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.add_zero_attn = add_zero_attn
        self.batch_first = batch_first
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.in_proj_weight: Parameter | None = None
        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = _weight(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = _weight(embed_dim, embed_dim)
            self.k_proj_weight = _weight(embed_dim, self.kdim)
            self.v_proj_weight = _weight(embed_dim, self.vdim)
        self.in_proj_bias = Parameter(zeros(3 * embed_dim)) if bias else None
        self.bias_k = _row(embed_dim) if add_bias_kv else None
        self.bias_v = _row(embed_dim) if add_bias_kv else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if self.out_proj.bias is not None:
            self.out_proj.bias = Parameter(zeros(embed_dim))

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """`key_padding_mask` (N, S) and `attn_mask` (L, S) or (N·heads, L, S): True, or a number
        to add, keeps a query from a key."""
        self._check(query, key, value)
        batched = query.ndim == 3
        if not batched:
            query, key, value = [x.unsqueeze(0) for x in (query, key, value)]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = [x.transpose(0, 1) for x in (query, key, value)]
        q, k, v = self._project(query, key, value)
        mask = self._mask(q, k, key_padding_mask, attn_mask)
        if is_causal and mask is None:
            raise ArgumentError("is_causal is a hint about attn_mask, and there is none")
        k, v, mask = self._extend(k, v, mask)
        q, k, v = [self._split_heads(x) for x in (q, k, v)]
        drop = self.dropout if self.training else 0.0
        weights: Tensor | None = None
        if need_weights:
            mixed, weights = _attend(q, k, v, mask, drop)
        else:
            mixed = q.scaled_dot_product_attention(k, v, mask, drop)
        made = self.out_proj(mixed.transpose(1, 2).flatten(2))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            return made.squeeze(0), None if weights is None else weights.squeeze(0)
        return made if self.batch_first else made.transpose(0, 1), weights

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        wanted = {"query": self.embed_dim, "key": self.kdim, "value": self.vdim}
        for (name, size), x in zip(wanted.items(), (query, key, value), strict=True):
            if x.ndim not in (2, 3) or x.ndim != query.ndim or x.shape[-1] != size:
                raise ShapeError(
                    f"{name}: expected (..., {size}) with {query.ndim} axes, of 2 or 3, "
                    f"got {x.shape}"
                )

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        biases: Any = (None,) * 3
        if self.in_proj_bias is not None:
            biases = self.in_proj_bias.chunk(3)
        if self.in_proj_weight is None:
            weights: Any = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif query is key and key is value:
            together = query.linear(self.in_proj_weight, self.in_proj_bias)
            return list(together.chunk(3, -1))
        else:
            weights = self.in_proj_weight.chunk(3)
        inputs = (query, key, value)
        return [x.linear(w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]

    def _mask(
        self, q: Tensor, k: Tensor, padding: Tensor | None, mask: Tensor | None
    ) -> Tensor | None:
        """What to add to the scores: (N or 1, heads or 1, L, S)."""
        parts = []
        if mask is not None:
            added = _additive(mask, q)
            if mask.ndim == 3:
                added = added.unflatten(0, (-1, self.num_heads))
            parts.append(added if mask.ndim == 3 else added[None, None])
        if padding is not None:
            parts.append(_additive(padding, q)[:, None, None, :])
        return parts[0] + parts[1] if len(parts) == 2 else (parts[0] if parts else None)

    def _extend(
        self, k: Tensor, v: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Keys and values beside those given: learned ones, and zeros."""
        batch = k.shape[0]
        extra = []
        if self.bias_k is not None and self.bias_v is not None:
            learned = (self.bias_k, self.bias_v)
            extra.append([bias.expand(batch, 1, self.embed_dim) for bias in learned])
        if self.add_zero_attn:
            extra.append([zeros(batch, 1, self.embed_dim, dtype=k.dtype)] * 2)
        for more_k, more_v in extra:
            k, v = cat([k, more_k], 1), cat([v, more_v], 1)
            if mask is not None:
                mask = mask.pad([0, 1])
        return k, v, mask

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def extra_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: float
) -> tuple[Tensor, Tensor]:
    scores = (q * (1 / math.sqrt(int(q.shape[-1])))) @ k.transpose(-2, -1)
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if drop:
        weights = weights.dropout(drop)
    return weights @ v, weights


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """Minus infinity where a boolean mask is True; any other mask as it is."""
    if mask.dtype is not dtypes.bool_:
        return mask.cast(like.dtype)
    return zeros(dtype=like.dtype).masked_fill(mask, -math.inf)


def _weight(rows: int, columns: int) -> Parameter:
    made = Parameter(zeros(rows, columns))
    xavier_uniform_(made)
    return made


def _row(width: int) -> Parameter:
    made = Parameter(zeros(1, 1, width))
    xavier_normal_(made)
    return made
