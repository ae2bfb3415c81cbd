"""Cuts counters in two, and the reductions along them into blocks.

    before   k < 1024: sum of x[k]
    after    k0 < 4: sum of (k1 < 256: sum of x[k0*256 + k1])

The terms after the last full block have a sum of their own, which is added.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges


def block_length(length: int, wanted: int, unit: int = 1) -> int:
    """A multiple of `unit` near `wanted`.

    It divides `length` if there is such a multiple. Otherwise little of the last block is empty.
    """
    least, most = 2 * wanted // 3, 3 * wanted // 2
    candidates = range(max(-(-least // unit), 1) * unit, most + 1, unit)
    fitting = [n for n in candidates if length % n == 0 and 1 < n < length]
    count = max(round(length / wanted), 1)
    even = -(-length // (count * unit)) * unit
    return min(fitting, key=lambda n: abs(math.log(n / wanted)), default=even)


def nest_sum(total: UOp, block: int) -> UOp:
    """A sum along several counters as a sum of sums, if the inner counters make up a block.

        before   sum over n < 8, y < 56, x < 56          after   sum over n of (sum over y, x)
    """
    first, *inner = total.closed
    if not inner or 2 * math.prod(axis_extent(counter) for counter in inner) < block:
        return total
    sums = UOp(Op.REDUCE, total.dtype, (total.operand, *inner), Op.ADD)
    return UOp(Op.REDUCE, total.dtype, (sums, first), Op.ADD)


def cut_counters(root: UOp, reductions: Sequence[UOp], cuts: Mapping[UOp, int]) -> UOp:
    """The kernel with counters cut into blocks of the given lengths.

    `reductions` are those whose first closed counter may have a remainder; all other counters must
    be multiples of their blocks. A symbolic length has as many full blocks as its value fills,
    perhaps none.
    """
    numbers = itertools.count()
    replacements: dict[UOp, UOp] = {}
    counters = [node for node in root.walk() if node.op is Op.RANGE]
    for counter in sorted(counters, key=lambda counter: counter.number):
        if counter in cuts:
            blocks = make_range(counter.extent // cuts[counter], next(numbers))
            within = make_range(cuts[counter], next(numbers))
            replacements[counter] = blocks * cuts[counter] + within
        else:
            replacements[counter] = make_range(counter.extent, next(numbers), counter.placement)
    in_blocks = {
        replace_ranges(node, replacements): _in_blocks(node, replacements, numbers)
        for node in reductions
        if node.closed[0] in cuts
    }
    (root,) = substitute((replace_ranges(root, replacements),), in_blocks)
    return root


def _in_blocks(
    reduction: UOp, replacements: Mapping[UOp, UOp], numbers: itertools.count[int]
) -> UOp:
    """The reduction of the full blocks, combined with that of the terms after them."""
    value, op = reduction.operand, reduction.combine
    first, *others = reduction.closed
    around = [replacements[counter] for counter in others]
    blocks, within = sorted(replacements[first].ranges, key=lambda counter: counter.number)

    def reduced(value: UOp, *counters: UOp) -> UOp:
        return UOp(Op.REDUCE, reduction.dtype, (value, *counters), op)

    whole = reduced(reduced(replace_ranges(value, replacements), within, *around), blocks)
    block = axis_extent(within)
    remainder = first.extent % block
    if remainder.op is Op.CONST and remainder.literal == 0:
        return whole
    full = first.extent // block * block
    last = make_range(remainder, next(numbers))
    _, *inside = _loops_within(reduction)
    own = {counter: make_range(counter.extent, next(numbers)) for counter in inside}
    tail = replace_ranges(value, {**replacements, first: last + full, **own})
    return UOp(op, reduction.dtype, (whole, reduced(tail, last, *[own[c] for c in others])))


def _loops_within(reduction: UOp) -> list[UOp]:
    """The counters of a reduction's loops and of the loops inside them.

    The terms after the blocks get counters of their own, since a loop cannot be both inside the
    loop over blocks and after it. Values that are reduced or staged before all these loops (the
    scores for a product, the mean for a variance) stay as they are and are computed once.
    """
    inside = dict.fromkeys(reduction.closed)
    for node in reversed(reduction.operand.walk()):
        if not node.ranges.isdisjoint(inside):
            inside.update(dict.fromkeys(node.closed))
    return list(inside)
