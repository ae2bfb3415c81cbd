"""Linear maps along single axes, as matrices of the weight of each element in each new one.

Resampling an image is one such map per spatial axis, and so is averaging over blocks.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused
from ogive.eager.products.product_forms import check_work

Step = tuple[int, Any]
"""An axis, and the matrix that maps it. Shape: (new length, length)."""


def apply(x: Any, steps: list[Step]) -> Any:
    """`x` with axes mapped one after the other.

    Raises `Refused` if an element is not finite: it would count even with a weight of zero.
    """
    mapped = x
    for axis, matrix in steps:
        mapped = _along(mapped, axis, matrix)
    if not numpy.isfinite(mapped).all():
        raise Refused
    return mapped


def apply_back(given: Any, steps: list[Step]) -> Any:
    """The gradient of `apply`."""
    for axis, matrix in reversed(steps):
        given = _along(given, axis, matrix.T)
    return given


def _along(x: Any, axis: int, matrix: Any) -> Any:
    front, length, rest = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    shape = (*front, len(matrix), *rest)
    check_size(shape)
    check_work(x.size * len(matrix), 0)
    if not rest:
        return numpy.matmul(x, matrix.T)
    flat = x.reshape(math.prod(front), length, math.prod(rest))
    return numpy.matmul(matrix, flat).reshape(shape)


def _finished(matrix: Any, dtype: Any) -> Any:
    matrix = matrix.astype(dtype)
    matrix.setflags(write=False)
    return matrix


@functools.lru_cache(256)
def averages(length: int, target: int, dtype: Any) -> Any:
    """The map to averages: place i of n averages from ⌊i·length/n⌋ to ⌈(i+1)·length/n⌉."""
    place, pixel = numpy.arange(target)[:, None], numpy.arange(length)
    begin = place * length // target
    end = -(-(place + 1) * length // target)
    return _finished(((begin <= pixel) & (pixel < end)) / (end - begin), dtype)


@functools.lru_cache(256)
def neighbours(
    length: int, target: int, ratio: float, is_aligned: bool, is_cubic: bool, dtype: Any
) -> Any:
    """The map to weighted sums of two or four neighbours. Pixels at the edge are repeated."""
    at = numpy.arange(target) * ratio if is_aligned else (numpy.arange(target) + 0.5) * ratio - 0.5
    if not is_cubic:
        at = numpy.maximum(at, 0)
    below = numpy.floor(at)
    matrix = numpy.zeros((target, length))
    for offset in (-1, 0, 1, 2) if is_cubic else (0, 1):
        distance = numpy.abs(at - below - offset)
        weight = _cubic(distance, -0.75) if is_cubic else 1 - distance
        pixel = (below.astype(numpy.int64) + offset).clip(0, length - 1)
        numpy.add.at(matrix, (numpy.arange(target), pixel), weight)
    return _finished(matrix, dtype)


@functools.lru_cache(256)
def filtered(length: int, target: int, ratio: float, is_cubic: bool, dtype: Any) -> Any:
    """The map to weighted means under a filter as wide as a pixel of the result."""
    wide = max(ratio, 1.0)
    support = (2.0 if is_cubic else 1.0) * wide
    centre = (numpy.arange(target)[:, None] + 0.5) * ratio
    pixel = numpy.arange(length)
    begin = numpy.trunc(centre - support + 0.5).clip(0)
    end = numpy.trunc(centre + support + 0.5)
    distance = numpy.abs((pixel - centre + 0.5) / wide)
    weight = _cubic(distance, -0.5) if is_cubic else (1 - distance).clip(0)
    weight = numpy.where((begin <= pixel) & (pixel < end), weight, 0.0)
    return _finished(weight / weight.sum(1, keepdims=True), dtype)


def _cubic(distance: Any, slope: float) -> Any:
    """The cubic convolution kernel, for distances of at least 0."""
    near = ((slope + 2) * distance - (slope + 3)) * distance * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * slope
    return numpy.where(distance <= 1, near, numpy.where(distance < 2, far, 0.0))
