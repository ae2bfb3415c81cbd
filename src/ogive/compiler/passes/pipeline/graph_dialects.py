"""The dialects of graphs, from what the user wrote to lowered loops.

`ir/dialects/verify.py` says under the same name what each may contain.
"""

from __future__ import annotations

from weakref import WeakSet

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.pass_runner import Dialect


def _graph_dialect(name: str, meaning: str) -> Dialect:
    allowed: WeakSet[UOp] = WeakSet()  # checked before: many passes leave most nodes unchanged

    def check(root: UOp | tuple[UOp, ...]) -> None:
        # Imported here, so that a process that checks nothing does not load the checks of all ops.
        from ogive.compiler.ir.dialects.verify import verify

        verify(root, name, allowed)

    def show(root: UOp | tuple[UOp, ...]) -> str:
        from ogive.compiler.ir.printer import format_tree

        roots = root if isinstance(root, tuple) else (root,)
        return "\n".join([format_tree(each) for each in roots])

    return Dialect(name, meaning, check, show)


TENSOR = _graph_dialect("tensor", "what the user wrote, over buffers")
PARAMETRIC = _graph_dialect("parametric", "what the user wrote, over numbered parameters")
REAL = _graph_dialect("real", "a parametric graph without complex numbers")
STORED = _graph_dialect("stored", "the same, with every scatter a store into memory")
REGION = _graph_dialect("region", "what one kernel computes, over its own slots")
LOOPS = _graph_dialect("loops", "loops over counters, memory at index expressions")
PLACED = _graph_dialect("placed", "loops, each of them sequential, parallel, upcast or lanes")
LOWERED = _graph_dialect("lowered", "the same, and each access knows how its lanes lie in memory")


NORMALIZED = Dialect(
    "normalized",
    "a parametric graph, and the buffers and values taken out of it",
    lambda normalized: PARAMETRIC.check(normalized.sink),
    lambda normalized: PARAMETRIC.show(normalized.sink),
)
