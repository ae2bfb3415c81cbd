"""`ORDER` and `ORDERED` become compare-exchange sorts or radix sorts.

    before   ORDER(x: 1000×1000), ORDERED(x)       many short lines
    after    w & 2³² - 1, from the keys w >> 32,   where w = SORT(keys of x << 32 | positions)

    before   ORDER(x: 1000000), ORDERED(x)         a long line
    after    o = ARRANGE(ARRANGE(...)) & 2³² - 1,  GATHER(x, o)

Every dtype is sorted by integer keys; for floats these are made from their bits, with NaN the
greatest and the two zeros equal (`orders/integer_keys.py`). The target's costs say which way takes
less time. Both are stable.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import (
    apply,
    apply_number,
    count,
    count_along,
    expand,
    pad_axis,
    reshape,
    shrink_axis,
    take_along,
)
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.orders.compare_exchange import (
    exchanging_time,
    in_order,
    order_by_exchanges,
    sorted_words,
)
from ogive.compiler.passes.graph.orders.integer_keys import (
    from_order_keys,
    negative_zeros,
    order_keys,
)
from ogive.compiler.passes.graph.orders.radix_sort import counting_time, order_by_digits
from ogive.compiler.targets.graph_costs import Sorting
from ogive.compiler.targets.target import Target


def lower_orders(sink: UOp, target: Target) -> UOp:
    """The graph without `ORDER` and `ORDERED`."""
    if not any(node.op in (Op.ORDER, Op.ORDERED) for node in sink.walk()):
        return sink
    costs = target.costs.sorting
    values = {(node.operand, node.descending) for node in sink.walk() if node.op is Op.ORDERED}
    done: dict[UOp, UOp] = {}
    for node in sink.walk():
        lowered = node.with_sources(tuple([done[source] for source in node.src]))
        if node.op is Op.ORDER:
            has_values = (node.operand, node.descending) in values
            lowered = _order_of(lowered, has_values, costs)
        elif node.op is Op.ORDERED:
            lowered = _in_order(lowered.operand, lowered.descending, costs)
        done[node] = lowered
    return done[sink]


def _order_of(node: UOp, has_values: bool, costs: Sorting) -> UOp:
    """The lowered form of an `ORDER`.

    If `has_values`, the graph also has the sorted elements, and both come from the same words.
    """
    x = node.operand
    keys = order_keys(x, node.descending)
    if has_values and _has_words(x) and _is_exchanged(keys, costs):
        order = sorted_words(keys, negative_zeros(x)).positions()
        return shrink_axis(order, len(x.shape) - 1, node.count)
    return _first_in_order(keys, node.count, costs)


def _has_words(x: UOp) -> bool:
    """Whether a word can hold the key, the mark and the position of an element."""
    return x.dtype.is_float and x.dtype.bits <= 32


def _is_exchanged(keys: UOp, costs: Sorting) -> bool:
    """Whether keys (..., n) take less time to sort by compare-exchange than by digits."""
    shape, bits = keys.shape, keys.dtype.bits
    return exchanging_time(shape, bits, costs) < counting_time(shape, bits, costs)


def _order(keys: UOp, costs: Sorting) -> UOp:
    """The positions of keys (..., n) in ascending order."""
    if keys.shape[-1] < 2:
        return count_along(len(keys.shape) - 1, keys.shape)
    if _is_exchanged(keys, costs):
        return order_by_exchanges(keys)
    return order_by_digits(keys, costs)


def _in_order(x: UOp, descending: bool, costs: Sorting) -> UOp:
    """The lowered form of an `ORDERED`: made from the sorted keys, or gathered by the order."""
    keys = order_keys(x, descending)
    has_own_keys = x.shape[-1] > 1 and (_has_words(x) or not x.dtype.is_float)
    if not has_own_keys or not _is_exchanged(keys, costs):
        return take_along(x, _order(keys, costs))
    if not x.dtype.is_float:
        # Keys alone take less time to sort than keys with positions.
        return from_order_keys(in_order(keys), x.dtype, descending, None)
    words = sorted_words(keys, negative_zeros(x))
    return from_order_keys(words.in_front(), x.dtype, descending, words.marks())


def _first_in_order(keys: UOp, wanted: int, costs: Sorting) -> UOp:
    """The positions of the first `wanted` keys of each line, in order.

    A few keys of many are found in blocks. The `wanted` blocks with the least minima contain all of
    them. Among blocks with equal minima the first ones count, as among equal elements.
    """
    *lines, length = keys.shape
    rank = len(lines)
    width = 1 << (length // max(wanted, 1)).bit_length() // 2
    if not wanted or wanted * width * costs.few_of > length:
        return shrink_axis(_order(keys, costs), rank, wanted)
    blocks = -(-length // width)
    whole = UOp(Op.CONTIGUOUS, keys.dtype, (keys,), ())
    whole = pad_axis(whole, rank, (0, blocks * width - length), keys.dtype.limits[1])
    parts = reshape(whole, (*lines, blocks, width))
    least = UOp(Op.REDUCE_AXES, keys.dtype, (parts,), (Op.MINIMUM, (rank + 1,)))
    candidates = shrink_axis(_order(reshape(least, (*lines, blocks)), costs), rank, wanted)
    first = reshape(_in_order(candidates, False, costs), (*lines, wanted, 1))
    first = expand(first, (*lines, wanted, width))
    step = expand(reshape(count(width), (*[1] * (rank + 1), width)), first.shape)
    places = apply(Op.ADD, apply_number(Op.MUL, first, width), step)
    places = reshape(places, (*lines, wanted * width))
    inner = _order(take_along(whole, places), costs)
    return take_along(places, shrink_axis(inner, rank, wanted))
