"""Which values a run can take in besides: in one run, a variable has one value."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.errors import VariableError
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.variable import bindings
from ogive.ir.traversal import walk

_OF_VARIABLES = (Op.BIND, Op.VARIABLE)


def that_agree(nodes: Sequence[UOp], order: Sequence[UOp]) -> Sequence[UOp]:
    """Those of `nodes` in which variables are what they are in a run, whose walk is `order`, and in
    the nodes before them.

        run `x[:n].sum()` with n = 2;  a waiting `y[:n] = …` joins it with n = 2, not with n = 3
    """
    if not any(node.op in _OF_VARIABLES for node in walk(tuple(nodes))):
        return nodes
    known = [node for node in order if node.op in _OF_VARIABLES]
    agreeing = []
    for node in nodes:
        own = [under for under in walk((node,)) if under.op in _OF_VARIABLES]
        try:
            bindings((*known, *own))
        except VariableError:
            continue
        known += own
        agreeing.append(node)
    return agreeing
