"""Attention of com.microsoft: with its projections, or by heads."""

from __future__ import annotations

import math

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.dynamic_lengths import Length, is_fixed
from ogive.onnx.operators.layers.sequence_attention import rotate
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import cat, stack
from ogive.tensor.tensor import Tensor

DOMAIN = "com.microsoft"


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    batch, length, width = shape_of(x)
    return x.reshape(batch, length, heads, width // heads).permute(0, 2, 1, 3)


def join_heads(x: Tensor) -> Tensor:
    """[batch, heads, length, size] as [batch, length, heads * size]."""
    batch, heads, length, size = shape_of(x)
    return x.permute(0, 2, 1, 3).reshape(batch, length, heads * size)


def _attend(
    c: Call, query: Tensor, key: Tensor, value: Tensor, past: Length, mask: Tensor | None,
    bias: Tensor | None,
) -> Tensor:  # fmt: skip
    """Attention by heads; `mask` says which keys count, `bias` is added to scores."""
    factor = c.get("scale") or 1 / math.sqrt(shape_of(query)[3])
    scores = query @ key.transpose(2, 3) * factor
    if bias is not None:
        scores = scores + bias
    count, length = shape_of(query)[2], shape_of(key)[2]
    hidden = c.get("mask_filter_value", -10000.0)
    if mask is not None:
        scores = scores + (1 - mask.cast(scores.dtype)) * hidden
    if c.flag("unidirectional"):
        rows = arange(count).reshape(count, 1) + past
        ahead = arange(length).reshape(1, length) > rows
        lowest = scores * 0 + -math.inf
        scores = lowest.nan_to_num(-math.inf, neginf=-math.inf).where(ahead, scores)
    return join_heads(scores.softmax(-1) @ value)


def _read_mask(c: Call, given: Tensor, length: Length) -> Tensor:
    """1 for each key that counts, so that it broadcasts over [batch, heads, queries, keys]."""
    if given.ndim == 2:
        return given.unsqueeze(1).unsqueeze(1)
    if given.ndim == 3:
        return given.unsqueeze(1)
    if given.ndim == 1:  # how many keys count, of each row; where they begin may follow
        ends = given.reshape(-1, 1, 1, 1)
        return (arange(length).reshape(1, 1, 1, length) < ends).cast(dtypes.int32)
    raise c.refuse(f"a mask of {given.ndim} axes")


@operator("Attention", domain=DOMAIN)
def attention_with_projections(c: Call) -> Value:
    x, heads = c.tensor(0), c.get("num_heads")
    projected = x @ c.tensor(1)
    if c.has(2):
        projected = projected + c.tensor(2)
    width = shape_of(projected)[2]
    sizes = c.get("qkv_hidden_sizes") or [width // 3] * 3
    query, key, value = (split_heads(part, heads) for part in projected.split(sizes, 2))
    past: Length = 0
    if c.has(4):
        past = shape_of(c.tensor(4))[3]
        key, value = cat([c.tensor(4)[0], key], 2), cat([c.tensor(4)[1], value], 2)
    mask = None if not c.has(3) else _mask_of(c, shape_of(x)[0], shape_of(key)[2])
    result = _attend(c, query, key, value, past, mask, c.optional(5))
    if len(c.node.outputs) < 2:
        return result
    return result, stack([key, value], 0)


def _mask_of(c: Call, batch: Length, length: Length) -> Tensor:
    given = c.tensor(3)
    if given.ndim == 1 and is_fixed(batch) and shape_of(given)[0] != batch:
        raise c.refuse(f"a mask of {shape_of(given)[0]} numbers for a batch of {batch}")
    return _read_mask(c, given, length)


@operator("MultiHeadAttention", domain=DOMAIN)
def attention_by_heads(c: Call) -> Value:
    heads = c.get("num_heads")
    query, key, value = _queries_keys_values(c, heads)
    past: Length = 0
    if c.has(6):
        past = shape_of(c.tensor(6))[2]
        key, value = cat([c.tensor(6), key], 2), cat([c.tensor(7), value], 2)
    mask = _read_mask(c, c.tensor(4), shape_of(key)[2]) if c.has(4) else None
    result = _attend(c, query, key, value, past, mask, c.optional(5))
    return result if len(c.node.outputs) < 2 else (result, key, value)


def _queries_keys_values(c: Call, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Each as [batch, heads, length, size], with its part of the bias."""
    query = c.tensor(0)
    if query.ndim == 5:  # [batch, length, heads, 3, size]
        query, key, value = (query[:, :, :, part].permute(0, 2, 1, 3) for part in range(3))
        return query, key, value
    bias = c.optional(3)
    given = [query, c.tensor(1), c.tensor(2)] if c.has(2) else None
    if given is None:
        if not c.has(1) or c.tensor(1).ndim != 5:
            raise c.refuse("it has queries alone, in three axes")
        pair = c.tensor(1)
        given = [query, pair[:, :, :, 0].flatten(2), pair[:, :, :, 1].flatten(2)]
    by_heads, begin = [], 0
    for part in given:
        width = shape_of(part)[2] if part.ndim == 3 else shape_of(part)[1] * shape_of(part)[3]
        if bias is not None and part.ndim == 3:
            part = part + bias[begin : begin + width]
        begin = begin + width
        by_heads.append(split_heads(part, heads) if part.ndim == 3 else part)
    return by_heads[0], by_heads[1], by_heads[2]


@operator("RotaryEmbedding", domain=DOMAIN)
def rotate_positions(c: Call) -> Value:
    x, places = c.tensor(0), c.tensor(1)
    cosine, sine = c.tensor(2), c.tensor(3)
    heads = c.get("num_heads", 0)
    if x.ndim == 3:
        size = shape_of(x)[2] // heads if heads else 2 * shape_of(cosine)[1]
        parts = x.reshape(*shape_of(x)[:2], shape_of(x)[2] // size, size)
    else:
        parts = x.permute(0, 2, 1, 3)
    length = shape_of(parts)[1]
    if shape_of(places) == (1,):
        places = (places + arange(length)).reshape(1, length)
    width = c.get("rotary_embedding_dim", 0) or shape_of(parts)[3]
    near, far = cosine[places].unsqueeze(2), sine[places].unsqueeze(2)
    turned, rest = parts[..., :width], parts[..., width:]
    rotated = rotate(turned, near, far, c.flag("interleaved"))
    rotated = cat([rotated, rest], -1) if shape_of(rest)[3] else rotated
    return rotated.reshape(*x.shape) if x.ndim == 3 else rotated.permute(0, 2, 1, 3)
