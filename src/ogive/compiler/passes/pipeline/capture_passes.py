"""The pass table, first part: from what the user wrote to a parametric graph.

These passes run for every graph, even if a cache holds the result of all later ones. So they have a
module of their own, which loads no other pass.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SPREAD
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.pipeline.graph_dialects import NORMALIZED, TENSOR
from ogive.compiler.passes.pipeline.pass_runner import Compilation, Condition, Pass, Watcher
from ogive.config import Config


def _has_shards(sink: UOp) -> bool:
    return any(node.op in SPREAD for node in sink.walk())


INLINED = Condition("calls are to be inlined", lambda values: not values.calls)
SHARDED = Condition(
    "calls are to be inlined, and values lie over several devices",
    lambda values: not values.calls and _has_shards(values.normalized.sink),
)

CAPTURE_PASSES = (
    Pass("normalize", TENSOR, NORMALIZED, "passes/capture",
         "ADD(BUFFER#17, 1) → ADD(PARAM 0, 1) with buffers = [BUFFER#17]",
         reads=("whole", "order")),
    Pass("inline_calls", NORMALIZED, NORMALIZED, "passes/capture",
         "CALL softmax(PARAM 0) → DIV(EXP(SUB(PARAM 0, …)), …)", when=INLINED),
    Pass("place_shards", NORMALIZED, NORMALIZED, "passes/shards",
         "sum of MULTI(PARAM 0, PARAM 1) → ADD(sum of PARAM 0, COPY(sum of PARAM 1))",
         reads=("config",), when=SHARDED),
)  # fmt: skip


def normalize_graph(
    asked: tuple[UOp, ...],
    config: Config,
    whole: bool = False,
    order: list[UOp] | None = None,
    watch: Watcher | None = None,
    calls: bool = False,
) -> Normalized:
    """The parametric graph of the roots `asked`. With `calls`, calls are kept as nodes."""
    compilation = Compilation(config, watch, tensor=asked, whole=whole, order=order, calls=calls)
    normalized: Normalized = compilation.run(CAPTURE_PASSES)
    return normalized


def inline_graph(normalized: Normalized, config: Config) -> Normalized:
    """A parametric graph without calls, and without values over several devices."""
    compilation = Compilation(config, normalized=normalized, calls=False)
    inlined: Normalized = compilation.run(CAPTURE_PASSES[1:])
    return inlined
