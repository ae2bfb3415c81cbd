"""The rows of the table: each declared once, for every library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from typing import Any, Literal

import ml_dtypes
import numpy as np

from benchmarks import models, networks
from benchmarks.libraries.base import Function, HostArray, Operations
from benchmarks.models import random

MANY = 1 << 24
SIDE = 4096
PLANE = 4 * SIDE * SIDE  # bytes of one float32 matrix


@dataclass(frozen=True)
class Limit:
    """What no library can beat: bytes read, bytes moved, multiplications and additions, calls."""

    kind: Literal["read", "copy", "arithmetic", "call"]
    amount: int


@dataclass(frozen=True)
class Row:
    """One workload: `function(operations, *inputs)` on seeded inputs.

    `tolerance` bounds the largest error, relative to the largest value of the result, which has
    the given `dtype` (float32 where files know no bfloat16).
    A row that is not `captured` builds its expression anew in every call. Where inputs are `kept`,
    all but the first stay what they are, and a library may do once what depends on them alone.
    """

    name: str
    inputs: Callable[[], list[HostArray]]
    function: Function
    tolerance: float
    limit: Limit | None = None
    captured: bool = True
    reference: Function | None = None
    dtype: str = "float32"
    kept: bool = False


def keeping(row: Row) -> Row:
    """The same work, with all inputs but the first known to stay what they are."""
    return replace(row, name=f"{row.name}, weights kept", kept=True)


def add_one(operations: Operations, x: Any) -> Any:
    """`x + 1`."""
    return x + 1


def chain(operations: Operations, a: Any, b: Any) -> Any:
    """`gelu(a*b + 1) * 0.5 + exp(-a*a)`: elementwise, no memory of its own."""
    return operations.gelu(a * b + 1) * 0.5 + operations.exp(-(a * a))


def total(operations: Operations, x: Any) -> Any:
    """The sum of everything."""
    return operations.sum(x)


def softmax(operations: Operations, x: Any) -> Any:
    """Over the last axis."""
    return operations.softmax(x)


def layer_norm(operations: Operations, x: Any, weight: Any, bias: Any) -> Any:
    """Over the last axis, with weight and bias."""
    return operations.layer_norm(x, weight, bias)


def column_sum(operations: Operations, x: Any) -> Any:
    """Over the first axis."""
    return operations.sum(x, 0)


def transpose_copy(operations: Operations, x: Any) -> Any:
    """The transpose, laid out anew."""
    return operations.contiguous(operations.permute(x, (1, 0)))


def running_sum(operations: Operations, x: Any, axis: int) -> Any:
    """The sum of all elements up to each one along an axis."""
    return operations.cumsum(x, axis)


def ascending(operations: Operations, x: Any) -> Any:
    """The elements in ascending order."""
    return operations.sort(x)


def gathered(operations: Operations, x: Any, positions: Any) -> Any:
    """Elements of rows at positions that are data."""
    return operations.gather(x, positions)


def embedded(operations: Operations, weight: Any, tokens: Any) -> Any:
    """Rows at positions that are data."""
    return operations.embedding(weight, tokens)


def product(operations: Operations, a: Any, b: Any) -> Any:
    """`a @ b`."""
    return a @ b


def transposed_left(operations: Operations, a: Any, b: Any) -> Any:
    """`aᵀ @ b`."""
    return operations.permute(a, (1, 0)) @ b


def transposed_right(operations: Operations, a: Any, b: Any) -> Any:
    """`a @ bᵀ`."""
    return a @ operations.permute(b, (1, 0))


def integer_product(operations: Operations, a: Any, b: Any) -> Any:
    """`a @ b` of int8, summed as int32."""
    return operations.integer_product(a, b)


def convolution(
    operations: Operations, x: Any, weight: Any, stride: int = 1, groups: int = 1
) -> Any:
    """Convolution, then relu."""
    return operations.relu(operations.convolve(x, weight, stride, groups))


def attention(operations: Operations, query: Any, key: Any, value: Any) -> Any:
    """Softmax attention."""
    return operations.attention(query, key, value)


def four() -> list[HostArray]:
    return [np.arange(4, dtype=np.float32)]


def normal(*shapes: tuple[int, ...]) -> Callable[[], list[HostArray]]:
    """Normal arrays of these shapes, each from its own seed."""
    return partial(_normal, shapes)


def _normal(shapes: tuple[tuple[int, ...], ...]) -> list[HostArray]:
    return [random(seed, *shape) for seed, shape in enumerate(shapes)]


def positive(*shape: int) -> Callable[[], list[HostArray]]:
    """Uniform values in [0, 1): a sum of them is far from zero, so its error can be judged."""
    return partial(_positive, shape)


def _positive(shape: tuple[int, ...]) -> list[HostArray]:
    return [np.random.default_rng(0).random(shape, dtype=np.float32)]


def with_positions(*table: int, shape: tuple[int, ...]) -> Callable[[], list[HostArray]]:
    """A normal table, and positions along one of its axes: of rows, or within each row."""
    return partial(_with_positions, table, shape)


def _with_positions(table: tuple[int, ...], shape: tuple[int, ...]) -> list[HostArray]:
    length = table[0] if len(shape) == 1 else table[-1]
    return [random(0, *table), np.random.default_rng(1).integers(0, length, shape)]


def of_type(dtype: Any, inputs: Callable[[], list[HostArray]]) -> Callable[[], list[HostArray]]:
    """The same inputs in another dtype; integers spread over its range."""
    return partial(_of_type, dtype, inputs)


def _of_type(dtype: Any, inputs: Callable[[], list[HostArray]]) -> list[HostArray]:
    scale = 30 if np.dtype(dtype).kind == "i" else 1
    return [np.clip(array * scale, -127, 127).astype(dtype) for array in inputs()]


def matmul_row(rows: int, depth: int, columns: int) -> Row:
    """Two matrices, named by their one size if they are square."""
    name = f"{rows}×{depth}×{columns}" if len({rows, depth, columns}) > 1 else f"{rows}"
    inputs = normal((rows, depth), (depth, columns))
    limit = Limit("arithmetic", 2 * rows * depth * columns)
    if min(rows, columns) == 1:
        limit = Limit("read", 4 * depth * max(rows, columns))
    return Row(f"matmul {name}", inputs, product, 1e-5, limit)


def convolution_row(
    name: str,
    batch: int,
    channels: tuple[int, int],
    side: int,
    window: int,
    stride: int = 1,
    groups: int = 1,
) -> Row:
    """A convolution of square images, and relu."""
    before, after = channels
    per_pixel = 2 * before // groups * after * window**2
    return Row(
        f"conv {name}, relu",
        normal((batch, before, side, side), (after, before // groups, window, window)),
        partial(convolution, stride=stride, groups=groups),
        1e-5,
        Limit("arithmetic", per_pixel * batch * (side // stride) ** 2),
    )


def transformer_row(layers: int, count: int = models.TOKENS) -> Row:
    """So many blocks of the transformer on so many tokens."""
    tokens = "" if count == models.TOKENS else f", {count} tokens"
    return Row(
        f"transformer, {layers} block{'s' if layers > 1 else ''}{tokens}",
        partial(models.transformer_inputs, layers, count),
        models.transformer,
        1e-4,
        Limit("arithmetic", layers * models.transformer_operations(count)),
    )


CALL = Limit("call", 1)
SQUARES = normal((1024, 1024), (1024, 1024))
SQUARE = Limit("arithmetic", 2 * 1024**3)
COPY = Limit("copy", 2 * PLANE)
TINY_REALIZED = Row("tiny add, built each time", four, add_one, 0.0, CALL, captured=False)
TINY_CAPTURED = Row("tiny add, per call", four, add_one, 0.0, CALL)
# About 60 fused multiply-adds an element: one erf and one exp.
CHAIN = Row("chain 16M", normal((MANY,), (MANY,)), chain, 1e-5, Limit("arithmetic", 120 * MANY))
SUM = Row("sum 16M", positive(MANY), total, 1e-5, Limit("read", 4 * MANY))
SOFTMAX = Row("softmax 4096²", normal((SIDE, SIDE)), softmax, 1e-5, COPY)
LAYER_NORM = Row(
    "layer norm 4096²", normal((SIDE, SIDE), (SIDE,), (SIDE,)), layer_norm, 1e-5, COPY
)
COLUMN_SUM = Row("column sum 4096²", positive(SIDE, SIDE), column_sum, 1e-5, Limit("read", PLANE))
TRANSPOSE = Row("transpose copy 4096²", normal((SIDE, SIDE)), transpose_copy, 0.0, COPY)
# Running sums in float32 lose as many digits as NumPy does, which is no reason to leave it out.
ORDERS = (
    Row("cumsum 16M", positive(MANY), partial(running_sum, axis=0), 1e-3, Limit("copy", 8 * MANY)),
    Row("cumsum 4096² of columns", positive(SIDE, SIDE), partial(running_sum, axis=0), 1e-3, COPY),
    Row("sort 1M", normal((1_000_000,)), ascending, 0.0, Limit("copy", 8_000_000)),
    Row("sort 1000 × 1000", normal((1000, 1000)), ascending, 0.0, Limit("copy", 8_000_000)),
    Row(
        "embedding 8192 of 32000×512",
        with_positions(32000, 512, shape=(8192,)),
        embedded,
        0.0,
        Limit("copy", 8 * 8192 * 512),
    ),
    Row(
        "gather 1000×1000",
        with_positions(1000, 1000, shape=(1000, 1000)),
        gathered,
        0.0,
        Limit("copy", 16 * 1000 * 1000),
    ),
)
MATRIX_VECTOR = Row(
    "matrix-vector 4096", normal((SIDE, SIDE), (SIDE,)), product, 1e-5, Limit("read", PLANE)
)
TRANSFORMER = transformer_row(1)
MLP = Row(
    "MLP forward, batch 128",
    models.mlp_inputs,
    models.mlp,
    1e-5,
    Limit("arithmetic", models.mlp_operations()),
)
RESNET = Row(
    "ResNet-18 forward, batch 1",
    networks.resnet_inputs,
    networks.resnet,
    1e-4,
    Limit("arithmetic", networks.resnet_operations()),
)
ATTENTION = Row(
    "attention 8×4096×64",
    normal(*[(8, SIDE, 64)] * 3),
    attention,
    1e-5,
    Limit("arithmetic", 2 * 2 * 8 * SIDE * SIDE * 64),
)
LARGE_SQUARES = tuple([matmul_row(size, size, size) for size in (1024, 2048)])
KEPT_SQUARES = tuple([keeping(matmul_row(size, size, size)) for size in (512, 1024, 2048)])
MLP_STEP = Row(
    "MLP, one SGD step",
    models.mlp_step_inputs,
    models.mlp_step,
    1e-5,
    Limit("arithmetic", 3 * models.mlp_operations()),
    reference=models.mlp_step_reference,
)

ROWS = (
    TINY_REALIZED,
    TINY_CAPTURED,
    CHAIN,
    SUM,
    SOFTMAX,
    LAYER_NORM,
    COLUMN_SUM,
    TRANSPOSE,
    *ORDERS,
    *(matmul_row(size, size, size) for size in (256, 512, 1000, 1024, 2048)),
    *(
        matmul_row(*sizes)
        for sizes in [
            (128, 784, 512),
            (512, 3072, 768),
            (777, 333, 555),
            (20000, 64, 64),
            (1, SIDE, SIDE),
        ]
    ),
    Row(
        "matmul 64 × (128×64×128)",
        normal((64, 128, 64), (64, 64, 128)),
        product,
        1e-5,
        Limit("arithmetic", 2 * 64 * 128 * 64 * 128),
    ),
    Row("matmul 1024, left transposed", SQUARES, transposed_left, 1e-5, SQUARE),
    Row("matmul 1024, right transposed", SQUARES, transposed_right, 1e-5, SQUARE),
    Row("matmul 1024, f64", of_type(np.float64, SQUARES), product, 1e-14, dtype="float64"),
    Row("matmul 1024, bf16", of_type(ml_dtypes.bfloat16, SQUARES), product, 1e-2),
    Row("matmul 1024, int8", of_type(np.int8, SQUARES), integer_product, 0.0, dtype="int32"),
    MATRIX_VECTOR,
    convolution_row("3×3 64→64 56²", 1, (64, 64), 56, 3),
    convolution_row("3×3 64→64 56², batch 8", 8, (64, 64), 56, 3),
    convolution_row("1×1 256→64 56²", 1, (256, 64), 56, 1),
    convolution_row("3×3 depthwise 128 56²", 1, (128, 128), 56, 3, groups=128),
    convolution_row("7×7 3→64 224², stride 2", 1, (3, 64), 224, 7, stride=2),
    MLP,
    MLP_STEP,
    TRANSFORMER,
    transformer_row(1, 1024),
    Row(
        "LSTM cell, batch 64",
        networks.lstm_inputs,
        networks.lstm_cell,
        1e-5,
        Limit("arithmetic", networks.lstm_operations()),
    ),
    ATTENTION,
    RESNET,
    *KEPT_SQUARES,
    keeping(matmul_row(16, SIDE, SIDE)),
    keeping(MLP),
    keeping(TRANSFORMER),
    keeping(RESNET),
)


def select(patterns: list[str]) -> list[Row]:
    """The rows whose names match one of the patterns, by glob or as a part; all for none."""
    return [row for row in ROWS if not patterns or any(matches(row.name, p) for p in patterns)]


def find(name: str) -> Row:
    """The row called `name`; raises `KeyError`."""
    return {row.name: row for row in ROWS}[name]


def matches(name: str, pattern: str) -> bool:
    """Whether `pattern` is part of the name, or a glob of it, in any case."""
    name, pattern = name.lower(), pattern.lower()
    return pattern in name or fnmatch(name, pattern)
