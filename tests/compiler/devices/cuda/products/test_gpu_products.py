"""Products of tensors on a GPU are those of NumPy, whatever their sizes, layouts and views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, nn
from ogive.nn.functional import conv2d, scaled_dot_product_attention
from tests.compiler.devices.cuda.conftest import ON_A_GPU

pytestmark = ON_A_GPU

ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


def _draw(seed: int, *shape: int, dtype: str = "bfloat16") -> tuple[Tensor, np.ndarray]:
    """A tensor on the GPU, and what it holds in float64."""
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    tensor = Tensor(values).cast(dtype).realize()
    return tensor.to("CUDA").realize(), tensor.cast("float64").numpy()


def _check(found: Tensor, expected: np.ndarray, dtype: str = "bfloat16") -> None:
    result = found.cast("float64").numpy()
    error = np.abs(result - expected)
    scale = np.sqrt(np.mean(expected**2))
    assert error.max() <= 2 * ROUNDING[dtype] * (np.abs(expected).max() + scale)
    assert np.sqrt(np.mean(error**2)) <= ROUNDING[dtype] * scale


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    "sizes", [(64, 64, 64), (37, 53, 45), (130, 300, 257), (9, 16, 8), (1000, 520, 328)]
)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_products_of_any_size_and_layout(
    dtype: str, sizes: tuple[int, int, int], left: bool, right: bool
) -> None:
    m, k, n = sizes
    a, x = _draw(1, *((k, m) if left else (m, k)), dtype=dtype)
    b, y = _draw(2, *((n, k) if right else (k, n)), dtype=dtype)
    found = (a.T if left else a) @ (b.T if right else b)
    _check(found, (x.T if left else x) @ (y.T if right else y), dtype)


def test_random_sizes() -> None:
    draw = np.random.default_rng(11)
    for seed in range(24):
        m, n, k = (int(size) for size in draw.integers(8, 400, 3))
        (a, x), (b, y) = _draw(seed, m, k), _draw(seed + 100, k, n)
        _check(a @ b, x @ y)


def test_batches_and_repeated_operands() -> None:
    (a, x), (b, y) = _draw(3, 2, 3, 40, 64), _draw(4, 3, 64, 48)
    _check(a @ b, x @ y)


def test_views_of_larger_memory() -> None:
    (a, x), (b, y) = _draw(5, 100, 200), _draw(6, 200, 120)
    _check(a[3:90, 8:136] @ b[10:138, 5:101], x[3:90, 8:136] @ y[10:138, 5:101])


def test_what_follows_a_product_is_part_of_it() -> None:
    (a, x), (b, y) = _draw(7, 200, 96), _draw(8, 96, 136)
    (bias, c), (residual, r) = _draw(9, 136), _draw(10, 200, 136)
    found = ((a @ b) * 0.1 + bias).relu() + residual
    _check(found, np.maximum(x @ y * 0.1 + c, 0) + r)


def test_a_chain_of_products_with_a_softmax_between_them() -> None:
    (x, a), (w, b) = _draw(20, 2, 40, 96), _draw(21, 96, 288)
    (out, c), heads = _draw(22, 96, 96), (2, 40, 3, 4, 24)

    def attend(x: Tensor, w: Tensor, out: Tensor) -> Tensor:
        query, key, value = ((x @ w).reshape(*heads)[:, :, i].permute(0, 2, 1, 3) for i in range(3))
        weights = ((query @ key.transpose(-1, -2)) * 0.05).softmax(-1)
        return (weights @ value).permute(0, 2, 1, 3).reshape(2, 40, 96) @ out

    expected = attend(Tensor(a), Tensor(b), Tensor(c)).numpy()
    error = attend(x, w, out).cast("float32").numpy() - expected
    assert np.sqrt(np.mean(error**2)) <= 0.05 * np.sqrt(np.mean(expected**2))


def test_sums_of_bytes_are_exact() -> None:
    draw = np.random.default_rng(12)
    x, y = (draw.integers(-128, 128, shape, dtype=np.int8) for shape in ((70, 144), (144, 90)))
    found = Tensor(x).to("CUDA").cast("int32") @ Tensor(y).to("CUDA").cast("int32")
    np.testing.assert_array_equal(found.numpy(), x.astype(np.int32) @ y.astype(np.int32))


def test_repeated_runs_have_the_same_bits() -> None:
    (a, _), (b, _) = _draw(13, 64, 4096), _draw(14, 4096, 256)
    first = (a @ b).cast("float32").numpy()
    for _ in range(5):
        np.testing.assert_array_equal((a @ b).cast("float32").numpy(), first)


def test_a_plan_multiplies_again_after_its_operand_has_changed() -> None:
    (a, x), (b, y) = _draw(15, 128, 256), _draw(16, 256, 128)
    step = ogive.jit(lambda left, right: (left @ right).realize())
    for scale in (1.0, 2.0, 4.0, 8.0):
        _check(step((a * scale).realize(), b), scale * x @ y)


@pytest.mark.parametrize("options", [
    {"padding": 1}, {"stride": 2}, {"groups": 2, "padding": (0, 1)}, {"dilation": 2},
])  # fmt: skip
@pytest.mark.parametrize("size", [9, 20])
def test_convolutions_and_their_gradients(options: dict[str, Any], size: int) -> None:
    depth = 16 // options.get("groups", 1)
    (x, a), (w, b) = _draw(31, 3, 16, size, size), _draw(32, 24, depth, 3, 3)
    given = [x.requires_grad_(), w.requires_grad_()]
    wide = [Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)]
    found, expected = [conv2d(image, filters, **options) for image, filters in (given, wide)]
    _check(found, expected.numpy())
    cotangent, c = _draw(33, *found.shape)
    found.backward(cotangent)
    expected.backward(Tensor(c))
    for one, other in zip(given, wide, strict=True):
        assert one.grad is not None and other.grad is not None
        _check(one.grad, other.grad.numpy())


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("length", [40, 256])
def test_attention_and_its_gradients(is_causal: bool, length: int) -> None:
    drawn = [_draw(40 + number, 2, 3, length, 32) for number in range(3)]
    given = [tensor.requires_grad_() for tensor, _ in drawn]
    wide = [Tensor(values, requires_grad=True) for _, values in drawn]
    found, expected = [
        scaled_dot_product_attention(query, key, value, is_causal=is_causal)
        for query, key, value in (given, wide)
    ]
    _check(found, expected.numpy())
    cotangent, c = _draw(43, *found.shape)
    found.backward(cotangent)
    expected.backward(Tensor(c))
    for one, other in zip(given, wide, strict=True):
        assert one.grad is not None and other.grad is not None
        error = one.grad.cast("float64").numpy() - other.grad.numpy()
        assert np.sqrt(np.mean(error**2)) <= 0.02 * np.sqrt(np.mean(other.grad.numpy() ** 2))


def _train(device: str) -> list[float]:
    """The losses of some steps."""
    ogive.manual_seed(4)
    layers = nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 40)
    model = nn.Sequential(*layers).to(device)
    optimizer = ogive.optim.AdamW(model.parameters(), lr=1e-2)
    draw = np.random.default_rng(5)
    x = Tensor(draw.standard_normal((96, 64), np.float32)).to(device)
    y = Tensor(draw.integers(0, 40, 96)).to(device)

    @ogive.jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        with ogive.autocast(dtype="bfloat16"):
            loss = nn.functional.cross_entropy(model(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss

    return [step(x, y).item() for _ in range(20)]


def test_steps_of_training_under_autocast_follow_those_of_the_cpu() -> None:
    found, expected = _train("CUDA"), _train("CPU")
    np.testing.assert_allclose(found[:8], expected[:8], rtol=0.05)
    assert found[-1] < 0.5 * found[0]
