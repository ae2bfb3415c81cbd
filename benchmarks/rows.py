"""The rows of the table: each declared once, for every library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from typing import Any, Literal

import numpy as np

from benchmarks import models
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
    """One workload: `function(operations, *inputs)` on seeded float32 inputs.

    `tolerance` bounds the largest error, relative to the largest value of the result.
    A row that is not `captured` builds its expression anew in every call.
    """

    name: str
    inputs: Callable[[], list[HostArray]]
    function: Function
    tolerance: float
    limit: Limit | None = None
    captured: bool = True
    reference: Function | None = None


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


def product(operations: Operations, a: Any, b: Any) -> Any:
    """`a @ b`."""
    return a @ b


def convolution(operations: Operations, x: Any, weight: Any) -> Any:
    """3×3 convolution, then relu."""
    return operations.relu(operations.convolve(x, weight))


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


def matmul_row(size: int) -> Row:
    """Two square matrices."""
    inputs = normal((size, size), (size, size))
    return Row(f"matmul {size}", inputs, product, 1e-5, Limit("arithmetic", 2 * size**3))


def transformer_row(layers: int) -> Row:
    """So many blocks of the transformer."""
    return Row(
        f"transformer, {layers} block{'s' if layers > 1 else ''}",
        partial(models.transformer_inputs, layers),
        models.transformer,
        1e-4,
        Limit("arithmetic", layers * models.transformer_operations()),
    )


CALL = Limit("call", 1)
COPY = Limit("copy", 2 * PLANE)
TINY_REALIZED = Row("tiny add, built each time", four, add_one, 0.0, CALL, captured=False)
TINY_CAPTURED = Row("tiny add, per call", four, add_one, 0.0, CALL)
TRANSFORMER = transformer_row(1)
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
    # About 60 fused multiply-adds an element: one erf and one exp.
    Row("chain 16M", normal((MANY,), (MANY,)), chain, 1e-5, Limit("arithmetic", 120 * MANY)),
    Row("sum 16M", positive(MANY), total, 1e-5, Limit("read", 4 * MANY)),
    Row("softmax 4096²", normal((SIDE, SIDE)), softmax, 1e-5, COPY),
    Row("layer norm 4096²", normal((SIDE, SIDE), (SIDE,), (SIDE,)), layer_norm, 1e-5, COPY),
    Row("column sum 4096²", positive(SIDE, SIDE), column_sum, 1e-5, Limit("read", PLANE)),
    Row("transpose copy 4096²", normal((SIDE, SIDE)), transpose_copy, 0.0, COPY),
    *(matmul_row(size) for size in (256, 512, 1024, 2048)),
    Row("matrix-vector 4096", normal((SIDE, SIDE), (SIDE,)), product, 1e-5, Limit("read", PLANE)),
    Row(
        "conv 3×3 64→64 56², relu",
        normal((1, 64, 56, 56), (64, 64, 3, 3)),
        convolution,
        1e-5,
        Limit("arithmetic", 2 * 64 * 64 * 9 * 56 * 56),
    ),
    Row(
        "MLP forward, batch 128",
        models.mlp_inputs,
        models.mlp,
        1e-5,
        Limit("arithmetic", models.mlp_operations()),
    ),
    MLP_STEP,
    TRANSFORMER,
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
