"""What a line of the table of operations is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

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


def library(x: Any) -> Any:
    """The module `x` is a tensor of: `ogive` or `torch`."""
    return ogive if isinstance(x, ogive.Tensor) else torch


POSITIVE = (1e-3, 8.0)
UNIT = (-1.0, 1.0)
