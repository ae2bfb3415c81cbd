"""Reductions to few results are made in two steps, so that threads can share them.

    before   REDUCE_AXES(x: 16777216 → 1)
    after    REDUCE_AXES(CONTIGUOUS(REDUCE_AXES(RESHAPE(x): 1024×16384 → 1024×1)): 1024 → 1)

The chunk length follows from the extents alone, so the order of the sum, and with it every bit of
the result, is the same on every machine and for every number of threads.
"""

from __future__ import annotations

import math

from ogive.ir.identity import identity_element
from ogive.ir.node import UOp, transform
from ogive.ir.ops import Op
from ogive.ir.shape import Shape

CHUNK = 1 << 14
"""Elements that go into one partial result, or into a row of them."""

COLUMNS = 256
"""Columns that one tile of a sum of columns takes."""

MANY_ROWS = 1 << 20
"""Elements from which on adding up rows is worth a second step."""

FEW_TILES = 32
"""A reduction that can be cut into fewer pieces than this along its results is split."""

LONG = 1 << 22
"""A reduction longer than this is split in any case, so that it can be interrupted."""


def split_reductions(sink: UOp) -> UOp:
    """The graph with long reductions to few results split in two."""
    return transform(sink, lambda node: _split(node) if node.op is Op.REDUCE_AXES else node)


def _split(node: UOp) -> UOp:
    (source,) = node.src
    op, axes = node.arg
    shape = source.shape
    if not all(isinstance(size, int) for size in shape) or math.prod(shape) == 0:
        return node
    length = math.prod(shape[axis] for axis in axes)
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    lengths: Shape = tuple([shape[axis] for axis in kept])
    # Where the last axis is kept, rows are added up and the partial results are rows as well.
    last = max(axis for axis, size in enumerate(shape) if size != 1 or axis == 0)
    by_rows = last in kept
    width = min(shape[last], COLUMNS) if by_rows else 1
    tiles = math.prod(lengths) // width
    chunk = _chunk_length(length, max(CHUNK // width, 16))
    small = length < 4 * chunk or (by_rows and math.prod(shape) < MANY_ROWS)
    if small or (tiles >= FEW_TILES and length < LONG):
        return node
    order = (*axes, *kept) if by_rows else (*kept, *axes)
    if order != tuple(range(len(shape))):
        source = UOp(Op.PERMUTE, node.dtype, (source,), order)
    front, back = ((), lengths) if by_rows else (lengths, ())
    flat = _reshape(source, (*front, length, *back))
    chunks = -(-length // chunk)
    if chunks * chunk != length:
        pads = [(0, 0)] * len(flat.shape)
        pads[len(front)] = (0, chunks * chunk - length)
        fill = identity_element(op, node.dtype)
        flat = UOp(Op.PAD, node.dtype, (flat,), (tuple(pads), fill))
    parts = _reshape(flat, (*front, chunks, chunk, *back))
    partial = UOp(Op.REDUCE_AXES, node.dtype, (parts,), (op, (len(front) + 1,)))
    rows = _reshape(partial, (*front, chunks, *back))
    kept_rows = UOp(Op.CONTIGUOUS, node.dtype, (rows,), ())
    total = UOp(Op.REDUCE_AXES, node.dtype, (kept_rows,), (op, (len(front),)))
    return _reshape(total, node.shape)


def _chunk_length(length: int, wanted: int) -> int:
    """A length near `wanted` that divides `length` and fills vectors, or `wanted` itself."""
    for candidate in range(wanted, wanted // 2, -16):
        if length % candidate == 0:
            return candidate
    return wanted


def _reshape(node: UOp, shape: Shape) -> UOp:
    return node if node.shape == shape else UOp(Op.RESHAPE, node.dtype, (node,), shape)
