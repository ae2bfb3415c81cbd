"""Splits axes along which memory is in blocks, so that every access is linear.

    before   r1 < 128:              b[r1//32 * 1024 + r1%32]
    after    r1 < 4, r2 < 32:       b[r1*1024 + r2]

An axis of symbolic length is split, too: #n elements are (#n + 31)//32 blocks.

If blocks do not divide the axis, the last block runs past its end under a gate. That is done if the
excess is small, or if blocks are long enough for vectors: computing and dropping the excess takes
far less time than loading elements one by one.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.targets.target import Target


def split_axes(root: UOp, target: Target) -> UOp:
    """The kernel with each axis split by the divisor that its offsets use."""
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
    """Whether blocks are short, and would add many iterations in excess."""
    costs = target.costs.loops
    return block < costs.vector_elements and -length % block > costs.most_excess * length


def _block_lengths(root: UOp) -> dict[UOp, int]:
    """The least divisor of each axis in an offset, if all others are multiples of it."""
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
