"""Counts the instructions of a linearized kernel, by operation."""

from __future__ import annotations

import math
from collections import Counter

from ogive.compiler.ir.ops import TRANSCENDENTAL, UPCAST, Op
from ogive.compiler.passes.lower.linearize import Accumulate, Item, Loop
from ogive.compiler.passes.lower.peel_loops import FUNCTION_INSTRUCTIONS, LOOP_INSTRUCTIONS


def count_instructions(program: list[Item]) -> Counter[str]:
    """The number of instructions by operation, counting each entry of a register tile."""
    counts: Counter[str] = Counter()
    pending = list(program)
    while pending:
        item = pending.pop()
        if isinstance(item, Loop):
            counts["LOOP"] += LOOP_INSTRUCTIONS
            pending += item.body
            continue
        if isinstance(item, Accumulate):
            counters = {*item.into.ranges, *item.into.closed}
            op = item.into.combine
            name = f"REDUCE_{op.name}" if item.into.op is Op.REDUCE else "STAGE"
        else:
            counters = set(item.closed if item.op is Op.STORE else item.ranges)
            name = item.op.name
        entries = math.prod(
            [int(c.extent.literal) for c in counters if c.op is Op.RANGE and c.placement == UPCAST]
        )
        functions = not isinstance(item, Accumulate) and item.op in TRANSCENDENTAL
        counts[name] += entries * (FUNCTION_INSTRUCTIONS if functions else 1)
    return counts
