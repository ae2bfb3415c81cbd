"""The frequencies of the elements of a transform, and shifts of their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError
from ogive.tensor.core import to_axis, to_entries, to_integer
from ogive.tensor.creation.constructors import arange
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor

Axes = int | Sequence[int] | None


def fftfreq(n: int, /, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Tensor:
    """The frequencies of `fft` for samples at distances `d`: 0, 1, …, -2, -1, divided by n·d.

    Shapes: (n,).

    >>> ogive.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]

    Raises `ArgumentError` for n below 1 or a distance of 0.
    """
    size = _to_size(n, d, "fftfreq")
    steps = (created(arange, size, device=device) + size // 2) % size - size // 2
    return _over(steps, size * d, dtype)


def rfftfreq(n: int, /, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Tensor:
    """The frequencies of `rfft`: 0, 1, …, n // 2, divided by n·d. Shapes: (n // 2 + 1,).

    >>> ogive.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    size = _to_size(n, d, "rfftfreq")
    return _over(created(arange, size // 2 + 1, device=device), size * d, dtype)


@also(dim="axes")
def fftshift(x: Tensor, /, axes: Axes = None) -> Tensor:
    """Move the frequency 0 to the middle of axes, by default of all. Shapes: unchanged.

    >>> ogive.fft.fftshift(Tensor([0, 1, 2, -2, -1])).tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(x, axes, 1)


@also(dim="axes")
def ifftshift(x: Tensor, /, axes: Axes = None) -> Tensor:
    """The inverse of `fftshift`. Shapes: unchanged.

    >>> ogive.fft.ifftshift(Tensor([-2, -1, 0, 1, 2])).tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted(x, axes, -1)


def _shifted(x: Tensor, axes: Axes, direction: int) -> Tensor:
    chosen = tuple(range(x.ndim)) if axes is None else axes
    places = tuple([to_axis(axis, x.ndim, "a shift") for axis in to_entries(chosen)])
    # An odd axis is shifted by half its length, rounded down, in both directions.
    shifts = tuple([direction * (x.shape[place] // 2) for place in places])
    return x.roll(shifts, places) if places else x


def _over(steps: Tensor, divisor: float, dtype: Any) -> Tensor:
    quotient = steps.cast(dtypes.float64) / divisor
    return quotient.cast(dtypes.default_float if dtype is None else dtype)


def _to_size(n: Any, d: float, name: str) -> int:
    size = to_integer(n, f"{name}: n")
    if size < 1 or d == 0:
        raise ArgumentError(f"{name}: n must be at least 1 and d not 0, got n={size} and d={d}")
    return size
