"""Regions that are attentions: weights computed from scores, and reductions over rows of weights.

    for i, d: out[i, d] = sum over j of CAST bf16(w[i, j]) * v[j, d] / sum over j of w[i, j]
    with w[i, j] = exp(s[i, j] - max over j of s[i, j]), s[i, j] = sum over e of q[i, e] * k[j, e]

The loops of a region recompute the scores wherever they are needed. Here they are recognized as
the same scores: the maximum, the sum and the product read them with different loop counters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from ogive.compiler.devices.cuda.products.region_product import LONGEST, Access, find_access
from ogive.compiler.devices.cuda.tensor_cores.epilogue import MEMORY_TYPES
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, ELEMENTWISE, Op
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from ogive.compiler.passes.fuse.product_kernels.tensor_attention import (
    MOST_BATCH_AXES,
    MOST_SCORES,
    MOST_TERMS,
)
from ogive.named import NamedTuple

ELEMENTS = (dtypes.bfloat16, dtypes.float16)
"""The element types of the operands."""
_NOT_ELEMENTWISE = frozenset({Op.DOT, Op.THREEFRY})


class Score(NamedTuple):
    """A product of rows with columns: the sum, both accesses, and the counter of the terms."""

    total: UOp
    left: Access
    right: Access
    terms: UOp


class Softmax(NamedTuple):
    """An exponential relative to the maximum of its row; `seen` is the value under the maximum."""

    exponential: UOp
    seen: UOp
    peak: UOp


class Bound(NamedTuple):
    """A mask by position: the columns below `first + slope * row` count."""

    condition: UOp
    first: int
    slope: int


class RegionAttention(NamedTuple):
    """A region recognized as an attention.

    `weight` is an element of the rows, in terms of the scores; `mixed` is its product with the
    `values`, and `total` its sum over a row, where the region has them.
    """

    dtype: DType
    scores: tuple[Score, ...]
    weight: UOp
    softmax: Softmax | None
    bound: Bound | None
    total: UOp | None
    mixed: UOp | None
    values: Access | None
    result: Access
    value: UOp  # the value stored
    row: UOp
    column: UOp
    depth: UOp | None
    batch: tuple[UOp, ...]


def find_attention(loops: UOp) -> RegionAttention | None:
    """Recognize an attention in a loop graph, or return None."""
    if len(loops.roots) != 1 or loops.roots[0].op is not Op.STORE:
        return None
    (store,) = loops.roots
    counters = [node for node in loops.walk() if node.op is Op.RANGE]
    if any(each.extent.op is not Op.CONST or each.extent.literal > LONGEST for each in counters):
        return None
    result = find_access(store.place)
    if result is None or result.turns or store.combine is not None:
        return None
    return _find(store, result) if store.value.dtype in MEMORY_TYPES else None


def _find(store: UOp, result: Access) -> RegionAttention | None:
    outer = list(_reductions(store.value))
    products = [node for node in outer if _weighted(node) is not None]
    maxima = [node for node in outer if node.combine is Op.MAXIMUM]
    totals = [node for node in outer if node.combine is Op.ADD and node not in products]
    if len(products) + len(maxima) + len(totals) != len(outer) or not (products or totals):
        return None
    through = (products or totals)[0]
    given = _weighted(through) if products else None
    weight = _unrounded(through.operand if given is None else given[0])
    if len(through.closed) != 1 or len(products) > 1 or len(maxima) > 1 or len(totals) > 1:
        return None
    (column,) = through.closed
    softmax = find_softmax(weight)
    peaks = [] if softmax is None else [softmax.peak]
    if any(each not in peaks for each in maxima):
        return None
    if not all(_goes_through(each, weight, column) for each in totals):
        return None
    scores = _find_scores(weight, peaks, column)
    values = None if given is None else _narrow_load(given[1])
    if scores is None or (given is not None and values is None):
        return None
    axes = _find_axes(store, scores, None if values is None else values[0])
    at_hand = {*products, *maxima, *totals}
    if axes is None or not is_elementwise(store.value, at_hand):
        return None
    row, depth, batch = axes
    dtype = _element_type(scores[0])
    if any(_element_type(each) is not dtype for each in scores):
        return None
    if values is not None and values[1] is not dtype:
        return None
    return RegionAttention(
        dtype, scores, weight, softmax, _find_bound(weight, softmax, row, column),
        totals[0] if totals else None, products[0] if products else None,
        None if values is None else values[0], result, store.value, row, column, depth, batch,
    )  # fmt: skip


def _reductions(value: UOp) -> Iterator[UOp]:
    """The outermost reductions in a value."""
    waiting, seen = [value], {value}
    while waiting:
        node = waiting.pop()
        if node.op is Op.REDUCE:
            yield node
            continue
        new = [source for source in node.src if source not in seen]
        seen.update(new)
        waiting += new


def _weighted(node: UOp) -> tuple[UOp, UOp] | None:
    """The two factors of a sum of products: the rounded weights, and the loaded value."""
    if node.combine is not Op.ADD or node.operand.op is not Op.MUL:
        return None
    one, other = node.operand.src
    for weights, values in ((one, other), (other, one)):
        if _unrounded(weights) is not weights and _narrow_load(values) is not None:
            return weights, values
    return None


def _unrounded(value: UOp) -> UOp:
    """The value before it is rounded to a narrow type and widened again."""
    is_rounded = (
        value.op is Op.CAST
        and value.operand.op is Op.CAST
        and value.operand.dtype in ELEMENTS
        and value.operand.operand.dtype is value.dtype
    )
    return value.operand.operand if is_rounded else value


def _narrow_load(factor: UOp) -> tuple[Access, DType] | None:
    if factor.op is not Op.CAST or factor.operand.op is not Op.LOAD:
        return None
    access = find_access(factor.operand.place)
    dtype = factor.operand.dtype
    return (access, dtype) if access is not None and dtype in ELEMENTS else None


def find_softmax(weight: UOp) -> Softmax | None:
    """Find the exponential in a weight that is relative to the maximum of its row."""
    for node in weight.walk():
        if node.op is not Op.EXP or node.operand.op is not Op.SUB:
            continue
        seen, peak = node.operand.src
        if peak.op is Op.WHERE and peak.condition.op is Op.CMPEQ:
            peak = peak.if_false
        if peak.op is Op.REDUCE and peak.combine is Op.MAXIMUM and len(peak.closed) == 1:
            (counter,) = peak.closed
            free = [each for each in seen.ranges if each not in peak.ranges]
            if len(free) == 1 and _is_same(seen, peak.operand, {free[0]: counter}):
                return Softmax(node, seen, peak)
    return None


def _goes_through(total: UOp, weight: UOp, column: UOp) -> bool:
    """Whether a sum adds up the weights."""
    if len(total.closed) != 1:
        return False
    (counter,) = total.closed
    return _is_same(weight, _unrounded(total.operand), {column: counter})


def _is_same(one: UOp, other: UOp, counters: dict[UOp, UOp]) -> bool:
    """Whether two values are equal up to the counters of their loops."""
    known = dict(counters)
    waiting, seen = [(one, other)], set[tuple[UOp, UOp]]()
    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        first, second = pair
        if first.op is not second.op or first.dtype is not second.dtype:
            return False
        if first.dtype is dtypes.index:
            terms, constant = linear_form(first)
            moved = {known.get(term, term): factor for term, factor in terms.items()}
            if (moved, constant) != (dict(linear_form(second)[0]), linear_form(second)[1]):
                return False
            continue
        if first.arg != second.arg or len(first.src) != len(second.src):
            return False
        for left, right in zip(first.closed, second.closed, strict=True):
            if left.extent is not right.extent or known.setdefault(left, right) is not right:
                return False
        count = len(first.src) - len(first.closed)
        waiting += zip(first.src[:count], second.src[:count], strict=True)
    return True


# Scores


def _find_scores(weight: UOp, peaks: list[UOp], column: UOp) -> tuple[Score, ...] | None:
    """The scores in the weights, if the rest of the weight is elementwise."""
    sums = [node for node in _reductions(weight) if node not in peaks]
    by_sum = [_find_score(node, column) for node in sums]
    scores = [each for each in by_sum if each is not None]
    if not 1 <= len(sums) <= MOST_SCORES or len(scores) < len(sums):
        return None
    return tuple(scores) if is_elementwise(weight, {*sums, *peaks}) else None


def _find_score(total: UOp, column: UOp) -> Score | None:
    if total.combine is not Op.ADD or len(total.closed) != 1 or total.operand.op is not Op.MUL:
        return None
    factors = [_narrow_load(factor) for factor in total.operand.src]
    if factors[0] is None or factors[1] is None or factors[0][1] is not factors[1][1]:
        return None
    left, right = factors[0][0], factors[1][0]
    if column in left.strides:
        left, right = right, left
    (terms,) = total.closed
    fits = column in right.strides and column not in left.strides
    is_summed = terms in left.strides and terms in right.strides
    if not fits or not is_summed or extent(terms) > MOST_TERMS:
        return None
    return Score(total, left, right, terms)


def _element_type(score: Score) -> DType:
    dtype: DType = score.total.operand.left.operand.dtype
    return dtype


def is_elementwise(value: UOp, at_hand: Collection[UOp]) -> bool:
    """Whether a value needs only known values, constants, linear accesses and positions."""
    waiting, seen = [value], set(at_hand)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.dtype is dtypes.index:
            if any(term.op is not Op.RANGE for term in linear_form(node)[0]):
                return False
        elif node.op is Op.LOAD:
            if find_access(node.place) is None:
                return False
        elif node.op in ELEMENTWISE and node.op not in _NOT_ELEMENTWISE:
            waiting.extend(node.src)
        elif node.op is not Op.CONST:
            return False
    return True


# Axes


def _find_axes(
    store: UOp, scores: tuple[Score, ...], values: Access | None
) -> tuple[UOp, UOp | None, tuple[UOp, ...]] | None:
    """The counters of the rows, of the axis that only the values have, and of the batches."""
    scored = {axis for score in scores for axis in (*score.left.strides, *score.right.strides)}
    depths = [] if values is None else [a for a in store.closed if a not in scored]
    if len(depths) != (values is not None) or any(extent(axis) > MOST_TERMS for axis in depths):
        return None
    shared = {axis for score in scores for axis in score.right.strides}
    shared |= set() if values is None else set(values.strides)
    rows = [
        axis for axis in store.closed
        if axis not in shared and all(axis in score.left.strides for score in scores)
    ]  # fmt: skip
    if not rows:
        return None
    row = max(rows, key=extent)
    batch = tuple([axis for axis in store.closed if axis is not row and axis not in depths])
    if len(batch) > MOST_BATCH_AXES:
        return None
    return row, depths[0] if depths else None, batch


def extent(axis: UOp) -> int:
    return int(axis.extent.literal)


# Which columns count


def _find_bound(weight: UOp, softmax: Softmax | None, row: UOp, column: UOp) -> Bound | None:
    """The bound of the columns whose weights are not 0, if weights depend on positions only so."""
    conditions = {
        node for node in _above_reductions(weight)
        if node.op in COMPARISON and node.src[0].dtype is dtypes.index
    }  # fmt: skip
    if len(conditions) != 1:
        return None
    (condition,) = conditions
    if condition.op not in (Op.CMPLT, Op.CMPLE):
        return None
    terms, constant = linear_form(condition.left - condition.right)
    slope = -terms.get(row, 0)
    if terms.get(column) != 1 or abs(slope) > 1 or not set(terms) <= {row, column}:
        return None
    if softmax is not None:
        seen = softmax.seen
        is_left_out = seen.op is Op.WHERE and seen.condition is condition
        vanishes = is_left_out and _is_constant(seen.if_false, -math.inf)
    else:
        vanishes = _vanishes(weight, condition)
    if not vanishes:
        return None
    return Bound(condition, -constant + (condition.op is Op.CMPLE), slope)


def _above_reductions(value: UOp) -> Iterator[UOp]:
    waiting, seen = [value], {value}
    while waiting:
        node = waiting.pop()
        yield node
        if node.op is not Op.REDUCE:
            new = [source for source in node.src if source not in seen]
            seen.update(new)
            waiting += new


def _vanishes(value: UOp, condition: UOp) -> bool:
    """Whether a value is 0 wherever a condition is false."""
    if value.op is Op.MUL:
        return any(_vanishes(factor, condition) for factor in value.src)
    if value.op is Op.CAST:
        return _vanishes(value.operand, condition)
    return value.op is Op.WHERE and value.condition is condition and _is_constant(value.if_false, 0)


def _is_constant(node: UOp, value: float) -> bool:
    return node.op is Op.CONST and node.literal == value
