"""A reduction whose terms need another reduction of the same elements reads memory once.

    before   m = max of x;  s = sum of exp(x - m)                                 x is read twice
    after    for each block b of x:  mb = max of x;  sb = sum of exp(x - mb)      once
             m = max of mb;  s = sum of sb * exp(mb - m)

The terms are taken about a centre (`m`), which is known only at the end. But a block has a centre
of its own, and its sum can be moved to the common centre: a sum of exponentials by a factor, a sum
of squares by an amount that depends on the distance. `FORMS` is the table of such sums. A block
stays in a cache, so that its second pass reads no memory, and threads can share the blocks.

Blocks depend on extents and target alone. The maximum stays the same, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import reshape
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.passes.graph.reductions.split_reductions import (
    chunk_length,
    chunked,
    distinct_elements,
    innermost_axis,
    largest_operand,
)
from ogive.compiler.targets.estimates import operation_cycles
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

CENTRE_NODES = 16
"""The greatest number of nodes searched between a reduction and the centre computed from it."""


class Form(NamedTuple):
    """A kind of sum about a centre, and how to move it to another centre.

    `op` reduces the elements of a block, and `centre_of` computes its centre from the result and
    the number of elements. `term` gives a term of the sum from an element and the centre; `others`
    are terms of further sums that a block needs. `moved` is the sum of a block about another
    centre. `fill` is an element that does not change the sum, or None if there is none.
    """

    op: Op
    centre_of: Callable[[UOp, int], UOp]
    term: Callable[[UOp, UOp], UOp]
    others: tuple[Callable[[UOp, UOp], UOp], ...]
    moved: Callable[[Block, UOp], UOp]
    fill: Scalar | None


class Block(NamedTuple):
    """A block: the number of its elements, their reduction, its centre, and its sums about that."""

    count: int  # type: ignore[assignment]  # hides a method of tuples
    reduced: UOp
    centre: UOp
    sums: tuple[UOp, ...]


def _node(op: Op, *sources: UOp) -> UOp:
    return UOp(op, sources[0].dtype, sources)


def _finite(peak: UOp, _: int) -> UOp:
    """The maximum, or 0 where it is infinite, since infinity minus infinity is NaN."""
    infinity = UOp.const(peak.dtype, math.inf)
    is_infinite = UOp(Op.CMPEQ, dtypes.bool_, (_node(Op.ABS, peak), infinity))
    return UOp(Op.WHERE, peak.dtype, (is_infinite, UOp.const(peak.dtype, 0.0), peak))


def _exponential(element: UOp, centre: UOp) -> UOp:
    return _node(Op.EXP, _node(Op.SUB, element, centre))


def _scaled(block: Block, centre: UOp) -> UOp:
    """Σ exp(x - c) = Σ exp(x - b) · exp(b - c).

    Where all elements of the block are -∞, the sum about its centre 0 and the factor are 0.
    """
    return _node(Op.MUL, block.sums[0], _exponential(block.reduced, centre))


def _mean(total: UOp, count: int) -> UOp:
    return _node(Op.DIV, total, UOp.const(total.dtype, float(count)))


def _distance(element: UOp, centre: UOp) -> UOp:
    return _node(Op.SUB, element, centre)


def _square(element: UOp, centre: UOp) -> UOp:
    distance = _distance(element, centre)
    return _node(Op.MUL, distance, distance)


def _shifted(block: Block, centre: UOp) -> UOp:
    """Σ (x - c)² = Σ (x - b)² + (b - c) (2 Σ (x - b) + n (b - c)).

    About an exact mean, Σ (x - b) would be 0. It corrects the rounding of the mean.
    """
    squares, distances = block.sums
    step = _distance(block.centre, centre)
    count = UOp.const(step.dtype, float(block.count))
    mixed = _node(Op.ADD, _node(Op.ADD, distances, distances), _node(Op.MUL, count, step))
    return _node(Op.ADD, squares, _node(Op.MUL, step, mixed))


FORMS = (
    Form(Op.MAXIMUM, _finite, _exponential, (), _scaled, -math.inf),
    Form(Op.ADD, _mean, _square, (_distance,), _shifted, None),
)


class _Pair(NamedTuple):
    """A sum `outer` of terms about a centre, and the reduction `inner` from which that is computed.

    Both are over the same elements.
    """

    form: Form
    outer: UOp
    inner: UOp
    centre: UOp


class _Blocks(NamedTuple):
    """How to cut a reduction: order of axes, those around the reduced ones, length of a block."""

    order: tuple[int, ...]
    front: Shape
    back: Shape
    length: int

    def cut(self, source: UOp, fill: Scalar) -> UOp:
        if self.order != tuple(range(len(self.order))):
            source = UOp(Op.PERMUTE, source.dtype, (source,), self.order)
        return chunked(source, self.front, self.back, self.length, fill)

    def reduced(self, op: Op, blocks: UOp) -> UOp:
        """Each block reduced to one element, stored in memory."""
        within = len(self.front) + 1
        partial = UOp(Op.REDUCE_AXES, blocks.dtype, (blocks,), (op, (within,)))
        return UOp(Op.CONTIGUOUS, blocks.dtype, (partial,), ())

    def spread(self, whole: UOp, blocks: UOp) -> UOp:
        """A value common to all blocks, expanded to the shape of `blocks`."""
        one = reshape(whole, (*self.front, 1, 1, *self.back))
        return UOp(Op.EXPAND, whole.dtype, (one,), blocks.shape)

    def total(self, op: Op, partial: UOp, shape: Shape) -> UOp:
        """The whole reduction, from those of the blocks."""
        reduced = UOp(Op.REDUCE_AXES, partial.dtype, (partial,), (op, (len(self.front),)))
        return reshape(reduced, shape)


def reduce_once(sink: UOp, target: Target) -> UOp:
    """The graph with such pairs of reductions cut into blocks, where elements fit in no cache."""
    nodes = sink.walk()
    pairs: dict[UOp, _Pair] = {}
    cuts: dict[UOp, _Blocks] = {}
    for node in nodes:
        pair = _find_pair(node)
        if pair is not None:
            blocks = cuts.get(pair.inner) or _choose_blocks(pair, target)
            if blocks is not None:
                pairs[node] = pair
                cuts[pair.inner] = blocks
    return _cut(nodes, pairs, cuts)[sink] if cuts else sink


def _find_pair(node: UOp) -> _Pair | None:
    """The pair of a sum and the reduction that gives its centre, if the sum has one of `FORMS`."""
    if node.op is not Op.REDUCE_AXES or node.combine is not Op.ADD or not node.dtype.is_float:
        return None
    (term,) = node.src
    difference = term.src[0] if term.op in ELEMENTWISE else term
    if difference.op is not Op.SUB or difference.right.op is not Op.EXPAND:
        return None
    element, centre = difference.src
    for form in FORMS:
        if form.term(element, centre) is term and centre.operand.shape == node.shape:
            inner = UOp(Op.REDUCE_AXES, element.dtype, (element,), (form.op, node.axes))
            if _follows_from(centre.operand, inner):
                return _Pair(form, node, inner, centre.operand)
    return None


def _follows_from(centre: UOp, inner: UOp) -> bool:
    """Whether a centre is computed from a reduction by a few elementwise operations."""
    stack = [centre]
    for _ in range(CENTRE_NODES):
        if not stack:
            return False
        node = stack.pop()
        if node is inner:
            return True
        if node.op in ELEMENTWISE or node.op is Op.RESHAPE:
            stack.extend(node.src)
    return False


def _choose_blocks(pair: _Pair, target: Target) -> _Blocks | None:
    """How to cut a pair of reductions.

    None if memory is read only once as it is, or if no block length divides the axis where the form
    has no `fill`.
    """
    costs = target.costs.reductions
    (source,) = pair.inner.src
    axes = pair.inner.axes
    shape = source.shape
    operand = largest_operand(source)
    is_static = all(isinstance(size, int) for size in shape)
    if not is_static or 2 * distinct_elements(operand) <= math.prod(shape):
        return None
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    length = math.prod(shape[axis] for axis in axes)
    last = innermost_axis(operand)
    is_costly = (
        operation_cycles(pair.outer.operand, target) >= target.costs.staging.row_work
    )
    if last in kept:
        is_long = shape[last] >= costs.centred_columns
        is_long &= math.prod(shape) >= costs.centred_elements
        block = min(costs.centred_rows, key=lambda rows: (-length % rows, -rows))
        least = 2 * max(costs.centred_rows)
    else:
        # If there is much to compute, that overlaps with fetching the next block.
        cached = target.l2_bytes // 2 if is_costly else target.streamed_bytes or math.inf
        is_long = length * operand.dtype.itemsize > cached
        is_long |= math.prod(shape[axis] for axis in kept) < costs.few_tiles
        block, least = chunk_length(length, costs.chunk), 4 * costs.chunk
    if not is_long or length < least or (pair.form.fill is None and length % block):
        return None
    first, after = axes[0], axes[-1] + 1
    if axes == tuple(range(first, after)):
        return _Blocks(tuple(range(len(shape))), shape[:first], shape[after:], block)
    lengths = tuple([shape[axis] for axis in kept])
    if last in kept:
        return _Blocks((*axes, *kept), (), lengths, block)
    return _Blocks((*kept, *axes), lengths, (), block)


def _cut(
    nodes: list[UOp], pairs: dict[UOp, _Pair], cuts: dict[UOp, _Blocks]
) -> dict[UOp, UOp]:
    """The new form of each node, with pairs of reductions in blocks."""
    done: dict[UOp, UOp] = {}
    parts: dict[UOp, tuple[UOp, UOp]] = {}
    forms = {pair.inner: pair.form for pair in pairs.values()}
    for node in nodes:
        if node in forms:
            blocks, form = cuts[node], forms[node]
            elements = blocks.cut(done[node.operand], form.fill or 0.0)
            partial = blocks.reduced(form.op, elements)
            parts[node] = elements, partial
            done[node] = blocks.total(form.op, partial, node.shape)
        elif node in pairs:
            pair = pairs[node]
            blocks, form = cuts[pair.inner], pair.form
            elements, partial = parts[pair.inner]
            centre = form.centre_of(partial, blocks.length)
            spread = UOp(Op.EXPAND, centre.dtype, (centre,), elements.shape)
            terms = [term(elements, spread) for term in (form.term, *form.others)]
            sums = tuple([blocks.reduced(Op.ADD, term) for term in terms])
            block = Block(blocks.length, partial, centre, sums)
            moved = form.moved(block, blocks.spread(done[pair.centre], partial))
            done[node] = blocks.total(Op.ADD, moved, node.shape)
        else:
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
    return done
