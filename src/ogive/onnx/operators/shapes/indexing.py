"""Operators that read and write by index, sort and search."""

from __future__ import annotations

import math

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor, to_tensor
from ogive.onnx.dynamic_lengths import is_fixed
from ogive.onnx.elements import Array
from ogive.onnx.operators.shapes.movement import movable, shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor

REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _from_front(index: Tensor, length: int) -> Tensor:
    """Indices of which the negative ones count from the end."""
    wide = index.cast(dtypes.int64)
    return (wide + length).where(wide < 0, wide)


@operator("Gather", known=True)
def gather(c: Call) -> Value:
    value, axis = movable(c), c.get("axis", 0)
    if isinstance(value, numpy.ndarray) and isinstance(c.values[1], numpy.ndarray):
        return numpy.take(value, c.values[1].astype(numpy.int64), axis)
    if isinstance(value, numpy.ndarray) and value.dtype.kind == "O":
        return numpy.take(value, c.array(1).astype(numpy.int64), axis)
    x, lengths = to_tensor(value), shape_of(value)
    axis %= len(lengths)
    inner = shape_of(c.values[1])
    if isinstance(c.values[1], numpy.ndarray):
        if not is_fixed(lengths[axis]):
            return _gather_places(x, axis, c.values[1])
        places = c.values[1].astype(numpy.int64) % max(lengths[axis], 1)
        if places.ndim == 0:
            return x.select(axis, int(places))
        index = index_tensor(places)
    else:
        index = _from_front(c.tensor(1), lengths[axis])
    taken = x.index_select(axis, index.reshape(-1))
    return taken.reshape(*lengths[:axis], *inner, *lengths[axis + 1 :])


def _gather_places(x: Tensor, axis: int, places: Array) -> Tensor:
    """Elements at known places of an axis whose length may change."""
    if places.ndim == 0:
        place = places.item()
        return x.select(axis, place if place >= 0 else shape_of(x)[axis] + place)
    wide = places.astype(numpy.int64)
    index = index_tensor(wide)
    if (wide < 0).any():
        index = _from_front(index, shape_of(x)[axis])
    lengths = shape_of(x)
    taken = x.index_select(axis, index.reshape(-1))
    return taken.reshape(*lengths[:axis], *places.shape, *lengths[axis + 1 :])


@operator("GatherElements")
def gather_elements(c: Call) -> Value:
    x, axis = c.tensor(0), c.get("axis", 0)
    return x.gather(axis, _from_front(c.tensor(1), shape_of(x)[axis]))


def _flat_places(index: Tensor, lengths: tuple[int, ...], depth: int) -> Tensor:
    """The places that rows of indices point to, in the first `depth` axes laid out in a row."""
    places = None
    for axis in range(depth):
        part = _from_front(index[..., axis], lengths[axis]) * math.prod(lengths[axis + 1 : depth])
        places = part if places is None else places + part
    assert places is not None, "an index has at least one number"
    return places


@operator("GatherND")
def gather_nd(c: Call) -> Value:
    x, index, batch = c.tensor(0), c.tensor(1), c.get("batch_dims", 0)
    lengths, rows = shape_of(x), shape_of(index)
    depth = rows[-1]
    inner, rest = lengths[batch : batch + depth], lengths[batch + depth :]
    outer = math.prod(lengths[:batch])
    flat = x.reshape(outer * math.prod(inner), *rest)
    places = _flat_places(index, inner, depth).reshape(outer, -1)
    steps = index_tensor(numpy.arange(outer) * math.prod(inner)).reshape(outer, 1)
    return flat.index_select(0, (places + steps).reshape(-1)).reshape(*rows[:-1], *rest)


@operator("Scatter", "ScatterElements")
def scatter_elements(c: Call) -> Value:
    x, updates, axis = c.tensor(0), c.tensor(2), c.get("axis", 0)
    index = _from_front(c.tensor(1), shape_of(x)[axis])
    reduction = c.get("reduction", "none")
    if reduction == "none":
        return x.scatter(axis, index, updates)
    return x.scatter_reduce(axis, index, updates, REDUCTIONS[reduction])


@operator("ScatterND")
def scatter_nd(c: Call) -> Value:
    x, index, updates = c.tensor(0), c.tensor(1), c.tensor(2)
    lengths, depth = shape_of(x), shape_of(index)[-1]
    rest = math.prod(lengths[depth:])
    flat = x.reshape(math.prod(lengths[:depth]), rest)
    places = _flat_places(index, lengths[:depth], depth).reshape(-1, 1)
    given = updates.reshape(places.shape[0], rest)
    reduction = c.get("reduction", "none")
    places = places.expand(places.shape[0], rest)
    if reduction == "none":
        scattered = flat.scatter(0, places, given)
    else:
        scattered = flat.scatter_reduce(0, places, given, REDUCTIONS[reduction])
    return scattered.reshape(*lengths)


@operator("TensorScatter")
def tensor_scatter(c: Call) -> Value:
    past, update = c.tensor(0), c.tensor(1)
    axis = c.get("axis", -2) % past.ndim
    batch, length, count = shape_of(past)[0], shape_of(past)[axis], shape_of(update)[axis]
    start = c.tensor(2).cast(dtypes.int64) if c.has(2) else index_tensor(numpy.zeros(batch))
    ones = [1] * past.ndim
    places = index_tensor(numpy.arange(count)).reshape(*ones[:axis], count, *ones[axis + 1 :])
    places = places + start.reshape(batch, *ones[1:])
    if c.get("mode", "linear") == "circular":
        places = places % length
    return past.scatter(axis, places.expand(*update.shape), update)


@operator("OneHot")
def one_hot(c: Call) -> Value:
    depth = c.bound(int(c.number(1)))
    index, values = _from_front(c.tensor(0), depth), c.tensor(2)
    axis = c.get("axis", -1)
    axis += index.ndim + 1 if axis < 0 else 0
    lengths = [1] * (index.ndim + 1)
    lengths[axis] = depth
    marks = index.unsqueeze(axis) == index_tensor(numpy.arange(depth)).reshape(*lengths)
    return values[1].where(marks, values[0])


@operator("TopK")
def top_k(c: Call) -> Value:
    count = int(c.number(1)) if c.has(1) else c.get("k")
    x, axis = c.tensor(0), c.get("axis", -1)
    in_order = x.sort(axis, descending=c.flag("largest", 1), stable=True)
    values, places = in_order[0].narrow(axis, 0, count), in_order[1].narrow(axis, 0, count)
    return values, places.cast(dtypes.int64)


@operator("ArgMax")
def arg_max(c: Call) -> Value:
    return _arg_extreme(c, "argmax")


@operator("ArgMin")
def arg_min(c: Call) -> Value:
    return _arg_extreme(c, "argmin")


def _arg_extreme(c: Call, method: str) -> Value:
    x, axis, keep = c.tensor(0), c.get("axis", 0), c.flag("keepdims", 1)
    if not c.flag("select_last_index"):
        return getattr(x, method)(axis, keep).cast(dtypes.int64)
    last = shape_of(x)[axis] - 1
    return (last - getattr(x.flip(axis), method)(axis, keep)).cast(dtypes.int64)


@operator("NonZero", known=True)
def nonzero(c: Call) -> Value:
    return numpy.array(numpy.nonzero(c.array(0)), numpy.int64)


@operator("Compress")
def compress(c: Call) -> Value:
    x, chosen = c.tensor(0), numpy.flatnonzero(c.array(1))
    axis = c.get("axis")
    if axis is None:
        return x.reshape(-1).index_select(0, index_tensor(chosen))
    return x.index_select(axis, index_tensor(chosen))


@operator("Unique")
def unique(c: Call) -> Value:
    array, axis = c.array(0), c.get("axis")
    values, first, inverse, counts = numpy.unique(
        array, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not c.flag("sorted", 1):
        order = numpy.argsort(first)
        values = numpy.take(values, order, axis or 0)
        rank = numpy.argsort(order)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    return values, *[each.astype(numpy.int64) for each in (first, inverse, counts)]


@operator("ArrayFeatureExtractor", domain="ai.onnx.ml")
def extract_features(c: Call) -> Value:
    x = c.tensor(0)
    taken = x.index_select(x.ndim - 1, c.tensor(1).reshape(-1))
    return taken.reshape(1, -1) if x.ndim == 1 else taken
