"""Long scans are split into chunks, so that threads can share them.

    before   SCAN(x: 16777216)
    after    SCAN(RESHAPE(x): 2048×8192, starts), where starts, what each chunk starts from, is
             SCAN(REDUCE_AXES(RESHAPE(x)): 2048) shifted by one chunk

The operand may have a wider dtype than the result; the totals of chunks have the wider one.

The chunk length depends on the extents alone. So the order of the sum, and every bit of the result,
is the same on every machine and for every number of threads.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.memory import plain_roots
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import pad_axis, reshape, shrink_axis
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.ir.traversal import transform
from ogive.compiler.passes.graph.reductions.split_reductions import chunk_length
from ogive.compiler.targets.graph_costs import Reductions
from ogive.compiler.targets.target import Target


def split_scans(sink: UOp, target: Target) -> UOp:
    """The graph with long scans of few lines split into chunks."""
    if not any(node.op is Op.SCAN_AXIS for node in sink.walk()):
        return sink
    costs = target.costs.reductions
    chunked = transform(
        sink, lambda node: _split(node, costs) if node.op is Op.SCAN_AXIS else node
    )
    return chunked.with_sources(plain_roots(chunked.src, frozenset({Op.SCAN_AXIS})))


def _split(node: UOp, costs: Reductions) -> UOp:
    source, *initial = node.src
    op, axis = node.arg
    shape: Shape = source.shape
    if initial or not all(isinstance(size, int) for size in shape):
        return node
    length = shape[axis]
    inner = math.prod(shape[axis + 1 :])
    width = min(inner, costs.scan_columns)
    most = costs.scan_chunk_bytes // source.dtype.itemsize
    chunk = chunk_length(length, max(most // width, 16)) if width else 0
    few = costs.few_scan_rows if width == 1 else costs.few_scan_tiles
    if not chunk or length < 4 * chunk or math.prod(shape) // length // width >= few:
        return node
    chunks = -(-length // chunk)
    wide = source.dtype
    identity = identity_element(op, wide)
    parts = pad_axis(source, axis, (0, chunks * chunk - length), identity)
    parts = reshape(parts, (*shape[:axis], chunks, chunk, *shape[axis + 1 :]))
    totals = UOp(Op.REDUCE_AXES, wide, (parts,), (op, (axis + 1,)))
    running = _split(UOp(Op.SCAN_AXIS, wide, (totals,), (op, axis)), costs)
    starts = shrink_axis(pad_axis(running, axis, (1, 0), identity), axis, chunks)
    scanned = UOp(Op.SCAN_AXIS, node.dtype, (parts, starts), (op, axis + 1))
    whole = reshape(scanned, (*shape[:axis], chunks * chunk, *shape[axis + 1 :]))
    return shrink_axis(whole, axis, length)
