"""Consumers that ask nothing of lengths, so that these may be variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.movement_chains import consumers
from tests.movement_chains.consumers import Context
from tests.movement_chains.drawing import Draw

LONGEST = 4096
"""The most elements of a chain, and so of an operand that goes with one of its axes."""


class Consumer(NamedTuple):
    """What is done, what is drawn for it by the rank, and of which tensors it can be done."""

    apply: Callable[..., Any]
    draw: Callable[[Draw, int], tuple[Any, ...]]
    floats_only: bool = True
    is_exact: bool = False
    has_gradient: bool = True


def numbers(at: Context, count: Any, seed: int) -> Any:
    """So many numbers of about 1."""
    values = np.random.default_rng(seed).standard_normal(LONGEST)
    return at.operand(np.clip(np.round(values * 64) / 64, -3, 3))[:count]


def product(x: Any, at: Context, columns: int, seed: int) -> Any:
    count = x.shape[-1]
    return x @ numbers(at, count * columns, seed).reshape(count, columns)


def layer_norm(x: Any, at: Context, seed: int) -> Any:
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / ((centred * centred).mean(-1, keepdim=True) + 0.1).sqrt()
    return scaled * numbers(at, x.shape[-1], seed) + numbers(at, x.shape[-1], seed + 1)


def self_attention(x: Any, at: Context, seed: int) -> Any:
    scores = x @ x.transpose(-1, -2)
    return (scores * 0.25).softmax(-1) @ x


def scale(x: Any, at: Context, seed: int) -> Any:
    return x * numbers(at, x.shape[-1], seed) + x


def positions(x: Any, at: Context) -> Any:
    return x + at.library.arange(x.shape[-1], device=x.device).to(x.dtype)


def gather(x: Any, at: Context, factor: int) -> Any:
    rows = at.library.arange(x.shape[0], device=x.device) * factor % x.shape[0]
    return x[rows]


def index_add(x: Any, at: Context, factor: int) -> Any:
    rows = at.library.arange(x.shape[0], device=x.device) * factor % 5
    return (x * 0).sum(0).expand(5, *x.shape[1:]).index_add(0, rows, x)


def store(x: Any, at: Context, step: int) -> Any:
    y = (x * 2).contiguous()
    y[..., ::step] = x[..., ::step] * 3
    return y


def add_to_part(x: Any, at: Context) -> Any:
    y = (x * 2).contiguous()
    y[1:] += x[:-1]
    return y


def convolution(x: Any, at: Context, channels: int, padding: int, seed: int) -> Any:
    rows = x.reshape(-1, 1, x.shape[-1])
    weight = numbers(at, channels * 3, seed).reshape(channels, 1, 3)
    return at.functions.conv1d(rows, weight, None, 1, padding)


def pooled(x: Any, at: Context) -> Any:
    return at.functions.max_pool1d(x.reshape(-1, 1, x.shape[-1]), 2, 2)


def joined(x: Any, at: Context, axis: int) -> Any:
    return at.library.cat([x.cumsum(axis), x.sum(axis, keepdim=True)], axis)


def nothing(draw: Draw, rank: int) -> tuple[Any, ...]:
    return ()


def an_axis(draw: Draw, rank: int) -> tuple[Any, ...]:
    return consumers.an_axis(draw, (1,) * rank)


def some_axes(draw: Draw, rank: int) -> tuple[Any, ...]:
    return consumers.some_axes(draw, (1,) * rank)


def a_seed(draw: Draw, rank: int) -> tuple[Any, ...]:
    return (draw.integer(0, 9),)


def a_factor(draw: Draw, rank: int) -> tuple[Any, ...]:
    return (draw.one_of((1, 2, 3, 5)),)


def _as_before(draw: Callable[[Draw, int], tuple[Any, ...]], *names: str) -> dict[str, Consumer]:
    """Consumers of the other chains, which need nothing but axes."""
    found = {}
    for name in names:
        kind = consumers.CONSUMERS[name]
        facts = kind.floats_only, kind.is_exact, kind.has_gradient
        found[name] = Consumer(kind.apply, draw, *facts)
    return found


CONSUMERS: dict[str, Consumer] = {
    **_as_before(nothing, "keep", "gram"),
    **_as_before(some_axes, "total", "average", "greatest", "span", "variance", "norm"),
    **_as_before(
        an_axis, "multiplied", "logsumexp", "argmax", "centred", "cumsum", "cumprod",
        "logcumsumexp", "cummax", "normalized_cumsum", "sort", "argsort", "softmax", "log_softmax",
    ),
    "product": Consumer(
        product, lambda draw, rank: (draw.one_of((1, 2, 3, 8, 17)), draw.integer(0, 9))
    ),
    "layer_norm": Consumer(layer_norm, a_seed),
    "self_attention": Consumer(self_attention, a_seed),
    "scale": Consumer(scale, a_seed, floats_only=False),
    "positions": Consumer(positions, nothing, floats_only=False),
    "gather": Consumer(gather, a_factor, floats_only=False),
    "index_add": Consumer(index_add, a_factor),
    "store": Consumer(store, a_factor, floats_only=False, has_gradient=False),
    "add_to_part": Consumer(add_to_part, nothing, floats_only=False, has_gradient=False),
    "convolution": Consumer(
        convolution, lambda draw, rank: (draw.integer(1, 4), draw.integer(1, 2), draw.integer(0, 9))
    ),
    "pooled": Consumer(pooled, nothing),
    "joined": Consumer(joined, an_axis, floats_only=False),
}  # fmt: skip
