"""Quantization: to integers and back, and operators on integers."""

from __future__ import annotations

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.onnx.call import Call
from ogive.onnx.elements import find_dtype
from ogive.onnx.narrow import FORMS, Narrow, narrow
from ogive.onnx.operators.layers.convolution_and_pooling import convolve
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.operators.values.elementwise import saturate
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor


def _fit(c: Call, given: Tensor, x: Tensor) -> Tensor:
    """A scale or zero point, so that it broadcasts: one number, one a channel, or one a block."""
    if given.numel() == 1:
        return given.reshape(())
    axis, block = c.get("axis", 1), c.get("block_size", 0)
    if block:
        return given.repeat_interleave(block, axis).narrow(axis, 0, shape_of(x)[axis])
    lengths = [1] * x.ndim
    lengths[axis] = -1
    return given.reshape(*lengths)


def to_integers(scaled: Tensor, zero: Tensor | None, dtype: DType, bits: int = 0) -> Tensor:
    """Numbers rounded, moved by the zero point, and kept inside a type of integers.

    These are of `bits` bits; usually of as many as the dtype has.
    """
    whole = scaled.round()
    if zero is not None:
        whole = whole + zero.cast(whole.dtype)
    bounds = numpy.iinfo(dtype.name)
    unused = bounds.bits - bits if bits else 0
    return whole.clamp(int(bounds.min) >> unused, int(bounds.max) >> unused).cast(dtype)


@operator("QuantizeLinear")
def quantize(c: Call) -> Value:
    x, scale = c.tensor(0), c.tensor(1)
    zero = c.optional(2)
    element = c.element(2) if zero is not None else c.get("output_dtype")
    if element not in FORMS:
        element = None
        dtype = zero.dtype if zero is not None else find_dtype(c.get("output_dtype", 0) or 2)
    else:
        dtype = FORMS[element].held
    if c.get("precision"):
        kind = find_dtype(c.get("precision"))
        x, scale = x.cast(kind), scale.cast(kind)
    wide = x if x.dtype.is_float else x.cast(scale.dtype)
    scaled = wide / _fit(c, scale, x)
    if element is not None and dtype.is_float:
        return narrow(scaled, element, c.flag("saturate", 1))
    if dtype.is_float:
        return saturate(scaled, dtype) if c.flag("saturate", 1) else scaled.cast(dtype)
    moved = None if zero is None else _fit(c, zero, x)
    if element is not None:
        bits = FORMS[element].bits
        return Narrow(element, to_integers(scaled.cast(dtypes.float32), moved, dtype, bits))
    return to_integers(scaled.cast(dtypes.float32), moved, dtype)


@operator("DequantizeLinear")
def dequantize(c: Call) -> Value:
    x, scale = c.tensor(0), c.tensor(1)
    floats = x.cast(dtypes.float32)
    if c.has(2) and not x.dtype.is_float:
        floats = floats - _fit(c, c.tensor(2), x).cast(dtypes.float32)
    floats = floats * _fit(c, scale, x)
    wanted = c.get("output_dtype")
    return floats.cast(find_dtype(wanted) if wanted else scale.dtype)


@operator("DynamicQuantizeLinear")
def dynamic_quantize(c: Call) -> Value:
    x = c.tensor(0)
    low, high = x.amin().clamp(max=0.0), x.amax().clamp(min=0.0)
    scale = (high - low) / 255.0
    scale = (scale * 0 + 1.0 / 255.0).where(high == low, scale)
    zero = (-low / scale).clamp(0, 255).round()
    integers = ((x / scale).round() + zero).clamp(0, 255)
    return integers.cast(dtypes.uint8), scale, zero.cast(dtypes.uint8)


def _centered(x: Tensor, zero: Tensor | None, axis: int) -> Tensor:
    """Integers less their zero point, as int32. Bytes fit int16, pairs of which are multiplied at
    once."""
    kind = dtypes.int16 if x.dtype.bits == 8 else dtypes.int32
    wide = x.cast(kind)
    if zero is not None:
        wide = wide - along(zero.cast(kind), x, axis)
    return wide.cast(dtypes.int32)


def along(given: Tensor, x: Tensor, axis: int) -> Tensor:
    """A number, or one for each place of an axis, so that it broadcasts."""
    if given.numel() == 1:
        return given.reshape(())
    if given.ndim > 1:
        return given
    lengths = [1] * x.ndim
    lengths[axis] = -1
    return given.reshape(*lengths)


@operator("MatMulInteger")
def matmul_integer(c: Call) -> Value:
    return multiply_integers(c.tensor(0), zero_point(c, 2), c.tensor(1), zero_point(c, 3))


def zero_point(c: Call, index: int) -> Tensor | None:
    """An input that is subtracted from integers; None if it is known to be 0, as that of weights
    mostly is: what follows from weights alone is computed once."""
    value = c.values[index] if c.has(index) else None
    is_none = isinstance(value, numpy.ndarray) and not value.any()
    return None if is_none else c.optional(index)


def multiply_integers(
    left: Tensor, left_zero: Tensor | None, right: Tensor, right_zero: Tensor | None
) -> Tensor:
    """The product of integers, less their zero points, exactly."""
    return _centered(left, left_zero, -2) @ _centered(right, right_zero, -1)


@operator("ConvInteger")
def conv_integer(c: Call) -> Value:
    x, weight = c.tensor(0), c.tensor(1)
    return _convolve_integers(c, x, zero_point(c, 2), weight, zero_point(c, 3), None)


def _convolve_integers(
    c: Call, x: Tensor, x_zero: Tensor | None, weight: Tensor, w_zero: Tensor | None,
    bias: Tensor | None,
) -> Tensor:  # fmt: skip
    """A convolution of integers, less their zero points, exactly."""
    left, right = _centered(x, x_zero, 1), _centered(weight, w_zero, 0)
    return convolve(c, left, right, bias)


@operator("QLinearMatMul")
def qlinear_matmul(c: Call) -> Value:
    left, right, zero = c.tensor(0), c.tensor(3), c.tensor(7)
    product = multiply_integers(left, zero_point(c, 2), right, zero_point(c, 5))
    scale = along(c.tensor(1), left, -2) * along(c.tensor(4), right, -1) / c.tensor(6)
    scaled = product.cast(dtypes.float32) * scale.cast(dtypes.float32)
    return to_integers(scaled, zero, zero.dtype)


def _unsigned(x: Tensor) -> tuple[Tensor, int]:
    """Bytes moved so that they are unsigned, and by how much."""
    return (x, 0) if x.dtype is dtypes.uint8 else (x.bitcast(dtypes.uint8) ^ 128, 128)


@operator("ProductOfBytes", domain="ogive")
def product_of_bytes(c: Call) -> Value:
    """A product of bytes, which `merge_quantization` makes of `MatMulInteger`."""
    return _multiply_bytes(c.tensor(0), zero_point(c, 1), c.tensor(2), c.tensor(3))


def _multiply_bytes(
    left: Tensor, zero: Tensor | None, right: Tensor, sums: Tensor
) -> Tensor:
    """The product of bytes and signed bytes, these of known sums, exactly."""
    left, moved = _unsigned(left)
    product = left.cast(dtypes.int32) @ right.cast(dtypes.int32)
    if zero is not None:
        return product - (along(zero.cast(dtypes.int32), left, -2) + moved) * sums
    return product - sums * moved if moved else product


@operator("QuantizedProduct", domain="ogive")
def quantized_product(c: Call) -> Value:
    """A product of integers, which `merge_quantization` makes of one of dequantized matrices."""
    x, weight, zero = c.tensor(0), c.tensor(3), zero_point(c, 2)
    if c.has(6):
        product = _multiply_bytes(x, zero, weight, c.tensor(6))
    else:
        product = multiply_integers(x, zero, weight, zero_point(c, 5))
    return product.cast(dtypes.float32) * (c.tensor(1) * along(c.tensor(4), product, -1))


@operator("QuantizedConv", domain="ogive")
def quantized_conv(c: Call) -> Value:
    """A convolution of integers, which `merge_quantization` makes of one of dequantized images."""
    x, weight = c.tensor(0), c.tensor(3)
    if c.has(7):
        sums = _convolve_bytes(c, x, weight, c.tensor(7))
    else:
        sums = _convolve_integers(c, x, zero_point(c, 2), weight, zero_point(c, 5), None)
    numbers = sums.cast(dtypes.float32) * (c.tensor(1).reshape(()) * along(c.tensor(4), sums, 1))
    return numbers + along(c.tensor(6), sums, 1) if c.has(6) else numbers


def _convolve_bytes(c: Call, x: Tensor, weight: Tensor, sums: Tensor) -> Tensor:
    """A convolution of bytes by signed ones of known sums, exactly. What is outside of the image is
    as its zero point, which is known. Channels that only filters have are zeros there."""
    x, moved = _unsigned(x)
    missing = shape_of(weight)[1] - shape_of(x)[1]
    if missing:
        x = x.pad([*[0, 0] * (x.ndim - 2), 0, missing])
    zero = moved + (int(c.array(2).reshape(())) if c.has(2) else 0)
    convolved = convolve(c, x.cast(dtypes.int32), weight.cast(dtypes.int32), None, zero)
    return convolved if zero == 0 else convolved - along(sums * zero, convolved, 1)


@operator("QLinearConv")
def qlinear_conv(c: Call) -> Value:
    x, weight, zero = c.tensor(0), c.tensor(3), c.tensor(7)
    sums = _convolve_integers(c, x, zero_point(c, 2), weight, zero_point(c, 5), c.optional(8))
    scale = c.tensor(1) * along(c.tensor(4), sums, 1) / c.tensor(6)
    return to_integers(sums.cast(dtypes.float32) * scale, zero, zero.dtype)
