"""The elements of a region's values that its stores need.

An element that no store needs does not fault:

    (x // y)[1:]   with y[0] == 0   is no division by zero

From the stores down, the wanted elements of a node determine those of its sources.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy

from ogive.compiler.ir.meaning.array_functions import count_places, move_places, outside
from ogive.compiler.ir.meaning.number_formats import Array
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op


def wanted_elements(
    region: UOp, values: Mapping[UOp, Array], arguments: Mapping[UOp, object]
) -> dict[UOp, Array]:
    """For each node with elements that a store needs, a mask of these.

    `arguments` has the arguments of movement nodes, with their lengths filled in.
    """
    wanted: dict[UOp, Array] = {}
    for store in region.src:
        for source in store.src[1:]:
            wanted[source] = numpy.ones(values[source].shape, bool)
    for node in reversed(region.walk()):
        if node not in wanted:
            continue
        for source, elements in _wanted_below(node, wanted[node], values, arguments):
            if source in wanted:
                elements = elements | wanted[source]
            wanted[source] = elements
    return wanted


def _wanted_below(
    node: UOp, wanted: Array, values: Mapping[UOp, Array], arguments: Mapping[UOp, object]
) -> list[tuple[UOp, Array]]:
    """The sources of a node, each with its wanted elements."""
    op, sources = node.op, node.src
    if op in ELEMENTWISE:
        return [(source, _fit(wanted, values[source])) for source in sources]
    if op in MOVEMENT:
        shape = values[sources[0]].shape
        places = move_places(op, count_places(shape), arguments[node])
        return [(sources[0], _at(shape, places[wanted & (places >= 0)]))]
    if op is Op.REDUCE_AXES:
        return [(sources[0], numpy.broadcast_to(wanted, values[sources[0]].shape))]
    if op in (Op.STAGE_AXIS, Op.SORT):
        # These compute whole rows.
        axis = node.axis if op is Op.STAGE_AXIS else wanted.ndim - 1
        return [(sources[0], numpy.broadcast_to(wanted.any(axis, keepdims=True), wanted.shape))]
    if op is Op.GATHER:
        x, *indices = sources
        there = numpy.zeros(values[x].shape, bool)
        read = wanted & ~outside(there.shape, [values[i] for i in indices])
        there[tuple([numpy.broadcast_to(values[i], read.shape)[read] for i in indices])] = True
        return [(x, there), *[(i, _fit(wanted, values[i])) for i in indices]]
    return [(source, numpy.ones(values[source].shape, bool)) for source in sources]


def _fit(wanted: Array, value: Array) -> Array:
    """The wanted elements of an operand, which may be a scalar for all elements."""
    return wanted if value.shape == wanted.shape else numpy.asarray(wanted.any())


def _at(shape: tuple[int, ...], places: Array) -> Array:
    wanted = numpy.zeros(int(numpy.prod(shape, dtype=numpy.int64)), bool)
    wanted[places] = True
    return wanted.reshape(shape)
