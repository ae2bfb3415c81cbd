"""Attention on a GPU is what NumPy makes of the same values, whatever sizes, layouts and masks."""

from __future__ import annotations

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.nn.functional import scaled_dot_product_attention
from tests.compiler.devices.cuda.conftest import ON_A_GPU

pytestmark = ON_A_GPU

TOLERANCE = {"bfloat16": 6e-3, "float16": 8e-4}


def _draw(seed: int, *shape: int, dtype: str = "bfloat16") -> tuple[Tensor, np.ndarray]:
    """A tensor on the GPU, and what it holds in float64."""
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    tensor = Tensor(values).cast(dtype).realize()
    return tensor.to("CUDA").realize(), tensor.cast("float64").numpy()


def _three(*shape: int) -> tuple[Tensor, Tensor, Tensor]:
    query, key, value = [_draw(seed, *shape)[0] for seed in range(3)]
    return query, key, value


def _attend(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray | None = None
) -> np.ndarray:
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    made: np.ndarray = weights / weights.sum(-1, keepdims=True) @ value
    return made


def _check(found: Tensor, expected: np.ndarray, dtype: str = "bfloat16") -> None:
    error = found.cast("float64").numpy() - expected
    assert np.sqrt(np.mean(error**2)) <= TOLERANCE[dtype] * np.sqrt(np.mean(expected**2))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    "sizes", [(128, 128, 64, 64), (300, 300, 128, 128), (40, 40, 32, 32), (500, 700, 64, 128),
              (130, 257, 36, 40), (1000, 130, 96, 80)],
)  # fmt: skip
def test_any_lengths_and_depths(
    dtype: str, is_causal: bool, sizes: tuple[int, int, int, int]
) -> None:
    rows, columns, terms, depth = sizes
    query, q = _draw(1, 2, 3, rows, terms, dtype=dtype)
    key, k = _draw(2, 2, 3, columns, terms, dtype=dtype)
    value, v = _draw(3, 2, 3, columns, depth, dtype=dtype)
    mask = np.tril(np.ones((rows, columns), bool)) if is_causal else None
    found = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    _check(found, _attend(q, k, v, mask), dtype)


@pytest.mark.parametrize("kind", ["bool", "added"])
def test_masks(kind: str) -> None:
    drawn = [_draw(seed, 2, 3, 250, 64) for seed in range(3)]
    given, added = _draw(4, 2, 1, 250, 250)
    if kind == "bool":
        mask, expected = (given > -0.5).realize(), added > -0.5
    else:
        mask, expected = given, added
    (query, q), (key, k), (value, v) = drawn
    _check(scaled_dot_product_attention(query, key, value, mask), _attend(q, k, v, expected))


def test_heads_that_share_keys_and_lie_beside_each_other() -> None:
    (query, q), (key, k) = _draw(1, 2, 200, 8, 64), _draw(2, 2, 200, 2, 64)
    value, v = _draw(3, 2, 200, 2, 64)
    query, key, value = [each.transpose(1, 2) for each in (query, key, value)]
    found = scaled_dot_product_attention(query, key, value, enable_gqa=True)
    heads = [np.swapaxes(each, 1, 2) for each in (q, k, v)]
    heads[1:] = [np.repeat(each, 4, 1) for each in heads[1:]]
    _check(found, _attend(*heads))


def test_rows_that_see_nothing_are_zero() -> None:
    drawn = _three(1, 2, 140, 64)
    mask = np.ones((140, 140), bool)
    mask[5] = mask[139] = False
    found = scaled_dot_product_attention(*drawn, Tensor(mask).to("CUDA"))
    values = found.cast("float32").numpy()
    assert not values[:, :, [5, 139]].any() and np.isfinite(values).all()


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", [(200, 64), (384, 128), (130, 40)])
def test_gradients(is_causal: bool, sizes: tuple[int, int]) -> None:
    drawn = [_draw(40 + number, 2, 3, *sizes) for number in range(4)]
    given = [tensor.requires_grad_() for tensor, _ in drawn[:3]]
    wide = [Tensor(values, requires_grad=True) for _, values in drawn[:3]]
    for inputs, upstream in ((given, drawn[3][0]), (wide, Tensor(drawn[3][1]))):
        query, key, value = inputs
        found = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
        found.backward(upstream)
    for one, other in zip(given, wide, strict=True):
        assert one.grad is not None and other.grad is not None
        expected = other.grad.numpy()
        error = one.grad.cast("float64").numpy() - expected
        assert np.sqrt(np.mean(error**2)) <= 0.01 * np.sqrt(np.mean(expected**2))


def test_repeated_runs_have_the_same_bits() -> None:
    drawn = _three(2, 3, 700, 64)
    first = scaled_dot_product_attention(*drawn, is_causal=True).cast("float32").numpy()
    for _ in range(5):
        again = scaled_dot_product_attention(*drawn, is_causal=True).cast("float32").numpy()
        np.testing.assert_array_equal(again, first)


def test_long_sequences_take_memory_in_proportion_to_their_length() -> None:
    drawn = _three(1, 2, 1 << 15, 64)
    for each in drawn:
        each.requires_grad_()
    ogive.cuda.empty_cache()
    before = ogive.cuda.memory_allocated()
    result = scaled_dot_product_attention(*drawn, is_causal=True)
    result.sum().backward()
    for each in drawn:
        assert each.grad is not None
        each.grad.realize()
    assert ogive.cuda.memory_allocated() - before < 40 * drawn[0].nbytes
