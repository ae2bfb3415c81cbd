"""Axes of memory in blocks are split, so that every access is linear.

    before   r1 < 128:              b[r1//32 * 1024 + r1%32]
    after    r1 < 4, r2 < 32:       b[r1*1024 + r2]

So is one of variable length: of #n elements there are (#n + 31)//32 blocks.

An axis that its blocks do not fill runs on to the end of the last one, under a gate, if that is a
small part of it, or if blocks are read by vectors: results and terms too many, left out, take far
less time than those that are gathered one by one.
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.loops.kernel_axes import axis_extent
from ogive.passes.loops.rangeify import make_range
from ogive.passes.loops.replace_counters import replace_ranges
from ogive.targets.target import Target


def split_axes(root: UOp, target: Target) -> UOp:
    """The kernel with each axis cut where its offsets divide it."""
    blocks = _block_lengths(root)
    if not blocks:
        return root
    counters = [node for node in root.walk() if node.op is Op.RANGE]
    replacements: dict[UOp, UOp] = {}
    gates: dict[UOp, UOp] = {}
    for counter in counters:
        number = 2 * counter.number
        length = 0 if counter.ranges_below else axis_extent(counter)
        block = blocks.get(counter, 0) if counter.placement is None else 0
        if 1 < block < length and not _is_wasteful(length, block, target):
            outer = make_range((counter.extent + (block - 1)) // block, number)
            expression = outer * block + make_range(block, number + 1)
            if counter.extent.op is not Op.CONST or length % block:
                gates[counter] = expression.lt(counter.extent)
        else:
            expression = make_range(counter.extent, number, counter.placement)
        replacements[counter] = expression
    return replace_ranges(root, replacements, gates)


def _is_wasteful(length: int, block: int, target: Target) -> bool:
    """Whether short blocks have many iterations too many."""
    costs = target.costs.loops
    return block < costs.vector_elements and -length % block > costs.most_excess * length


def _block_lengths(root: UOp) -> dict[UOp, int]:
    """The least divisor of each axis that is divided in an offset, if the others are multiples."""
    divisors: dict[UOp, set[int]] = {}
    for node in root.walk():
        if node.op is not Op.INDEX:
            continue
        for part in node.offset.walk():
            divides = part.op in (Op.FLOORDIV, Op.MOD) and part.right.op is Op.CONST
            if divides and part.left.op is Op.RANGE:
                divisors.setdefault(part.left, set()).add(part.right.literal)
    return {
        counter: min(lengths)
        for counter, lengths in divisors.items()
        if all(divisor % min(lengths) == 0 for divisor in lengths)
    }
