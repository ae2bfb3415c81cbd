"""Reductions to few results are split in two steps, so that threads can share them.

    before   REDUCE_AXES(x: 16777216 → 1)
    after    REDUCE_AXES(CONTIGUOUS(REDUCE_AXES(RESHAPE(x): 1024×16384 → 1024×1)): 1024 → 1)

Reductions of rows are split in the same way; their partial results are rows. Memory is then read in
order, since a chunk is consecutive rows. Short rows are joined to longer ones.

The chunk length depends on the extents alone. So the order of the sum, and every bit of the result,
is the same on every machine and for every number of threads. The last chunk is padded with the
identity element. For a symbolic length, the greatest value decides the chunk length, and the value
of a run the number of chunks.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.memory import upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import pad_axis, permute, reshape
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.ir.shape import Shape, as_length, element_count
from ogive.compiler.ir.traversal import transform
from ogive.compiler.targets.graph_costs import Reductions
from ogive.compiler.targets.target import CACHE_LINE, Target


def split_reductions(sink: UOp, target: Target) -> UOp:
    """The graph with long reductions to few results split in two steps."""
    costs = target.costs.reductions
    return transform(
        sink, lambda node: _split(node, costs) if node.op is Op.REDUCE_AXES else node
    )


def _split(node: UOp, costs: Reductions) -> UOp:
    (source,) = node.src
    axes = node.axes
    shape = upper_shape(source.shape)
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    if math.prod(shape) == 0 or any(shape[axis] != source.shape[axis] for axis in kept):
        return node
    operand = largest_operand(source)
    # Padding is not read, and overlapping windows read an element several times.
    is_read_once = 2 * distinct_elements(operand) > math.prod(shape)
    last = innermost_axis(operand) if is_read_once else _last_axis(shape)
    if last not in kept:
        return _split_elements(node, kept, costs)
    row = max(shape[last], math.prod(shape[axis] for axis in kept if axis > axes[-1]))
    short = costs.row_bytes // max(node.dtype.itemsize, operand.dtype.itemsize)
    return _split_rows(node, kept, row, short, is_read_once, costs)


def _split_elements(node: UOp, kept: tuple[int, ...], costs: Reductions) -> UOp:
    """A reduction over contiguous elements, in chunks with a partial result each."""
    (source,) = node.src
    op, axes = node.arg
    shape = upper_shape(source.shape)
    symbolic = shape != source.shape
    lengths: Shape = tuple([shape[axis] for axis in kept])
    length = math.prod(shape[axis] for axis in axes)
    chunk = costs.chunk if symbolic else chunk_length(length, costs.chunk)
    few = math.prod(lengths) < costs.few_tiles
    if length < costs.least_chunks * chunk or not (few or length >= costs.long):
        return node
    if symbolic:
        # The symbolic length goes first, so that no stride depends on it.
        chunks = _in_chunks(op, permute(source, (*axes, *kept)), (), lengths, chunk, costs)
    else:
        chunks = _in_chunks(op, permute(source, (*kept, *axes)), lengths, (), chunk, costs)
    return reshape(chunks, node.shape)


def _split_rows(
    node: UOp, kept: tuple[int, ...], row: int, short: int, is_read_once: bool, costs: Reductions
) -> UOp:
    """A reduction that keeps the contiguous axis, in chunks whose partial results are rows.

    Rows have `row` elements. Registers hold the sums of rows of up to `short` elements.
    """
    (source,) = node.src
    op, axes = node.arg
    shape = upper_shape(source.shape)
    lengths: Shape = tuple([shape[axis] for axis in kept])
    length = math.prod(shape[axis] for axis in axes)
    joined = _joined_rows(source, axes, row, costs) if shape == source.shape else 1
    chunk = _rows_per_chunk(length // joined, row <= short, costs) * joined
    many = costs.many_in_short_rows if row <= short else costs.many_in_rows
    if length < costs.least_row_chunks * chunk or math.prod(shape) < many:
        return node
    # With longer rows, tiles would read pieces that are far apart.
    is_far = is_read_once and row > short
    few = is_far or math.prod(lengths) // min(row, short) < costs.few_tiles
    if not (few or length >= costs.long):
        return node
    if joined > 1:
        return reshape(_in_joined_rows(op, source, lengths, chunk, joined, costs), node.shape)
    rows = permute(source, (*axes, *kept))
    return reshape(_in_chunks(op, rows, (), lengths, chunk, costs), node.shape)


def _rows_per_chunk(length: int, is_short: bool, costs: Reductions) -> int:
    """How many of `length` rows go into one partial result."""
    most = costs.most_rows if is_short else costs.most_long_rows
    wanted = min(length // costs.row_chunks, most)
    return max(wanted // costs.row_step, 1) * costs.row_step


def _joined_rows(source: UOp, axes: tuple[int, ...], row: int, costs: Reductions) -> int:
    """How many rows of `row` elements are added up as one row.

    As many consecutive short rows as make a few whole cache lines; 1 for other rows.
    """
    size = row * source.dtype.itemsize
    count = CACHE_LINE // math.gcd(size, CACHE_LINE)
    count *= -(-costs.joined_bytes // (size * count))
    follow = axes == tuple(range(len(axes))) and all(map(_is_whole, _operands(source)))
    is_short = size < costs.joined_bytes and size * count <= costs.row_bytes
    return count if follow and is_short else 1


def _operands(source: UOp) -> list[UOp]:
    """The operands of an elementwise expression, except constants."""
    nodes, stack = dict.fromkeys([source]), [source]
    while stack:
        node = stack.pop()
        if node.op in ELEMENTWISE:
            stack.extend([part for part in node.src if part not in nodes])
            nodes.update(dict.fromkeys(node.src))
    return [node for node in nodes if node.op not in ELEMENTWISE and node.op is not Op.CONST]


def _is_whole(operand: UOp) -> bool:
    """Whether a value has the elements of a whole buffer in their order."""
    while operand.op is Op.RESHAPE:
        operand = operand.operand
    return operand.op not in MOVEMENT


def _in_joined_rows(
    op: Op, source: UOp, lengths: Shape, chunk: int, joined: int, costs: Reductions
) -> UOp:
    """The reduction of all axes before `lengths`, with several rows joined to one.

        before   a: 1000000×5 → 5
        after    a: 123×512×80 → 123×80 = 1968×5 → 5        rows of 16 times 5 elements
    """
    row = math.prod(lengths)
    fill = identity_element(op, source.dtype)
    parts = chunked(source, (), (), chunk * row, fill)
    long_rows = reshape(parts, (parts.shape[0], chunk // joined, joined * row))
    partial = UOp(Op.REDUCE_AXES, source.dtype, (long_rows,), (op, (1,)))
    kept_rows = UOp(Op.CONTIGUOUS, source.dtype, (partial,), ())
    rows = reshape(kept_rows, (parts.shape[0] * joined, *lengths))
    return _split(UOp(Op.REDUCE_AXES, source.dtype, (rows,), (op, (0,))), costs)


def distinct_elements(node: UOp) -> int:
    """The greatest number of elements of a value that are not repetitions of others."""
    count = math.prod(upper_shape(node.shape))
    while node.op in MOVEMENT:
        node = node.operand
        count = min(count, math.prod(upper_shape(node.shape)))
    return count


def largest_operand(node: UOp) -> UOp:
    """The operand of an elementwise expression that has the most elements."""
    while node.op in ELEMENTWISE:
        node = max(node.src, key=distinct_elements)
    return node


def innermost_axis(node: UOp) -> int:
    """The axis of a value along which it is contiguous in memory."""
    moves: list[UOp] = []
    while node.op in MOVEMENT:
        moves.append(node)
        node = node.operand
    axis = _last_axis(node.shape)
    for move in reversed(moves):
        if move.op is Op.PERMUTE:
            axis = move.arg.index(axis)
        elif move.op is Op.RESHAPE:
            axis = _same_axis(move.operand.shape, axis, move.shape)
    return axis


def _last_axis(shape: Shape) -> int:
    return max([axis for axis, size in enumerate(shape) if size != 1], default=0)


def _same_axis(before: Shape, axis: int, after: Shape) -> int:
    """An axis after a reshape that only adds or removes axes of length 1; else the last axis."""
    old = [number for number, size in enumerate(before) if size != 1]
    new = [number for number, size in enumerate(after) if size != 1]
    same = [before[number] for number in old] == [after[number] for number in new]
    return new[old.index(axis)] if same and axis in old else _last_axis(after)


def _in_chunks(
    op: Op, source: UOp, front: Shape, back: Shape, chunk: int, costs: Reductions
) -> UOp:
    """The reduction of all axes between `front` and `back`, in two steps."""
    parts = chunked(source, front, back, chunk, identity_element(op, source.dtype))
    partial = UOp(Op.REDUCE_AXES, source.dtype, (parts,), (op, (len(front) + 1,)))
    rows = reshape(partial, (*front, parts.shape[len(front)], *back))
    kept_rows = UOp(Op.CONTIGUOUS, source.dtype, (rows,), ())
    return _split(UOp(Op.REDUCE_AXES, source.dtype, (kept_rows,), (op, (len(front),))), costs)


def chunked(source: UOp, front: Shape, back: Shape, chunk: int, fill: Scalar) -> UOp:
    """`source` with all axes between `front` and `back` made two: chunks, and elements of a chunk.

    The last chunk is padded with `fill`.
    """
    length = element_count(source.shape[len(front) : len(source.shape) - len(back)])
    flat = reshape(source, (*front, length, *back))
    chunks = as_length((length + chunk - 1) // chunk)
    excess = as_length(chunks * chunk - length)
    flat = pad_axis(flat, len(front), (0, excess), fill)
    return reshape(flat, (*front, chunks, chunk, *back))


def chunk_length(length: int, wanted: int) -> int:
    """The greatest divisor of `length` near `wanted` that fills vectors; else `wanted` itself."""
    for candidate in range(wanted, wanted // 2, -16):
        if length % candidate == 0:
            return candidate
    return wanted
