"""Arithmetic on values: what PyTorch would give, and how far rounding may be from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.random_programs.values import (
    FLOATS,
    GREATEST,
    INTEGERS,
    PRECISION,
    Unsuitable,
    Value,
    computed,
    exact,
    is_whole,
    rounded,
)


def cast(value: Value, dtype: str) -> Value:
    if dtype == value.dtype:
        return value
    if not value.is_float:
        if dtype in FLOATS:
            data = value.data.astype(np.float32 if dtype != "float64" else np.float64)
            if np.any(np.abs(data) > GREATEST):
                raise Unsuitable("too large")
            return Value(dtype, rounded(data.astype(np.float64), dtype), value.error.copy())
        return exact(dtype, value.data.astype(np.dtype(dtype)))
    if dtype in FLOATS:
        return computed(dtype, value.data, value.error)
    if not value.is_exact:
        raise Unsuitable("a discontinuous cast")
    if dtype == "bool":
        return exact(dtype, value.data != 0)
    limits = np.iinfo(dtype)
    if np.any(np.trunc(value.data) < limits.min) or np.any(value.data > limits.max):
        raise Unsuitable("an integer out of range")
    return exact(dtype, np.trunc(value.data))


def unary(kind: str, value: Value) -> Value:
    data, error, dtype = value.data, value.error, value.dtype
    if kind in ("contiguous", "detach"):
        return value
    if kind in ("exp", "sin", "tanh") or (kind == "sqrt" and not value.is_float):
        if not value.is_float:
            value = cast(value, "float32")
            data, error, dtype = value.data, value.error, value.dtype
        if kind == "exp":
            if np.any(data > 8):
                raise Unsuitable("too large")
            return computed(dtype, np.exp(data), np.exp(data) * np.expm1(error), 4)
        if kind in ("sin", "tanh"):
            function = np.sin if kind == "sin" else np.tanh
            return computed(dtype, function(data), error, 4)
    if kind == "sqrt":
        if np.any(data < 0) or not value.is_exact:
            raise Unsuitable("a root of what may be negative")
        return computed(dtype, np.sqrt(data), error)
    if kind == "logical_not":
        if not value.is_exact:
            raise Unsuitable("a discontinuity")
        return exact("bool", np.logical_not(data))
    if dtype == "bool":
        raise Unsuitable("no meaning for bool")
    if kind == "neg":
        return replace(value, data=-data)
    if kind == "abs":
        return replace(value, data=np.abs(data))
    if kind == "relu":
        return replace(value, data=np.maximum(data, 0))
    if kind == "square":
        return binary("mul", value, value)
    assert kind == "floor"
    if not value.is_float:
        return value
    if not value.is_exact:
        raise Unsuitable("a discontinuity")
    return exact(dtype, np.floor(data))


def promote(left: Value, right: Value) -> tuple[Value, Value]:
    """The operands in a common dtype; only pairs whose promotion nobody disputes."""
    if left.dtype == right.dtype:
        return left, right
    if (left.shape == ()) != (right.shape == ()):
        raise Unsuitable("a tensor without axes counts less")
    kinds = {value.dtype for value in (left, right)}
    if "bool" in kinds:
        (other,) = kinds - {"bool"}
    elif len(kinds & set(FLOATS)) == 1 and kinds & set(INTEGERS):
        (other,) = kinds & set(FLOATS)
    elif kinds == {"float16", "bfloat16"}:
        other = "float32"
    elif kinds <= set(FLOATS):
        other = max(kinds, key=lambda name: int(name.removeprefix("b").removeprefix("float")))
    elif "uint8" in kinds:
        other = "int16" if "int8" in kinds else next(iter(kinds - {"uint8"}))
    else:
        other = max(kinds, key=lambda name: int(name.removeprefix("int")))
    return cast(left, other), cast(right, other)


COMPARISONS: dict[str, Any] = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
BITWISE: dict[str, Any] = {
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
}  # fmt: skip


def binary(kind: str, left: Value, right: Value) -> Value:
    if kind == "sub" and "bool" in (left.dtype, right.dtype):
        raise Unsuitable("no meaning for bool")
    left, right = promote(left, right)
    dtype = left.dtype
    a, b = left.data, right.data
    if kind in COMPARISONS:
        if not (left.is_exact and right.is_exact):
            raise Unsuitable("a discontinuity")
        return exact("bool", COMPARISONS[kind](a, b))
    if kind in BITWISE:
        if left.is_float:
            raise Unsuitable("floats have no bits here")
        return exact(dtype, BITWISE[kind](a, b))
    if kind in ("maximum", "minimum"):
        function = np.maximum if kind == "maximum" else np.minimum
        return Value(dtype, function(a, b), np.maximum(left.error, right.error))
    if dtype == "bool":
        if kind in ("add", "mul"):
            return exact(dtype, (np.logical_or if kind == "add" else np.logical_and)(a, b))
        raise Unsuitable("no meaning for bool")
    if kind in ("floor_divide", "remainder"):
        # The divisor is made odd by the instruction, so it is not zero.
        if left.is_float:
            raise Unsuitable("tested elsewhere")
        with np.errstate(all="ignore"):
            result = np.floor_divide(a, b) if kind == "floor_divide" else np.remainder(a, b)
        return exact(dtype, result)
    if kind == "div":
        if not left.is_float:
            left, right = cast(left, "float32"), cast(right, "float32")
            a, b = left.data, right.data
        # The divisor is at least 1 in magnitude.
        error = (left.error + np.abs(a / b) * right.error) / np.maximum(
            np.abs(b) - right.error, 0.5
        )
        return computed(left.dtype, a / b, error)
    with np.errstate(over="ignore"):
        result = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[kind](a, b)
    if not left.is_float:
        return exact(dtype, result)
    if kind == "mul":
        error = np.abs(a) * right.error + np.abs(b) * left.error + left.error * right.error
    else:
        error = left.error + right.error
    return computed(dtype, result, error)


def reduced(kind: str, value: Value, axes: tuple[int, ...], keep: bool) -> Value:
    data, dtype = value.data, value.dtype
    count = int(np.prod([value.shape[axis] for axis in axes], dtype=np.int64))
    if kind in ("any", "all"):
        if not value.is_exact:
            raise Unsuitable("a discontinuity")
        logic: Any = np.any if kind == "any" else np.all
        return exact("bool", np.asarray(logic(data != 0, axis=axes, keepdims=keep)))
    if kind in ("amax", "amin"):
        if count == 0:
            raise Unsuitable("nothing to choose from")
        function: Any = np.max if kind == "amax" else np.min
        error = np.asarray(np.max(value.error, axis=axes, keepdims=keep))
        return Value(dtype, np.asarray(function(data, axis=axes, keepdims=keep)), error)
    if not value.is_float:
        if kind == "mean":
            raise Unsuitable("integers have no mean")
        total = np.sum if kind == "sum" else np.prod
        with np.errstate(over="ignore"):
            result = total(data.astype(np.int64), axis=axes, keepdims=keep)
        return exact("int64", np.asarray(result))
    if kind == "prod":
        raise Unsuitable("tested elsewhere")
    if kind == "mean" and count == 0:
        raise Unsuitable("a mean of nothing")
    result = np.asarray(np.sum(data, axis=axes, keepdims=keep))
    size = np.asarray(np.sum(np.abs(data), axis=axes, keepdims=keep))
    error = np.asarray(np.sum(value.error, axis=axes, keepdims=keep))
    if not (value.is_exact and is_whole(data, size, dtype)):
        error = error + PRECISION[dtype] * (count + 2) * size + 1e-30
    if kind == "mean":
        return computed(dtype, result / count, error / count, 4)
    return computed(dtype, result, error)


def chosen(kind: str, value: Value, axis: int) -> Value:
    if not value.is_exact or value.shape[axis] == 0 or value.dtype == "bool":
        raise Unsuitable("a discontinuity, or nothing")
    function = np.argmax if kind == "argmax" else np.argmin
    return exact("int64", np.asarray(function(value.data, axis=axis)))


def product(left: Value, right: Value) -> Value:
    if left.dtype != right.dtype or left.dtype == "bool":
        raise Unsuitable("tested elsewhere")
    dtype = left.dtype
    a, b = left.data, right.data
    if not left.is_float:
        return exact(dtype, a @ b)
    count = a.shape[-1]
    size = np.abs(a) @ np.abs(b)
    error = np.abs(a) @ right.error + left.error @ np.abs(b) + left.error @ right.error
    fractions = all(np.all(x * 4 == np.round(x * 4)) for x in (a, b))
    whole = fractions and np.all(size < 1 / PRECISION[dtype] / 16)
    if not (whole and left.is_exact and right.is_exact):
        error = error + PRECISION[dtype] * (count + 2) * size + 1e-30
    return computed(dtype, a @ b, error)


def softmax(value: Value, axis: int) -> Value:
    if not value.is_float or 0 in value.shape:
        raise Unsuitable("floats only")
    data = value.data - value.data.max(axis, keepdims=True)
    exponentials = np.exp(data)
    result = exponentials / exponentials.sum(axis, keepdims=True)
    worst = float(value.error.max(initial=0.0))
    error = result * np.expm1(4 * worst + PRECISION[value.dtype] * (value.shape[axis] + 16))
    return computed(value.dtype, result, error + 1e-7)


def odd(value: Value) -> Value:
    return binary("bitwise_or", value, exact(value.dtype, np.ones((), np.dtype(value.dtype))))


def scanned(kind: str, value: Value, axis: int) -> Value:
    """`cumsum` and `cumprod`."""
    data, dtype = value.data, value.dtype
    if not value.is_float:
        function = np.cumsum if kind == "cumsum" else np.cumprod
        with np.errstate(over="ignore"):
            return exact("int64", function(data.astype(np.int64), axis))
    if kind == "cumprod":
        raise Unsuitable("tested elsewhere")
    result, size = np.cumsum(data, axis), np.cumsum(np.abs(data), axis)
    error = np.cumsum(value.error, axis)
    if not (value.is_exact and is_whole(data, size, dtype)):
        error = error + PRECISION[dtype] * (data.shape[axis] + 2) * size + 1e-30
    return computed(dtype, result, error)
