"""The networks among the rows: weights from a seed, and the forward pass written once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.libraries.base import HostArray, Operations

WIDTH, HEADS, TOKENS = 512, 8, 128
MLP_SIZES = (784, 512, 512, 10)
MLP_BATCH = 128
LEARNING_RATE = 1.0  # large, so that a wrong gradient shows in the new weights
WEIGHTS_PER_BLOCK = 12


def random(seed: int, *shape: int, scale: float = 1.0) -> HostArray:
    """Normal float32 values of one seed."""
    values = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return values * np.float32(scale)


def transformer_inputs(layers: int, count: int = TOKENS) -> list[HostArray]:
    """The tokens `(count, WIDTH)`, then `WEIGHTS_PER_BLOCK` arrays a block."""
    arrays = [random(0, count, WIDTH)]
    for layer in range(layers):
        for part, (rows, columns) in enumerate(
            [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
        ):
            seed = 1000 * (layer + 1) + 10 * part
            if part % 2 == 0:  # a normalization comes before attention and before the MLP
                arrays.append(1 + random(seed, WIDTH, scale=0.1))
                arrays.append(random(seed + 1, WIDTH, scale=0.1))
            arrays.append(random(seed + 2, rows, columns, scale=rows**-0.5))
            arrays.append(random(seed + 3, columns, scale=0.1))
    return arrays


def transformer(operations: Operations, tokens: Any, *weights: Any) -> Any:
    """As many blocks as there are weights for: `(count, WIDTH)` in and out."""
    for start in range(0, len(weights), WEIGHTS_PER_BLOCK):
        tokens = transformer_block(operations, tokens, weights[start : start + WEIGHTS_PER_BLOCK])
    return tokens


def transformer_block(operations: Operations, tokens: Any, weights: Sequence[Any]) -> Any:
    """Pre-norm attention of `HEADS` heads, then a gelu MLP four times as wide."""
    norm1, shift1, w_qkv, b_qkv, w_out, b_out, norm2, shift2, w_up, b_up, w_down, b_down = weights
    count = tokens.shape[0]
    normal = operations.layer_norm(tokens, norm1, shift1)
    qkv = operations.linear(normal, w_qkv, b_qkv).reshape(count, 3, HEADS, WIDTH // HEADS)
    qkv = operations.permute(qkv, (1, 2, 0, 3))
    mixed = operations.attention(qkv[0], qkv[1], qkv[2])
    mixed = operations.permute(mixed, (1, 0, 2)).reshape(count, WIDTH)
    tokens = tokens + operations.linear(mixed, w_out, b_out)
    normal = operations.layer_norm(tokens, norm2, shift2)
    hidden = operations.gelu(operations.linear(normal, w_up, b_up))
    return tokens + operations.linear(hidden, w_down, b_down)


def transformer_operations(count: int = TOKENS) -> int:
    """Multiplications and additions of one block's matrix products."""
    projections = 2 * count * WIDTH * (3 * WIDTH + WIDTH + 4 * WIDTH + 4 * WIDTH)
    return projections + 2 * 2 * count * count * WIDTH


def mlp_inputs() -> list[HostArray]:
    """The images `(MLP_BATCH, 784)`, then a weight and a bias a layer."""
    arrays = [random(0, MLP_BATCH, MLP_SIZES[0])]
    for layer, (rows, columns) in enumerate(pairwise(MLP_SIZES)):
        arrays.append(random(10 * layer + 1, rows, columns, scale=rows**-0.5))
        arrays.append(random(10 * layer + 2, columns, scale=0.1))
    return arrays


def mlp(operations: Operations, images: Any, *weights: Any) -> Any:
    """Linear layers with relu between them; the last one's logits."""
    for layer in range(0, len(weights), 2):
        if layer:
            images = operations.relu(images)
        images = operations.linear(images, weights[layer], weights[layer + 1])
    return images


def mlp_operations() -> int:
    """Multiplications and additions of one forward pass."""
    return sum(2 * MLP_BATCH * a * b for a, b in pairwise(MLP_SIZES))


def mlp_step_inputs() -> list[HostArray]:
    """As `mlp_inputs`, with the one-hot classes `(MLP_BATCH, 10)` second."""
    images, *weights = mlp_inputs()
    classes = np.random.default_rng(7).integers(0, MLP_SIZES[-1], MLP_BATCH)
    return [images, np.eye(MLP_SIZES[-1], dtype=np.float32)[classes], *weights]


def mlp_step(operations: Operations, images: Any, classes: Any, *weights: Any) -> tuple[Any, ...]:
    """One step of gradient descent on the cross-entropy; the new weights."""

    def loss(*parameters: Any) -> Any:
        logits = mlp(operations, images, *parameters)
        picked = operations.sum(operations.log_softmax(logits) * classes, -1)
        return -operations.mean(picked)

    return operations.gradient_step(loss, weights, LEARNING_RATE)


def mlp_step_reference(
    operations: Operations, images: Any, classes: Any, *weights: Any
) -> tuple[Any, ...]:
    """The same step with its gradient worked out by hand, for NumPy."""
    activations = [images]
    for layer in range(0, len(weights), 2):
        source = activations[-1] if layer == 0 else np.maximum(activations[-1], 0)
        activations.append(source @ weights[layer] + weights[layer + 1])
    flow = (operations.softmax(activations[-1]) - classes) / len(images)
    updated: list[Any] = []
    for layer in reversed(range(0, len(weights), 2)):
        before = activations[layer // 2]
        source = before if layer == 0 else np.maximum(before, 0)
        weight, bias = weights[layer], weights[layer + 1]
        updated[:0] = [
            weight - LEARNING_RATE * (source.T @ flow),
            bias - LEARNING_RATE * flow.sum(0),
        ]
        flow = (flow @ weight.T) * (before > 0)
    return tuple(updated)
