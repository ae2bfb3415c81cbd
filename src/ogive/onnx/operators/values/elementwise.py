"""Elementwise operators: arithmetic, comparisons, logic, elementary functions."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.onnx.call import Call, to_tensor
from ogive.onnx.dynamic_lengths import has_variables
from ogive.onnx.narrow import FORMS, narrow
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor

UNARY = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh",
    "Atan": "atan", "Atanh": "atanh", "BitwiseNot": "bitwise_not", "Ceil": "ceil", "Cos": "cos",
    "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor", "HardSwish": "hardswish",
    "IsNaN": "isnan", "Log": "log", "Mish": "mish", "Neg": "neg",
    "Reciprocal": "reciprocal", "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid",
    "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Softplus": "softplus", "Softsign": "softsign",
    "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip
"""Operators that are a method of a tensor without arguments."""

KNOWN_UNARY: dict[str, Any] = {
    "Abs": numpy.abs, "Ceil": numpy.ceil, "Exp": numpy.exp, "Floor": numpy.floor, "Log": numpy.log,
    "Neg": numpy.negative, "Round": numpy.round, "Sqrt": numpy.sqrt, "Sign": numpy.sign,
}  # fmt: skip
"""Those of them that shapes are computed with."""


def _apply_unary(method: str, known: Any, c: Call) -> Value:
    value = c.value(0)
    return getattr(value, method)() if isinstance(value, Tensor) else known(value)


def _apply_method(method: str, c: Call) -> Value:
    return getattr(c.tensor(0), method)()


for _name, _method in UNARY.items():
    if _name in KNOWN_UNARY:
        _function = functools.partial(_apply_unary, _method, KNOWN_UNARY[_name])
        operator(_name, known=True)(_function)
    else:
        operator(_name)(functools.partial(_apply_method, _method))


BINARY: dict[str, tuple[str, Any]] = {
    "Add": ("add", numpy.add),
    "And": ("logical_and", numpy.logical_and),
    "BitwiseAnd": ("bitwise_and", numpy.bitwise_and),
    "BitwiseOr": ("bitwise_or", numpy.bitwise_or),
    "BitwiseXor": ("bitwise_xor", numpy.bitwise_xor),
    "Equal": ("eq", numpy.equal),
    "Greater": ("gt", numpy.greater),
    "GreaterOrEqual": ("ge", numpy.greater_equal),
    "Less": ("lt", numpy.less),
    "LessOrEqual": ("le", numpy.less_equal),
    "Mul": ("mul", numpy.multiply),
    "Or": ("logical_or", numpy.logical_or),
    "Sub": ("sub", numpy.subtract),
    "Xor": ("logical_xor", numpy.logical_xor),
}
"""Operators of two inputs: the method of a tensor, and NumPy's function."""


def _apply_binary(method: str, known: Any, c: Call) -> Value:
    left, right = c.value(0), c.value(1)
    if isinstance(left, Tensor):
        return getattr(left, method)(right)
    return known(left, right)


for _name, _pair in BINARY.items():
    operator(_name, known=True)(functools.partial(_apply_binary, *_pair))


@operator("Div", known=True)
def divide(c: Call) -> Value:
    left, right = c.value(0), c.value(1)
    if isinstance(left, Tensor):
        whole = not left.dtype.is_float
        return left.div(right, rounding_mode="trunc") if whole else left / right
    if has_variables(left) or has_variables(right):
        return left // right  # lengths are not negative
    if left.dtype.kind in "iu":
        return (numpy.sign(left) * numpy.sign(right) * (abs(left) // abs(right))).astype(left.dtype)
    return left / right


@operator("Mod", known=True)
def modulo(c: Call) -> Value:
    left, right = c.value(0), c.value(1)
    if isinstance(left, Tensor):
        return left.fmod(right) if c.flag("fmod") else left.remainder(right)
    return numpy.fmod(left, right) if c.flag("fmod") else numpy.remainder(left, right)


@operator("Pow", known=True)
def power(c: Call) -> Value:
    base, exponent = c.value(0), c.value(1)
    if isinstance(base, Tensor):
        return base.pow(exponent).cast(base.dtype)
    return numpy.power(base, exponent).astype(base.dtype)


@operator("Not", known=True)
def logical_not(c: Call) -> Value:
    value = c.value(0)
    return value.logical_not() if isinstance(value, Tensor) else numpy.logical_not(value)


@operator("BitShift")
def shift(c: Call) -> Value:
    left, right = c.tensor(0), c.tensor(1)
    if c.get("direction") == "LEFT":
        return left.bitwise_left_shift(right)
    return left.bitwise_right_shift(right)


@operator("Min", known=True)
def minimum(c: Call) -> Value:
    values = [c.value(index) for index in range(len(c))]
    if isinstance(values[0], Tensor):
        return functools.reduce(Tensor.minimum, values)
    return functools.reduce(numpy.minimum, values)


@operator("Max", known=True)
def maximum(c: Call) -> Value:
    values = [c.value(index) for index in range(len(c))]
    if isinstance(values[0], Tensor):
        return functools.reduce(Tensor.maximum, values)
    return functools.reduce(numpy.maximum, values)


@operator("Sum")
def total(c: Call) -> Value:
    return functools.reduce(Tensor.add, c.tensors())


@operator("Mean")
def mean(c: Call) -> Value:
    return functools.reduce(Tensor.add, c.tensors()) / len(c)


@operator("Where", known=True)
def where(c: Call) -> Value:
    condition, left, right = c.value(0), c.value(1), c.value(2)
    if isinstance(condition, Tensor):
        return left.where(condition, right)
    return numpy.where(condition, left, right)


@operator("Identity", known=True)
def identity(c: Call) -> Value:
    return c.values[0]


@operator("Clip", until=11)
def clip_to_attributes(c: Call) -> Value:
    return c.tensor(0).clamp(c.get("min"), c.get("max"))


@operator("Clip", since=11)
def clip(c: Call) -> Value:
    clipped = c.tensor(0)
    if c.has(1):
        clipped = clipped.maximum(_bound(c, 1))
    return clipped.minimum(_bound(c, 2)) if c.has(2) else clipped


def _bound(c: Call, index: int) -> Tensor | float:
    """A bound: a number that kernels are compiled for, where it is known. Most are 0 or 6."""
    value = c.values[index]
    is_known = isinstance(value, numpy.ndarray) and value.size == 1 and value.dtype.kind in "fiu"
    return value.item() if is_known else c.tensor(index)


@operator("Elu")
def elu(c: Call) -> Value:
    return c.tensor(0).elu(c.get("alpha", 1.0))


@operator("Celu")
def celu(c: Call) -> Value:
    return c.tensor(0).celu(c.get("alpha", 1.0))


@operator("Selu")
def selu(c: Call) -> Value:
    x = c.tensor(0)
    alpha, gamma = c.get("alpha", 1.6732631921768188), c.get("gamma", 1.0507010221481323)
    return gamma * ((x > 0).logical_not().cast(x.dtype) * alpha * x.clamp(max=0).expm1() + x.relu())


@operator("LeakyRelu")
def leaky_relu(c: Call) -> Value:
    return c.tensor(0).leaky_relu(c.get("alpha", 0.01))


@operator("PRelu", until=7)
def prelu_by_channel(c: Call) -> Value:
    x, slope = c.tensor(0), c.tensor(1)
    return x.where(x >= 0, x * slope.reshape(-1, *[1] * (x.ndim - 2)))


@operator("PRelu", since=7)
def prelu(c: Call) -> Value:
    x, slope = c.tensor(0), c.tensor(1)
    return x.where(x >= 0, x * slope)


@operator("ThresholdedRelu")
def thresholded_relu(c: Call) -> Value:
    return c.tensor(0).threshold(c.get("alpha", 1.0), 0.0)


@operator("HardSigmoid")
def hard_sigmoid(c: Call) -> Value:
    return (c.tensor(0) * c.get("alpha", 0.2) + c.get("beta", 0.5)).clamp(0.0, 1.0)


@operator("Swish")
def swish(c: Call) -> Value:
    x = c.tensor(0)
    return x * (x * c.get("alpha", 1.0)).sigmoid()


@operator("Gelu")
def gelu(c: Call) -> Value:
    return c.tensor(0).gelu(approximate=c.get("approximate", "none"))


@operator("Shrink")
def shrink(c: Call) -> Value:
    x, bias, lambd = c.tensor(0), c.get("bias", 0.0), c.get("lambd", 0.5)
    inside = x * 0
    right_side = (x - bias).where(x > lambd, inside)
    return (x + bias).where(x < -lambd, right_side).cast(x.dtype)


@operator("IsInf")
def is_infinite(c: Call) -> Value:
    x = c.tensor(0)
    above = x.isposinf() if c.flag("detect_positive", 1) else None
    below = x.isneginf() if c.flag("detect_negative", 1) else None
    if above is None or below is None:
        is_far = below if above is None else above
        return x.isnan().logical_and(x.isnan().logical_not()) if is_far is None else is_far
    return above.logical_or(below)


@operator("Cast", known=True)
def cast(c: Call) -> Value:
    if c.get("to") == 8 or is_text(c.values[0]):
        return _cast_texts(c.values[0], None if c.get("to") == 8 else c.dtype("to"))
    if c.get("to") in FORMS:
        return _cast_narrow(c, c.get("to"))
    return _cast_number(c, c.value(0), c.dtype("to"))


def _cast_narrow(c: Call, element: int) -> Value:
    return narrow(c.tensor(0), element, c.flag("saturate", 1), c.get("round_mode", "up"))


@operator("CastLike")
def cast_like(c: Call) -> Value:
    element = c.element(1)
    if element is not None:
        return _cast_narrow(c, element)
    if is_text(c.values[0]) or is_text(c.values[1]):
        return _cast_texts(c.values[0], None if is_text(c.values[1]) else c.tensor(1).dtype)
    return _cast_number(c, c.tensor(0), c.tensor(1).dtype)


def _cast_number(c: Call, value: Any, dtype: DType) -> Value:
    if isinstance(value, Tensor) and dtype in _LARGEST and c.flag("saturate", 1):
        return saturate(value, dtype)
    return cast_to(value, dtype)


_LARGEST = {dtypes.float8_e4m3: 448.0, dtypes.float8_e5m2: 57344.0}


def saturate(x: Tensor, dtype: DType) -> Tensor:
    """A tensor in a float of 8 bits, of which too large a number becomes the largest."""
    largest = _LARGEST[dtype]
    return x.where(x.isnan(), x.clamp(-largest, largest)).cast(dtype)


def cast_to(value: Any, dtype: DType) -> Value:
    """A tensor or array with another dtype."""
    if has_variables(value):
        if dtype in (dtypes.int64, dtypes.int32):
            return value
        value = to_tensor(value)
    if isinstance(value, Tensor):
        return value.cast(dtype)
    return value.astype(dtype.numpy)


def is_text(value: Any) -> bool:
    """Whether a value is an array of texts."""
    is_array = isinstance(value, numpy.ndarray) and value.dtype.kind in "OUS"
    return is_array and not has_variables(value)


def _cast_texts(value: Any, dtype: DType | None) -> Value:
    """Texts as numbers, or numbers as texts where there is no dtype."""
    if is_text(value):
        return value if dtype is None else value.astype(dtype.numpy)
    array = to_tensor(value).numpy()
    return numpy.array([_to_text(each) for each in array.reshape(-1)], object).reshape(array.shape)


def _to_text(number: Any) -> str:
    if isinstance(number, numpy.floating) and not math.isfinite(number):
        return "NaN" if math.isnan(number) else "INF" if number > 0 else "-INF"
    return str(number)
