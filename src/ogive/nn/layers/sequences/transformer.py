"""Encoder and decoder layers after "Attention is all you need", and stacks of them."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

from ogive.nn.containers import ModuleList
from ogive.nn.init import xavier_uniform_
from ogive.nn.layers.dropout import Dropout
from ogive.nn.layers.linear import Linear
from ogive.nn.layers.normalization import LayerNorm
from ogive.nn.layers.sequences.attention import MultiheadAttention
from ogive.nn.module import Module
from ogive.tensor.creation.constructors import full
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor

Activation = str | Callable[[Tensor], Tensor]


def to_function(activation: Activation) -> Callable[[Tensor], Tensor]:
    return operator.methodcaller(activation) if isinstance(activation, str) else activation


class _Layer(Module):
    """The base of encoder and decoder layers: self-attention and a dense part, with residuals."""

    attentions: int

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        kind: Any = {"bias": bias, "device": device, "dtype": dtype}
        heads: Any = {"batch_first": batch_first, **kind}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **heads)
        if self.attentions == 2:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **kind)
        self.norm_first = norm_first
        for number in range(1, self.attentions + 2):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, **kind))
        for number in range(1, self.attentions + 2):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = to_function(activation)

    def join(self, x: Tensor, number: int, part: Callable[[Tensor], Tensor]) -> Tensor:
        """x + part(x), normalized before or after."""
        norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            joined: Tensor = x + drop(part(norm(x)))
            return joined
        joined = norm(x + drop(part(x)))
        return joined

    def feed_forward(self, x: Tensor) -> Tensor:
        """Two dense layers."""
        dense: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return dense


class TransformerEncoderLayer(_Layer):
    """Self-attention and a dense part. Shapes: (L, N, d_model), unchanged.

    >>> nn.TransformerEncoderLayer(8, 2, 16).eval()(ogive.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    attentions = 1

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            result: Tensor = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )[0]
            return result

        return self.join(self.join(src, 1, attend), 2, self.feed_forward)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to `memory`, and a dense part. Shapes: (T, N, d_model), unchanged.

    >>> layer = nn.TransformerDecoderLayer(8, 2, 16).eval()
    >>> layer(ogive.ones(5, 3, 8), ogive.ones(7, 3, 8)).shape
    (5, 3, 8)
    """

    attentions = 2

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            result: Tensor = self.self_attn(
                x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal
            )[0]
            return result

        def attend_memory(x: Tensor) -> Tensor:
            result: Tensor = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask,
                is_causal=memory_is_causal,
            )[0]  # fmt: skip
            return result

        x = self.join(tgt, 1, attend)
        return self.join(self.join(x, 2, attend_memory), 3, self.feed_forward)


class _Stack(Module):
    """Copies of a layer, one after the other, and a norm after the last."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, x: Tensor, *others: Any, **more: Any) -> Tensor:
        """Apply the layers. `others` and `more` are their further arguments."""
        for layer in self.layers:
            x = layer(x, *others, **more)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Copies of a `TransformerEncoderLayer`. Shapes: (L, N, d_model), unchanged.

    `enable_nested_tensor` and `mask_check`, PyTorch's, change nothing.

    >>> encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2).eval()
    >>> encoder(ogive.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        return super().forward(src, mask, src_key_padding_mask, is_causal)


class TransformerDecoder(_Stack):
    """Copies of a `TransformerDecoderLayer`, called as it is. Shapes: (T, N, d_model), unchanged.

    >>> decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2).eval()
    >>> decoder(ogive.ones(5, 3, 8), ogive.ones(7, 3, 8)).shape
    (5, 3, 8)
    """


class Transformer(Module):
    """An encoder and a decoder. Shapes: (S, N, d_model) and (T, N, d_model) → (T, N, d_model).

    >>> model = nn.Transformer(8, 2, 1, 1, 16).eval()
    >>> model(ogive.ones(7, 3, 8), ogive.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        settings: Any = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, device, dtype,
        )  # fmt: skip
        norms = [
            LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            for _ in range(2)
        ]
        self.encoder = TransformerEncoder(
            TransformerEncoderLayer(*settings),
            num_encoder_layers,
            norms[0],
        )
        self.decoder = TransformerDecoder(
            TransformerDecoderLayer(*settings),
            num_decoder_layers,
            norms[1],
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask, bool(src_is_causal))
        result: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            bool(tgt_is_causal), memory_is_causal,
        )
        return result

    @staticmethod
    def generate_square_subsequent_mask(size: int) -> Tensor:
        """A mask of minus infinity above the diagonal: no position sees later ones.

        >>> nn.Transformer.generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        barred: Tensor = created(full, (size, size), float("-inf"))
        return barred.triu(1)
