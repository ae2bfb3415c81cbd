"""Draws that are transformed from other draws: Cauchy, log-normal, geometric."""

from __future__ import annotations

import math
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import to_dtype
from ogive.errors import ArgumentError
from ogive.random.continuous import exponential, normal, rand
from ogive.random.draw import wide
from ogive.random.generator import Generator
from ogive.tensor.core import to_number, to_shape
from ogive.tensor.tensor import Tensor


def cauchy(
    *shape: Any,
    median: float = 0.0,
    sigma: float = 1.0,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers of the Cauchy distribution: tan(π · (u - ½)) · sigma + median for uniform u.

    >>> ogive.random.cauchy(2, 3).shape
    (2, 3)

    Raises `ArgumentError` unless sigma is positive.
    """
    if not to_number(sigma, "cauchy: sigma") > 0:
        raise ArgumentError(f"cauchy: sigma is {sigma}, and must be positive")
    u = rand(*shape, dtype=dtype, device=device, key=key, generator=generator)
    return ((u - 0.5) * math.pi).tan() * sigma + to_number(median, "cauchy: median")


def log_normal(
    *shape: Any,
    mean: float = 1.0,
    std: float = 2.0,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers whose logarithms are normally distributed with this mean and deviation.

    >>> bool((ogive.random.log_normal(100) > 0).all())
    True

    Raises `ArgumentError` for a negative deviation.
    """
    sizes = to_shape(shape, "log_normal")
    given: dict[str, Any] = {"dtype": dtype, "device": device, "key": key, "generator": generator}
    return normal(mean, std, sizes, **given).exp()


def geometric(
    *shape: Any,
    p: float,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers of trials up to the first success, which has probability `p`: 1, 2, ...

    The default dtype is int64.

    >>> ogive.random.geometric(3, p=1.0).tolist()
    [1, 1, 1]

    Raises `ArgumentError` unless 0 < p ≤ 1.
    """
    chance = float(to_number(p, "geometric: p"))
    if not 0 < chance <= 1:
        raise ArgumentError(f"geometric: p is {p}, and must be above 0 and at most 1")
    kind = dtypes.int64 if dtype is None else to_dtype(dtype)
    compute = wide(kind) if kind.is_float else dtypes.float64
    # An event with this rate happens in the first unit of time with probability p.
    rate = -math.log1p(-chance) if chance < 1 else math.inf
    waited = exponential(
        *shape, rate=rate, dtype=compute, device=device, key=key, generator=generator
    )
    return waited.ceil().clamp(min=1).cast(kind)
