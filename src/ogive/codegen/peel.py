"""How far a loop runs before one of its gates can fail."""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic import linear_form


def peel_limit(counter: UOp, gates: list[UOp]) -> tuple[int | None, frozenset[UOp]]:
    """The number of first iterations in which some gates surely hold, and those gates.

    `r0*16 + lane < 100` with 16 lanes holds in the first 6 iterations of r0. None if there is no
    such gate, or none that holds even once.
    """
    limits = {gate: _limit(counter, gate) for gate in gates}
    useful = [limit for limit in limits.values() if limit > 0]
    if not useful:
        return None, frozenset()
    least = min(useful)
    return least, frozenset(gate for gate, limit in limits.items() if limit >= least)


def _limit(counter: UOp, gate: UOp) -> int:
    """The first iterations in which `gate` holds for every value of everything else; 0 if none."""
    if gate.op not in (Op.CMPLT, Op.CMPLE):
        return 0
    left, left_constant = linear_form(gate.src[0])
    right, right_constant = linear_form(gate.src[1])
    terms = dict(left)
    for term, coefficient in right.items():
        terms[term] = terms.get(term, 0) - coefficient
    slope = terms.pop(counter, 0)
    if slope <= 0 or any(counter in term.ranges for term in terms):
        return 0
    # The gate is slope*counter + rest < 0 (or <= 0).
    rest = left_constant - right_constant
    for term, coefficient in terms.items():
        low, high = term.bounds
        rest += coefficient * int(high if coefficient > 0 else low)
    room = -rest - (1 if gate.op is Op.CMPLT else 0)
    return max(0, room // slope + 1) if room >= 0 else 0
