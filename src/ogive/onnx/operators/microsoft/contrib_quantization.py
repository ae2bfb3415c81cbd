"""Quantized operators of com.microsoft."""

from __future__ import annotations

import math
from collections.abc import Callable

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.onnx.call import Call
from ogive.onnx.operators.layers.convolution_and_pooling import average_pool
from ogive.onnx.operators.layers.quantization import (
    along,
    dequantize,
    multiply_integers,
    quantize,
    to_integers,
    zero_point,
)
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import cat, stack
from ogive.tensor.tensor import Tensor

DOMAIN = "com.microsoft"

operator("QuantizeLinear", domain=DOMAIN)(quantize)
operator("DequantizeLinear", domain=DOMAIN)(dequantize)


def _floats(c: Call, index: int) -> Tensor:
    """A quantized input as the numbers it stands for; its scale and zero point follow it."""
    x = c.tensor(index).cast(dtypes.float32)
    if c.has(index + 2):
        x = x - c.tensor(index + 2).cast(dtypes.float32)
    return x * c.tensor(index + 1)


def _quantized(c: Call, floats: Tensor, scale: int, like: DType) -> Tensor:
    """Numbers as integers by the scale and zero point at `scale`."""
    zero = c.optional(scale + 1)
    return to_integers(floats / c.tensor(scale), zero, like if zero is None else zero.dtype)


@operator("QLinearAdd", domain=DOMAIN)
def add_quantized(c: Call) -> Value:
    return _quantized(c, _floats(c, 0) + _floats(c, 3), 6, c.tensor(0).dtype)


@operator("QLinearMul", domain=DOMAIN)
def multiply_quantized(c: Call) -> Value:
    return _quantized(c, _floats(c, 0) * _floats(c, 3), 6, c.tensor(0).dtype)


def _of_one(function: Callable[[Call, Tensor], Tensor]) -> Callable[[Call], Value]:
    """An operator of one quantized input."""

    def apply(c: Call) -> Value:
        return _quantized(c, function(c, _floats(c, 0)), 3, c.tensor(0).dtype)

    return apply


def _global_average(c: Call, x: Tensor) -> Tensor:
    axes = list(range(1, x.ndim - 1)) if c.flag("channels_last") else list(range(2, x.ndim))
    return x.mean(axes, True)


def _softmax(c: Call, x: Tensor) -> Tensor:
    axis = c.get("axis", -1) % x.ndim
    if c.get("opset", 13) >= 13:
        return x.softmax(axis)
    return x.flatten(axis).softmax(axis).reshape(*x.shape)


operator("QLinearSigmoid", domain=DOMAIN)(_of_one(lambda c, x: x.sigmoid()))
operator("QLinearLeakyRelu", domain=DOMAIN)(
    _of_one(lambda c, x: x.leaky_relu(c.get("alpha", 0.01)))
)
operator("QLinearGlobalAveragePool", domain=DOMAIN)(_of_one(_global_average))
operator("QLinearSoftmax", domain=DOMAIN)(_of_one(_softmax))


@operator("QLinearAveragePool", domain=DOMAIN)
def average_quantized(c: Call) -> Value:
    inner = Call(c.node, [_floats(c, 0)], c.attributes, c.walk)
    return _quantized(c, average_pool(inner), 3, c.tensor(0).dtype)


@operator("QLinearConcat", domain=DOMAIN)
def join_quantized(c: Call) -> Value:
    parts = [_floats(c, index) for index in range(2, len(c), 3)]
    return _quantized(c, cat(parts, c.get("axis")), 0, c.tensor(2).dtype)


@operator("QGemm", domain=DOMAIN)
def gemm_of_integers(c: Call) -> Value:
    left = c.tensor(0).T if c.flag("transA") else c.tensor(0)
    right = c.tensor(3).T if c.flag("transB") else c.tensor(3)
    sums = multiply_integers(left, zero_point(c, 2), right, zero_point(c, 5))
    if c.has(6):
        sums = sums + c.tensor(6)
    scale = c.tensor(1) * along(c.tensor(4), sums, -1) * c.get("alpha", 1.0)
    numbers = sums.cast(dtypes.float32) * scale
    return _quantized(c, numbers, 7, c.tensor(0).dtype) if c.has(7) else numbers


@operator("MatMulIntegerToFloat", domain=DOMAIN)
def product_of_integers(c: Call) -> Value:
    sums = multiply_integers(c.tensor(0), zero_point(c, 4), c.tensor(1), zero_point(c, 5))
    numbers = sums.cast(dtypes.float32) * (c.tensor(2) * along(c.tensor(3), sums, -1))
    return numbers + c.tensor(6) if c.has(6) else numbers


@operator("DynamicQuantizeMatMul", domain=DOMAIN)
def product_quantized_here(c: Call) -> Value:
    x, weight = c.tensor(0), c.tensor(1)
    low, high = x.amin().clamp(max=0.0), x.amax().clamp(min=0.0)
    scale = ((high - low) / 255.0).clamp(min=1e-30)
    zero = (-low / scale).round().clamp(0, 255)
    whole = ((x / scale).round() + zero).clamp(0, 255).cast(dtypes.uint8)
    sums = multiply_integers(whole, zero.cast(dtypes.uint8), weight, zero_point(c, 3))
    numbers = sums.cast(dtypes.float32) * (scale * along(c.tensor(2), sums, -1))
    return numbers + c.tensor(4) if c.has(4) else numbers


@operator("MatMulNBits", domain=DOMAIN)
def product_with_packed_weights(c: Call) -> Value:
    """Weights of a few bits, in blocks that have a scale and a zero point each."""
    x = c.tensor(0)
    rows, width = c.get("N"), c.get("K")
    bits, block = c.get("bits", 4), c.get("block_size")
    if bits not in (2, 4, 8):
        raise c.refuse(f"weights of {bits} bits; there are those of 2, 4 and 8")
    if c.has(4):
        raise c.refuse("its groups are in an order of their own")
    blocks = -(-width // block)
    weights = _unpack_bits(c.tensor(1).reshape(rows, blocks, -1), bits)[..., :block]
    scales = c.tensor(2).reshape(rows, blocks, 1)
    zeros = _block_zeros(c, rows, blocks, bits, scales)
    numbers = (weights.cast(scales.dtype) - zeros) * scales
    matrix = numbers.reshape(rows, blocks * block)[:, :width]
    product = x @ matrix.cast(x.dtype).T
    return product + c.tensor(5) if c.has(5) else product


def _unpack_bits(packed: Tensor, bits: int) -> Tensor:
    """Bytes as the numbers in them, the first in the lowest bits."""
    if bits == 8:
        return packed
    parts = [(packed >> shift) & (1 << bits) - 1 for shift in range(0, 8, bits)]
    return stack(parts, -1).flatten(-2)


def _block_zeros(c: Call, rows: int, blocks: int, bits: int, scales: Tensor) -> Tensor | float:
    if not c.has(3):
        return float(1 << (bits - 1))
    given = c.tensor(3)
    if given.dtype is not dtypes.uint8:
        return given.reshape(rows, blocks, 1)
    each = math.prod(shape_of(given)) // rows
    numbers = _unpack_bits(given.reshape(rows, each), bits)[:, :blocks]
    return numbers.unsqueeze(-1).cast(scales.dtype)
