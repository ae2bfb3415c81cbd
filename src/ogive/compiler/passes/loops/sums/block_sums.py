"""Adds up long sums in blocks of blocks, so that their error hardly grows with their length.

    before   k < 10000: sum of x[k]
    after    k0 < 9: sum of (k1 < 1024: sum of x[k0*1024 + k1]), plus the sum of the remainder

In a sum of many terms, each small term is added to a large partial sum and rounded to its digits. A
block starts from zero. If a sum runs along contiguous elements, lanes and registers hold many
partial sums of a block, each of few terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.loops.accesses import MemoryAccess, memory_accesses
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.loops.sums.cut_counters import block_length, cut_counters, nest_sum
from ogive.compiler.targets.target import Target


def block_sums(root: UOp, target: Target) -> UOp:
    """The kernel with its long sums in blocks, unless it has staged values or scans."""
    nodes = root.walk()
    if any(node.op in (Op.STAGE, Op.SCAN) for node in nodes):
        return root
    while sums := _sums(nodes):
        accesses = memory_accesses(root)
        nested = {
            node: nest_sum(node, _block(node.closed[1:], accesses, target)) for node in sums
        }
        (blocked,) = substitute((root,), {a: b for a, b in nested.items() if a is not b})
        cuts = _cuts(_sums(blocked.walk()), accesses, target)
        closing = [node for node in blocked.walk() if not cuts.keys().isdisjoint(node.closed)]
        blocked = cut_counters(blocked, closing, cuts) if cuts else blocked
        if blocked is root:
            break
        root, nodes = blocked, blocked.walk()
    return root


def _sums(nodes: Sequence[UOp]) -> list[UOp]:
    """The sums whose loops only reductions over the same counters share."""
    closing: dict[UOp, set[tuple[Op, tuple[UOp, ...]]]] = {}
    for node in nodes:
        for counter in node.closed:
            closing.setdefault(counter, set()).add((node.op, node.closed))
    return [
        node
        for node in nodes
        if node.op is Op.REDUCE
        and node.combine is Op.ADD
        and node.dtype.is_float
        and all(
            not counter.ranges_below and len(closing[counter]) == 1 for counter in node.closed
        )
    ]


def _block(counters: Sequence[UOp], accesses: list[MemoryAccess], target: Target) -> int:
    """The number of terms along these counters in a block."""
    beside = any(access.strides.get(c) == 1 for access in accesses for c in counters)
    costs = target.costs.loops
    return costs.chain * costs.sharing_sums if beside else costs.chain


def _cuts(sums: list[UOp], accesses: list[MemoryAccess], target: Target) -> dict[UOp, int]:
    """The outermost counters of sums that have several blocks, with the length of a block."""
    costs = target.costs.loops
    cuts: dict[UOp, int] = {}
    for node in sums:
        first, *inner = node.closed
        block = _block(node.closed, accesses, target)
        wanted = block // math.prod(axis_extent(counter) for counter in inner)
        if wanted > 1 and axis_extent(first) >= 2 * wanted:
            unit = 1 if inner or block == costs.chain else costs.sharing_sums
            cuts[first] = block_length(axis_extent(first), wanted, unit)
    return cuts
