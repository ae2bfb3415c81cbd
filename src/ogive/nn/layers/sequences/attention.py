"""Attention with several heads."""

from __future__ import annotations

from typing import Any

from ogive.errors import ArgumentError
from ogive.nn.init import xavier_normal_, xavier_uniform_
from ogive.nn.layers.linear import Linear
from ogive.nn.layers.sequences.multihead import each_once, multi_head_attention_forward
from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.method_functions import created
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
        device: str | None = None,
        dtype: Any = None,
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
        self.q_proj_weight: Parameter | None = None
        self.k_proj_weight: Parameter | None = None
        self.v_proj_weight: Parameter | None = None

        def empty(*shape: int) -> Parameter:
            return Parameter(created(zeros, *shape, dtype=dtype, device=device))

        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = _spread(empty(3 * embed_dim, embed_dim))
        else:
            self.q_proj_weight = _spread(empty(embed_dim, embed_dim))
            self.k_proj_weight = _spread(empty(embed_dim, self.kdim))
            self.v_proj_weight = _spread(empty(embed_dim, self.vdim))
        self.in_proj_bias = empty(3 * embed_dim) if bias else None
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k, self.bias_v = empty(1, 1, embed_dim), empty(1, 1, embed_dim)
            xavier_normal_(self.bias_k)
            xavier_normal_(self.bias_v)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        if bias:
            self.out_proj.bias = empty(embed_dim)

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
        """Compute attention.

        `key_padding_mask` is (N, S), and `attn_mask` (L, S) or (N·heads, L, S). True in a mask
        excludes a key; numbers are added to the scores.
        """
        turns = self.batch_first and query.ndim == 3
        if turns:
            query, key, value = each_once(lambda x: x.transpose(0, 1), (query, key, value))
        is_stacked = self.in_proj_weight is not None
        result, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not is_stacked, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, average_attn_weights, is_causal,
        )  # fmt: skip
        return result.transpose(0, 1) if turns else result, weights


class NonDynamicallyQuantizableLinear(Linear):
    """The output layer of attention. PyTorch prints it under this name."""


def _spread(weight: Parameter) -> Parameter:
    xavier_uniform_(weight)
    return weight
