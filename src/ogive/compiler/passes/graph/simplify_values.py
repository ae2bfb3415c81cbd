"""Exact algebra on the parametric graph, before any other decision about it.

    before   MUL(ADD(RESHAPE(PARAM 0), CONST 0), CONST 1)       after   CONTIGUOUS(RESHAPE(PARAM 0))

A root that becomes memory, or the same node as another root, stays a result of its own.
"""

from __future__ import annotations

from ogive.compiler.ir.memory import keep_roots_apart
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.algebra import algebra_rules
from ogive.compiler.ir.rewriting.rewrite import rewrite


def simplify_values(sink: UOp) -> UOp:
    """The graph with the algebra rules applied. The number of roots stays the same."""
    simplified = rewrite(sink, algebra_rules)
    if simplified is sink:
        return sink
    return UOp(Op.SINK, sink.dtype, keep_roots_apart(sink.src, simplified.src))
