"""The reference of what finds its places by data: reading, writing and running extremes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ogive import Tensor
from tests.random_programs.values import (
    PRECISION,
    Array,
    Unsuitable,
    Value,
    computed,
    exact,
    is_whole,
)

TENSOR = "tensor"
"""Stands in an index for the next tensor of positions."""


def filled(index: tuple[Any, ...], tensors: Sequence[Any]) -> tuple[Any, ...]:
    """An index with the tensors in their places."""
    rest = iter(tensors)
    return tuple([next(rest) if entry is TENSOR else entry for entry in index])


def indexed(value: Value, indices: Sequence[Value], index: tuple[Any, ...]) -> Value:
    """`value[index]` with positions that are tensors."""
    place = filled(index, [entry.data for entry in indices])
    return value.moved(lambda array: np.asarray(array[place]))


def _along(shape: tuple[int, ...], index: Array, axis: int) -> tuple[Array, ...]:
    """The positions of `gather` and `scatter`: those of `index` along an axis, else its own."""
    places: list[Array] = list(np.array(np.indices(index.shape)))
    if np.any(index < 0) or np.any(index >= shape[axis]):
        raise Unsuitable("a fault")
    places[axis] = index
    return tuple(places)


def gathered(inputs: Sequence[Value], axis: int) -> Value:
    """`value.gather(axis, index)`."""
    value, index = inputs
    places = _along(value.shape, index.data, axis)
    return value.moved(lambda array: np.asarray(array[places]))


def scattered(inputs: Sequence[Value], axis: int, way: str) -> Value:
    """`base` with `source` put, or combined in, at the positions of `index` along an axis."""
    base, index, source = inputs
    if base.dtype != source.dtype or base.dtype == "bool":
        raise Unsuitable("tested elsewhere")
    places = _along(base.shape, index.data, axis)
    data, error = base.data.copy(), base.error.copy()
    new, doubt = [array[tuple(map(slice, index.shape))] for array in (source.data, source.error)]
    if way == "put":
        data[places], error[places] = new, doubt
        return Value(base.dtype, data, error)
    if way in ("amax", "amin"):
        (np.maximum if way == "amax" else np.minimum).at(data, places, new)
        np.maximum.at(error, places, doubt)
        return Value(base.dtype, data, error)
    with np.errstate(over="ignore"):
        np.add.at(data, places, new)
    if not base.is_float:
        return exact(base.dtype, data)
    size, count = np.abs(base.data), np.ones(base.shape)
    np.add.at(size, places, np.abs(new))
    np.add.at(count, places, 1.0)
    np.add.at(error, places, doubt)
    quarters = is_whole(base.data, size, base.dtype) and is_whole(new, np.abs(new), base.dtype)
    if not (quarters and base.is_exact and source.is_exact):
        error = error + PRECISION[base.dtype] * (count + 2) * size + 1e-30
    return computed(base.dtype, data, error)


def scatter(inputs: Sequence[Tensor], axis: int, way: str) -> Tensor:
    """The same by Ogive."""
    base, index, source = inputs
    if way == "put":
        return base.scatter(axis, index, source)
    if way == "add":
        return base.scatter_add(axis, index, source)
    return base.scatter_reduce(axis, index, source, way)


def extreme(value: Value, name: str, axis: int, part: str) -> Value:
    """`cummax` and `cummin`: the values, or the last positions they are at."""
    if not value.is_exact or value.dtype == "bool":
        raise Unsuitable("a discontinuity")
    function = np.maximum if name == "cummax" else np.minimum
    running = function.accumulate(value.data, axis)
    if part == "values":
        return exact(value.dtype, running)
    counted = np.indices(value.shape)[axis]
    at = np.where(value.data == running, counted, 0)
    return exact("int64", np.maximum.accumulate(at, axis))
