"""Loop peeling: the iterations before a gate can fail, and the cost of writing a loop twice."""

from __future__ import annotations

from functools import reduce

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import TRANSCENDENTAL, UPCAST, Op
from ogive.compiler.ir.symbolic.conditions import difference
from ogive.compiler.ir.symbolic.index_arithmetic import from_linear, integer, maximum, minimum
from ogive.compiler.passes.lower.linearize import Accumulate, Item, Loop

LOOP_INSTRUCTIONS = 4
"""The instructions of a loop beside its body: the counter, its step, a comparison, a branch."""

FUNCTION_INSTRUCTIONS = 12
"""The estimated instructions of a call of an elementary function, with arguments and result."""


def peel_limit(
    counter: UOp, gates: list[UOp], around: frozenset[UOp]
) -> tuple[UOp | None, frozenset[UOp]]:
    """The number of first iterations in which some gates always hold, and these gates.

    `r0*16 + lane < 100` with 16 lanes holds in the first 6 iterations of r0. With `n` in place of
    100 the number is an expression of n, and of the counters of the loops `around` this one. None
    if no gate holds in the first iteration.
    """
    limits_by_gate = [(gate, _limit(counter, gate, around)) for gate in gates]
    limits = {gate: limit for gate, limit in limits_by_gate if limit is not None}
    fixed = [limit.literal for limit in limits.values() if limit.op is Op.CONST]
    symbolic = [limit for limit in limits.values() if limit.op is not Op.CONST]
    if symbolic:
        return reduce(minimum, symbolic), frozenset(
            gate for gate, limit in limits.items() if limit.op is not Op.CONST
        )
    if not fixed:
        return None, frozenset()
    least = min(fixed)
    held = [gate for gate, limit in limits.items() if limit.literal >= least]
    return integer(least), frozenset(held)


def _limit(counter: UOp, gate: UOp, around: frozenset[UOp]) -> UOp | None:
    """The number of first iterations in which `gate` holds, whatever else changes in the loop.

    None if it is 0 or not known.
    """
    if gate.op not in (Op.CMPLT, Op.CMPLE):
        return None
    terms, bound = difference(gate.left, gate.right)
    slope = terms.pop(counter, 0)
    if slope <= 0 or any(counter in term.ranges for term in terms):
        return None
    # The gate is slope*counter + rest + steady < 0 (or <= 0). `steady` does not change in the loop;
    # `rest` is the greatest value of all other terms.
    rest = -bound + (1 if gate.op is Op.CMPLT else 0)
    steady: dict[UOp, int] = {}
    for term, coefficient in terms.items():
        if term.ranges <= around:
            steady[term] = -coefficient
            continue
        low, high = term.bounds
        rest += coefficient * int(high if coefficient > 0 else low)
    room = from_linear(steady, -rest)
    limit = maximum(room // slope + 1, 0)
    return None if limit.op is Op.CONST and limit.literal <= 0 else limit


def gates_within(items: list[Item]) -> list[UOp]:
    """The conditions computed in a block and in its loops."""
    gates: dict[UOp, None] = {}
    for item in items:
        if isinstance(item, Loop):
            gates.update(dict.fromkeys(gates_within(item.body)))
        elif isinstance(item, UOp) and item.dtype.is_bool and not item.has_index:
            gates[item] = None
    return list(gates)


def instruction_count(items: list[Item]) -> int:
    """The estimated number of instructions of a block."""
    count = 0
    for item in items:
        if isinstance(item, Loop):
            count += LOOP_INSTRUCTIONS + instruction_count(item.body)
            continue
        node = item.into if isinstance(item, Accumulate) else item
        tile = 1
        counters = set(node.operand.ranges if isinstance(item, Accumulate) else node.ranges)
        for counter in counters:
            if counter.placement == UPCAST:
                tile *= counter.extent.literal
        count += tile * (FUNCTION_INSTRUCTIONS if node.op in TRANSCENDENTAL else 1)
    return count
