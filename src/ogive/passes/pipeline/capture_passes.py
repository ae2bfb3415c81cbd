"""The table, first part: from what the user wrote to a parametric graph.

It runs for every graph that is asked for, also where all that follows is found in a cache: so it is
a module of its own, which loads no other pass.
"""

from __future__ import annotations

from ogive.config import Config
from ogive.ir.node import UOp
from ogive.passes.graph.normalize import Normalized, normalize
from ogive.passes.pipeline.graph_dialects import NORMALIZED, TENSOR
from ogive.passes.pipeline.pass_runner import Compilation, Pass, Watcher

CAPTURE_PASSES = (
    Pass("normalize", TENSOR, NORMALIZED, normalize,
         "ADD(BUFFER#17, 1) → ADD(PARAM 0, 1) with buffers = [BUFFER#17]",
         reads=("whole", "order")),
)  # fmt: skip


def normalize_graph(
    asked: tuple[UOp, ...],
    config: Config,
    whole: bool = False,
    order: list[UOp] | None = None,
    watch: Watcher | None = None,
) -> Normalized:
    """The parametric graph of `asked`, as `normalize` makes it."""
    compilation = Compilation(config, watch, tensor=asked, whole=whole, order=order)
    normalized: Normalized = compilation.run(CAPTURE_PASSES)
    return normalized
