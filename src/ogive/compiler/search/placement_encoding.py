"""Placements as bytes, and back, with every number checked."""

from __future__ import annotations

import math

from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.store.encoding import DamagedRecord, Reader, Writer

MOST_LANES = 256
"""The most lanes of one axis that a stored placement may have."""

MOST_TILE = 4096
"""The largest register tile of a placement, all axes together."""

MOST_AXES = 64
MOST_AXIS = 1 << 20

PlacementKey = tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...], tuple[int, ...], int]


def placement_key(placement: Placement) -> PlacementKey:
    """A key that is equal for placements that place every axis alike."""
    return (
        tuple(sorted((axis, count) for axis, count in placement.lanes.items() if count > 1)),
        tuple(sorted((axis, count) for axis, count in placement.upcast.items() if count > 1)),
        tuple(placement.order),
        placement.parallel,
    )


def write_placement(writer: Writer, placement: Placement) -> None:
    """Write a placement: axes in lanes with their counts, axes with tiles and their lengths, the
    order of the loops, the number of parallel ones."""
    lanes, upcast, order, parallel = placement_key(placement)
    for counts in (lanes, upcast):
        writer.numbers([axis for axis, _ in counts])
        writer.numbers([count for _, count in counts])
    writer.numbers(order)
    writer.number(parallel)


def read_placement(reader: Reader) -> Placement:
    """Read a placement within bounds; `place_axes` checks whether it fits a kernel.

    Raises `DamagedRecord`.
    """
    lanes, upcast = _read_counts(reader, MOST_LANES), _read_counts(reader, MOST_TILE)
    order = reader.numbers(0, MOST_AXIS)
    if len(order) > MOST_AXES or math.prod(upcast.values()) > MOST_TILE:
        raise DamagedRecord("a placement is too large")
    return Placement(lanes, upcast, order, reader.number(0, MOST_AXES))


def _read_counts(reader: Reader, most: int) -> dict[int, int]:
    axes, counts = reader.numbers(0, MOST_AXIS), reader.numbers(0, most)
    if len(axes) != len(counts) or len(set(axes)) != len(axes) or len(axes) > MOST_AXES:
        raise DamagedRecord("the axes and counts of a placement do not match")
    return dict(zip(axes, counts, strict=True))


def pack_placement(placement: Placement) -> bytes:
    """A placement as bytes."""
    writer = Writer()
    write_placement(writer, placement)
    return writer.finish()
