"""Attention and what goes with it: rotated positions, states carried along a sequence."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.dynamic_lengths import Length, is_fixed
from ogive.onnx.elements import find_dtype
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import cat, stack
from ogive.tensor.tensor import Tensor


def _by_head(x: Tensor, heads: int | None) -> Tensor:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    if x.ndim == 4:
        return x
    assert heads is not None, "the attribute is required for three axes"
    batch, length, width = shape_of(x)
    return x.reshape(batch, length, heads, width // heads).permute(0, 2, 1, 3)


def _joined(x: Tensor) -> Tensor:
    """[batch, heads, length, size] as [batch, length, heads * size]."""
    batch, heads, length, size = shape_of(x)
    return x.permute(0, 2, 1, 3).reshape(batch, length, heads * size)


@operator("Attention")
def attention(c: Call) -> Value:
    query = _by_head(c.tensor(0), c.get("q_num_heads"))
    key = _by_head(c.tensor(1), c.get("kv_num_heads"))
    value = _by_head(c.tensor(2), c.get("kv_num_heads"))
    past = shape_of(c.tensor(4))[2] if c.has(4) else 0
    if c.has(4):
        key, value = cat([c.tensor(4), key], 2), cat([c.tensor(5), value], 2)
    present = key, value
    repeats = shape_of(query)[1] // shape_of(key)[1]
    if repeats > 1:
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    factor = c.get("scale") or 1 / math.sqrt(shape_of(query)[3])
    root = Tensor.from_numpy(numpy.array(math.sqrt(factor))).cast(query.dtype)
    scores = (query * root) @ (key * root).transpose(2, 3)
    softcap = c.get("softcap", 0.0)
    if softcap:
        scores = (scores / softcap).tanh() * softcap
    bias = _attention_bias(c, query, key, past)
    biased = scores if bias is None else scores + bias
    chances = _softmax(c, biased, bias).cast(query.dtype)
    shown = {2: biased, 3: chances}.get(c.get("qk_matmul_output_mode", 0), scores)
    result = chances @ value
    return _joined(result) if c.tensor(0).ndim == 3 else result, *present, shown.cast(query.dtype)


def _softmax(c: Call, scores: Tensor, bias: Tensor | None) -> Tensor:
    """Over keys; a query that may look at none has chances of 0."""
    precision = c.get("softmax_precision")
    if precision:
        scores = scores.cast(find_dtype(precision))
    chances = scores.softmax(-1)
    if bias is None:
        return chances
    return (chances * 0).nan_to_num(0.0).where(bias.amax(-1, True).isneginf(), chances)


def _attention_bias(c: Call, query: Tensor, key: Tensor, past: Length) -> Tensor | None:
    """Numbers to add to scores: 0 where a query may look at a key, or those of the mask."""
    count, length = shape_of(query)[2], shape_of(key)[2]
    biases = [] if not c.has(3) else [_mask_bias(c.tensor(3), length, query)]
    nonpad = c.tensor(6).cast(dtypes.int64).reshape(-1, 1, 1, 1) if c.has(6) else None
    places = arange(length).reshape(1, 1, 1, length)
    rows = arange(count).reshape(1, 1, count, 1)
    rows = rows + past if nonpad is None else rows + (nonpad - count)
    allowed = []
    if c.flag("is_causal"):
        allowed.append(places <= rows)
    if c.get("left_window_size", -1) >= 0:
        allowed.append(rows - places <= c.get("left_window_size"))
    if c.get("right_window_size", -1) >= 0:
        allowed.append(places - rows <= c.get("right_window_size"))
    if nonpad is not None:
        allowed.append(places < nonpad)
    biases += [_as_bias(each, query) for each in allowed]
    total = None
    for bias in biases:
        total = bias if total is None else total + bias
    return total


def _as_bias(allowed: Tensor, like: Tensor) -> Tensor:
    blocked = Tensor.from_numpy(numpy.array(-math.inf)).cast(like.dtype)
    return (blocked * 0).nan_to_num(0.0).where(allowed, blocked)


def _mask_bias(mask: Tensor, length: Length, like: Tensor) -> Tensor:
    missing = length - shape_of(mask)[-1]
    bias = _as_bias(mask, like) if mask.dtype == dtypes.bool_ else mask
    is_short = is_fixed(missing) and missing > 0
    return bias.pad([0, missing], value=-math.inf) if is_short else bias


@operator("FlexAttention", domain="ai.onnx.preview")
def flex_attention(c: Call) -> Value:
    query, key, value = c.tensor(0), c.tensor(1), c.tensor(2)
    repeats = shape_of(query)[1] // shape_of(key)[1]
    if repeats > 1:
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    factor = c.get("scale") or 1 / math.sqrt(shape_of(query)[3])
    root = Tensor.from_numpy(numpy.array(math.sqrt(factor))).cast(query.dtype)
    wide = query.dtype if query.dtype.itemsize >= 4 else dtypes.float32
    if c.get("softmax_precision"):
        wide = find_dtype(c.get("softmax_precision"))
    scores: Value = ((query * root) @ (key * root).transpose(2, 3)).cast(wide)
    if c.get("score_mod") is not None:
        (scores,) = c.walk.run_inside(c.graph("score_mod"), [scores])
    chances: Value = scores.softmax(-1)
    if c.get("prob_mod") is not None:
        (chances,) = c.walk.run_inside(c.graph("prob_mod"), [chances])
    return (chances @ value.cast(wide)).cast(value.dtype)


@operator("RotaryEmbedding")
def rotary_embedding(c: Call) -> Value:
    x, cosine, sine = c.tensor(0), c.tensor(1), c.tensor(2)
    parts = _by_head(x, c.get("num_heads")).permute(0, 2, 1, 3)
    width = c.get("rotary_embedding_dim", 0) or shape_of(parts)[3]
    turned, rest = parts[..., :width], parts[..., width:]
    if c.has(3):
        cosine, sine = cosine[c.tensor(3)], sine[c.tensor(3)]
    cosine, sine = cosine.unsqueeze(2), sine.unsqueeze(2)
    rotated = rotate(turned, cosine, sine, c.flag("interleaved"))
    if shape_of(rest)[3]:
        rotated = cat([rotated, rest], -1)
    return rotated.reshape(*x.shape) if x.ndim == 3 else rotated.permute(0, 2, 1, 3)


def rotate(x: Tensor, cosine: Tensor, sine: Tensor, is_interleaved: bool) -> Tensor:
    """Pairs along the last axis, turned by angles: neighbours, or a half and the other half."""
    half = shape_of(x)[-1] // 2
    first, second = x[..., :half], x[..., half:]
    if is_interleaved:
        first, second = x[..., 0::2], x[..., 1::2]
    real, imaginary = first * cosine - second * sine, second * cosine + first * sine
    if is_interleaved:
        return stack([real, imaginary], -1).reshape(*x.shape)
    return cat([real, imaginary], -1)


@operator("SwiGLU")
def swiglu(c: Call) -> Value:
    gate = c.tensor(0)
    return gate * (gate * c.get("alpha", 1.0)).sigmoid() * c.tensor(1)


@operator("CausalConvWithState")
def causal_convolution(c: Call) -> Value:
    x, weight = c.tensor(0), c.tensor(1)
    before = shape_of(weight)[2] - 1
    padded = cat([c.tensor(3), x], 2) if c.has(3) else x.pad([before, 0])
    convolved = padded.conv1d(weight, c.optional(2), groups=shape_of(x)[1])
    if c.get("activation", "none") in ("silu", "swish"):
        convolved = convolved.cast(dtypes.float32).silu().cast(x.dtype)
    return convolved, padded.narrow(2, shape_of(padded)[2] - before, before)


@operator("LinearAttention")
def linear_attention(c: Call) -> Value:
    heads, inner = c.get("q_num_heads"), c.get("kv_num_heads")
    query, key, value = (
        _by_head(c.tensor(index), count).cast(dtypes.float32)
        for index, count in ((0, heads), (1, inner), (2, inner))
    )
    size = shape_of(key)[3]
    decay = _by_head(c.tensor(4), inner).cast(dtypes.float32) if c.has(4) else None
    beta = (
        _by_head(c.tensor(5), shape_of(c.tensor(5))[2]).cast(dtypes.float32) if c.has(5) else None
    )
    state: Any = c.tensor(3).cast(dtypes.float32) if c.has(3) else None
    rule = c.get("update_rule", "gated_delta")
    factor = c.get("scale", 0.0) or 1 / math.sqrt(size)
    outputs = []
    for step in range(shape_of(query)[2]):
        k, v = key[:, :, step, :], value[:, :, step, :]
        if state is None:
            state = k.unsqueeze(-1) * v.unsqueeze(-2) * 0
        if decay is not None:
            state = state * decay[:, :, step, :].exp().unsqueeze(-1)
        if beta is not None and "delta" in rule:
            v = beta[:, :, step, :] * (v - (state * k.unsqueeze(-1)).sum(-2))
        state = state + k.unsqueeze(-1) * v.unsqueeze(-2)
        shown = state.repeat_interleave(heads // inner, 1) if heads != inner else state
        outputs.append((query[:, :, step, :].unsqueeze(-1) * shown).sum(-2) * factor)
    kind = c.tensor(3).dtype if c.has(3) else c.tensor(0).dtype
    return _joined(stack(outputs, 2)).cast(c.tensor(0).dtype), state.cast(kind)
