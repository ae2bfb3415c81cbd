"""Add or combine values at positions, which may be equal."""

from __future__ import annotations

import math
from typing import Any

import numpy

_WHOLE = slice(None)
_ndarray = numpy.ndarray

FEW = 400
"""Up to how many elements NumPy has combined before positions in memory are computed, which takes
7 µs (AMD EPYC)."""


def add_at(made: Any, places: Any, given: Any) -> None:
    """Add `given` to `made` at the positions of the index `places`."""
    combine_at(numpy.add, made, places, given)


def combine_at(operation: Any, made: Any, places: Any, given: Any) -> None:
    """Combine `given` into `made` at the positions of the index `places`.

    It calls NumPy's `operation.at`, which is two to five times as fast for an index of one axis. So
    positions, which must be in range, are converted to positions in memory if the index allows it.
    """
    entries = places if places.__class__ is tuple else (places,)
    if numpy.size(given) <= FEW:
        operation.at(made, places, given)
        return
    if (made.ndim < 2 and len(entries) == 1) or not made.flags.c_contiguous:
        operation.at(made, places, given)
        return
    front = 0
    while front < len(entries) and entries[front].__class__ is slice and entries[front] == _WHOLE:
        front += 1
    arrays = entries[front:]
    if not arrays or any(each.__class__ is not _ndarray or each.dtype == bool for each in arrays):
        operation.at(made, places, given)
        return
    positions = _positions(made.shape, front, arrays)
    values = numpy.broadcast_to(given, positions.shape)
    operation.at(made.reshape(-1), positions.reshape(-1), values.reshape(-1))


def _positions(shape: tuple[int, ...], front: int, arrays: tuple[Any, ...]) -> Any:
    """The positions in row-major memory of the elements of an index."""
    end = front + len(arrays)
    inner = math.prod(shape[end:])
    positions: Any = 0
    for length, array in zip(shape[front:end], arrays, strict=True):
        if array.size and array.min() < 0:
            array = numpy.where(array < 0, array + length, array)
        positions = array if positions.__class__ is int else positions * length + array
    taken = positions.shape
    if inner != 1:
        positions = positions[..., None] * inner + numpy.arange(inner)
    outer = math.prod(shape[:front])
    if outer != 1:
        block = math.prod(shape[front:])
        positions = numpy.arange(outer).reshape(-1, *[1] * positions.ndim) * block + positions
    return positions.reshape(*shape[:front], *taken, *shape[end:])
