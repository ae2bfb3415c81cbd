"""How far a loop runs before one of its gates can fail."""

from __future__ import annotations

from functools import reduce

from ogive.ir.conditions import difference
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic import from_linear, integer, maximum, minimum


def peel_limit(counter: UOp, gates: list[UOp]) -> tuple[UOp | None, frozenset[UOp]]:
    """The number of first iterations in which some gates surely hold, and those gates.

    `r0*16 + lane < 100` with 16 lanes holds in the first 6 iterations of r0; with `n` for 100 the
    number is an expression of n. None if there is no such gate, or none that holds even once.
    """
    limits = {gate: limit for gate in gates if (limit := _limit(counter, gate)) is not None}
    fixed = [limit.arg for limit in limits.values() if limit.op is Op.CONST]
    symbolic = [limit for limit in limits.values() if limit.op is not Op.CONST]
    if symbolic:
        return reduce(minimum, symbolic), frozenset(
            gate for gate, limit in limits.items() if limit.op is not Op.CONST
        )
    if not fixed:
        return None, frozenset()
    least = min(fixed)
    return integer(least), frozenset(gate for gate, limit in limits.items() if limit.arg >= least)


def _limit(counter: UOp, gate: UOp) -> UOp | None:
    """The first iterations in which `gate` holds for every value of everything that changes
    within the loop; None if there are none, or they cannot be told."""
    if gate.op not in (Op.CMPLT, Op.CMPLE):
        return None
    terms, bound = difference(gate.src[0], gate.src[1])
    slope = terms.pop(counter, 0)
    if slope <= 0 or any(counter in term.ranges for term in terms):
        return None
    # The gate is slope*counter + rest + steady < 0 (or <= 0); `steady` is the same in every run
    # of the loop.
    rest = -bound + (1 if gate.op is Op.CMPLT else 0)
    steady: dict[UOp, int] = {}
    for term, coefficient in terms.items():
        if not term.ranges:
            steady[term] = -coefficient
            continue
        low, high = term.bounds
        rest += coefficient * int(high if coefficient > 0 else low)
    room = from_linear(steady, -rest)
    limit = maximum(room // slope + 1, 0)
    return None if limit.op is Op.CONST and limit.arg <= 0 else limit
