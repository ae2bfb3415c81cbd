"""Reductions to few results are made in two steps, so that threads can share them.

    before   REDUCE_AXES(x: 16777216 → 1)
    after    REDUCE_AXES(CONTIGUOUS(REDUCE_AXES(RESHAPE(x): 1024×16384 → 1024×1)): 1024 → 1)

The chunk length follows from the extents alone, so the order of the sum, and with it every bit of
the result, is the same on every machine and for every number of threads.
"""

from __future__ import annotations

import math

from ogive.ir.identity import identity_element
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape

CHUNK = 1 << 14
"""Elements in one partial result."""

FEW_RESULTS = 32
"""A reduction with fewer results than this is split."""


def split_reductions(sink: UOp) -> UOp:
    """The graph with long reductions to few results split in two."""
    done: dict[UOp, UOp] = {}
    for node in sink.walk():
        sources = tuple([done[source] for source in node.src])
        same = all(new is old for new, old in zip(sources, node.src, strict=True))
        rebuilt = node if same else UOp(node.op, node.dtype, sources, node.arg, node.tag)
        if node.op is Op.REDUCE_AXES:
            rebuilt = _split(rebuilt)
        done[node] = rebuilt
    return done[sink]


def _split(node: UOp) -> UOp:
    (source,) = node.src
    op, axes = node.arg
    shape = source.shape
    if not all(isinstance(size, int) for size in shape):
        return node
    length = math.prod(shape[axis] for axis in axes)
    results = math.prod(node.shape)
    if results >= FEW_RESULTS or results == 0 or length < 4 * CHUNK:
        return node
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    order = (*kept, *axes)
    if order != tuple(range(len(shape))):
        source = UOp(Op.PERMUTE, node.dtype, (source,), order)
    outer: Shape = tuple([shape[axis] for axis in kept])
    flat = _reshape(source, (*outer, length))
    chunks = -(-length // CHUNK)
    excess = chunks * CHUNK - length
    if excess:
        pads = (*[(0, 0)] * len(outer), (0, excess))
        flat = UOp(Op.PAD, node.dtype, (flat,), (pads, identity_element(op, node.dtype)))
    parts = _reshape(flat, (*outer, chunks, CHUNK))
    partial = UOp(Op.REDUCE_AXES, node.dtype, (parts,), (op, (len(outer) + 1,)))
    kept_partial = UOp(Op.CONTIGUOUS, node.dtype, (_reshape(partial, (*outer, chunks)),), ())
    total = UOp(Op.REDUCE_AXES, node.dtype, (kept_partial,), (op, (len(outer),)))
    return _reshape(total, node.shape)


def _reshape(node: UOp, shape: Shape) -> UOp:
    return node if node.shape == shape else UOp(Op.RESHAPE, node.dtype, (node,), shape)
