"""How many kernels a computation becomes: the fusions we promise, and the cuts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.engine.caches.kernels import Kernel


def data(*shape: int) -> Tensor:
    generator = np.random.default_rng(len(shape))
    return Tensor(generator.standard_normal(shape).astype(np.float32))


def kernels(*tensors: Tensor, config: Config | None = None) -> tuple[Kernel, ...]:
    return Tensor.prepare_batch(list(tensors), config).kernels


def work_kernels(*tensors: Tensor) -> int:
    """The kernels without those that lay out operands of products."""
    return len(kernels(*tensors, config=Config(pack_operands=False)))


ROWS = [(64, 64), (37, 53), (3, 5), (1, 7), (4096, 4096), (8, 128, 128), (1, 8, 128, 128)]
ROW_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "layer_norm": lambda x: x.layer_norm(x.shape[-1]),
    "rms_norm": lambda x: x / ((x * x).mean(-1, keepdim=True) + 1e-5).sqrt(),
    "var": lambda x: x.var(-1),
    "std": lambda x: x.std(-1),
    "argmax": lambda x: x.argmax(-1),
    "logsumexp": lambda x: (x - x.amax(-1, keepdim=True)).exp().sum(-1).log(),
    "true logsumexp": lambda x: x.logsumexp(-1, keepdim=True),
    "max and sum": lambda x: x.amax(-1) + x.sum(-1),
}


@pytest.mark.parametrize("shape", ROWS, ids=str)
@pytest.mark.parametrize("name", ROW_FUNCTIONS)
def test_a_function_of_rows_is_one_kernel(name: str, shape: tuple[int, ...]) -> None:
    x = ogive.zeros(shape).contiguous().realize() if shape[0] == 4096 else data(*shape)
    assert len(kernels(ROW_FUNCTIONS[name](x))) == 1


COLUMN_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "norm": lambda x: (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + 1e-5).sqrt(),
    "scaled": lambda x: (x.softmax(1) * 2 + x).contiguous(),
}


@pytest.mark.parametrize("shape", [(3, 21, 7, 9), (2, 5, 70), (2, 130, 33), (40, 6, 5)], ids=str)
@pytest.mark.parametrize("name", COLUMN_FUNCTIONS)
def test_a_function_of_columns_is_one_kernel(name: str, shape: tuple[int, ...]) -> None:
    x = data(*shape)
    result = COLUMN_FUNCTIONS[name](x)
    assert len(kernels(result)) == 1
    expected = COLUMN_FUNCTIONS[name](x.double().transpose(1, -1).contiguous().transpose(1, -1))
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=3e-6, atol=3e-6)


def test_long_columns_are_several_kernels() -> None:
    assert len(kernels(data(2, 300, 64).softmax(1))) > 1


def test_a_softmax_with_scale_and_mask_is_one_kernel() -> None:
    x, mask = data(4, 32, 32), (data(32, 32) > 0).realize()
    masked = ogive.where(mask, x * 0.25, float("-inf"))
    assert len(kernels(masked.softmax(-1))) == 1
    place = ogive.arange(32)
    causal = ogive.where(place[:, None] >= place, x * 0.25, float("-inf"))
    assert len(kernels(causal.softmax(-1))) == 1


def test_a_reduction_takes_its_producers_and_its_epilogue_along() -> None:
    a, b = data(48, 48), data(48, 48)
    assert len(kernels(((a * b + 1).exp()).sum(-1))) == 1
    assert len(kernels(((a * b + 1).exp()).sum(-1).log() * 2 + 1)) == 1
    assert len(kernels((a * b).sum(0).sqrt())) == 1


def test_movement_is_part_of_the_kernel_that_reads_it() -> None:
    x = data(48, 32)
    assert len(kernels(x.T.contiguous())) == 1
    assert len(kernels(x.flip(1).T[::2] + 1)) == 1
    assert len(kernels(x.reshape(32, 48).permute(1, 0).pad(((1, 1), (0, 2))) * 2)) == 1
    assert len(kernels(x.T.reshape(-1).exp())) == 1


def test_a_function_that_is_joined_is_computed_for_its_own_part_only() -> None:
    # In the kernel of the whole, it would be computed for every element, under a gate.
    a, b = data(20, 30), data(20, 30)
    assert len(kernels(ogive.cat([a, b.exp(), a * 2], 1))) == 2


def test_joining_tensors_is_one_kernel() -> None:
    a, b = data(20, 30), data(20, 30)
    assert len(kernels(ogive.cat([a, b, a * 2]))) == 1
    assert len(kernels(ogive.cat([a, b + 1, a * 2], 1))) == 1
    assert len(kernels(ogive.stack([a, b], -1))) == 1
    rows = ogive.stack([data(20)[i : i + 16] for i in range(5)])
    assert len(kernels((rows * data(5, 1)).sum(0))) == 1


def test_a_chain_of_elementwise_operations_is_one_kernel() -> None:
    x, y = data(33, 65), data(65)
    z = x
    for step in range(10):
        z = (z * 1.5).sin() if step % 2 else (z + y).exp()
    assert len(kernels(z)) == 1


def test_a_product_takes_bias_and_activation_along() -> None:
    a, w, bias = data(64, 64), data(64, 128), data(128)
    assert work_kernels((a @ w + bias).gelu()) == 1
    assert work_kernels((a @ w + bias).relu() + a @ w) <= 2
    assert len(kernels((data(4, 6) @ data(6, 5) + data(5)).gelu())) == 1


def test_packing_an_operand_is_one_more_kernel() -> None:
    a, w, bias = data(64, 64), data(64, 256), data(256)
    assert len(kernels((a @ w + bias).gelu())) == 2


def test_a_shared_value_is_computed_once() -> None:
    x = data(64, 64)
    shared = x.exp()
    assert len(kernels(shared + 1, shared.sum(-1), shared)) == 2


def test_a_realized_or_empty_tensor_needs_no_kernel() -> None:
    x = data(5)
    assert len(kernels(x)) == 0
    assert len(kernels(ogive.zeros((0, 4)) + 1)) == 0
    assert len(kernels(x.reshape(5, 1))) == 0


def test_a_long_reduction_to_few_results_is_two_kernels() -> None:
    x = ogive.zeros((1024, 1024)).contiguous().realize()
    assert len(kernels(x.sum())) == 2
    assert len(kernels(x[:100, :100].sum())) == 1


# A transformer block


def block(x: Tensor, weights: dict[str, Tensor], heads: int) -> Tensor:
    """A pre-norm block: attention, then a perceptron."""
    tokens, width = x.shape
    normed = x.layer_norm(width, weights["g1"], weights["b1"])
    q, k, v = [
        (normed @ weights[name]).reshape(tokens, heads, width // heads).transpose(0, 1)
        for name in ("q", "k", "v")
    ]
    scores = (q @ k.transpose(-1, -2)) * (width // heads) ** -0.5
    mixed = (scores.softmax(-1) @ v).transpose(0, 1).reshape(tokens, width)
    x = x + mixed @ weights["o"]
    normed = x.layer_norm(width, weights["g2"], weights["b2"])
    return x + (normed @ weights["up"]).gelu() @ weights["down"]


def make_weights(width: int) -> dict[str, Tensor]:
    weights = {name: data(width, width) * 0.1 for name in "qkvo"}
    weights |= {name: data(width) for name in ("g1", "b1", "g2", "b2")}
    weights |= {"up": data(width, 4 * width) * 0.1, "down": data(4 * width, width) * 0.1}
    Tensor.realize_batch(list(weights.values()))
    return weights


def test_a_transformer_block_is_eleven_kernels_besides_packing() -> None:
    # Two norms, three projections, scores, softmax, mixing, output, and the perceptron's two.
    assert work_kernels(block(data(32, 64), make_weights(64), 4)) == 11


def test_twelve_equal_blocks_need_the_kernels_of_one() -> None:
    layers = [make_weights(64) for _ in range(12)]
    x = data(32, 64)
    one = kernels(block(x, layers[0], 4))
    for weights in layers:
        x = block(x, weights, 4)
    twelve = kernels(x)
    assert len(twelve) == 12 * len(one)
    assert {kernel.ir for kernel in twelve} == {kernel.ir for kernel in one}


# What must not happen


def test_an_expensive_operand_of_a_product_is_computed_once() -> None:
    a, w = data(64, 64), data(64, 128)
    plain = kernels(a.gelu() @ w, config=Config(pack_operands=False))
    assert len(plain) == 2
    assert plain[0].name.startswith("elementwise")
    assert not _calls_functions(plain[1])
    both = kernels(a.gelu() @ w.exp(), config=Config(pack_operands=False))
    assert len(both) == 3


def _calls_functions(kernel: Kernel) -> bool:
    """Whether a kernel computes an elementary function somewhere."""
    return any(f"@{name}" in kernel.ir for name in ("ogive.exp", "ogive.erf", "exp.", "erf."))


def test_an_expensive_value_is_not_repeated_along_an_outer_axis() -> None:
    row, x = data(1, 512), data(512, 512)
    assert len(kernels(row.exp() + x)) == 2
    column = data(512, 1)
    assert len(kernels(column.exp() + x)) == 1


def test_a_cheap_value_is_repeated_rather_than_kept() -> None:
    row, x = data(1, 512), data(512, 512)
    assert len(kernels(row * 2 + x)) == 1


def test_a_reduction_over_everything_is_not_repeated() -> None:
    x = data(512, 512)
    assert len(kernels(x - x.mean())) >= 2
    assert len(kernels(x / x.sum(0, keepdim=True))) == 2


def test_attention_is_scores_softmax_and_mixing() -> None:
    q, k, v = data(4, 32, 16), data(4, 32, 16), data(4, 32, 16)
    attention = ((q @ k.transpose(-1, -2)) * 0.25).softmax(-1) @ v
    assert work_kernels(attention) == 3


def test_a_product_of_products_is_one_kernel_each() -> None:
    a, b, c = data(40, 50), data(50, 60), data(60, 70)
    assert work_kernels(a @ b @ c) == 2


@pytest.mark.parametrize("limit", [1, 5, 20])
def test_a_kernel_past_the_size_limit_is_split(limit: int) -> None:
    x = data(16, 16)
    y = x
    for _ in range(60):
        y = (y + x).abs()
    config = Config(kernel_node_limit=limit)
    count = len(kernels(y, config=config))
    assert 120 / (limit + 2) - 1 <= count <= 2 * 120 / limit
    wanted = x.numpy()
    for _ in range(60):
        wanted = np.abs(wanted + x.numpy())
    np.testing.assert_allclose(y.numpy(), wanted, rtol=1e-6)


def test_a_wide_sum_past_the_size_limit_is_split() -> None:
    parts = [data(8, 8) for _ in range(64)]
    total = parts[0].exp()
    for part in parts[1:]:
        total = total + part.exp()
    found = kernels(total, config=Config(kernel_node_limit=16))
    assert 4 <= len(found) <= 40
    wanted = sum(np.exp(part.numpy().astype(np.float64)) for part in parts)
    np.testing.assert_allclose(total.numpy(), wanted, rtol=1e-5)
