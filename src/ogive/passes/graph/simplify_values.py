"""Exact algebra on the parametric graph, before anything is decided about it.

    before   MUL(ADD(RESHAPE(PARAM 0), CONST 0), CONST 1)       after   CONTIGUOUS(RESHAPE(PARAM 0))

A root that turns out to be memory, or the same value as another root, is still a result of its own:
whoever assigns to it must not change the other. One that turns out to be a leaf is written out.
"""

from __future__ import annotations

from ogive.ir.algebra import algebra_rules
from ogive.ir.memory import is_memory
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.rewrite import rewrite


def simplify_values(sink: UOp) -> UOp:
    """The graph with the algebra rules applied; it has as many roots as before."""
    simplified = rewrite(sink, algebra_rules)
    if simplified is sink:
        return sink
    roots: dict[UOp, UOp] = {}
    given = {old for old, new in zip(sink.src, simplified.src, strict=True) if new is old}
    for position, (old, new) in enumerate(zip(sink.src, simplified.src, strict=True)):
        if old in roots:
            continue  # asked for twice: as a result, and as an assignment
        taken = new in given
        became_memory = is_memory(new) and not is_memory(old)  # a version stays one, in place
        if new is not old and (taken or became_memory or not new.src):
            new = UOp(Op.CONTIGUOUS, new.dtype, (new,), ("result", position))
        roots[old] = new
        given.add(new)
    return UOp(Op.SINK, sink.dtype, tuple([roots[old] for old in sink.src]))
