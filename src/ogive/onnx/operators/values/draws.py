"""Random numbers, and dropout: other draws than NumPy's, from the same distributions."""

from __future__ import annotations

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.onnx.call import Call
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.random.continuous import rand, randn
from ogive.random.discrete import multinomial as draw_multinomial
from ogive.random.generator import Generator
from ogive.tensor.tensor import Tensor


def _generator(c: Call) -> Generator | None:
    """The default generator, unless the node has a seed."""
    seed = c.get("seed")
    return None if seed is None else Generator(int(seed) & (1 << 63) - 1)


def _dtype_like(c: Call) -> DType:
    return c.dtype("dtype") if c.get("dtype") else c.tensor(0).dtype


@operator("RandomNormal", "RandomNormalLike")
def random_normal(c: Call) -> Value:
    is_like = c.node.op.endswith("Like")
    lengths = shape_of(c.values[0]) if is_like else c.get("shape")
    dtype = _dtype_like(c) if is_like else c.dtype("dtype", 1)
    drawn = randn(*lengths, generator=_generator(c))
    return (drawn * c.get("scale", 1.0) + c.get("mean", 0.0)).cast(dtype)


@operator("RandomUniform", "RandomUniformLike")
def random_uniform(c: Call) -> Value:
    is_like = c.node.op.endswith("Like")
    lengths = shape_of(c.values[0]) if is_like else c.get("shape")
    dtype = _dtype_like(c) if is_like else c.dtype("dtype", 1)
    low, high = c.get("low", 0.0), c.get("high", 1.0)
    return (rand(*lengths, generator=_generator(c)) * (high - low) + low).cast(dtype)


@operator("Bernoulli")
def bernoulli(c: Call) -> Value:
    chance = c.tensor(0)
    drawn = rand(*shape_of(chance), generator=_generator(c))
    return (drawn < chance).cast(_dtype_like(c))


@operator("Multinomial")
def multinomial(c: Call) -> Value:
    weights = c.tensor(0).softmax(-1)
    count = c.get("sample_size", 1)
    drawn = draw_multinomial(weights, count, True, generator=_generator(c))
    return drawn.cast(c.dtype("dtype", 6) if c.get("dtype") else dtypes.int32)


@operator("Dropout", until=12)
def dropout_at_inference(c: Call) -> Value:
    x = c.tensor(0)
    return x, _all_kept(x)


@operator("Dropout", since=12)
def dropout(c: Call) -> Value:
    x = c.tensor(0)
    ratio = float(c.number(1)) if c.has(1) else 0.5
    training = bool(c.number(2)) if c.has(2) else False
    if not training or ratio == 0:
        return x, _all_kept(x)
    kept = rand(*shape_of(x), generator=_generator(c)) >= ratio
    return kept.cast(x.dtype) * x * (1 / (1 - ratio)), kept


def _all_kept(x: Tensor) -> Tensor:
    return Tensor.from_numpy(numpy.ones((), bool)).expand(*shape_of(x))
