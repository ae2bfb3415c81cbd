"""Forms of tensors of float16 and bfloat16: computed in float32, and rounded once, as PyTorch does
for most of its operations on the CPU.

    form of half     =  round ∘ form ∘ widen           y = x.exp()   y = round(exp(float32(x)))
    its gradient     =  round ∘ gradient ∘ widen

What a record holds is in half precision, the result included: from that gradients are computed.
Views are not computed, and stay in memory as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType, result_type
from ogive.eager.tensors import DTYPES, FLOATS

_FLOAT32 = numpy.dtype("float32")
_ndarray = numpy.ndarray


def is_half(array: Any) -> bool:
    """Whether an array is of float16 or bfloat16."""
    return bool(array.dtype.itemsize == 2 and array.dtype.kind in FLOATS)


def rounded(own: Any) -> Callable[..., Any]:
    """How a form computes, of half precision."""
    compute = own.compute

    @functools.wraps(compute)
    def in_float32(*args: Any, **kwargs: Any) -> Any:
        dtype = _result_dtype(own.mixes, args, kwargs)
        out = compute(*_widen_all(args), **_widen_named(kwargs))
        if dtype is _FLOAT32:
            return out
        if isinstance(out, tuple):
            parts = [_narrow(numpy.asarray(part), dtype) for part in out]
            return tuple(parts) if out.__class__ is tuple else out.__class__(*parts)
        return _narrow(numpy.asarray(out), dtype)

    return in_float32


def _result_dtype(mixes: str, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """The dtype of the results that are float32 here. Raises `TypeError` for operands that do not
    meet: only those of some functions may be of several dtypes."""
    operands: list[Any] = []
    _collect((*args, *kwargs.values()), operands)
    floats = [array for array in operands if array.dtype.kind in FLOATS]
    first = floats[0].dtype
    if any(value.__class__ is DType for value in (*args, *kwargs.values())):
        return _FLOAT32  # the dtype of the result is asked for
    if all(array.dtype == first for array in floats):
        return first
    if mixes == "first":
        return first
    if mixes != "all":
        raise TypeError("operands of these dtypes do not meet")
    met = result_type([(DTYPES[array.dtype], int(array.ndim > 0)) for array in operands], []).numpy
    return met if met.itemsize == 2 else _FLOAT32


def _collect(values: Iterable[Any], tensors: list[Any]) -> None:
    for value in values:
        if value.__class__ is _ndarray:
            tensors.append(value)
        elif value.__class__ in (list, tuple):
            _collect(value, tensors)


def widen(value: Any) -> Any:
    """An array in float32, where it is in half precision; arrays in lists likewise."""
    if value.__class__ is _ndarray:
        return value.astype(_FLOAT32) if is_half(value) else value
    if value.__class__ in (list, tuple):
        return value.__class__(_widen_all(value))
    return value


def _widen_all(values: Iterable[Any]) -> list[Any]:
    return [widen(value) for value in values]


def _widen_named(values: dict[str, Any]) -> dict[str, Any]:
    return {name: widen(value) for name, value in values.items()}


def _narrow(array: Any, dtype: Any) -> Any:
    return array.astype(dtype) if array.dtype == _FLOAT32 else array


def rounded_gradient(own: Any) -> Callable[..., Any]:
    """How a form finds gradients, of half precision."""
    gradient = own.gradient

    def in_float32(given: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        operands: list[Any] = []
        _collect((*args, *kwargs.values()), operands)
        parts = gradient(widen(given), widen(out), *_widen_all(args), **_widen_named(kwargs))
        return [
            _part(part, array.dtype) if is_half(array) else part
            for part, array in zip(parts, operands, strict=False)
        ]

    return in_float32


def _part(part: Any, dtype: Any) -> Any:
    """A gradient, or the function that computes it if it is wanted, rounded."""
    if part is None:
        return None
    if part.__class__ is FunctionType:
        return lambda: _narrow(numpy.asarray(part()), dtype)
    return _narrow(numpy.asarray(part), dtype)
