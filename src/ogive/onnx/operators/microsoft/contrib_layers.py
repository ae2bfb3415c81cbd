"""Operators of com.microsoft that exporters and optimizers write for parts of layers."""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.operators.layers.convolution_and_pooling import conv
from ogive.onnx.operators.values.matrix_products import gemm, scaled
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor

DOMAIN = "com.microsoft"


@operator("Gelu", domain=DOMAIN)
def plain_gelu(c: Call) -> Value:
    return c.tensor(0).gelu()


@operator("BiasGelu", domain=DOMAIN)
def gelu_of_sum(c: Call) -> Value:
    return (c.tensor(0) + c.tensor(1)).gelu()


@operator("FastGelu", domain=DOMAIN)
def fast_gelu(c: Call) -> Value:
    x = c.tensor(0) + c.tensor(1) if c.has(1) else c.tensor(0)
    return x.gelu(approximate="tanh")


@operator("QuickGelu", domain=DOMAIN)
def quick_gelu(c: Call) -> Value:
    x = c.tensor(0)
    return x * (x * c.get("alpha", 1.702)).sigmoid()


def _skipped(c: Call, bias: int) -> Tensor:
    """The sum that a normalization after a residual connection is of."""
    total = c.tensor(0) + c.tensor(1)
    return total + c.tensor(bias) if c.has(bias) else total


@operator("SkipLayerNormalization", domain=DOMAIN)
def normalize_skipped(c: Call) -> Value:
    total = _skipped(c, 4)
    wide = total.cast(dtypes.float32)
    mean = wide.mean(-1, True)
    centered = wide - mean
    inverse = (centered.square().mean(-1, True) + c.get("epsilon", 1e-12)).rsqrt()
    normalized = (centered * inverse).cast(total.dtype) * c.tensor(2)
    return normalized + c.tensor(3) if c.has(3) else normalized, mean, inverse, total


@operator("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def scale_skipped(c: Call) -> Value:
    total = _skipped(c, 3)
    wide = total.cast(dtypes.float32)
    inverse = (wide.square().mean(-1, True) + c.get("epsilon", 1e-12)).rsqrt()
    return (wide * inverse).cast(total.dtype) * c.tensor(2), wide.mean(-1, True), inverse, total


@operator("EmbedLayerNormalization", domain=DOMAIN)
def normalize_embeddings(c: Call) -> Value:
    ids, places = c.tensor(0), c.optional(8)
    words, table = c.tensor(2)[ids], c.tensor(3)
    length = ids.shape[1]
    total = words + (table[places] if places is not None else table[:length].unsqueeze(0))
    if c.has(1):
        total = total + c.tensor(4)[c.tensor(1)]
    centered = total - total.mean(-1, True)
    spread = (centered.square().mean(-1, True) + c.get("epsilon", 1e-12)).rsqrt()
    normalized = centered * spread * c.tensor(5) + c.tensor(6)
    given = c.tensor(7) if c.has(7) else (ids * 0 + 1)
    return normalized, given.cast(dtypes.int32).sum(1).cast(dtypes.int32), total


@operator("FusedMatMul", domain=DOMAIN)
def scaled_product(c: Call) -> Value:
    left, right = c.tensor(0), c.tensor(1)
    left = left.transpose(-1, -2) if c.flag("transA") else left
    right = right.transpose(-1, -2) if c.flag("transB") else right
    return scaled(left @ right, c.get("alpha", 1.0))


def _activate(c: Call, x: Tensor, kind: str, numbers: list[float]) -> Tensor:
    first = numbers[0] if numbers else None
    if kind == "Relu":
        return x.relu()
    if kind == "LeakyRelu":
        return x.leaky_relu(0.01 if first is None else first)
    if kind == "Clip" and len(numbers) == 2:
        return x.clamp(*numbers)
    if kind == "HardSigmoid" and len(numbers) == 2:
        return (x * numbers[0] + numbers[1]).clamp(0.0, 1.0)
    if kind in ("Sigmoid", "Tanh"):
        return x.sigmoid() if kind == "Sigmoid" else x.tanh()
    raise c.refuse(f"it ends with {kind!r}")


@operator("FusedConv", domain=DOMAIN)
def activated_convolution(c: Call) -> Value:
    convolved = conv(c) + c.tensor(3) if c.has(3) else conv(c)
    return _activate(c, convolved, c.get("activation", ""), c.get("activation_params") or [])


@operator("FusedGemm", domain=DOMAIN)
def activated_gemm(c: Call) -> Value:
    numbers = [c.get("activation_alpha", 0.01)]
    return _activate(c, gemm(c), c.get("activation", ""), numbers)
