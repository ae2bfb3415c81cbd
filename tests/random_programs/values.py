"""What a random program computes with: values that know how exact they are, and instructions.

Floats are followed in float64 together with a bound on the error that rounding may have caused;
what depends on a float discontinuously is only done where that bound is zero. Integers are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
PRECISION = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 40, 64, 65)
LARGEST = 4096
"""The most elements in one value."""

GREATEST = 4000.0
"""The greatest float in a program."""


class Unsuitable(Exception):
    """An instruction whose result the reference cannot vouch for."""


@dataclass(frozen=True)
class Value:
    """What a tensor must hold: floats as float64, within `error` elementwise."""

    dtype: str
    data: Array
    error: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_exact(self) -> bool:
        return not self.error.any()

    def moved(self, move: Callable[[Array], Array]) -> Value:
        """The value with its elements somewhere else."""
        return Value(self.dtype, move(self.data), move(self.error))


@dataclass(frozen=True)
class Instruction:
    """`out = kind(inputs, arguments)`, or an effect on `inputs[0]`."""

    kind: str
    inputs: tuple[int, ...]
    out: int
    arguments: tuple[Any, ...] = ()


Program = list[Instruction]


def numpy_dtype(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def rounded(data: Array, dtype: str) -> Array:
    """float64 rounded to a float dtype and back."""
    with np.errstate(over="ignore"):
        if dtype in ("float16", "bfloat16"):
            data = data.astype(np.float32)
        return data.astype(numpy_dtype(dtype)).astype(np.float64)


def exact(dtype: str, data: Array) -> Value:
    kind = np.float64 if dtype in FLOATS else np.dtype(dtype)
    array = np.asarray(data).astype(kind)
    return Value(dtype, array, np.zeros(array.shape))


def computed(dtype: str, data: Array, error: Array, ulps: float = 0.0) -> Value:
    """A float result: correctly rounded where the inputs are exact, else with a bound."""
    if not np.all(np.isfinite(data)) or np.any(np.abs(data) > GREATEST):
        raise Unsuitable("too large")
    data, error = np.asarray(data, np.float64), np.asarray(error, np.float64)
    if ulps == 0 and not error.any():
        return Value(dtype, rounded(data, dtype), np.zeros(data.shape))
    tiny = 2.0**-24 if dtype == "float16" else 1e-38
    error = error * 1.001 + PRECISION[dtype] * (1 + ulps) * np.abs(data) + tiny
    if np.any(error > 0.05 * np.abs(data) + 0.05):
        raise Unsuitable("too inexact")
    return Value(dtype, data, error)


def make_input(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    """Random data that stays exact for a while: small integers, a few fractions."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        return generator.integers(0 if dtype == "uint8" else -9, 10, shape).astype(dtype)
    small = generator.integers(-8, 9, shape).astype(np.float64)
    if seed % 3 == 0:
        small = np.asarray(small / 4)
    array: Array = small.astype(numpy_dtype(dtype))
    return array


def is_whole(data: Array, size: Array, dtype: str) -> bool:
    """Whether sums of quarters, which add up to `size` at most without signs, are exact."""
    return bool(np.all(data * 4 == np.round(data * 4)) and np.all(size < 1 / PRECISION[dtype] / 4))
