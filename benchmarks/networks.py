"""Networks larger than `models` has: a ResNet and the cell of an LSTM, written once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.libraries.base import HostArray, Operations
from benchmarks.models import random

RESNET_SIDE, RESNET_CLASSES = 224, 1000
RESNET_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # width, stride of the first block
BLOCKS_PER_STAGE = 2
LSTM_BATCH, LSTM_WIDTH = 64, 512


def resnet_convolutions() -> Iterator[tuple[int, int, int, int, int]]:
    """The convolutions of a ResNet-18 in order: in, out, window, stride, side of the result."""
    side = RESNET_SIDE // 2
    yield 3, 64, 7, 2, side
    side //= 2
    before = 64
    for width, first_stride in RESNET_STAGES:
        for block in range(BLOCKS_PER_STAGE):
            stride = first_stride if block == 0 else 1
            side //= stride
            yield before, width, 3, stride, side
            yield width, width, 3, 1, side
            if before != width:
                yield before, width, 1, stride, side
            before = width


def resnet_inputs() -> list[HostArray]:
    """The image, five arrays a convolution (weight and normalization), the classifier's two."""
    arrays = [random(0, 1, 3, RESNET_SIDE, RESNET_SIDE)]
    for number, (before, width, window, _, _) in enumerate(resnet_convolutions(), 1):
        fan_in = before * window * window
        arrays.append(random(10 * number, width, before, window, window, scale=fan_in**-0.5))
        arrays.append(random(10 * number + 1, width, scale=0.1))
        arrays.append(1 + 0.1 * np.abs(random(10 * number + 2, width)))
        arrays.append(1 + random(10 * number + 3, width, scale=0.1))
        arrays.append(random(10 * number + 4, width, scale=0.1))
    features = RESNET_STAGES[-1][0]
    arrays.append(random(1, features, RESNET_CLASSES, scale=features**-0.5))
    arrays.append(random(2, RESNET_CLASSES, scale=0.1))
    return arrays


def resnet(operations: Operations, image: Any, *weights: Any) -> Any:
    """The logits `(1, RESNET_CLASSES)` of a ResNet-18 as it infers."""
    groups = iter([weights[start : start + 5] for start in range(0, len(weights) - 2, 5)])

    def normalized(x: Any, stride: int) -> Any:
        weight, mean, variance, scale, shift = next(groups)
        x = operations.convolve(x, weight, stride)
        return operations.batch_norm(x, mean, variance, scale, shift)

    x = operations.max_pool(operations.relu(normalized(image, 2)))
    for width, first_stride in RESNET_STAGES:
        for block in range(BLOCKS_PER_STAGE):
            stride = first_stride if block == 0 else 1
            inside = operations.relu(normalized(x, stride))
            inside = normalized(inside, 1)
            shortcut = x if x.shape[1] == width else normalized(x, stride)
            x = operations.relu(inside + shortcut)
    pixels = x.shape[2] * x.shape[3]
    features = operations.sum(x.reshape(1, x.shape[1], pixels), -1) / pixels
    return operations.linear(features, weights[-2], weights[-1])


def resnet_operations() -> int:
    """Multiplications and additions of the convolutions and the classifier."""
    convolutions = sum(
        2 * before * width * window**2 * side**2
        for before, width, window, _, side in resnet_convolutions()
    )
    return convolutions + 2 * RESNET_STAGES[-1][0] * RESNET_CLASSES


def lstm_inputs() -> list[HostArray]:
    """Input, hidden and cell state `(LSTM_BATCH, LSTM_WIDTH)`, two weights and the bias."""
    states = [random(seed, LSTM_BATCH, LSTM_WIDTH) for seed in range(3)]
    scale = LSTM_WIDTH**-0.5
    weights = [random(seed, LSTM_WIDTH, 4 * LSTM_WIDTH, scale=scale) for seed in (3, 4)]
    return [*states, *weights, random(5, 4 * LSTM_WIDTH, scale=0.1)]


def lstm_cell(
    operations: Operations, x: Any, hidden: Any, cell: Any, w_in: Any, w_hidden: Any, bias: Any
) -> tuple[Any, Any]:
    """One step of an LSTM: the new hidden and cell state."""
    gates = operations.linear(x, w_in, bias) + hidden @ w_hidden
    parts = [gates[:, LSTM_WIDTH * i : LSTM_WIDTH * (i + 1)] for i in range(4)]
    taken, forgotten, given = [operations.sigmoid(parts[i]) for i in (0, 1, 3)]
    cell = forgotten * cell + taken * operations.tanh(parts[2])
    return given * operations.tanh(cell), cell


def lstm_operations() -> int:
    """Multiplications and additions of the two products."""
    return 2 * 2 * LSTM_BATCH * LSTM_WIDTH * 4 * LSTM_WIDTH
