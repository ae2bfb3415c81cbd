"""Whether a library's result is right: against NumPy in float64."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.libraries.base import HostArray
from benchmarks.libraries.numpy_library import NumpyOperations
from benchmarks.rows import Row

Reference = list[NDArray[np.float64]]


class ReferenceOperations(NumpyOperations):
    """NumPy with the one function it lacks."""

    def gelu(self, x: Any) -> Any:
        return 0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))


@cache
def erf_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """erf and its derivative at 65537 points of [-6, 6], scaled to one step."""
    points = np.linspace(-6.0, 6.0, 65537)
    values = np.array([math.erf(point) for point in points])
    slopes = 2.0 / math.sqrt(math.pi) * np.exp(-points * points) * (points[1] - points[0])
    return values, slopes


def erf(x: Any) -> NDArray[np.float64]:
    """The error function to about 1e-15: a cubic between neighbours of a table."""
    values, slopes = erf_table()
    position = (np.clip(x, -6.0, 6.0) + 6.0) * ((len(values) - 1) / 12.0)
    left = np.minimum(position.astype(np.int64), len(values) - 2)
    t = position - left
    difference = values[left + 1] - values[left]
    begin = slopes[left] - difference
    end = difference - slopes[left + 1]
    result = values[left] + t * (difference + (1 - t) * (begin * (1 - t) + end * t))
    return np.asarray(result, dtype=np.float64)


def reference(row: Row) -> Reference:
    """The row's result in float64; positions stay what they are."""
    inputs = [
        array if array.dtype == np.int64 else array.astype(np.float64) for array in row.inputs()
    ]
    result = (row.reference or row.function)(ReferenceOperations(), *inputs)
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else [result])]


def disagreement(row: Row, expected: Reference, given: list[HostArray]) -> str | None:
    """What is wrong with `given`, or None: a count, a shape, a dtype, or the size of the error."""
    if len(given) != len(expected):
        return f"{len(given)} results, expected {len(expected)}"
    for want, have in zip(expected, given, strict=True):
        if have.shape != want.shape:
            return f"shape {have.shape}, expected {want.shape}"
        if have.dtype.name != row.dtype:
            return f"dtype {have.dtype}, expected {row.dtype}"
    error = largest_error(expected, given)
    if not error <= row.tolerance:  # so that NaN is wrong too
        return f"error {error:.1e}, allowed {row.tolerance:.0e}"
    return None


def largest_error(expected: Reference, given: list[HostArray]) -> float:
    """The largest error of all the results, each relative to its own largest value."""
    errors = [relative_error(want, have) for want, have in zip(expected, given, strict=True)]
    return float(np.max(errors, initial=0.0))


def relative_error(want: NDArray[np.float64], have: HostArray) -> float:
    """The largest error, relative to the largest expected value."""
    if want.size == 0:
        return 0.0
    scale = max(float(np.abs(want).max()), 1e-30)
    return float(np.abs(have - want).max()) / scale
