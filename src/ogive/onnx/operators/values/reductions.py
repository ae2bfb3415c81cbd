"""Operators that reduce axes, scan along one, or normalize over them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor

KNOWN: dict[str, Any] = {
    "ReduceSum": numpy.sum, "ReduceProd": numpy.prod, "ReduceMax": numpy.max,
    "ReduceMin": numpy.min, "ReduceMean": numpy.mean,
}  # fmt: skip


def _amax(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return _extreme(x, axes, keep, "amax", -math.inf)


def _amin(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return _extreme(x, axes, keep, "amin", math.inf)


def _extreme(x: Tensor, axes: list[int], keep: bool, method: str, of_none: float) -> Tensor:
    """The largest or smallest; of no elements the other end of what the dtype has."""
    if x.dtype == dtypes.bool_:
        x = x.cast(dtypes.uint8)
        of_none = float(of_none > 0)
    if 0 not in x.shape:
        extreme: Tensor = getattr(x, method)(axes, keep)
        return extreme
    return x.cast(dtypes.float64).sum(axes, keep) + of_none


def _product(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    for axis in sorted((each % x.ndim for each in axes), reverse=True):
        x = x.prod(axis, keep)
    return x


def _mean(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    if x.dtype.is_float:
        return x.mean(axes, keep)
    return x.cast(dtypes.float64).mean(axes, keep).trunc()


def _log_sum_exp(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return (x if x.dtype.is_float else x.cast(dtypes.float64)).logsumexp(axes, keep)


def _l2(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return (x * x).sum(axes, keep).cast(_real(x)).sqrt()


def _real(x: Tensor) -> Any:
    return x.dtype if x.dtype.is_float else dtypes.float64


REDUCTIONS: dict[str, Callable[[Tensor, list[int], bool], Tensor]] = {
    "ReduceSum": lambda x, axes, keep: x.sum(axes, keep),
    "ReduceProd": _product,
    "ReduceMax": _amax,
    "ReduceMin": _amin,
    "ReduceMean": _mean,
    "ReduceL1": lambda x, axes, keep: x.abs().sum(axes, keep),
    "ReduceL2": _l2,
    "ReduceLogSum": lambda x, axes, keep: x.sum(axes, keep).cast(_real(x)).log(),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceSumSquare": lambda x, axes, keep: (x * x).sum(axes, keep),
}


def _reduce(c: Call) -> Value:
    axes, keep = c.axes(1), c.flag("keepdims", 1)
    value = c.value(0)
    if not axes:
        if c.flag("noop_with_empty_axes"):
            left = _WHEN_EMPTY.get(c.node.op)
            return left(c.tensor(0)) if left else value
        axes = list(range(value.ndim))
    if not isinstance(value, Tensor):
        if c.node.op in KNOWN:
            reduced = KNOWN[c.node.op](value, axis=tuple(axes), keepdims=keep)
            return numpy.asarray(reduced).astype(value.dtype)
        value = c.tensor(0)
    if not axes:
        return REDUCTIONS[c.node.op](value.reshape(1), [0], False).cast(value.dtype)
    return REDUCTIONS[c.node.op](value, axes, keep).cast(value.dtype)


_WHEN_EMPTY: dict[str, Callable[[Tensor], Tensor]] = {
    "ReduceL1": Tensor.abs,
    "ReduceL2": Tensor.abs,
    "ReduceSumSquare": Tensor.square,
    "ReduceLogSum": Tensor.log,
}
"""The functions that are left of reductions over no axes."""

operator(*REDUCTIONS, known=True)(_reduce)


@operator("CumSum")
def cumulative_sum(c: Call) -> Value:
    return _scan(c, Tensor.cumsum, 0)


@operator("CumProd")
def cumulative_product(c: Call) -> Value:
    return _scan(c, Tensor.cumprod, 1)


def _scan(c: Call, method: Callable[..., Tensor], start: int) -> Value:
    x, axis = c.tensor(0), int(c.number(1))
    axis %= x.ndim
    if c.flag("reverse"):
        x = x.flip(axis)
    if c.flag("exclusive"):
        before = [0, 0] * (x.ndim - 1 - axis) + [1, 0]
        x = x.pad(before, value=start).narrow(axis, 0, x.shape[axis])
    scanned = method(x, axis).cast(x.dtype)
    return scanned.flip(axis) if c.flag("reverse") else scanned


def _over_axes(c: Call, method: Callable[[Tensor, int], Tensor]) -> Value:
    """Over one axis; before opset 13 over that and all after it."""
    x = c.tensor(0)
    if c.version >= 13:
        return method(x, c.get("axis", -1))
    axis = c.get("axis", 1) % x.ndim
    return method(x.flatten(axis), axis).reshape(*x.shape)


@operator("Softmax")
def softmax(c: Call) -> Value:
    return _over_axes(c, lambda x, axis: x.softmax(axis))


@operator("LogSoftmax")
def log_softmax(c: Call) -> Value:
    return _over_axes(c, lambda x, axis: x.log_softmax(axis))


@operator("Hardmax")
def hardmax(c: Call) -> Value:
    return _over_axes(c, _hardmax)


def _hardmax(x: Tensor, axis: int) -> Tensor:
    return (x * 0).scatter(axis, x.argmax(axis, True), value=1.0)


@operator("LpNormalization")
def lp_normalization(c: Call) -> Value:
    x, axis = c.tensor(0), c.get("axis", -1)
    length = x.norm(float(c.get("p", 2)), axis, True)
    return (x / length).where(length != 0, x * 0)
