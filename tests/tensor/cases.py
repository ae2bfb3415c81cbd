"""The table of operations: ours, the reference (PyTorch, in float64 where floats are), and inputs.

A case is run for every dtype it takes, on every shape, plain and through views, by
`test_numerics.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

import ogive

Function = Callable[..., Any]

FLOATS = ("float16", "bfloat16", "float32", "float64")
WIDE = ("float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8")
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, "bool")


@dataclass(frozen=True)
class Case:
    """One operation.

    `domain` bounds the inputs of floats. `error` is the tolerance in units of the dtype's
    precision, relative to the value (and absolute below 1 in magnitude where `absolute`).
    """

    name: str
    ours: Function
    reference: Function
    arity: int = 1
    dtypes: tuple[str, ...] = FLOATS
    domain: tuple[float, float] = (-3.0, 3.0)
    error: float = 4.0
    absolute: bool = False
    nonzero: bool = False  # whether the last input must not contain zeros
    special: bool = True  # whether NaN, infinities and zeros are tried too


def method(name: str, **changes: Any) -> Case:
    """A case whose name is the same in both libraries."""

    def call(x: Any, *rest: Any) -> Any:
        return getattr(x, name)(*rest)

    return Case(name, call, call, **changes)


def both(name: str, function: Function, **changes: Any) -> Case:
    """A case written the same in both libraries."""
    return Case(name, function, function, **changes)


POSITIVE = (1e-3, 8.0)
UNIT = (-1.0, 1.0)

UNARY = [
    method("exp", domain=(-10, 10)), method("exp2", domain=(-10, 10)),
    method("expm1"), method("log", domain=POSITIVE), method("log2", domain=POSITIVE),
    method("log10", domain=POSITIVE), method("log1p", domain=(-0.9, 8)),
    method("sin", domain=(-20, 20)),
    method("cos", domain=(-20, 20), absolute=True), method("tan", domain=(-1.5, 1.5)),
    method("asin", domain=UNIT), method("acos", domain=UNIT, absolute=True), method("atan"),
    method("sinh"), method("cosh"), method("tanh"), method("asinh"), method("acosh", domain=(1, 8)),
    method("atanh", domain=(-0.95, 0.95)), method("erf"), method("erfc"),
    method("sqrt", domain=POSITIVE), method("rsqrt", domain=POSITIVE),
    method("reciprocal", domain=POSITIVE), method("square", dtypes=NUMBERS),
    method("neg", dtypes=NUMBERS), method("abs", dtypes=NUMBERS), method("sign", dtypes=ALL),
    method("floor", dtypes=NUMBERS), method("ceil", dtypes=NUMBERS),
    method("round", dtypes=NUMBERS), method("trunc", dtypes=NUMBERS),
    method("isnan", dtypes=ALL), method("isinf", dtypes=ALL), method("isfinite", dtypes=ALL),
    method("logical_not", dtypes=ALL), method("bitwise_not", dtypes=(*INTEGERS, "bool")),
    method("relu", dtypes=NUMBERS), method("sigmoid", domain=(-12, 12)),
    Case("exp of integers", lambda x: x.exp(), lambda x: x.float().exp(), dtypes=("int8", "bool")),
    Case("silu", lambda x: x.silu(), F.silu, domain=(-9, 9)),
    Case("gelu", lambda x: x.gelu(), F.gelu, absolute=True),
    Case("gelu tanh", lambda x: x.gelu("tanh"), lambda x: F.gelu(x, approximate="tanh"),
         absolute=True, error=8),
    both("clamp", lambda x: x.clamp(-1, 2), dtypes=("float32", "int32")),
    both("to the 2", lambda x: x**2, dtypes=NUMBERS), both("to the 3", lambda x: x**3),
    both("to the 7", lambda x: x**7, dtypes=("int32", "int64")),
    both("to the 0", lambda x: x**0, dtypes=NUMBERS),
    both("to the 0.5", lambda x: x**0.5, domain=POSITIVE),
    both("to the -1", lambda x: x**-1, domain=POSITIVE),
    both("to the 1.7", lambda x: x**1.7, domain=POSITIVE),
    both("1.7 to the", lambda x: 1.7**x, domain=(-8, 8), error=16),
    both("x + 1", lambda x: x + 1, dtypes=NUMBERS), both("2.5 - x", lambda x: 2.5 - x),
    both("3 / x", lambda x: 3 / x, domain=POSITIVE),
    both("x // 3", lambda x: x // 3, dtypes=SIGNED),
    both("x % -3", lambda x: x % -3, dtypes=SIGNED),
    both("x < 300", lambda x: x < 300, dtypes=("uint8", "int8", "int32")),
    both("x & 5", lambda x: x & 5, dtypes=INTEGERS),
    both("x << 2", lambda x: x << 2, dtypes=SIGNED),
    both("x >> 1", lambda x: x >> 1, dtypes=INTEGERS),
    Case("cast to int32", lambda x: x.cast("int32"), lambda x: x.to(torch.int32), dtypes=ALL,
         special=False),
    Case("cast to uint8", lambda x: x.cast("uint8"), lambda x: x.to(torch.uint8),
         dtypes=(*INTEGERS, "bool")),
    Case("cast to bool", lambda x: x.cast("bool"), lambda x: x.to(torch.bool), dtypes=ALL),
    Case("cast to float16", lambda x: x.cast("float16"), lambda x: x.to(torch.float16),
         dtypes=("float32", "float64", "int8", "bool")),
    Case("bitcast", lambda x: x.bitcast("int32"), lambda x: x.float().view(torch.int32),
         dtypes=("float32",)),
]  # fmt: skip

BINARY = [
    both("a + b", lambda a, b: a + b, arity=2, dtypes=ALL),
    both("a - b", lambda a, b: a - b, arity=2, dtypes=NUMBERS, absolute=True),
    both("a * b", lambda a, b: a * b, arity=2, dtypes=ALL),
    both("a / b", lambda a, b: a / b, arity=2, dtypes=FLOATS, nonzero=True),
    both("a // b", lambda a, b: a // b, arity=2, dtypes=NUMBERS, nonzero=True, special=False),
    both("a % b", lambda a, b: a % b, arity=2, dtypes=(*WIDE, *INTEGERS), nonzero=True,
         special=False, absolute=True),
    both("trunc division", lambda a, b: a.div(b, rounding_mode="trunc"), arity=2, dtypes=SIGNED,
         nonzero=True),
    both("a ** b", lambda a, b: a**b, arity=2, domain=(0.1, 4.0), error=16),
    both("integer a ** b", lambda a, b: a**b, arity=2, dtypes=("int32", "int64")),
    method("maximum", arity=2, dtypes=ALL), method("minimum", arity=2, dtypes=ALL),
    method("atan2", arity=2), method("copysign", arity=2),
    both("a < b", lambda a, b: a < b, arity=2, dtypes=ALL),
    both("a <= b", lambda a, b: a <= b, arity=2, dtypes=ALL),
    both("a > b", lambda a, b: a > b, arity=2, dtypes=ALL),
    both("a >= b", lambda a, b: a >= b, arity=2, dtypes=ALL),
    both("a == b", lambda a, b: a == b, arity=2, dtypes=ALL),
    both("a != b", lambda a, b: a != b, arity=2, dtypes=ALL),
    both("a & b", lambda a, b: a & b, arity=2, dtypes=(*INTEGERS, "bool")),
    both("a | b", lambda a, b: a | b, arity=2, dtypes=(*INTEGERS, "bool")),
    both("a ^ b", lambda a, b: a ^ b, arity=2, dtypes=(*INTEGERS, "bool")),
    method("logical_and", arity=2, dtypes=ALL), method("logical_or", arity=2, dtypes=ALL),
    method("logical_xor", arity=2, dtypes=ALL),
    both("a << b", lambda a, b: a << (b & 3), arity=2, dtypes=SIGNED),
    both("a >> b", lambda a, b: a >> (b & 3), arity=2, dtypes=INTEGERS),
    Case("lerp", lambda a, b: a.lerp(b, 0.25), lambda a, b: torch.lerp(a, b, 0.25), arity=2,
         absolute=True, special=False),
    Case("where", lambda a, b: ogive.where(a < b, a, b), lambda a, b: torch.where(a < b, a, b),
         arity=2, dtypes=NUMBERS),
    both("a chain", lambda a, b: (a * b + 1).exp() * 0.5 - a, arity=2, domain=(-1, 1), error=16,
         absolute=True, dtypes=WIDE),
]  # fmt: skip

REDUCTIONS = [
    both("sum", lambda x: x.sum(), dtypes=ALL, error=64, absolute=True, special=False),
    both("sum -1", lambda x: x.sum(-1), dtypes=ALL, error=64, absolute=True, special=False),
    both("sum 0", lambda x: x.sum(0, keepdim=True), dtypes=ALL, error=64, absolute=True,
         special=False),
    both("prod", lambda x: x.prod(-1), dtypes=("float32", "float64", "int64"), domain=(0.7, 1.3),
         error=64),
    Case("max", lambda x: x.max(-1), lambda x: x.amax(-1), dtypes=ALL),
    Case("min", lambda x: x.min(), lambda x: x.amin(), dtypes=ALL),
    both("mean", lambda x: x.mean(-1), error=64, absolute=True, special=False),
    both("var", lambda x: x.var(-1), error=64, absolute=True, special=False),
    Case("std", lambda x: x.std(0, correction=0), lambda x: x.std(0, correction=0), error=64,
         absolute=True, special=False),
    both("any", lambda x: x.bool().any(-1), dtypes=ALL),
    both("all", lambda x: x.bool().all(), dtypes=ALL),
    both("argmax", lambda x: x.argmax(-1), dtypes=NUMBERS),
    both("argmin", lambda x: x.argmin(), dtypes=NUMBERS),
    both("argmax keepdim", lambda x: x.argmax(0, keepdim=True), dtypes=NUMBERS),
    both("softmax", lambda x: x.softmax(-1), error=32, absolute=True, special=False),
    both("log_softmax", lambda x: x.log_softmax(0), error=32, absolute=True, special=False),
    Case("layer_norm", lambda x: x.layer_norm(x.shape[-1]),
         lambda x: F.layer_norm(x, x.shape[-1:]), error=64, absolute=True, special=False),
    both("centred", lambda x: x - x.mean(), error=64, absolute=True, special=False),
    both("row norm", lambda x: x / (x * x).sum(-1, keepdim=True).sqrt(), error=64, absolute=True,
         special=False, domain=(0.5, 3)),
]  # fmt: skip


def _pad(x: Any) -> Any:
    if isinstance(x, ogive.Tensor):
        return x.pad(((1, 2),) * x.ndim, 3)
    return F.pad(x, (1, 2) * x.ndim, value=3)


def _cat(x: Any) -> Any:
    if isinstance(x, ogive.Tensor):
        return ogive.cat([x, x[:1], -x], -1 if x.ndim == 1 else 0)
    return torch.cat([x, x[:1], -x])


def _stack(x: Any) -> Any:
    library: Any = ogive if isinstance(x, ogive.Tensor) else torch
    return library.stack([x, x * 2, x], -1)


def _last(x: Any) -> Any:
    """Every second element from the back; torch has no negative steps."""
    return x[..., ::-2] if isinstance(x, ogive.Tensor) else x.flip(-1)[..., ::2]


MOVEMENT = [
    both("reshape", lambda x: x.reshape(-1), dtypes=ALL),
    Case("T", lambda x: x.T, lambda x: x.permute(*reversed(range(x.ndim))), dtypes=ALL),
    both("flip", lambda x: x.flip(0), dtypes=ALL),
    both("expand", lambda x: x.unsqueeze(0).expand(3, *x.shape), dtypes=ALL),
    Case("pad", _pad, _pad, dtypes=NUMBERS), Case("cat", _cat, _cat, dtypes=NUMBERS),
    Case("stack", _stack, _stack, dtypes=NUMBERS), Case("steps back", _last, _last, dtypes=ALL),
    both("slice", lambda x: x[1:, ...], dtypes=ALL),
    both("step", lambda x: x[..., 1::3], dtypes=ALL),
    both("new axes", lambda x: x[None, ..., None], dtypes=ALL),
    both("contiguous", lambda x: x.flip(0).contiguous(), dtypes=ALL),
    both("a diamond", lambda x: x.flip(0) + x * 2 - x.flip(0), dtypes=WIDE, absolute=True),
]  # fmt: skip

CASES = UNARY + BINARY + REDUCTIONS + MOVEMENT
